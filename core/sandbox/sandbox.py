"""The embedded cluster as a context manager for ordinary code: its own thread, its own loop."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Self, TypeVar

from kgroups.core.errors import KgroupsError
from kgroups.core.sandbox.caps import counts_by_name
from kgroups.core.sandbox.cluster import Cluster
from kgroups.core.sandbox.coordination.event_log import LogLine
from kgroups.core.sandbox.faults.fault_rules import Fault
from kgroups.core.sandbox.limits import Limits
from kgroups.core.sandbox.options import LOOPBACK, SandboxOptions
from kgroups.core.snapshot import Broker as BrokerAddress

T = TypeVar("T")

_START_TIMEOUT_S = 60.0


class Sandbox:
    """An embedded Kafka cluster that real clients join, without Java.

        with Sandbox(brokers=3, topics={"orders": 12}) as cluster:
            consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, ...})

    Its methods may be called from any thread. In a program that has an event loop already, enter
    `Cluster(options)` with `async with` instead: the same cluster inside that loop.

    Args:
        brokers, topics, port, as_version, data_dir, ...: see `SandboxOptions`.
        snapshot: a snapshot file whose topics, groups and offsets are there from the start.
        faults: a YAML file of fault rules, in force from the start.
        listener: called with every event, in the cluster's thread.
    Raises:
        UsageError: the options do not fit each other, or a file cannot be understood. A port
            that is taken is found when the context is entered.
    """

    def __init__(
        self,
        *,
        brokers: int = 3,
        topics: Mapping[str, int] | None = None,
        port: int = 0,
        host: str = LOOPBACK,
        as_version: str | None = None,
        auto_create_topics: bool = False,
        default_partitions: int = 1,
        replication_factor: int | None = None,
        data_dir: Path | str | None = None,
        snapshot: Path | str | None = None,
        faults: Path | str | None = None,
        properties: Mapping[str, str] | None = None,
        racks: Sequence[str | None] = (),
        cluster_id: str | None = None,
        limits: Limits | None = None,
        listener: Callable[[LogLine], None] | None = None,
    ) -> None:
        defaults = SandboxOptions()
        self.options = SandboxOptions(
            brokers=brokers,
            topics=topics or {},
            port=port,
            host=host,
            as_version=as_version or defaults.as_version,
            auto_create_topics=auto_create_topics,
            default_partitions=default_partitions,
            replication_factor=replication_factor,
            data_dir=Path(data_dir) if data_dir is not None else None,
            snapshot=Path(snapshot) if snapshot is not None else None,
            faults=Path(faults) if faults is not None else None,
            properties=properties or {},
            racks=racks,
            cluster_id=cluster_id,
            limits=limits or defaults.limits,
        )
        self.options.check()
        self._listener = listener
        self._loop: asyncio.AbstractEventLoop | None = None
        self._cluster: Cluster | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the thread and wait until every broker listens.

        A cluster that is filled takes as long as its file is large.

        Raises:
            KgroupsError: it runs already, a port is taken, or a file cannot be used.
        """
        if self._thread is not None:
            raise KgroupsError("the sandbox is already running")
        started: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(started,), name="kgroups-sandbox", daemon=True
        )
        try:
            self._thread.start()
            filled = self.options.snapshot is not None or self.options.data_dir is not None
            started.result(None if filled else _START_TIMEOUT_S)
        except BaseException:
            self._give_up(self._thread, started)
            raise

    def stop(self) -> None:
        """Stop the brokers and the thread; doing it twice does nothing more."""
        thread = self._thread
        if thread is None:
            return
        self._ask_to_stop()
        thread.join()
        self._thread = self._loop = self._stop = None

    def _give_up(self, thread: threading.Thread, started: "Future[None]") -> None:
        """End the thread although nobody waits for its brokers any more: an interrupt, time."""
        if not started.cancel() and not (started.done() and started.exception()):
            self._ask_to_stop()  # it was just about to serve
        with contextlib.suppress(RuntimeError):  # it was not started yet
            thread.join(_START_TIMEOUT_S)
        self._thread = self._loop = self._stop = None

    def _ask_to_stop(self) -> None:
        loop, stop = self._loop, self._stop
        if loop is not None and stop is not None:
            loop.call_soon_threadsafe(stop.set)

    def _run(self, started: "Future[None]") -> None:
        try:
            asyncio.run(self._serve(started))
        except BaseException as error:
            if not started.done() and started.set_running_or_notify_cancel():
                started.set_exception(error)
            elif not started.cancelled():
                raise

    async def _serve(self, started: "Future[None]") -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        cluster = self._cluster = Cluster(self.options)
        if self._listener is not None:
            cluster.events.listen(self._listener)
        async with cluster:
            if not started.set_running_or_notify_cancel():
                return
            started.set_result(None)
            await self._stop.wait()

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of every broker, with commas."""
        return self._running().bootstrap_servers

    @property
    def brokers(self) -> tuple[BrokerAddress, ...]:
        """Every broker with its address."""
        return tuple(
            BrokerAddress(broker.broker_id, broker.host, broker.port, broker.rack)
            for broker in self._running().brokers.values()
        )

    @property
    def cluster_id(self) -> str:
        """The cluster's id."""
        return self._running().cluster_id

    @property
    def events(self) -> tuple[LogLine, ...]:
        """The latest events, oldest first."""
        return self._running().events.lines()

    def request_counts(self) -> Mapping[str, Mapping[int, int]]:
        """How often each API was asked in each version: `{"JoinGroup": {9: 4}}`."""
        return self._on_loop(lambda cluster: counts_by_name(cluster.request_counts))

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Make a topic.

        Raises:
            UsageError: it exists, or cannot be made so.
        """
        self._on_loop(lambda cluster: cluster.create_topic(name, partitions))

    def log_end_offsets(self, topic: str) -> Mapping[int, int]:
        """Offset of the next record of each partition of a topic.

        Raises:
            NotFoundError: there is no such topic.
        """
        return self._on_loop(lambda cluster: cluster.log_end_offsets(topic))

    def add_fault(self, fault: Fault) -> Fault:
        """Put a fault rule in force; the returned rule counts its hits."""
        return self._on_loop(lambda cluster: cluster.faults.add(fault))

    def remove_fault(self, fault: Fault) -> None:
        """Take a fault rule out of force."""
        self._on_loop(lambda cluster: cluster.faults.remove(fault))

    def clear_faults(self) -> None:
        """Take every fault rule out of force."""
        self._on_loop(lambda cluster: cluster.faults.clear())

    def stop_broker(self, broker_id: int) -> None:
        """Take a broker down: its connections drop, its partitions and groups move to others."""
        self._await(lambda cluster: cluster.stop_broker(broker_id))

    def start_broker(self, broker_id: int) -> None:
        """Bring a broker back on its old port."""
        self._await(lambda cluster: cluster.start_broker(broker_id))

    def move_leader(self, topic: str, partition: int, broker_id: int) -> None:
        """Make a broker the leader of a partition."""
        self._on_loop(lambda cluster: cluster.move_leader(topic, partition, broker_id))

    def move_coordinator(self, group: str, broker_id: int | None = None) -> int:
        """Move a group's coordinator to a broker (None: the next one); the broker that has it."""
        return self._on_loop(lambda cluster: cluster.move_coordinator(group, broker_id))

    def expire_member(self, group: str, member: str) -> None:
        """End a member's session now; named by its member, instance or client id."""
        self._await(lambda cluster: cluster.expire_member(group, member))

    def advance_clock(self, ms: int) -> None:
        """Set the cluster's time forward: sessions end and commits expire without waiting."""
        self._on_loop(lambda cluster: cluster.advance_clock(ms))

    def freeze_clock(self, *, frozen: bool = True) -> None:
        """Stop the cluster's time, or let it go on: while it stands no session ends."""
        self._on_loop(lambda cluster: cluster.freeze_clock(frozen=frozen))

    def _running(self) -> Cluster:
        if self._thread is None or self._cluster is None:
            raise KgroupsError("the sandbox is not running", hint="use it in a `with` statement")
        return self._cluster

    def _on_loop(self, work: Callable[[Cluster], T]) -> T:
        """The result of `work`, done in the cluster's thread."""

        async def run(cluster: Cluster) -> T:
            return work(cluster)

        return self._await(run)

    def _await(self, work: Callable[[Cluster], Coroutine[None, None, T]]) -> T:
        cluster, loop = self._running(), self._loop
        assert loop is not None, "a running cluster has a loop"
        return asyncio.run_coroutine_threadsafe(work(cluster), loop).result()
