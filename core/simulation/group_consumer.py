"""A member of a group with a coordinator: a client half with its application's part in front.

The client half decides everything; here its effects become outputs, its callbacks wait for the
application's poll, and what the group committed is looked up for partitions that it got.
"""

from collections import deque
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from kgroups.core.client_side import client_assignors
from kgroups.core.coordinator.client import ConsumerClient
from kgroups.core.coordinator.client_config import ClientConfig
from kgroups.core.coordinator.client_effects import (
    Callback,
    CallbackDone,
    CallbackKind,
    ClientEvent,
    ClientEventKind,
    Close,
    Command,
    CommitOffsets,
    Poll,
    Polled,
    Send,
    Subscribe,
    TopicPartition,
    UpdateTopics,
)
from kgroups.core.coordinator.client_offsets import CommittedLookup, Refusal
from kgroups.core.coordinator.client_ports import ClientAssignor, ClientPorts, Positions
from kgroups.core.coordinator.client_states import ClientState
from kgroups.core.coordinator.messages import NO_GENERATION
from kgroups.core.coordinator.topology import Topology
from kgroups.core.simulation.actors import ANY_BROKER, Ask, Consumer, Hold, Read, Release, Step
from kgroups.core.simulation.scenario import GroupPlan, MemberPlan
from kgroups.core.simulation.subscriptions import pattern_matches

# What a member of each library offers where the scenario does not say it.
ASSIGNORS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("eager", "java"): ("range", "cooperative-sticky"),
    ("eager", "librdkafka"): ("range", "roundrobin"),
    ("cooperative", "java"): ("cooperative-sticky",),
    ("cooperative", "librdkafka"): ("cooperative-sticky",),
}
LOOKUP_BACKOFF_MS: Final = 100
# The client half counts its own tokens from 1; the lookup's are even lower.
LOOKUP_TOKEN: Final = -1

# Events of the client half that a timeline shows.
SHOWN: Final = frozenset(ClientEventKind) - {
    ClientEventKind.STATE_CHANGED,
    ClientEventKind.OFFSETS_COMMITTED,
}
POLL_MATTERS: Final = frozenset({ClientState.UNJOINED, ClientState.STABLE})


@cache
def assignors_of(names: tuple[str, ...], library: str) -> tuple[ClientAssignor, ...]:
    """The assignors of these names, made once."""
    return client_assignors(names, library)


@cache
def kind_of(class_name: str) -> str:
    """`JoinGroup` of `JoinGroupRequest`."""
    return class_name.removesuffix("Request")


def offered(group: GroupPlan, plan: MemberPlan) -> tuple[str, ...]:
    """Assignors that a member of a classic group offers, in order of preference."""
    return plan.settings.assignors or ASSIGNORS[group.protocol, plan.library]


def client_config(group: GroupPlan, plan: MemberPlan) -> ClientConfig:
    """The client half's settings."""
    given = plan.settings
    return ClientConfig(
        group.name,
        client_id=plan.client_id,
        client_host=f"/{plan.name}",
        group_instance_id=plan.instance_id,
        client_rack=plan.rack,
        session_timeout_ms=given.session_timeout_ms,
        heartbeat_interval_ms=given.heartbeat_interval_ms,
        max_poll_interval_ms=given.max_poll_interval_ms,
        rebalance_timeout_ms=given.rebalance_timeout_ms,
        request_timeout_ms=given.request_timeout_ms,
        enable_auto_commit=given.enable_auto_commit,
    )


class GroupConsumer(Consumer):
    """A member of a classic group, by its client half.

    Args:
        now_ms: when its process starts.
    """

    _client: ConsumerClient

    def __init__(
        self, group: GroupPlan, plan: MemberPlan, sender: str, positions: Positions
    ) -> None:
        super().__init__(group, plan, sender, positions)
        self._callbacks: deque[Callback] = deque()
        self._lookup = CommittedLookup(group.name, plan.client_id)
        self._looking = False
        self._look_at_ms: int | None = None
        self._topics: tuple[str, ...] = ()

    # ------------------------------------------------------------------ what differs by protocol

    def _make(self, now_ms: int) -> ConsumerClient:
        names = offered(self.group, self.plan)
        ports = ClientPorts(assignors_of(names, self.plan.library), self.positions)
        return ConsumerClient(client_config(self.group, self.plan), ports, now_ms=now_ms)

    def _subscription(self, topology: Topology) -> Subscribe:
        """Topics by name, with those that the pattern stands for among the topics known."""
        plan = self.plan
        found = dict.fromkeys(plan.topics)
        matches = pattern_matches(self.group, plan)
        if matches is not None:
            found.update(dict.fromkeys(name for name in sorted(topology.topics) if matches(name)))
        return Subscribe(tuple(found))

    def _lookup_identity(self) -> tuple[str | None, int]:
        """Member id and epoch in OffsetFetch: a classic member gives none."""
        return None, -1

    # ------------------------------------------------------------------ what the world calls

    def start(self, now_ms: int, topology: Topology) -> None:
        """Subscribe."""
        self._client = self._make(now_ms)
        self._tell(now_ms, UpdateTopics(topology.topics))
        self._tell(now_ms, self._subscription(topology))

    def poll(self, now_ms: int) -> None:
        """Run the callbacks that wait, then let a rebalance begin if one is due."""
        while self._callbacks:
            self._run(now_ms, self._callbacks.popleft())
        self._tell(now_ms, Poll())
        while self._callbacks:
            self._run(now_ms, self._callbacks.popleft())

    def polled(self, now_ms: int, at_ms: int) -> None:
        """Put off the end of `max.poll.interval.ms`."""
        self._client.submit(now_ms, Polled(at_ms))

    def commit(self, now_ms: int, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit without waiting."""
        if self._client.identity[0] != NO_GENERATION:
            self._tell(now_ms, CommitOffsets(offsets))

    def close(self, now_ms: int) -> None:
        """Commit, revoke, leave; callbacks run without a poll from here on."""
        self._tell(now_ms, Close())
        while self._callbacks:
            self._run(now_ms, self._callbacks.popleft())

    def answer(self, now_ms: int, token: int, response: object | None) -> None:
        """Give the answer to who asked."""
        if token == LOOKUP_TOKEN:
            self._looked(now_ms, response)
        else:
            self._client.response(now_ms, token, response)
            self._carry_out(now_ms)
        if self._client.state is ClientState.LEAVING:
            while self._callbacks:
                self._run(now_ms, self._callbacks.popleft())

    def notify(self, now_ms: int, message: object) -> None:
        """A coordinator sends nothing that was not asked for."""

    def update_topics(self, now_ms: int, topology: Topology) -> None:
        """What a pattern stands for may have changed; a leader watches the partitions."""
        self._tell(now_ms, self._subscription(topology))
        self._tell(now_ms, UpdateTopics(topology.topics))

    def advance(self, now_ms: int) -> None:
        """Fire timers."""
        self._client.advance(now_ms)
        self._carry_out(now_ms)
        if self._look_at_ms is not None and self._look_at_ms <= now_ms:
            self._look(now_ms)

    def next_deadline(self) -> int | None:
        """Of the client half, or of the next attempt at the lookup."""
        due = self._client.next_deadline()
        if self._look_at_ms is None:
            return due
        return self._look_at_ms if due is None else min(due, self._look_at_ms)

    # ------------------------------------------------------------------ what the world sees

    @property
    def member_id(self) -> str:
        """What the coordinator calls it."""
        return self._client.identity[1]

    @property
    def wants_poll(self) -> bool:
        """A callback waits, or a rebalance is to begin."""
        if self._callbacks:
            return True
        client = self._client
        if client.state not in POLL_MATTERS:
            return False
        return client.rejoin_reason is not None or client.identity[0] == NO_GENERATION

    @property
    def settled(self) -> bool:
        """Stable, with nothing on its mind."""
        client = self._client
        stable = client.state is ClientState.STABLE and client.rejoin_reason is None
        return stable and not self._lookup.wanted and not self._callbacks

    @property
    def closed(self) -> bool:
        """Left, or not to leave because static."""
        return self._client.state is ClientState.CLOSED

    @property
    def failure(self) -> str | None:
        """A fatal error's text."""
        return self._client.failure

    # ------------------------------------------------------------------ effects

    def _tell(self, now_ms: int, command: Command) -> None:
        self._client.submit(now_ms, command)
        self._carry_out(now_ms)

    def _carry_out(self, now_ms: int) -> None:
        for effect in self._client.take():
            if type(effect) is Send:
                to = ANY_BROKER if effect.to is None else effect.to.node_id
                request = effect.request
                self.outputs.append(Ask(effect.token, to, kind_of(type(request).__name__), request))
            elif type(effect) is Callback:
                self._callbacks.append(effect)
            elif type(effect) is ClientEvent and effect.kind in SHOWN:
                self._show(effect)

    def _show(self, event: ClientEvent) -> None:
        detail: Any = event.detail
        text = event.reason
        if event.kind is ClientEventKind.COORDINATOR_FOUND:
            text = f"broker {detail[0].node_id}"
        self.outputs.append(Step(event.kind.value, text))

    def _run(self, now_ms: int, callback: Callback) -> None:
        """The application's rebalance listener: it stops or begins to read."""
        partitions = callback.partitions
        if callback.kind is CallbackKind.ASSIGNED:
            self.outputs.append(Hold(partitions, self._client.identity[0]))
            self._lookup.want(partitions)
            if not self._looking:
                self._look(now_ms)
        else:
            lost = callback.kind is CallbackKind.LOST
            self.outputs.append(Release(partitions, lost))
            self._lookup.drop(partitions)
        self._tell(now_ms, CallbackDone(callback.number))

    # ------------------------------------------------------------------ where to begin to read

    def _look(self, now_ms: int) -> None:
        self._look_at_ms = None
        request = self._lookup.request(*self._lookup_identity())
        where = self._client.coordinator
        if request is None or self._looking:
            return
        if where is None:
            self._look_at_ms = now_ms + LOOKUP_BACKOFF_MS
            return
        self._looking = True
        self.outputs.append(Ask(LOOKUP_TOKEN, where.node_id, "OffsetFetch", request))

    def _looked(self, now_ms: int, response: Any) -> None:
        self._looking = False
        found = self._lookup.response(response)
        if not isinstance(found, Refusal) and found:
            self.outputs.append(Read(found))
        if self._lookup.wanted:
            self._look_at_ms = now_ms + LOOKUP_BACKOFF_MS
