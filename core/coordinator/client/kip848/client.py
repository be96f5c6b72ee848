"""The client half of the consumer group protocol (KIP-848): a member of a group, without I/O.

The same commands, effects and manners as the classic one (`client.py`); what Kafka calls
ConsumerMembershipManager. Heartbeats go by themselves; a new target is reconciled when the
application polls: commit, `revoked`, `assigned`, and the next heartbeat acknowledges.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kgroups.core.coordinator.append_errors import NO_ERROR
from kgroups.core.coordinator.client.client_half import BACKOFF, BEAT_DUE, POLL_OVER
from kgroups.core.coordinator.client.effects import (
    CallbackDone,
    CallbackKind,
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
from kgroups.core.coordinator.client.kip848.member import (
    BEAT_REACTIONS,
    BEATING,
    HASTY,
    HEARTBEAT_API,
    JOIN_EPOCH,
    LEAVING,
    STABLE,
    THROWN_OUT,
    MemberState,
)
from kgroups.core.coordinator.client.kip848.steps import Kip848ClientSteps
from kgroups.core.coordinator.client.reactions import Api, Reaction
from kgroups.core.coordinator.client.requests import commit_error, find_request
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatResponse,
)
from kgroups.core.coordinator.offsets.messages import OffsetCommitResponse
from kgroups.core.coordinator.timers import Timers
from kgroups.core.errors import counted
from kgroups.core.protocol.errors import ErrorCode


class Kip848Client(Kip848ClientSteps):
    """One member of a consumer group; arguments and attributes as `Kip848ClientMember`'s."""

    __slots__ = ()

    # ------------------------------------------------------------------ what a driver calls

    def submit(self, now_ms: int, command: Command) -> None:
        """Take in a command; timers that were due fire first, but for what `Polled` puts off."""
        if type(command) is not Polled:
            self.advance(now_ms)
        COMMANDS[type(command)](self, command)
        self._pursue()

    def beat_alone(self, now_ms: int) -> Send | None:
        if self.flights or not self._is_at_rest() or BACKOFF in self.timers:
            return None
        if not self.timers.pop_alone(BEAT_DUE, now_ms):
            return None
        self.now_ms = now_ms
        self._beat()
        return self._sent_alone()

    def beat_answered(
        self, now_ms: int, token: int, answer: ConsumerGroupHeartbeatResponse
    ) -> bool:
        flight = self.flights.get(token)
        if (
            flight is None
            or answer.error_code is not NO_ERROR
            or answer.assignment is not None
            or answer.member_epoch != self.epoch
            or answer.heartbeat_interval_ms != self._interval_ms
            or not self._is_at_rest()
            or BEAT_DUE not in self.timers
            or not self.timers.is_quiet(now_ms)
        ):
            return False
        self.now_ms = now_ms
        self.land(token)
        self.attempts = 0
        return True

    def commit_alone(self, now_ms: int, offsets: Mapping[TopicPartition, int]) -> Send | None:
        if not self._is_at_rest() or BEAT_DUE not in self.timers:
            return None
        if not self.timers.is_quiet(now_ms):
            return None
        self.now_ms = now_ms
        self._commit(CommitOffsets(offsets))
        self._poll(Poll())
        return self._sent_alone()

    def commit_answered(self, now_ms: int, token: int, answer: OffsetCommitResponse) -> bool:
        flight = self.flights.get(token)
        if (
            flight is None
            or flight.wanted is None
            or flight.wanted.command.number
            or not self._is_at_rest()
            or BEAT_DUE not in self.timers
            or not self.timers.is_quiet(now_ms)
            or commit_error(answer) is not NO_ERROR
        ):
            return False
        self.now_ms = now_ms
        self.land(token)
        return True

    def _is_at_rest(self) -> bool:
        """Whether it is a member that waits for timers and answers only."""
        return (
            self.state is STABLE
            and self.coordinator is not None
            and not self._steps
            and not self.effects
            and not self.waiting
        )

    @property
    def identity(self) -> tuple[int, str]:
        return self.epoch, self.member_id

    @property
    def is_giving_up(self) -> bool:
        """Whether it is about to give partitions up: no records of them until then."""
        return bool(self._steps) or self.state in (MemberState.LEAVING, MemberState.CLOSED)

    @property
    def poll_is_due(self) -> bool:
        """Whether the next poll does more than fetch records."""
        if self.state in THROWN_OUT or self.state is MemberState.UNSUBSCRIBED:
            return self.callback is None and not self._steps and self.subscribed
        waits = self.state is MemberState.RECONCILING and not self._steps
        return waits and self.callback is None and self._resolved() != self.owned

    # ------------------------------------------------------------------ commands

    def _subscribe(self, command: Subscribe) -> None:
        self._names, self._pattern = tuple(sorted(command.topics)), command.pattern

    def _poll(self, command: Poll) -> None:
        if POLL_OVER in self.timers:
            self.arm(POLL_OVER, self.config.max_poll_interval_ms)
        if self.poll_is_due:
            if self.state is MemberState.RECONCILING:
                self._begin_reconciling()
            elif self.state in THROWN_OUT:
                self._steps = [lambda: self._let_go(self.owned, CallbackKind.LOST), self._join]
            else:
                self._join()

    def _update_topics(self, command: UpdateTopics) -> None:
        self._topics = dict(command.topics)
        self._topic_names = {topic.topic_id: name for name, topic in self._topics.items()}

    def _close(self, command: Close) -> None:
        self._leaves_to = MemberState.CLOSED
        self._prepare_leaving("close", commits=True)

    def _unsubscribe(self, command: Unsubscribe) -> None:
        self._names, self._pattern = (), None
        if self.state not in (MemberState.UNSUBSCRIBED, MemberState.FATAL, *LEAVING):
            self._leaves_to = MemberState.UNSUBSCRIBED
            self._prepare_leaving("unsubscribe", commits=False)

    def _prepare_leaving(self, reason: str, *, commits: bool) -> None:
        if self.state in LEAVING:
            return
        thrown_out = self.state in THROWN_OUT or self.state is MemberState.FATAL
        kind = CallbackKind.LOST if thrown_out else CallbackKind.REVOKED
        member = self.epoch > JOIN_EPOCH and not thrown_out
        self._enter(MemberState.PREPARE_LEAVING, reason)
        self.callback = None
        self._steps = [lambda: self._let_go(self.owned, kind), lambda: self._leave(member)]
        if member and commits:
            self._steps.insert(0, self._auto_commit)

    # ------------------------------------------------------------------ steps

    def _pursue(self) -> None:
        if self.waiting:
            self.send_waiting()
        while self._steps and self.callback is None and self._commit_token not in self.flights:
            step = self._steps.pop(0)
            if not step():
                self._steps.insert(0, step)
                break
        reachable = self.coordinator is not None
        if reachable and BEAT_DUE in self.timers and self.state not in HASTY:
            return
        if BACKOFF in self.timers:
            return
        if not reachable:
            wanted = self.state in BEATING or self.state is MemberState.PREPARE_LEAVING
            if wanted and not self.waits_for(Api.FIND):
                self.send(Api.FIND, find_request(self.config))
        elif self.state in BEATING and not self.waits_for(HEARTBEAT_API):
            self._beat()

    # ------------------------------------------------------------------ heartbeats

    def _beat(self) -> None:
        beat, quiet = self._whole_beat(), self._quiet
        joining = self.epoch == JOIN_EPOCH
        if beat is not self._sent:
            request = self._heartbeat(beat, self._sent)
        elif quiet is not None and quiet.member_epoch == self.epoch:
            request = quiet
        else:
            request = self._quiet = self._heartbeat(beat, beat)
        self.send(HEARTBEAT_API, request)
        self._sent = beat
        if self._interval_ms:
            self.arm(BEAT_DUE, self._interval_ms)
        if self.state is MemberState.ACKNOWLEDGING and not joining:
            self._after_beat()

    def _fire(self, timer: str) -> None:
        if timer == POLL_OVER:
            self._poll_over()
        else:
            super()._fire(timer)

    def _take_answer(self, token: int, answer: Any) -> None:
        flight = self.land(token)
        if flight is None:
            return
        if flight.api == Api.FIND:
            if self.found(answer):
                self.timers.cancel(BEAT_DUE)
        elif flight.api == Api.COMMIT:
            self._committed(token, flight.wanted, answer)
        elif self.state in BEATING:
            self._beaten(answer)

    def _beaten(self, answer: ConsumerGroupHeartbeatResponse | None) -> None:
        error = ErrorCode.NETWORK_EXCEPTION if answer is None else answer.error_code
        reaction = BEAT_REACTIONS.get(error, Reaction.FATAL)
        reason = f"{HEARTBEAT_API} was answered {error.name}"
        if reaction is Reaction.PROCEED and answer is not None:
            self.attempts = 0
            self._take_in(answer)
            return
        self._sent = None
        if reaction is Reaction.FORGET_GENERATION:
            self._throw_out(MemberState.FENCED, reason)
        elif reaction is Reaction.FATAL:
            message = None if answer is None else answer.error_message
            self.failure = f"{reason}: {message}" if message else reason
            self._enter(MemberState.FATAL, reason)
            self.tell(ClientEventKind.FAILED, self.failure)
            self.timers = Timers()
        else:
            if reaction is Reaction.FIND:
                self.lose_coordinator(reason)
            # The next attempt waits for the back-off only, not for the interval.
            self.timers.cancel(BEAT_DUE)
            self.back_off()

    def _take_in(self, answer: ConsumerGroupHeartbeatResponse) -> None:
        self.epoch, self._interval_ms = answer.member_epoch, answer.heartbeat_interval_ms
        if BEAT_DUE not in self.timers:
            self.arm(BEAT_DUE, self._interval_ms)
        if answer.assignment is not None:
            self._target = {t.topic_id: frozenset(t.partitions) for t in answer.assignment}
            count = sum(len(partitions) for partitions in self._target.values())
            detail = f"{counted(count, 'partition')}, epoch {self.epoch}"
            self.tell(ClientEventKind.TARGET_GIVEN, detail)
            self._after_beat()
        elif self.state is MemberState.JOINING:
            self._after_beat()

    def _throw_out(self, state: MemberState, reason: str) -> None:
        self.tell(ClientEventKind.GENERATION_LOST, reason, self.epoch)
        self._enter(state, reason)
        self._steps, self.callback = [], None
        self.epoch, self._sent = JOIN_EPOCH, None
        # An answer to what it asked before says nothing about the member that it will be.
        self.drop(HEARTBEAT_API)
        for kind in (BEAT_DUE, POLL_OVER):
            self.timers.cancel(kind)

    def _poll_over(self) -> None:
        if self.state in BEATING:
            if self.coordinator is not None and self.epoch > JOIN_EPOCH:
                self._say_good_bye()
            self._throw_out(MemberState.STALE, "consumer poll timeout has expired")


COMMANDS: Mapping[type, Callable[[Kip848Client, Any], object]] = {
    Subscribe: Kip848Client._subscribe,
    Unsubscribe: Kip848Client._unsubscribe,
    Poll: Kip848Client._poll,
    Polled: Kip848Client.polled,
    CallbackDone: Kip848Client.finish_callback,
    CommitOffsets: Kip848Client._commit,
    UpdateTopics: Kip848Client._update_topics,
    Close: Kip848Client._close,
}
