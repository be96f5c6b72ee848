"""The state of one member, and the little that every part of the client half does to it."""

from collections import deque
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from kgroups.core.coordinator.classic.messages import (
    NO_GENERATION,
    UNKNOWN_MEMBER_ID,
    HeartbeatRequest,
)
from kgroups.core.coordinator.client.classic.states import (
    AGENDAS,
    CLIENT_OUTCOMES,
    FIND,
    Api,
    ClientAct,
    ClientAsk,
    ClientState,
    Step,
)
from kgroups.core.coordinator.client.client_half import ClientHalf
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import (
    Callback,
    CallbackKind,
    ClientEventKind,
    Send,
    TopicPartition,
)
from kgroups.core.coordinator.client.ports import ClientPorts
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.topology import TopicInfo


class ClientTimer(Enum):
    """The purposes of a member's timers."""

    # Enum's own is written in Python, and every heartbeat looks timers up several times.
    __hash__ = object.__hash__

    HEARTBEAT = "heartbeat.interval.ms"
    SESSION = "session.timeout.ms"
    POLL = "max.poll.interval.ms"
    BACKOFF = "retry.backoff.ms"
    STEPS = "time for preparing or leaving"
    REQUEST = "request.timeout.ms"
    COMMIT = "default.api.timeout.ms"


# On its way out of the group: whatever comes is no reason to join it again.
GOING = frozenset({ClientState.UNSUBSCRIBING, ClientState.LEAVING})
MEMBER_TIMERS = (ClientTimer.HEARTBEAT, ClientTimer.SESSION, ClientTimer.POLL)
TimerKey = tuple[ClientTimer, int]
ANY_REQUEST: TimerKey = (ClientTimer.REQUEST, 0)
HEARTBEAT: TimerKey = (ClientTimer.HEARTBEAT, 0)
SESSION: TimerKey = (ClientTimer.SESSION, 0)
POLL: TimerKey = (ClientTimer.POLL, 0)


class Commit(NamedTuple):
    """A commit that the application asked for.

    Args:
        number: by which it is told how it went.
        until_ms: try again until then; None: once.
    """

    serial: int
    offsets: Mapping[TopicPartition, int]
    number: int
    until_ms: int | None


class Flight(NamedTuple):
    """A request that is under way, with the identity under which it was sent.

    Args:
        awaited: the state goes on with its answer; else only an event tells of it.
        until_ms: the answer counts as lost from then on.
        commit: what is committed, if the application asked for it.
    """

    api: Api
    generation: int
    member_id: str
    awaited: bool
    until_ms: int
    commit: Commit | None = None


class ClientMember(ClientHalf):
    """A member's state; `ClassicClient` is its door. More attributes: `ClientHalf`'s.

    Attributes:
        state: where it is on its way into the group.
        generation, member_id: -1 and empty if it has none.
        flights: requests under way by token; `current` names the awaited one of each kind.
        commits: asked for by the application and not under way.
        agenda: steps of the present state that are still to be done.
        steps_over: the time for these steps is over.
        rejoin_reason: why the next poll begins a rebalance; None if it need not.
        losses: heartbeats and searches for the coordinator that were lost since the last answer.
        stretched: by what chance has made the present back-off longer.
        last: assignment taken over last, with the generation that gave it and its bytes.
        watched: topics of the group -> partitions, as the leader knew them when it decided.
        by_pattern: whether the topics are those that a pattern was found to match.
        beat: the heartbeat sent last; one that says the same is the same.
        failure: why it failed; None if it has not.
    """

    __slots__ = (
        "agenda",
        "assignors",
        "beat",
        "by_pattern",
        "callback",
        "cluster_topics",
        "commits",
        "cooperative",
        "current",
        "failure",
        "flights",
        "generation",
        "given",
        "join_reason",
        "last",
        "last_bytes",
        "last_generation",
        "losses",
        "member_id",
        "ports",
        "protocol",
        "rejoin_reason",
        "state",
        "steps_over",
        "stretched",
        "topics",
        "watched",
    )

    beat_due, poll_over = HEARTBEAT, POLL

    def __init__(self, config: ClientConfig, ports: ClientPorts, *, now_ms: int) -> None:
        super().__init__(config, now_ms)
        self.ports = ports
        self.assignors = {assignor.name: assignor for assignor in ports.assignors}
        self.cooperative = all(assignor.cooperative for assignor in ports.assignors)
        self.state = ClientState.UNJOINED
        self.flights: dict[int, Flight] = {}
        self.current: dict[Api, int] = {}
        self.commits: list[Commit] = []
        self.agenda: deque[Step] = deque()
        self.steps_over = False
        self.callback: Callback | None = None
        self.losses = 0
        self.stretched = 1.0
        self.topics: tuple[str, ...] = ()
        self.by_pattern = False
        self.cluster_topics: dict[str, TopicInfo] = {}
        self.generation, self.member_id = NO_GENERATION, UNKNOWN_MEMBER_ID
        self.protocol: str | None = None
        self.rejoin_reason: str | None = None
        self.join_reason = ""
        self.given: tuple[TopicPartition, ...] = ()
        self.last: tuple[TopicPartition, ...] | None = None
        self.last_bytes = b""
        self.last_generation = NO_GENERATION
        self.watched: dict[str, int] | None = None
        self.failure: str | None = None
        self.beat: HeartbeatRequest | None = None

    @property
    def subscribed(self) -> bool:
        """Whether it is to join: a pattern may match nothing yet."""
        return bool(self.topics) or self.by_pattern

    # ------------------------------------------------------------------ effects and timers

    def arm(self, kind: ClientTimer, after_ms: int, token: int = 0) -> None:
        """Let a timer fire after so many ms, in place of what it was armed for."""
        self.timers.schedule((kind, token), self.now_ms + after_ms, None)

    def disarm(self, *kinds: ClientTimer) -> None:
        """Cancel timers that belong to no request."""
        for kind in kinds:
            self.timers.cancel((kind, 0))

    def is_armed(self, kind: ClientTimer) -> bool:
        """Whether a timer that belongs to no request is armed."""
        return (kind, 0) in self.timers

    def number(self) -> int:
        """A token or callback number that was not used before."""
        self._numbers += 1
        return self._numbers

    def send(
        self,
        api: Api,
        request: Request,
        *,
        timeout_ms: int | None = None,
        awaited: bool = True,
        commit: Commit | None = None,
    ) -> None:
        """Send a request to the coordinator, or FindCoordinator to any broker."""
        self._numbers = token = self._numbers + 1
        patience_ms = self.config.request_timeout_ms if timeout_ms is None else timeout_ms
        until_ms = self.now_ms + patience_ms
        self.flights[token] = Flight(
            api, self.generation, self.member_id, awaited, until_ms, commit
        )
        if awaited:
            self.current[api] = token
        # One timer for all of them, for the one that is waited for least long.
        armed_ms = self.timers.deadline(ANY_REQUEST)
        if armed_ms is None or until_ms < armed_ms:
            self.timers.schedule(ANY_REQUEST, until_ms, None)
        self.effects.append(Send(token, None if api is FIND else self.coordinator, request))

    def land(self, token: int) -> Flight | None:
        """The request of this token, which is under way no more; None if nobody waits for it."""
        flights = self.flights
        flight = flights.pop(token, None)
        if flight is None:
            return None
        if not flights:
            self.timers.cancel(ANY_REQUEST)
        elif flight.until_ms <= (self.timers.deadline(ANY_REQUEST) or self.now_ms):
            self.timers.schedule(ANY_REQUEST, min(f.until_ms for f in flights.values()), None)
        if self.current.get(flight.api) == token:
            del self.current[flight.api]
        return flight

    def drop(self, *apis: Api) -> None:
        """Wait no more for the answers to these requests."""
        for api in apis:
            if api in self.current:
                self.land(self.current[api])

    def back_off(self) -> None:
        """Send nothing but heartbeats for a while, each time for longer."""
        attempts, wait_ms = self.attempts, self.count_attempt()
        if self.ports.stretch is not None:
            self.stretched = self.ports.stretch(self.stretched if attempts else None)
            wait_ms = round(wait_ms * self.stretched)
        self.arm(ClientTimer.BACKOFF, wait_ms)

    def call_back(self, kind: CallbackKind, partitions: tuple[TopicPartition, ...]) -> None:
        """Run the application's listener; the steps stand still until it has finished."""
        self.callback = Callback(self.number(), kind, partitions)
        self.effects.append(self.callback)

    # ------------------------------------------------------------------ state

    def ask(self, ask: ClientAsk, reason: str = "", *, keep_id: bool = False) -> bool:
        """Do what the table says about `ask`; False if the state ignores it.

        Args:
            keep_id: forgetting the generation, keep the member id.
        """
        act, to = CLIENT_OUTCOMES[ask][self.state]
        if act in (ClientAct.FORGET, ClientAct.FORGET_AND_GO):
            self.forget(reason, keep_id=keep_id)
        if act not in (ClientAct.IGNORE, ClientAct.GO) and ask is not ClientAsk.FATAL:
            self.want_rejoin(reason)
        if to is not None:
            self.enter(to, reason or ask.value)
        return act is not ClientAct.IGNORE

    def want_rejoin(self, reason: str) -> None:
        """Let the next poll begin a rebalance; the first reason counts."""
        if self.rejoin_reason is None and self.state not in GOING:
            self.rejoin_reason = reason
            self.tell(ClientEventKind.REJOIN_REQUESTED, reason)

    def enter(self, state: ClientState, reason: str) -> None:
        """Go over into a state, with its steps and timers."""
        self.tell(ClientEventKind.STATE_CHANGED, reason, self.state, state)
        self.state = state
        self.agenda = deque(AGENDAS[state][0] if state in AGENDAS else ())
        self.steps_over = False
        config = self.config
        self.disarm(ClientTimer.STEPS)
        if state is ClientState.PREPARING:
            self.arm(ClientTimer.STEPS, config.max_poll_interval_ms)
        elif state is ClientState.LEAVING:
            self.arm(ClientTimer.STEPS, config.close_timeout_ms)
        elif state is ClientState.SYNCING:
            first_ms = config.first_heartbeat_ms
            beat_ms = config.heartbeat_interval_ms if first_ms is None else first_ms
            self.arm(ClientTimer.HEARTBEAT, beat_ms)
            self.arm(ClientTimer.SESSION, config.silence_ms)
            self.arm(ClientTimer.POLL, config.max_poll_interval_ms)
        elif state is ClientState.JOINING:
            self.disarm(*MEMBER_TIMERS)
            self.drop(Api.HEARTBEAT)
        if state not in (ClientState.JOINING, ClientState.SYNCING):
            self.drop(Api.JOIN, Api.SYNC)
        if state in (ClientState.UNJOINED, ClientState.CLOSED, ClientState.FAILED):
            self.disarm(*MEMBER_TIMERS, ClientTimer.BACKOFF)
            self.drop(Api.FIND, Api.HEARTBEAT, Api.COMMIT)

    def forget(self, reason: str, *, keep_id: bool) -> None:
        """Be in no generation any more: what is owned now is lost."""
        if self.generation != NO_GENERATION:
            self.tell(ClientEventKind.GENERATION_LOST, reason, self.generation)
        self.generation, self.watched = NO_GENERATION, None
        if not keep_id:
            self.member_id = UNKNOWN_MEMBER_ID
        self.disarm(*MEMBER_TIMERS)
        self.drop(Api.HEARTBEAT, Api.COMMIT)

    def lose_coordinator(self, reason: str) -> None:
        """As of every client half; the heartbeat that is under way is not waited for."""
        super().lose_coordinator(reason)
        self.drop(Api.HEARTBEAT)

    def fail(self, reason: str) -> None:
        """Give up: only closing is left."""
        self.failure = self.failure or reason
        if self.ask(ClientAsk.FATAL, reason):
            self.tell(ClientEventKind.FAILED, reason)
