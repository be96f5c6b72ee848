"""Rows carried out for real, some at a time, and simulated beside."""

import itertools
import queue
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.scenario.scenario_events import PausePartitions
from kgroups.core.simulation.scenario.scenario_model import Scenario
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.hosts.process import HostFailed
from tests.support.kafka.broker import KafkaCluster, free_ports
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.waiting import DeadlinePassed, wait_until
from tests.support.simulation_truth.detour import Detour
from tests.support.simulation_truth.figures import Figures, Told, count
from tests.support.simulation_truth.group_log import GroupLog
from tests.support.simulation_truth.producer import SteadyProducer
from tests.support.simulation_truth.rows import CLUSTER, REST_MS, Row, paused_ms
from tests.support.simulation_truth.watched_group import Place, WatchedGroup, now_ms

OFFSETS_PARTITIONS: Final = 10
PATIENCE_S: Final = 240.0
# By then a simulated group is whole.
LONG_MS: Final = 30_000
SEEDS: Final = 9
# Where what comes first decides, an event comes so much earlier to so much later.
WITHIN_MS: Final = 100


@dataclass(frozen=True)
class Result:
    """What was simulated, and what came; `failure` where clients could not be made to do it.

    Args:
        simulated: of each seed.
    """

    row: Row
    simulated: tuple[Figures, ...]
    real: Figures | None
    failure: str = ""
    told: tuple[Told, ...] = ()


def simulated(row: Row, down_s: float = 0.0) -> tuple[Figures, ...]:
    """The figures of simulations, counted as those of the real group are.

    Of several seeds where chance has a part in it.
    """
    calm = replace(row.scenario(event_ms=LONG_MS), events=(), until_ms=LONG_MS)
    event_ms = REST_MS + max(one.from_ms for one in simulate(calm).groups[0].owned)
    (earlier,) = simulate(replace(calm, until_ms=event_ms - 1 - WITHIN_MS)).groups
    found: list[Figures] = []
    for seed in range(1, SEEDS + 1) if row.kind.chance else (1,):
        at_ms = event_ms
        if row.kind.races:
            at_ms += WITHIN_MS * (2 * seed - SEEDS - 1) // (SEEDS - 1)
        wanted = row.scenario(event_ms=at_ms, down_s=down_s)
        found.append(_figures(wanted, at_ms, seed, earlier))
    return tuple(found)


def _figures(wanted: Scenario, event_ms: int, seed: int, earlier: GroupOutcome) -> Figures:
    """Of one seed, from the event on; `earlier` is how the group was before it."""
    (group,) = simulate(wanted, seed=seed).groups
    told: list[Told] = []
    end_ms = wanted.until_ms or 0
    for one in group.owned:
        place = ((one.partition.topic, one.partition.partition),)
        told.append(Told(one.from_ms, "got", one.seat, place))
        if one.to_ms < end_ms:
            told.append(Told(one.to_ms, "gave", one.seat, place))
    known = {one.partition for one in group.owned if one.from_ms < event_ms}
    new = sorted({(one.topic, one.partition) for one in group.partitions} - known)
    told.append(Told(event_ms, "new", "", tuple(new)))
    figures = count(told, event_ms, end_ms, generations=group.epoch - earlier.epoch)
    # Which records were read is not in the log of a simulation.
    read_again = group.read_again - earlier.read_again
    return replace(figures, read_again=read_again, read_paused=_read_paused(wanted, event_ms, seed))


def _read_paused(wanted: Scenario, event_ms: int, seed: int) -> int:
    """Records that came while every member had paused what it had."""
    (event, *_) = (each.event for each in wanted.events)
    if not isinstance(event, PausePartitions):
        return 0
    times_ms = paused_ms(event_ms, event.for_ms)
    records = [
        simulate(replace(wanted, until_ms=at_ms), seed=seed).groups[0].records
        for at_ms in (times_ms.start, times_ms.stop)
    ]
    return records[1] - records[0]


class SharedRestart:
    """One restart of the broker for all groups that wait for it.

    Args:
        groups: how many will come, or give up.
        restart: does it; when the broker was away first, and how many seconds.
    """

    def __init__(self, groups: int, restart: Callable[[], tuple[int, float]]) -> None:
        self._left, self._restart = groups, restart
        self._lock = threading.Lock()
        self._all_here, self._over = threading.Event(), threading.Event()
        self._found: tuple[int, float] | None = None

    def arrive(self) -> tuple[int, float]:
        """Wait for the others, then for the restart: when it began, and its seconds."""
        self.give_up()
        if not self._all_here.wait(PATIENCE_S):
            raise DeadlinePassed("the other groups are not there")
        with self._lock:
            if not self._over.is_set():
                self._over.set()
                self._found = self._restart()
        if self._found is None:
            raise DeadlinePassed("the broker did not come back")
        return self._found

    def give_up(self) -> None:
        """One less to wait for."""
        with self._lock:
            self._left -= 1
            if self._left <= 0:
                self._all_here.set()


def restarted(kafka: KafkaCluster) -> tuple[int, float]:
    """Restart the only broker; when it took no connection any more, and for how many seconds."""
    host, port = kafka.address().split(":")

    def refused() -> bool:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            return True
        return False

    with ThreadPoolExecutor(1) as thread:
        stopping = thread.submit(kafka.stop)
        wait_until(refused, "the broker takes no connection", timeout_s=PATIENCE_S)
        began_ms = now_ms()
        stopping.result(PATIENCE_S)
    kafka.start()
    return began_ms, (now_ms() - began_ms) / 1_000


class Stage:
    """The broker, the programs of the clients, and what they tell; a context manager.

    Args:
        rows: that will be carried out.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._groups: dict[str, WatchedGroup] = {}
        self._numbers = itertools.count(1)
        self._exits = ExitStack()
        alike = [row for row in rows if row.own_broker]
        self._restart = SharedRestart(len(alike), lambda: restarted(self.kafka))

    def __enter__(self) -> Self:
        enter = self._exits.enter_context
        cuts = sum(row.event == "network_partition" for row in self._rows)
        ways = [enter(Detour()) for _ in range(2 * cuts)]
        ports = free_ports(len(ways))
        detours = {port: way.port for port, way in zip(ports, ways, strict=True)}
        properties = {**CLUSTER, "offsets.topic.num.partitions": str(OFFSETS_PARTITIONS)}
        self.kafka = enter(KafkaCluster(ClusterSpec(detours=detours, properties=properties)))
        self._free: queue.SimpleQueue[Detour] = queue.SimpleQueue()
        for port, way in zip(ports, ways, strict=True):
            way.open(port)
            self._free.put(way)
        self._pool = enter(HostPool(self._hear))
        self._log = enter(closing(GroupLog(self.kafka.bootstrap, OFFSETS_PARTITIONS)))
        self._producer = enter(closing(SteadyProducer(self.kafka.bootstrap)))
        return self

    def __exit__(self, *_: object) -> None:
        self._exits.close()

    def carry_out(self, at_once: int, done: Callable[[Result], None]) -> list[Result]:
        """Every row, the longest first; those that restart the broker at last, together."""

        def result(row: Row) -> Result:
            found = self._result(row)
            done(found)
            return found

        alone = [row for row in self._rows if not row.own_broker]
        alone.sort(key=lambda row: -row.kind.lasts_s)
        together = [row for row in self._rows if row.own_broker]
        found: list[Result] = []
        for rows, threads in ((alone, at_once), (together, len(together))):
            if rows:
                with ThreadPoolExecutor(threads) as pool:
                    found += pool.map(result, rows)
        return found

    def _result(self, row: Row) -> Result:
        """Once more where clients failed."""
        failure = ""
        for _ in range(1 if row.own_broker else 2):
            group = self._group(row)
            try:
                real = group.run()
            except (HostFailed, DeadlinePassed, TimeoutError) as failed:
                failure = str(failed)
                continue
            return Result(row, simulated(row, group.down_s), real, told=tuple(group.told))
        if row.own_broker:
            self._restart.give_up()
        return Result(row, simulated(row, 8.0 if row.own_broker else 0.0), None, failure)

    def _group(self, row: Row) -> WatchedGroup:
        place = Place(
            self.kafka.bootstrap,
            self._pool,
            self._log,
            self._producer,
            self._free.get_nowait,
            self._restart.arrive,
        )
        group = WatchedGroup(place, row, next(self._numbers))
        self._groups[group.group] = group
        return group

    def _hear(self, event: Mapping[str, Any]) -> None:
        group, _, _ = event["name"].rpartition("/")
        self._groups[group].hear(event)
