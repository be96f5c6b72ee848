"""A member of a group with a coordinator: a client half with its application's part in front.

The client half decides everything; here its effects become outputs, its callbacks wait for the
application's poll, and what the group committed is looked up for partitions that it got.
"""

from abc import abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any, ClassVar, Final

from kgroups.core.coordinator.client.classic.client import ClassicClient
from kgroups.core.coordinator.client.effects import (
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
    Unsubscribe,
    UpdateTopics,
)
from kgroups.core.coordinator.client.kip848.client import Kip848Client
from kgroups.core.coordinator.client.manual import ManualClient
from kgroups.core.coordinator.client.offsets import CommittedLookup
from kgroups.core.coordinator.client.ports import Offsets, Positions
from kgroups.core.coordinator.topology import Topology
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan
from kgroups.core.simulation.world.actors import (
    Ask,
    CommitAnswered,
    Consumer,
    Hold,
    Read,
    Reconnect,
    Refresh,
    Release,
    Step,
)
from kgroups.core.simulation.world.addressed import COMMIT_OVER, SHOWN, ask_of, coordinator_text
from kgroups.core.simulation.world.listener import FAILED, Listener

LOOKUP_BACKOFF_MS: Final = 100
# The client half counts its own tokens from 1; the lookup's are even lower.
LOOKUP_TOKEN: Final = -1
# Applications count their commits from 1, and never so far.
LISTENER_COMMIT: Final = 1 << 62


class GroupConsumer(Consumer):
    """A member of a group, by its client half; the protocols' own parts are in the subclasses."""

    _client: ClassicClient | Kip848Client | ManualClient
    # State of the client half -> its name in Java; where there is none the last one holds on.
    java_states: ClassVar[Mapping[object, str]] = {}

    def __init__(
        self, group: GroupPlan, plan: MemberPlan, sender: str, positions: Positions
    ) -> None:
        super().__init__(group, plan, sender, positions)
        self._callbacks: deque[Callback] = deque()
        self._lookup = CommittedLookup(group.name, plan.client_id)
        self._looking = False
        self._look_at_ms: int | None = None
        # Of an application whose listener takes time, or fails.
        self.listener: Listener | None = None
        self._broken: str | None = None
        self._state = next(iter(self.java_states.values()), "")
        self._background = LIBRARIES[plan.library].background

    # ------------------------------------------------------------------ what differs by protocol

    @abstractmethod
    def _make(self, now_ms: int) -> ClassicClient | Kip848Client | ManualClient:
        """The client half."""

    @abstractmethod
    def _subscription(self, topology: Topology) -> Subscribe:
        """The topics that it reads, as far as the client has to know them."""

    def _lookup_identity(self) -> tuple[str | None, int]:
        """Member id and epoch in OffsetFetch, of KIP-848."""
        return None, -1

    @property
    def _poll_is_due(self) -> bool:
        """Whether the client half has something to do in a poll."""
        return False

    @property
    def _is_leaving(self) -> bool:
        """Whether callbacks run without a poll."""
        return False

    # ------------------------------------------------------------------ what the world calls

    def listen(self, random: Random) -> None:
        if self.plan.listener is not None:
            self.listener = Listener(self.plan.listener, random)

    def start(self, now_ms: int, topology: Topology) -> None:
        self._client = self._make(now_ms)
        self._tell(now_ms, UpdateTopics(topology.topics))
        self._tell(now_ms, self._subscription(topology))
        self._go_on(now_ms)

    def subscribe(
        self, now_ms: int, topics: tuple[str, ...], pattern: str | None, topology: Topology
    ) -> None:
        """Tell the client half, which asks for a rebalance where that changes anything."""
        self.plan = replace(self.plan, topics=topics, pattern=pattern)
        self._tell(now_ms, UpdateTopics(topology.topics))
        self._tell(now_ms, self._subscription(topology))
        self._go_on(now_ms)

    def unsubscribe(self, now_ms: int) -> None:
        """Give everything up and leave; some libraries commit first what was processed."""
        owned = self._client.owned
        if self.plan.auto_commits and LIBRARIES[self.plan.library].commits_drops:
            offsets = self.positions(owned)
            if offsets:
                self.commit(now_ms, offsets)
        self.plan = replace(self.plan, topics=(), pattern=None)
        self._tell(now_ms, Unsubscribe())
        self._run_callbacks(now_ms)

    def _go_on(self, now_ms: int) -> None:
        """Rebalance by itself, where the library does not wait for the application's poll."""
        if self._background and not self._is_leaving and self.wants_poll:
            self.poll(now_ms)

    def poll(self, now_ms: int) -> None:
        """Run the callbacks that wait, then let a rebalance begin if one is due."""
        if self.listener is not None:
            self._client.submit(now_ms, Polled(now_ms))
        self._run_callbacks(now_ms)
        if not self._listens:
            self._tell(now_ms, Poll())
            self._run_callbacks(now_ms)

    def polled(self, now_ms: int, at_ms: int) -> None:
        self._client.submit(now_ms, Polled(at_ms))

    def commit(self, now_ms: int, offsets: Offsets, *, number: int = 0, sync: bool = False) -> None:
        """Commit as the member that it is."""
        if self._client.identity[0] > 0:
            self._tell(now_ms, CommitOffsets(offsets, number, sync))
        elif number:
            self.outputs.append(CommitAnswered(number, "not a member"))

    def close(self, now_ms: int) -> None:
        """Commit, revoke, leave; callbacks run without a poll from here on."""
        self._tell(now_ms, Close())
        self._run_callbacks(now_ms)

    def answer(self, now_ms: int, token: int, response: object | None) -> None:
        """Give the answer to who asked."""
        if token == LOOKUP_TOKEN:
            self._looked(now_ms, response)
        else:
            self._client.response(now_ms, token, response)
            self._carry_out(now_ms)
        if self._callbacks and self._is_leaving:
            self._run_callbacks(now_ms)
        if self._background:
            self._go_on(now_ms)

    def beat(self, now_ms: int) -> Ask | None:
        if self._look_at_ms is not None:
            return None
        sent = self._client.beat_alone(now_ms)
        return None if sent is None else ask_of(sent)

    def commit_alone(self, now_ms: int, offsets: Offsets) -> Ask | None:
        """The commit of a client half that has nothing else to do, and no listener to run."""
        if self._callbacks or self.listener is not None:
            return None
        sent = self._client.commit_alone(now_ms, offsets)
        return None if sent is None else ask_of(sent)

    def hasten_beat(self, now_ms: int, share: float) -> None:
        self._client.hasten_beat(now_ms, share)

    def beat_answered(self, now_ms: int, token: int, response: Any) -> bool:
        return self._client.beat_answered(now_ms, token, response)

    def commit_answered(self, now_ms: int, token: int, response: Any) -> bool:
        return self._client.commit_answered(now_ms, token, response)

    def update_topics(self, now_ms: int, topology: Topology) -> None:
        """The topics of a pattern may have changed; a leader watches the partitions."""
        self._tell(now_ms, self._subscription(topology))
        self._tell(now_ms, UpdateTopics(topology.topics))
        self._go_on(now_ms)

    def advance(self, now_ms: int) -> None:
        self._client.advance(now_ms)
        self._carry_out(now_ms)
        if self._look_at_ms is not None and self._look_at_ms <= now_ms:
            self._look(now_ms)
        if self.listener is not None and self._listens and self.listener.until_ms <= now_ms:
            self._listened(now_ms, self.listener)
        if self._background:
            self._go_on(now_ms)

    def next_deadline(self) -> int | None:
        """Of the client half, of its listener, or of the next attempt at the lookup."""
        due = self._client.next_deadline()
        listener = self.listener
        if listener is not None and listener.callback is not None:
            due = listener.until_ms if due is None else min(due, listener.until_ms)
        if self._look_at_ms is None:
            return due
        return self._look_at_ms if due is None else min(due, self._look_at_ms)

    # ------------------------------------------------------------------ what the world sees

    @property
    def member_id(self) -> str:
        return self._client.identity[1]

    @property
    def epoch(self) -> int:
        return self._client.identity[0]

    @property
    def failure(self) -> str | None:
        """A fatal error's text, or that the listener failed."""
        return self._client.failure or self._broken

    @property
    def wants_poll(self) -> bool:
        """A callback waits, or the client half."""
        return not self._listens and (bool(self._callbacks) or self._poll_is_due)

    @property
    def _listens(self) -> bool:
        """Whether a call of the application's listener goes on: it is in its poll meanwhile."""
        return self.listener is not None and self.listener.callback is not None

    # ------------------------------------------------------------------ effects

    def _tell(self, now_ms: int, command: Command) -> None:
        self._client.submit(now_ms, command)
        self._carry_out(now_ms)

    def _carry_out(self, now_ms: int) -> None:
        for effect in self._client.take():
            if type(effect) is Send:
                self.outputs.append(ask_of(effect))
            elif type(effect) is Callback:
                self._callbacks.append(effect)
            elif type(effect) is ClientEvent:
                if effect.kind in SHOWN:
                    self._show(effect)
                elif effect.kind is ClientEventKind.STATE_CHANGED:
                    self._show_state(effect.detail[1])
                if effect.kind in COMMIT_OVER and effect.detail == (LISTENER_COMMIT,):
                    assert self.listener is not None, "it has committed"
                    self.listener.answered(now_ms)
                    self.busy_ms = self.listener.until_ms
                elif effect.kind in COMMIT_OVER and effect.detail and effect.detail[0]:
                    self.outputs.append(
                        CommitAnswered(int(str(effect.detail[0])), effect.reason or None)
                    )

    def _show_state(self, state: object) -> None:
        """Of Java's consumers: other libraries have states of their own."""
        before = self._state
        self._state = self.java_states.get(state, before)
        if self._state != before and self.plan.library == "java":
            self.outputs.append(Step("member state", f"{before} -> {self._state}"))

    def _show(self, event: ClientEvent) -> None:
        detail: Any = event.detail
        text = event.reason
        if event.kind is ClientEventKind.COORDINATOR_FOUND:
            text = coordinator_text(detail[0].node_id, self.plan.library)
        self.outputs.append(Step(event.kind.value, text))
        if event.kind is ClientEventKind.CONNECTION_CLOSED:
            self.outputs.append(Reconnect())
            self._looking = False
            if self._lookup.wanted:
                self._look_at_ms = event.at_ms + LOOKUP_BACKOFF_MS
        if event.kind is ClientEventKind.TOPICS_NEEDED:
            self.outputs.append(Refresh())

    def _run_callbacks(self, now_ms: int) -> None:
        """Call the application's listener, as long as it takes no time."""
        while self._callbacks and not self._listens:
            self._run(now_ms, self._callbacks.popleft())

    def _run(self, now_ms: int, callback: Callback) -> None:
        """The application's rebalance listener: it stops or begins to read."""
        if callback.kind is CallbackKind.ASSIGNED:
            self.outputs.append(Hold(callback.partitions, self._client.identity[0]))
        elif callback.kind is CallbackKind.LOST or self.listener is None:
            self._release(callback)
        if self.listener is not None:
            self.listener.call(now_ms, callback)
            if self.listener.commits and callback.kind is CallbackKind.REVOKED:
                self._commit_revoked(now_ms, self.listener, callback)
            self.busy_ms = self.listener.until_ms
            if self.busy_ms > now_ms:
                return
            self._listened(now_ms, self.listener)
        else:
            self._called(now_ms, callback)

    def _commit_revoked(self, now_ms: int, listener: Listener, callback: Callback) -> None:
        """The listener commits what was processed, and waits for the answer: `commitSync`."""
        offsets = self.positions(callback.partitions)
        if offsets:
            listener.waits(now_ms)
            self._tell(now_ms, CommitOffsets(offsets, LISTENER_COMMIT, sync=True))

    def _listened(self, now_ms: int, listener: Listener) -> None:
        """The listener is done: what it let go is let go now."""
        callback, failed = listener.ended()
        if failed:
            self._broken = FAILED
        if callback.kind is CallbackKind.REVOKED:
            self._release(callback)
        self._called(now_ms, callback)
        if self._is_leaving:
            self._run_callbacks(now_ms)

    def _release(self, callback: Callback) -> None:
        lost = callback.kind is CallbackKind.LOST
        self.outputs.append(Release(callback.partitions, lost))
        self._lookup.drop(callback.partitions)

    def _called(self, now_ms: int, callback: Callback) -> None:
        """Tell the client half, and look where to begin to read."""
        if callback.kind is CallbackKind.ASSIGNED:
            self._lookup.want(self._sought(callback.partitions))
            if not self._looking:
                self._look(now_ms)
        self._tell(now_ms, CallbackDone(callback.number))

    # ------------------------------------------------------------------ where to begin to read

    def _sought(self, partitions: tuple[TopicPartition, ...]) -> tuple[TopicPartition, ...]:
        """Seek to what was stored outside; partitions for which the group's commit counts."""
        if (stored := self.outside) is None:
            return partitions
        if offsets := {p: stored[p] for p in partitions if p in stored}:
            self.outputs.append(Read(offsets))
        return tuple(partition for partition in partitions if partition not in offsets)

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
        offsets = self._lookup.response(response)
        if isinstance(offsets, dict) and offsets:
            self.outputs.append(Read(offsets))
        if self._lookup.wanted:
            self._look_at_ms = now_ms + LOOKUP_BACKOFF_MS
