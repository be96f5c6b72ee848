"""The client half of the classic protocol: a member of a group, without I/O.

What Kafka calls ConsumerCoordinator. Commands, answers and time go in, effects come out:

    client.submit(now_ms, command)                # Subscribe, Poll, CallbackDone, Close, ...
    client.response(now_ms, token, answer)        # None: the connection broke
    client.advance(now_ms)
    for effect in client.take(): ...              # Send, Callback, ClientEvent
    wake_at_ms = client.next_deadline()

A rebalance begins with a poll and goes on by itself; `Callback` effects are run by whoever polls.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kgroups.core.coordinator.append_errors import NO_ERROR
from kgroups.core.coordinator.classic.messages import NO_GENERATION, HeartbeatResponse
from kgroups.core.coordinator.client.classic.answers import error_of, keep_session, take_answer
from kgroups.core.coordinator.client.classic.join import (
    count_partitions,
    send_find,
    send_heartbeat,
    send_join,
)
from kgroups.core.coordinator.client.classic.member import SESSION_OVER, STEPS_OVER, ClientMember
from kgroups.core.coordinator.client.classic.states import (
    AGENDAS,
    BEAT,
    BEATING,
    CLIENT_OUTCOMES,
    COMMIT,
    JOINING,
    NEEDS_COORDINATOR,
    STABLE,
    UNJOINED,
    ClientAct,
    ClientAsk,
)
from kgroups.core.coordinator.client.classic.steps import (
    run_steps,
    send_leave,
)
from kgroups.core.coordinator.client.client_half import BACKOFF, BEAT_DUE, POLL_OVER, REQUEST
from kgroups.core.coordinator.client.effects import (
    CallbackDone,
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
from kgroups.core.coordinator.client.reactions import Api
from kgroups.core.coordinator.offsets.messages import OffsetCommitResponse
from kgroups.core.coordinator.topology import (
    MATCHED,
    SUBSCRIBED,
    partitions_changed,
    topics_read,
)


class ClassicClient(ClientMember):
    """One member of a classic group; attributes as `ClientMember`'s.

    Args:
        ports: its assignors and positions.
        now_ms: epoch milliseconds.
    """

    __slots__ = ()

    def submit(self, now_ms: int, command: Command) -> None:
        """Take in a command; timers that were due fire first, but for what `Polled` puts off."""
        if type(command) is not Polled:
            self.advance(now_ms)
        COMMANDS[type(command)](self, command)
        self._pursue()

    def beat_alone(self, now_ms: int) -> Send | None:
        if self.waits_for(BEAT) or not self._is_at_rest():
            return None
        if not self.timers.pop_alone(BEAT_DUE, now_ms):
            return None
        self.now_ms = now_ms
        _beat(self)
        return self._sent_alone()

    def beat_answered(self, now_ms: int, token: int, answer: HeartbeatResponse) -> bool:
        flight = self.flights.get(token)
        if (
            flight is None
            or answer.error_code is not NO_ERROR
            or flight.identity != self.identity
            or not self._is_at_rest()
            or not self.timers.is_quiet(now_ms)
        ):
            return False
        self.now_ms = now_ms
        self.land(token)
        self.attempts = self.losses = 0
        keep_session(self)
        return True

    def commit_alone(self, now_ms: int, offsets: Mapping[TopicPartition, int]) -> Send | None:
        if self.rejoin_reason is not None or not self._is_at_rest():
            return None
        if BACKOFF in self.timers or not self.timers.is_quiet(now_ms):
            return None
        self.now_ms = now_ms
        self.send_commit(offsets, self.want_commit(CommitOffsets(offsets)))
        _poll(self, Poll())
        return self._sent_alone()

    def commit_answered(self, now_ms: int, token: int, answer: OffsetCommitResponse) -> bool:
        flight = self.flights.get(token)
        if (
            flight is None
            or flight.wanted is None
            or flight.wanted.command.number
            or flight.wanted.command.sync
            or flight.identity != self.identity
            or not self._is_at_rest()
            or not self.timers.is_quiet(now_ms)
            or error_of(COMMIT, answer) is not NO_ERROR
        ):
            return False
        self.now_ms = now_ms
        self.land(token)
        self.attempts = self.losses = 0
        return True

    def _is_at_rest(self) -> bool:
        """Whether it is a member that waits for timers and answers only."""
        return (
            self.state is STABLE
            and self.coordinator is not None
            and self.generation != NO_GENERATION
            and not self.waiting
            and not self.effects
        )

    def put_off_beat(self, until_ms: int) -> None:
        """Send the next heartbeat then, and not before."""
        self.timers.put_off(BEAT_DUE, until_ms)

    @property
    def identity(self) -> tuple[int, str]:
        return self.generation, self.member_id

    def _take_answer(self, token: int, answer: Any) -> None:
        take_answer(self, token, answer)

    def _fire(self, timer: str) -> None:
        if timer in TIMERS:
            TIMERS[timer](self)
        else:
            super()._fire(timer)

    def _pursue(self) -> None:
        """Do what can be done now: the steps of the state, finding the coordinator, joining."""
        # What was to be committed before goes first: a later commit is never of less.
        if self.waiting:
            self.send_waiting()
        if self.state in AGENDAS:
            run_steps(self)
            if self.waiting:
                self.send_waiting()
        if self.coordinator is not None and self.state is not JOINING:
            return
        if BACKOFF in self.timers:
            return
        if self.coordinator is None:
            if self.state in NEEDS_COORDINATOR and not self.waits_for(Api.FIND):
                send_find(self)
        elif not self.waits_for(Api.JOIN):
            send_join(self)


# ---------------------------------------------------------------------- commands


def _subscribe(member: ClientMember, command: Subscribe) -> None:
    member.by_pattern = command.pattern is not None
    verbs = MATCHED if member.by_pattern else SUBSCRIBED
    changed = topics_read(member.topics, command.topics, verbs)
    if changed:
        member.topics = command.topics
        member.ask(ClientAsk.REJOIN, changed)


def _unsubscribe(member: ClientMember, command: Unsubscribe) -> None:
    member.topics, member.by_pattern = (), False
    if member.ask(ClientAsk.UNSUBSCRIBE):
        member.rejoin_reason = None


def _poll(member: ClientMember, command: Poll) -> None:
    member.timers.move(POLL_OVER, member.now_ms + member.config.max_poll_interval_ms)
    if member.state is UNJOINED:
        due = member.subscribed
    else:
        due = member.rejoin_reason is not None or member.generation == NO_GENERATION
    if due:
        member.ask(ClientAsk.POLL, member.rejoin_reason or "subscribed")


def _update_topics(member: ClientMember, command: UpdateTopics) -> None:
    member.cluster_topics = dict(command.topics)
    watched = member.watched
    if watched is None:
        return
    counts = count_partitions(member, set(watched))
    if watched != counts:
        member.watched = None
        member.ask(ClientAsk.REJOIN, partitions_changed(watched, counts))


def _close(member: ClientMember, command: Close) -> None:
    member.ask(ClientAsk.CLOSE)


COMMANDS: Mapping[type, Callable[[ClientMember, Any], object]] = {
    Subscribe: _subscribe,
    Unsubscribe: _unsubscribe,
    Poll: _poll,
    Polled: ClientMember.polled,
    CallbackDone: ClientMember.finish_callback,
    CommitOffsets: lambda member, command: member.wait_with(member.want_commit(command)),
    UpdateTopics: _update_topics,
    Close: _close,
}


# ---------------------------------------------------------------------- timers


def _beat(member: ClientMember) -> None:
    interval_ms = member.config.heartbeat_interval_ms
    member.arm(BEAT_DUE, interval_ms)
    ready = member.coordinator is not None and not member.waits_for(BEAT)
    if ready and member.state in BEATING and member.generation != NO_GENERATION:
        send_heartbeat(member)


def _session_over(member: ClientMember) -> None:
    if member.config.tolerated_losses is not None and member.config.counts_late:
        return  # it counts what is lost, and does not look at the clock
    reason = "session timed out without an answer to a heartbeat"
    if member.config.session_ends_membership:
        member.ask(ClientAsk.FORGOTTEN, reason)
        return
    member.arm(SESSION_OVER, member.config.silence_ms)
    member.lose_coordinator(reason)


def _poll_over(member: ClientMember) -> None:
    if CLIENT_OUTCOMES[ClientAsk.POLL_EXPIRED][member.state].act is not ClientAct.IGNORE:
        reason = "consumer poll timeout has expired"
        send_leave(member, reason, awaited=False)
        member.ask(ClientAsk.POLL_EXPIRED, reason)


def _steps_over(member: ClientMember) -> None:
    member.steps_over = True
    if member.waits_for(Api.COMMIT):
        member.tell(ClientEventKind.COMMIT_FAILED, "no answer came in time")
    member.drop(Api.COMMIT, Api.LEAVE)


def _request_over(member: ClientMember) -> None:
    """Close the connection: nothing else that is under way is answered either."""
    closes = member.config.timeout_closes_connection
    if closes:
        member.tell(ClientEventKind.CONNECTION_CLOSED, "a request was not answered in time")
    for waiting, flight in list(member.flights.items()):
        if closes or flight.until_ms <= member.now_ms:
            take_answer(member, waiting, None, late=True)


TIMERS: Mapping[str, Callable[[ClientMember], None]] = {
    BEAT_DUE: _beat,
    SESSION_OVER: _session_over,
    POLL_OVER: _poll_over,
    STEPS_OVER: _steps_over,
    REQUEST: _request_over,
}
