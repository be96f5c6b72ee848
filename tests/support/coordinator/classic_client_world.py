"""N members and one real coordinator in virtual time: an application polls, reads, runs callbacks.

Everything that could be a race (delays of requests, answers, callbacks) is drawn from one seed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any
from uuid import UUID

from kgroups.core.coordinator.admin_messages import FindCoordinatorRequest
from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kgroups.core.coordinator.client.classic.client import ClassicClient
from kgroups.core.coordinator.client.classic.states import ClientState
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.default_assignors import client_assignors
from kgroups.core.coordinator.client.effects import (
    Callback,
    CallbackDone,
    CallbackKind,
    ClientEvent,
    ClientEventKind,
    Close,
    Command,
    Poll,
    Send,
    Subscribe,
    TopicPartition,
    UpdateTopics,
)
from kgroups.core.coordinator.client.ports import ClientPorts
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.effects import Reply, Write
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kgroups.core.coordinator.log.records import Record
from kgroups.core.coordinator.offsets.messages import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    PartitionError,
    TopicErrors,
)
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.topology import BrokerEndpoint, TopicInfo, Topology
from kgroups.core.protocol.errors import ErrorCode

GROUP = "g"
START_MS = 1_000_000
POLL_EVERY_MS = 400
SETTLE_MS = 10_000
"""Enough for a rebalance in which nothing goes wrong."""


def topology(leader: int = 0, /, **partitions: int) -> Topology:
    """A cluster with these topics; broker `leader` coordinates every group."""
    topics = {
        name: TopicInfo(name, UUID(int=100 + place), number)
        for place, (name, number) in enumerate(partitions.items())
    }
    brokers = {number: BrokerEndpoint(number, f"b{number}", 9092) for number in range(leader + 1)}
    return Topology(topics, brokers, {0: leader})


def refusal(request: Any, error: ErrorCode) -> object:
    """The answer to a member's request that carries this error."""
    if isinstance(request, OffsetCommitRequest):
        return OffsetCommitResponse(
            tuple(
                TopicErrors(
                    one.name,
                    tuple(PartitionError(p.partition_index, error) for p in one.partitions),
                )
                for one in request.topics
            )
        )
    return REFUSALS[type(request)](error)


REFUSALS: Mapping[type[Request], Callable[[ErrorCode], object]] = {
    JoinGroupRequest: JoinGroupResponse,
    SyncGroupRequest: SyncGroupResponse,
    HeartbeatRequest: HeartbeatResponse,
    LeaveGroupRequest: LeaveGroupResponse,
    ConsumerGroupHeartbeatRequest: lambda error: ConsumerGroupHeartbeatResponse(error, "no"),
}


@dataclass
class App:
    """An application around one member.

    Attributes:
        commits: whether its client commits before it gives partitions up.
        polls: whether it still asks for records; one that does not also runs no callback.
        alive: whether the process is there at all.
        callbacks: every callback in order.
    """

    name: str
    client: ClassicClient
    positions: dict[TopicPartition, int]
    commits: bool = True
    polls: bool = True
    alive: bool = True
    waiting: Callback | None = None
    callbacks: list[Callback] = field(default_factory=list)
    events: list[ClientEvent] = field(default_factory=list)
    sent: list[Request] = field(default_factory=list)

    def told(self, kind: ClientEventKind) -> list[ClientEvent]:
        """Its events of one kind."""
        return [one for one in self.events if one.kind is kind]

    def reasons(self) -> list[str | None]:
        """Reasons of its JoinGroup requests."""
        return [one.reason for one in self.sent if isinstance(one, JoinGroupRequest)]


class World:
    """The coordinator, the applications and the clock.

    Attributes:
        committed: partition -> offset that a commit's good answer confirmed last.
        faults: kind of request -> errors that the next ones are answered with instead.
        lost: kinds of request of which the next one gets no answer.
        dead: brokers that are gone: connections to them break.
        disjoint: whether no two living members may ever hold a partition at once.
    """

    def __init__(self, seed: int, *, disjoint: bool = True, **partitions: int) -> None:
        self.random, self.now_ms, self.disjoint = Random(seed), START_MS, disjoint
        self.topology = topology(**(partitions or {"t": 6}))
        self._ids = count(1)
        self.leader, self.dead = 0, set[int]()
        self.coordinators = {0: self._new_coordinator()}
        self.log: list[Record] = []
        self.apps: dict[str, App] = {}
        self.faults: dict[type[Request], list[ErrorCode]] = {}
        self.lost: list[type[Request]] = []
        self.committed: dict[TopicPartition, int] = {}
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._turns, self._tokens = count(), count(1)
        self._replies: dict[int, tuple[int, Callable[[object | None], None]]] = {}

    # ------------------------------------------------------------------ brokers

    def _new_coordinator(self) -> Coordinator:
        return Coordinator(
            CoordinatorConfig(offsets_partitions=1),
            self.topology,
            lambda: UUID(int=next(self._ids)),
            now_ms=self.now_ms,
        )

    @property
    def coordinator(self) -> Coordinator:
        """The one that has the group now."""
        return self.coordinators[self.leader]

    def kill_broker(self, broker: int) -> None:
        """Every connection to a broker breaks, also those on which a request is parked."""
        self.dead.add(broker)
        for token, (where, reply) in list(self._replies.items()):
            if where == broker:
                del self._replies[token]
                reply(None)

    def move(self, *, loading_ms: int = 0) -> None:
        """Another broker takes the group over from its log, and loads for so long."""
        former, self.leader = self.coordinator, self.leader + 1
        partitions = {name: topic.partitions for name, topic in self.topology.topics.items()}
        self.topology = topology(self.leader, **partitions)
        latter = self.coordinators[self.leader] = self._new_coordinator()
        latter.resign(self.now_ms, 0)
        latter.begin_loading(0)
        former.resign(self.now_ms, 0)
        self._answer()
        for one in self.coordinators.values():
            one.update_topology(self.now_ms, self.topology)

        def load() -> None:
            if self.coordinator is not latter:
                return  # it moved on before it had loaded
            for record in self.log:
                latter.replay(record)
            latter.finish_loading(self.now_ms, 0)

        if loading_ms:
            self.later(loading_ms, load)
        else:
            load()

    # ------------------------------------------------------------------ applications

    def start(
        self,
        name: str,
        assignors: str = "range",
        topics: Iterable[str] = ("t",),
        **settings: Any,
    ) -> App:
        """A new process that subscribes and polls."""
        positions: dict[TopicPartition, int] = {}
        given = {"session_timeout_ms": 10_000, "max_poll_interval_ms": 30_000, "client_id": name}
        ports = ClientPorts(
            client_assignors(assignors.split(",")),
            lambda asked: {one: positions[one] for one in asked if one in positions},
        )
        config = ClientConfig(GROUP, **{**given, **settings})
        client = ClassicClient(config, ports, now_ms=self.now_ms)
        app = App(name, client, positions, config.enable_auto_commit)
        self.apps[name] = app
        self.tell(app, UpdateTopics(self.topology.topics))
        self.tell(app, Subscribe(tuple(topics)))
        self._poll(app)
        return app

    def group(self, assignors: str = "range", number: int = 3) -> list[App]:
        """That many members, settled in generation 1."""
        apps = [self.start(f"c{place}", assignors) for place in range(number)]
        self.settle()
        assert self.generation == 1
        return apps

    def tell(self, app: App, command: Command) -> None:
        """Give a member a command and carry out what follows."""
        app.client.submit(self.now_ms, command)
        self._carry_out(app)

    def stop(self, app: App) -> None:
        """Close the consumer properly."""
        self.tell(app, Close())

    def kill(self, app: App) -> None:
        """The process is gone without a word."""
        app.alive = False

    def stall(self, app: App) -> None:
        """The application is busy: no poll, no callback."""
        app.polls = False

    def wake(self, app: App) -> None:
        """The application comes back to its poll."""
        app.polls = True
        if app.waiting is not None:
            waiting, app.waiting = app.waiting, None
            self._finish(app, waiting)
        self._poll(app)

    def add_partitions(self, **partitions: int) -> None:
        """Topics change, and everybody hears of it."""
        self.topology = topology(self.leader, **partitions)
        self.coordinator.update_topology(self.now_ms, self.topology)
        for app in self.living():
            self.tell(app, UpdateTopics(self.topology.topics))

    def living(self) -> list[App]:
        """Processes that are there and not closed."""
        return [
            app
            for app in self.apps.values()
            if app.alive and app.client.state is not ClientState.CLOSED
        ]

    def _poll(self, app: App) -> None:
        if not (app.alive and app.polls) or app.client.state in (
            ClientState.CLOSED,
            ClientState.FAILED,
        ):
            return
        self.tell(app, Poll())
        if app.client.state is ClientState.STABLE:
            for one in app.client.owned:
                app.positions[one] += 1
        self.later(POLL_EVERY_MS, lambda: self._poll(app))

    # ------------------------------------------------------------------ time

    def later(self, after_ms: int, what: Callable[[], None]) -> None:
        """Do something some ms from now."""
        heappush(self._queue, (self.now_ms + after_ms, next(self._turns), what))

    def run(self, ms: int) -> None:
        """Let so much time pass."""
        until = self.now_ms + ms
        while True:
            places = [app.client.next_deadline() for app in self.living()]
            places += [one.next_deadline() for one in self.coordinators.values()]
            dues = [due for due in places if due is not None]
            first = min([until, *dues, *(at for at, _, _ in self._queue[:1])])
            self.now_ms = max(self.now_ms, first)
            for app in self.living():
                app.client.advance(self.now_ms)
                self._carry_out(app)
            for one in self.coordinators.values():
                one.advance(self.now_ms)
            self._answer()
            while self._queue and self._queue[0][0] <= self.now_ms:
                heappop(self._queue)[2]()
            if first >= until:
                return

    def settle(self, ms: int = SETTLE_MS, *, missing: Iterable[str] = ()) -> None:
        """Let so much time pass, and see that everybody has come to rest (`assert_settled`)."""
        self.run(ms)
        self.assert_settled(missing=missing)

    # ------------------------------------------------------------------ effects

    def _carry_out(self, app: App) -> None:
        for effect in app.client.take():
            if isinstance(effect, Send):
                app.sent.append(effect.request)
                self._transmit(app, effect)
            elif isinstance(effect, Callback):
                app.callbacks.append(effect)
                self._call(app, effect)
            else:
                app.events.append(effect)

    def _transmit(self, app: App, send: Send) -> None:
        assert (send.to is None) == isinstance(send.request, FindCoordinatorRequest)

        def arrive() -> None:
            kind = type(send.request)
            broker = self.leader if send.to is None else send.to.node_id
            if kind in self.lost:
                self.lost.remove(kind)
            elif broker in self.dead:
                reply(None)
            elif self.faults.get(kind):
                reply(refusal(send.request, self.faults[kind].pop(0)))
            else:
                token = next(self._tokens)
                self._replies[token] = broker, reply
                self.coordinators[broker].submit(self.now_ms, token, send.request)
                self._answer()

        def reply(response: object | None) -> None:
            self.later(self.random.randint(1, 20), lambda: self._deliver(app, send, response))

        self.later(self.random.randint(1, 20), arrive)

    def _answer(self) -> None:
        for broker, coordinator in self.coordinators.items():
            for effect in coordinator.take():
                if isinstance(effect, Write):
                    assert broker == self.leader, "only who has the group writes"
                    self.log += effect.records
                elif isinstance(effect, Reply) and broker not in self.dead:
                    self._replies.pop(int(str(effect.token)))[1](effect.response)

    def _deliver(self, app: App, send: Send, response: object) -> None:
        if not app.alive:
            return
        if isinstance(send.request, OffsetCommitRequest):
            self._note_commit(send.request, response)
        app.client.response(self.now_ms, send.token, response)
        self._carry_out(app)

    def _note_commit(self, request: OffsetCommitRequest, response: Any) -> None:
        if response is None:
            return
        good = {
            (topic.name, one.partition_index)
            for topic in response.topics
            for one in topic.partitions
            if one.error_code is ErrorCode.NONE
        }
        for topic in request.topics:
            for one in topic.partitions:
                if (topic.name, one.partition_index) in good:
                    partition = TopicPartition(topic.name, one.partition_index)
                    self.committed[partition] = one.committed_offset

    def _call(self, app: App, callback: Callback) -> None:
        if callback.kind is CallbackKind.ASSIGNED:
            self._check_holders(app, callback)
            for one in callback.partitions:
                app.positions[one] = self.committed.get(one, 0)
        elif (
            callback.kind is CallbackKind.REVOKED
            and app.commits
            and not app.told(ClientEventKind.COMMIT_FAILED)
        ):
            for one in callback.partitions:
                assert self.committed[one] == app.positions[one], f"{one} is not committed"
        self.later(self.random.randint(0, 300), lambda: self._finish(app, callback))

    def _finish(self, app: App, callback: Callback) -> None:
        if app.alive and app.polls:
            self.tell(app, CallbackDone(callback.number))
        elif app.alive:
            app.waiting = callback

    def _check_holders(self, app: App, callback: Callback) -> None:
        for other in self.living() if self.disjoint else ():
            both = set(other.client.owned) & set(callback.partitions)
            assert other is app or not both, f"{app.name} and {other.name} hold {both}"

    # ------------------------------------------------------------------ looking

    @property
    def generation(self) -> int:
        """The group's generation at the coordinator."""
        (group,) = self.coordinator.snapshot()
        return group.epoch

    def shares(self) -> dict[str, list[int]]:
        """Partitions of topic t by application, sorted."""
        return {
            app.name: sorted(one.partition for one in app.client.owned if one.topic == "t")
            for app in self.living()
        }

    def assert_settled(self, *, missing: Iterable[str] = ()) -> None:
        """Everybody is Stable in the group's generation; every partition has one owner.

        Args:
            missing: applications that are not expected to take part.
        """
        members = [app for app in self.living() if app.name not in set(missing)]
        for app in members:
            assert app.client.state is ClientState.STABLE, (app.name, app.client.state)
            assert app.client.rejoin_reason is None, (app.name, app.client.rejoin_reason)
            assert app.client.identity[0] == self.generation, app.name
        held = sorted(one for app in members for one in app.client.owned)
        expected = [(t.name, n) for t in self.topology.topics.values() for n in range(t.partitions)]
        assert held == sorted(expected if members else []), self.shares()
        state = self.coordinator.group_states().get(GROUP, ("", "Empty"))[1]  # none: nobody joined
        assert state == ("Stable" if members else "Empty")
