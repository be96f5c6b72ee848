"""A small world for the tests: consumers, an ensemble, and the time between them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from typing import NamedTuple

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.topology import BrokerEndpoint
from kgroups.core.zookeeper.client_session import Dial
from kgroups.core.zookeeper.consumer import ZookeeperConsumer
from kgroups.core.zookeeper.effects import (
    Committed,
    EventKind,
    Fetch,
    StopFetching,
    ZookeeperConsumerConfig,
    ZookeeperConsumerEvent,
    ZookeeperConsumerPorts,
)
from kgroups.core.zookeeper.ensemble import Ensemble, EnsembleConfig
from kgroups.core.zookeeper.node_tree import Change
from kgroups.core.zookeeper.nodes import BROKER_IDS, topic_path, write_broker, write_topic
from kgroups.core.zookeeper.protocol import (
    READS,
    Answer,
    Api,
    Call,
    Notice,
    Request,
    ToClient,
    ToServer,
)


def first(below: int) -> int:
    """Chance that always draws 0: server 0, no delay."""
    return 0


def broker_data(broker: int) -> str:
    """The data of a broker's node."""
    return write_broker(BrokerEndpoint(broker, "127.0.0.1", 9092 + broker))


class Line(NamedTuple):
    """One event of one consumer."""

    at_ms: int
    name: str
    event: ZookeeperConsumerEvent


class Op(NamedTuple):
    """A request that was carried out; `failed`: a write that was refused."""

    at_ms: int
    name: str
    api: str
    path: str
    watch: bool
    failed: bool


class Reading(NamedTuple):
    """A consumer begins or ends to read partitions."""

    at_ms: int
    name: str
    begins: bool
    partitions: tuple[TopicPartition, ...]


@dataclass
class Seat:
    """A consumer in the world.

    Attributes:
        up: whether its process runs; a paused one does not see the time.
        reachable: whether its packets get through; else they wait.
        positions: what its application has read.
    """

    consumer: ZookeeperConsumer
    latency_ms: int
    up: bool = True
    paused: bool = False
    reachable: bool = True
    waiting: list[tuple[int, ToClient]] = field(default_factory=list)
    unsent: list[tuple[int, ToServer]] = field(default_factory=list)
    positions: dict[TopicPartition, int] = field(default_factory=dict)


class World:
    """Consumers and an ensemble; everything takes a fixed latency, in order.

    Args:
        topics: partitions by topic.
        brokers: how many are registered at the start.
    """

    def __init__(
        self,
        topics: Mapping[str, int],
        *,
        brokers: int = 1,
        ensemble: EnsembleConfig | None = None,
    ) -> None:
        self.now_ms = 0
        self.ensemble = Ensemble(ensemble or EnsembleConfig(servers=1))
        self.seats: dict[str, Seat] = {}
        self.lines: list[Line] = []
        self.readings: list[Reading] = []
        self.ops: list[Op] = []
        self.notices = 0  # watches that fired
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._turn = 0
        self._calls: dict[tuple[str, int, int], Request] = {}
        self._names: dict[int, tuple[str, int]] = {}
        self._numbers: dict[tuple[str, int], int] = {}
        parents = ("/brokers", BROKER_IDS, "/brokers/topics", "/consumers")
        self.ensemble.write(0, *(Change(Api.CREATE, path) for path in parents))
        for topic, partitions in topics.items():
            self.write(Change(Api.CREATE, topic_path(topic), write_topic(partitions)))
        for broker in range(brokers):
            self.write(
                Change(
                    Api.CREATE,
                    f"{BROKER_IDS}/{broker}",
                    broker_data(broker),
                )
            )

    # ------------------------------------------------------------------ what a test does

    def write(self, change: Change) -> None:
        """Change a node from outside."""
        self.ensemble.write(self.now_ms, change)
        self._deliver()

    def start(
        self,
        name: str,
        topics: Mapping[str, int] | None = None,
        *,
        latency_ms: int = 1,
        draw: Callable[[int], int] = first,
        matches: Callable[[str], bool] = lambda topic: True,
        **settings: object,
    ) -> Seat:
        """Start a consumer; `settings` are fields of ZookeeperConsumerConfig."""

        def positions(asked: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
            return {one: seat.positions[one] for one in asked if one in seat.positions}

        found: dict[str, object] = {"servers": self.ensemble.config.servers, **settings}
        config = ZookeeperConsumerConfig("g", name, topics or {}, **found)  # type: ignore[arg-type]
        ports = ZookeeperConsumerPorts(draw, positions, matches)
        seat = Seat(ZookeeperConsumer(config, ports, now_ms=self.now_ms), latency_ms)
        self.seats[name] = seat
        seat.consumer.start(self.now_ms)
        self._carry_out(name)
        return seat

    def commit(self, name: str) -> None:
        """Let a consumer commit, as its auto-commit thread does."""
        self.seats[name].consumer.commit(self.now_ms)
        self._carry_out(name)

    def shutdown(self, name: str) -> None:
        """Close a consumer properly."""
        self.seats[name].consumer.shutdown(self.now_ms)
        self._carry_out(name)

    def crash(self, name: str) -> None:
        """End a process: its connections break at once, its session lives on."""
        self.seats[name].up = False
        for connection, (owner, _) in list(self._names.items()):
            if owner == name:
                self.ensemble.cut(self.now_ms, connection)
        self._note(name, self.seats[name].consumer.fetching, begin=False)

    def pause(self, name: str) -> None:
        """Stop a process, as a long garbage collection does."""
        self.seats[name].paused = True

    def resume(self, name: str) -> None:
        """Let it go on: first it reads what has come, then it sees the time."""
        seat = self.seats[name]
        seat.paused = False
        waiting, seat.waiting = seat.waiting, []
        for connection, message in waiting:
            seat.consumer.receive(self.now_ms, connection, message)
        seat.consumer.advance(self.now_ms)
        self._carry_out(name)

    def cut_off(self, name: str) -> None:
        """Keep a consumer's packets from getting through, both ways."""
        self.seats[name].reachable = False

    def heal(self, name: str) -> None:
        """Let the packets that waited through."""
        seat = self.seats[name]
        seat.reachable = True
        unsent, seat.unsent = seat.unsent, []
        for connection, sent in unsent:
            self._at(seat.latency_ms, partial(self._arrive, name, connection, sent))
        waiting, seat.waiting = seat.waiting, []
        for connection, message in waiting:
            self._at(seat.latency_ms, partial(self._hear, name, connection, message))

    def run(self, until_ms: int) -> None:
        """Let time pass."""
        while (due_ms := self._next()) is not None and due_ms <= until_ms:
            self.now_ms = due_ms
            while self._heap and self._heap[0][0] <= due_ms:
                heappop(self._heap)[2]()
            self.ensemble.advance(due_ms)
            self._deliver()
            for name, seat in self.seats.items():
                if seat.up and not seat.paused:
                    seat.consumer.advance(due_ms)
                    self._carry_out(name)
        self.now_ms = until_ms

    def settle(self, within_ms: int = 120_000) -> None:
        """Run until every consumer is settled and nothing but pings is on its way."""
        end_ms = self.now_ms + within_ms
        while self.now_ms < end_ms:
            self.run(self.now_ms + 50)
            seats = [one for one in self.seats.values() if one.up and not one.consumer.closed]
            if all(one.consumer.settled for one in seats):
                return
        raise AssertionError(f"not settled after {within_ms} ms: {self.lines[-20:]}")

    # ------------------------------------------------------------------ what a test looks at

    def fetching(self) -> dict[str, list[str]]:
        """What each running consumer reads: `topic-partition`, sorted."""
        return {
            name: sorted(f"{one.topic}-{one.partition}" for one in seat.consumer.fetching)
            for name, seat in self.seats.items()
            if seat.up and not seat.consumer.closed
        }

    def owners(self) -> dict[str, str]:
        """Owner nodes as the leader knows them: `topic-partition` -> thread id."""
        tree, found = self.ensemble.tree_of(), {}
        above = "/consumers/g/owners"
        node = tree.node(above)
        for topic in sorted(node.children if node else ()):
            below = tree.node(f"{above}/{topic}")
            for partition in sorted(below.children if below else ()):
                owner = tree.node(f"{above}/{topic}/{partition}")
                assert owner is not None
                found[f"{topic}-{partition}"] = owner.data
        return found

    def events(
        self, name: str, *kinds: EventKind, since_ms: int = 0
    ) -> list[ZookeeperConsumerEvent]:
        """A consumer's events of these kinds."""
        return [
            line.event
            for line in self.lines
            if line.name == name and line.at_ms >= since_ms and line.event.kind in kinds
        ]

    # ------------------------------------------------------------------ what makes it go

    def _next(self) -> int | None:
        due = [self._heap[0][0]] if self._heap else []
        due += [one for one in [self.ensemble.next_deadline()] if one is not None]
        for seat in self.seats.values():
            at_ms = seat.consumer.next_deadline()
            if seat.up and not seat.paused and at_ms is not None:
                due.append(at_ms)
        return min(due, default=None)

    def _at(self, after_ms: int, action: Callable[[], None]) -> None:
        self._turn += 1
        heappush(self._heap, (self.now_ms + after_ms, self._turn, action))

    def _carry_out(self, name: str) -> None:
        seat = self.seats[name]
        for effect in seat.consumer.take():
            if isinstance(effect, Dial):
                self._turn += 1
                self._names[self._turn] = (name, effect.connection)
                self._numbers[name, effect.connection] = self._turn
                server, number = effect.server, self._turn
                self.ensemble.accept(self.now_ms, number, server)
            elif isinstance(effect, ZookeeperConsumerEvent):
                self.lines.append(Line(self.now_ms, name, effect))
            elif isinstance(effect, Fetch):
                seat.positions |= {one: at for one, at in effect.positions.items() if at}
                self._note(name, tuple(effect.positions), begin=True)
            elif isinstance(effect, StopFetching):
                self._note(name, effect.partitions, begin=False)
            elif not isinstance(effect, Committed):
                self._send(name, effect.connection, effect.message)

    def _note(self, name: str, partitions: tuple[TopicPartition, ...], *, begin: bool) -> None:
        if partitions:
            self.readings.append(Reading(self.now_ms, name, begin, partitions))

    def _send(self, name: str, connection: int, message: ToServer) -> None:
        seat = self.seats[name]
        if isinstance(message, Call):
            self._calls[name, connection, message.xid] = message.request
        if seat.reachable:
            self._at(seat.latency_ms, lambda: self._arrive(name, connection, message))
        else:
            seat.unsent.append((connection, message))

    def _arrive(self, name: str, connection: int, message: ToServer) -> None:
        self.ensemble.receive(self.now_ms, self._numbers[name, connection], message)
        self._deliver()

    def _deliver(self) -> None:
        for delivery in self.ensemble.take():
            name, connection = self._names[delivery.connection]
            seat, message = self.seats[name], delivery.message
            self.notices += isinstance(message, Notice)
            if isinstance(message, Answer):
                asked = self._calls.pop((name, connection, message.xid))
                failed = message.reply.error is not None and asked.api not in READS
                op = Op(self.now_ms, name, asked.api, asked.path, asked.watch, failed)
                self.ops.append(op)
            if seat.reachable:
                self._at(seat.latency_ms, partial(self._hear, name, connection, message))
            else:
                seat.waiting.append((connection, message))

    def _hear(self, name: str, connection: int, message: ToClient) -> None:
        seat = self.seats[name]
        if seat.paused:
            seat.waiting.append((connection, message))
        elif seat.up:
            seat.consumer.receive(self.now_ms, connection, message)
            self._carry_out(name)
