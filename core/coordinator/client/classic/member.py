"""The state of one member, and the little that every part of the client half does to it."""

from collections import deque

from kgroups.core.coordinator.classic.messages import (
    NO_GENERATION,
    UNKNOWN_MEMBER_ID,
    HeartbeatRequest,
)
from kgroups.core.coordinator.client.classic.states import (
    AGENDAS,
    CLIENT_OUTCOMES,
    ClientAct,
    ClientAsk,
    ClientState,
    Step,
)
from kgroups.core.coordinator.client.client_half import (
    BACKOFF,
    BEAT_DUE,
    NO_MEMBER,
    POLL_OVER,
    ClientHalf,
)
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import (
    Callback,
    CallbackDone,
    CallbackKind,
    ClientEventKind,
    TopicPartition,
)
from kgroups.core.coordinator.client.ports import ClientPorts
from kgroups.core.coordinator.client.reactions import Api
from kgroups.core.coordinator.topology import TopicInfo
from kgroups.core.protocol.errors import ErrorCode

SESSION_OVER, STEPS_OVER = "session", "time for preparing or leaving"
MEMBER_TIMERS = (BEAT_DUE, SESSION_OVER, POLL_OVER)
# On its way out of the group: whatever comes is no reason to join it again.
GOING = frozenset({ClientState.UNSUBSCRIBING, ClientState.LEAVING})
BETWEEN_GENERATIONS = frozenset({ClientState.JOINING, ClientState.SYNCING})
OVER = frozenset({ClientState.CLOSED, ClientState.FAILED})


class ClientMember(ClientHalf):
    """A member's state; `ClassicClient` is its door. More attributes: `ClientHalf`'s.

    Attributes:
        state: where it is on its way into the group.
        generation, member_id: -1 and empty if it has none.
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
        "cluster_topics",
        "cooperative",
        "failure",
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

    def __init__(self, config: ClientConfig, ports: ClientPorts, *, now_ms: int) -> None:
        super().__init__(config, now_ms, ports.positions)
        self.ports = ports
        self.assignors = {assignor.name: assignor for assignor in ports.assignors}
        self.cooperative = all(assignor.cooperative for assignor in ports.assignors)
        self.state = ClientState.UNJOINED
        self.agenda: deque[Step] = deque()
        self.steps_over = False
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

    def disarm(self, *timers: str) -> None:
        """Cancel timers."""
        for timer in timers:
            self.timers.cancel(timer)

    def back_off(self) -> None:
        """As of every client half, longer or shorter by chance."""
        attempts, wait_ms = self.attempts, self.count_attempt()
        if self.ports.stretch is not None:
            self.stretched = self.ports.stretch(self.stretched if attempts else None)
            wait_ms = round(wait_ms * self.stretched)
        self.arm(BACKOFF, wait_ms)

    def obstacle(self) -> str | None:
        if self.state in OVER:
            return "the member is closed" if self.failure is None else self.failure
        if self.state in BETWEEN_GENERATIONS:
            return ErrorCode.REBALANCE_IN_PROGRESS.name
        return NO_MEMBER if self.generation == NO_GENERATION else None

    def send_waiting(self) -> None:
        """As of every client half; what cannot be sent any more is refused at once."""
        obstacle = self.obstacle()
        if obstacle is None:
            super().send_waiting()
        else:
            for wanted in self.take_waiting():
                self.tell_commit(wanted, obstacle)

    def finish_callback(self, command: CallbackDone) -> Callback | None:
        """The listener has finished: what it was told to give up is no more owned."""
        callback = super().finish_callback(command)
        if callback is not None and callback.kind is not CallbackKind.ASSIGNED:
            gone = set(callback.partitions)
            self.owned = tuple(partition for partition in self.owned if partition not in gone)
        return callback

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
        self.disarm(STEPS_OVER)
        if state is ClientState.PREPARING:
            self.arm(STEPS_OVER, config.max_poll_interval_ms)
        elif state is ClientState.LEAVING:
            self.arm(STEPS_OVER, config.close_timeout_ms)
        elif state is ClientState.SYNCING:
            first_ms = config.first_heartbeat_ms
            beat_ms = config.heartbeat_interval_ms if first_ms is None else first_ms
            self.arm(BEAT_DUE, beat_ms)
            self.arm(SESSION_OVER, config.silence_ms)
            self.arm(POLL_OVER, config.max_poll_interval_ms)
        elif state is ClientState.JOINING:
            self.disarm(*MEMBER_TIMERS)
            self.drop(Api.HEARTBEAT)
        if state not in (ClientState.JOINING, ClientState.SYNCING):
            self.drop(Api.JOIN, Api.SYNC)
        if state in (ClientState.UNJOINED, ClientState.CLOSED, ClientState.FAILED):
            self.disarm(*MEMBER_TIMERS, BACKOFF)
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
