"""The state of the embedded cluster, and what requests, faults and users do to it.

Nothing here listens or serves: `cluster.Cluster` does.
"""

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from uuid import UUID, uuid4

from kgroups.core.coordinator.releases import draw_id
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct
from kgroups.core.sandbox.caps import caps_of
from kgroups.core.sandbox.coordination.coordinators import (
    Coordination,
    group_config,
)
from kgroups.core.sandbox.coordination.event_log import EventLog
from kgroups.core.sandbox.coordination.pump import Pump
from kgroups.core.sandbox.faults.fault_file import FaultPlan, read_fault_file
from kgroups.core.sandbox.faults.fault_rules import FaultRules
from kgroups.core.sandbox.options import SandboxOptions
from kgroups.core.sandbox.storage.data_directory import DataDirectory
from kgroups.core.sandbox.storage.partition_log import PartitionLog
from kgroups.core.sandbox.storage.topics import (
    OFFSETS_TOPIC,
    Partition,
    Topic,
    Topics,
    changes_text,
    creation_error,
)
from kgroups.core.sandbox.wire.client_connection import HeldBytes
from kgroups.core.sandbox.wire.listener import Broker
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.snapshot_file import read_snapshot
from kgroups.core.uuids import uuid_text


def wall_clock_ms() -> int:
    """Epoch milliseconds now."""
    return time.time_ns() // 1_000_000


def _steady_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class Clock:
    """Epoch milliseconds that never go back."""

    def __init__(self) -> None:
        self._base_ms = wall_clock_ms() - _steady_ms()
        self._frozen_ms: int | None = None

    def now_ms(self) -> int:
        return self._base_ms + _steady_ms() if self._frozen_ms is None else self._frozen_ms

    def advance(self, ms: int) -> None:
        """Set it forward."""
        self._base_ms += ms
        if self._frozen_ms is not None:
            self._frozen_ms += ms

    def freeze(self, *, frozen: bool) -> None:
        """Stop it, or let it go on from where it stands."""
        if frozen and self._frozen_ms is None:
            self._frozen_ms = self.now_ms()
        elif not frozen and self._frozen_ms is not None:
            self._base_ms = self._frozen_ms - _steady_ms()
            self._frozen_ms = None


class ClusterState(ABC):
    """Brokers, topics, coordinators, faults and time of one cluster.

    Args:
        options: shape and behaviour; checked here.
    """

    def __init__(self, options: SandboxOptions) -> None:
        options = options.settled()
        options.check()
        self.options = options
        self.caps = caps_of(options.as_version)
        self.cluster_id = options.cluster_id or uuid_text(uuid4())
        self.events = EventLog(wall_clock_ms)
        self.clock = Clock()
        self.faults = FaultRules(self._topic_name)
        self.request_counts: Counter[tuple[Api, int]] = Counter()
        self.connection_count = 0
        self.held = HeldBytes(options.limits.held_bytes)
        racks = options.racks or [None] * options.brokers
        self.brokers = {
            number: Broker(number, options.host, options.port and options.port + number - 1, rack)
            for number, rack in enumerate(racks, start=1)
        }
        config = group_config(options.properties, options.as_version)
        new_id = partial(draw_id, uuid4, config.release)
        self.topics = Topics(list(self.brokers), new_log=self._new_log, new_id=new_id)
        self.coordination = Coordination(
            config,
            self.brokers,
            self.topics,
            clock=self.now_ms,
            events=self.events,
            compact_bytes=options.limits.offsets_log_bytes,
        )
        self._plan = FaultPlan((), ())
        if options.faults is not None:
            self._plan = read_fault_file(options.faults)
        for rule in self._plan.rules:
            self.faults.add(rule)
        self._snapshot: ClusterSnapshot | None = None
        if options.snapshot is not None:
            self._snapshot = read_snapshot(options.snapshot)
        self._data: DataDirectory | None = None
        self._next_producer_id = 1000

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` of every broker, with commas."""
        return ",".join(broker.address for broker in self.brokers.values())

    @property
    def live_brokers(self) -> list[int]:
        """Ids of the brokers that are up."""
        return [broker.broker_id for broker in self.brokers.values() if broker.is_up]

    @property
    def controller_id(self) -> int:
        """The first broker that is up; -1 if none is."""
        return next(iter(self.live_brokers), -1)

    def broker_rows(self) -> list[Struct]:
        """The live brokers as Metadata shows them."""
        return [
            Struct(node_id=b.broker_id, host=b.host, port=b.port, rack=b.rack)
            for b in self.brokers.values()
            if b.is_up
        ]

    def now_ms(self) -> int:
        """Epoch milliseconds that never go back."""
        return self.clock.now_ms()

    @property
    def pumps(self) -> Mapping[int, Pump]:
        """The coordinator of each broker."""
        return self.coordination.pumps

    def next_producer_id(self) -> int:
        """A producer id that nobody has."""
        self._next_producer_id += 1
        self._save_soon()
        return self._next_producer_id

    def create_topic(
        self,
        name: str,
        partitions: int | None = None,
        *,
        replication_factor: int | None = None,
        configs: Mapping[str, str] | None = None,
        assignments: Sequence[Sequence[int]] = (),
        topic_id: UUID | None = None,
    ) -> Topic:
        """A new topic.

        Raises:
            UsageError: it exists, or cannot be made so.
        """
        count = self.options.default_partitions if partitions is None else partitions
        factor = replication_factor or self.options.default_replication_factor
        fault = creation_error(name, count, factor, len(self.brokers))
        if fault is not None:
            raise UsageError(f"topic `{name}`: {fault[1]}")
        if self.topics.get(name) is not None:
            raise UsageError(f"topic `{name}` already exists")
        live = self.live_brokers or list(self.brokers)
        topic = self.topics.create(
            name,
            count,
            replication_factor=factor,
            configs=configs,
            topic_id=topic_id,
            assignments=assignments,
            live=live,
        )
        self.topics_changed()
        self.events.add(f"topic {name}", f"created with {count} partitions")
        return topic

    def log_end_offsets(self, name: str) -> dict[int, int]:
        """Offset of the next record of each partition.

        Raises:
            NotFoundError: there is no such topic.
        """
        topic = self.topics.get(name or "\0")
        if topic is None:
            raise NotFoundError(f"there is no topic `{name}`")
        return {partition.index: partition.log.end_offset for partition in topic.partitions}

    def grow_topic(
        self, topic: Topic, total: int, *, assignments: Sequence[Sequence[int]] = ()
    ) -> None:
        """Add partitions to a topic until there are `total`."""
        self.topics.grow(topic, total, assignments=assignments, live=self.live_brokers)
        self.topics_changed()
        self.events.add(f"topic {topic.name}", f"grew to {total} partitions")

    def delete_topic(self, topic: Topic) -> None:
        """Forget a topic with its records and its commits."""
        self.topics.delete(topic)
        if self._data is not None:
            self._data.forget(topic)
        self.topics_changed()
        self.events.add(f"topic {topic.name}", "deleted")

    def log_start_moved(self, topic: str, partition: Partition) -> None:
        """Take note that records were deleted."""
        self._save_soon()
        start = partition.log.start_offset
        self.events.add(f"partition {topic}-{partition.index}", f"now starts at {start}")

    def topics_changed(self) -> None:
        """Tell the coordinators what topics there are."""
        self.coordination.topics_changed()
        self._save_soon()

    async def stop_broker(self, broker_id: int) -> None:
        """Take a broker down: its connections drop and its partitions move to others."""
        broker = self.broker(broker_id)
        if broker.is_up:
            await broker.shut("broker goes down")
            broker.reserve()  # or somebody else has its port when it comes back
            self.events.add(f"broker {broker_id}", "down")
            self._elect()

    async def start_broker(self, broker_id: int) -> None:
        """Bring a broker back on its old port; it leads again what it prefers to lead."""
        broker = self.broker(broker_id)
        if not broker.is_up:
            await self.listen(broker)
            self.events.add(f"broker {broker_id}", "up")
            self._elect()

    def move_leader(self, topic: str, index: int, broker_id: int) -> None:
        """Make a broker the leader of a partition."""
        partition = self.topics.partition(topic, index)
        if partition is None:
            raise NotFoundError(f"there is no partition {topic}-{index}")
        partition.prefer(self.broker(broker_id).broker_id)
        self._elect()

    def broker(self, broker_id: int) -> Broker:
        """The broker of this id.

        Raises:
            NotFoundError: there is none.
        """
        broker = self.brokers.get(broker_id)
        if broker is None:
            raise NotFoundError(f"there is no broker {broker_id}")
        return broker

    def move_coordinator(self, group: str, broker_id: int | None = None) -> int:
        """Move the coordinator of a group, with all groups of its partition, to another broker.

        Args:
            broker_id: None for the next live one.
        Returns:
            The broker that leads now.
        Raises:
            NotFoundError: there is no such broker.
        """
        partition = self.coordination.partition_of(group)
        if broker_id is None:
            live = self.live_brokers
            after = [number for number in live if number > partition.leader]
            broker_id = (after or live or [partition.leader])[0]
        self.move_leader(OFFSETS_TOPIC, partition.index, broker_id)
        return partition.leader

    async def expire_member(self, group: str, member: str) -> None:
        """End a member's session now, as if it had said nothing for too long.

        Args:
            member: its member id, instance id or client id.
        Raises:
            NotFoundError: the group has no such member.
        """
        partition = self.coordination.partition_of(group)
        pump = self.pumps.get(partition.leader)
        member_now = pump.find_member(group, member) if pump is not None else None
        if pump is None or member_now is None:
            raise NotFoundError(f"group `{group}` has no member `{member}`")
        await pump.remove_member(group, member_now)

    def advance_clock(self, ms: int) -> None:
        """Set the cluster's time forward: sessions end, commits expire, as if so much had passed.

        Raises:
            UsageError: time does not go back.
        """
        if ms < 0:
            raise UsageError(f"{ms} ms: the clock cannot go back")
        self.clock.advance(ms)
        self.events.add("clock", f"advanced by {ms} ms")
        for pump in self.pumps.values():
            pump.tick()

    def freeze_clock(self, *, frozen: bool = True) -> None:
        """Stop the cluster's time, or let it go on: while it stands no session ends."""
        self.clock.freeze(frozen=frozen)
        self.events.add("clock", "is frozen" if frozen else "runs again")
        for pump in self.pumps.values():
            pump.tick()

    def _topic_name(self, topic_id: UUID) -> str | None:
        topic = self.topics.get(None, topic_id)
        return None if topic is None else topic.name

    def _elect(self, *, everything: bool = False) -> None:
        """Give partitions their leaders, and move groups along with theirs.

        Args:
            everything: take leaders that stay as new, which they are when the cluster starts.
        """
        changed = self.topics.elect(self.live_brokers)
        self.coordination.topics_changed()
        offsets = self.topics.get(OFFSETS_TOPIC)
        if everything and offsets is not None:
            changed = [(offsets, partition) for partition in offsets.partitions]
        for topic, partition in changed:
            if topic.name == OFFSETS_TOPIC:
                self.coordination.leader_changed(partition)
            partition.log.wake()
        if changed and not everything:
            self.events.add("cluster", changes_text(changed))

    def _new_log(self, topic: Topic, index: int) -> PartitionLog:
        data, name = self._data, topic.name
        if data is None:
            return PartitionLog()
        return PartitionLog(
            on_append=lambda batch: data.append(name, index, batch),
            on_rewrite=lambda batches: data.rewrite(name, index, batches),
        )

    def _save_soon(self) -> None:
        if self._data is not None:
            self._data.save_soon()

    @abstractmethod
    async def listen(self, broker: Broker) -> None:
        """Have a broker accept connections."""
