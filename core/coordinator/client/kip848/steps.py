"""Steps of a member of a consumer group (KIP-848): it commits, reconciles, joins, and leaves.

A step that needs an answer or a callback holds up those behind it. A commit speaks for the member
epoch of the moment; a rebalance does not refuse it. Source: `AbstractMembershipManager`,
`ConsumerMembershipManager`, `CommitRequestManager`.
"""

from collections.abc import Iterable
from typing import Any

from kgroups.core.coordinator.client.client_half import NO_MEMBER, POLL_OVER, Wanted
from kgroups.core.coordinator.client.effects import (
    CallbackKind,
    ClientEventKind,
    CommitOffsets,
    TopicPartition,
)
from kgroups.core.coordinator.client.kip848.member import (
    BEAT_REACTIONS,
    HEARTBEAT_API,
    JOIN_EPOCH,
    LEAVE_EPOCH,
    LEAVE_STATIC_EPOCH,
    Kip848ClientMember,
    MemberState,
)
from kgroups.core.coordinator.client.reactions import AGAIN, Api, Reaction
from kgroups.core.coordinator.client.requests import commit_error
from kgroups.core.coordinator.timers import Timers
from kgroups.core.protocol.errors import ErrorCode


class Kip848Commits(Kip848ClientMember):
    """The commits of a member."""

    __slots__ = ()

    def _commit(self, command: CommitOffsets) -> None:
        commit, obstacle = self.want_commit(command), self.obstacle()
        if obstacle is not None:
            self.tell_commit(commit, obstacle)
        elif self.coordinator is not None:
            self.send_commit(command.offsets, commit)
        elif command.sync:
            self.wait_with(commit)
        else:
            self.tell_commit(commit, "the coordinator is not known")

    def obstacle(self) -> str | None:
        return NO_MEMBER if self.epoch <= JOIN_EPOCH else None

    def _auto_commit(self) -> bool:
        if not self.config.enable_auto_commit or self.epoch <= JOIN_EPOCH:
            return True
        offsets = self.positions(self.owned)
        if not offsets:
            return True
        if self.coordinator is None:
            return False
        self._commit_token = self.send_commit(offsets)
        return True

    def _committed(self, token: int, wanted: Wanted | None, answer: Any) -> None:
        error = commit_error(answer)
        reaction = BEAT_REACTIONS.get(error)
        if wanted is not None:
            self.settle_commit(wanted, error, again=reaction in AGAIN)
        elif error is ErrorCode.NONE:
            self.tell(ClientEventKind.OFFSETS_COMMITTED)
        else:
            self.tell(ClientEventKind.COMMIT_FAILED, error.name)
        if reaction is Reaction.FIND:
            self.lose_coordinator(f"{Api.COMMIT} was answered {error.name}")
            if token == self._commit_token and self._steps:
                # The rebalance waits for this commit: again, once the coordinator is found.
                self._steps.insert(0, self._auto_commit)

    def _give_commits_up(self, reason: str) -> None:
        """The member is gone: nobody answers the commits that its application waits for."""
        under_way = [flight.wanted for flight in self.flights.values() if flight.wanted]
        self.flights.clear()
        for commit in (*under_way, *self.take_waiting()):
            self.tell_commit(commit, reason)


class Kip848ClientSteps(Kip848Commits):
    """The changes that a member has to make; attributes as `Kip848ClientMember`'s."""

    __slots__ = ()

    def _let_go(self, partitions: Iterable[TopicPartition], kind: CallbackKind) -> bool:
        gone = tuple(partitions)
        if gone:
            self.call_back(kind, gone)
            self._steps.insert(0, lambda: self._forget(gone))
        return True

    def _forget(self, gone: tuple[TopicPartition, ...]) -> bool:
        left = frozenset(gone)
        self.owned = tuple(partition for partition in self.owned if partition not in left)
        return True

    def _join(self) -> bool:
        if self.subscribed:
            self.epoch, self._sent = JOIN_EPOCH, None
            self._target = {}
            self._enter(MemberState.JOINING, "polled while not a member")
            self.arm(POLL_OVER, self.config.max_poll_interval_ms)
        return True

    def _leave(self, member: bool) -> bool:
        if member and self.coordinator is not None:
            self._say_good_bye()
        self._enter(MemberState.LEAVING, "gave up all partitions")
        self.timers = Timers()
        self._give_commits_up("the member has left the group")
        self._enter(self._leaves_to, "left the group")
        if self._leaves_to is MemberState.UNSUBSCRIBED:
            self.epoch, self._sent = JOIN_EPOCH, None
        return True

    def _say_good_bye(self) -> None:
        static = self.config.group_instance_id is not None
        self.epoch = LEAVE_STATIC_EPOCH if static else LEAVE_EPOCH
        self.send(HEARTBEAT_API, self._heartbeat(self._whole_beat(), None))

    # ------------------------------------------------------------------ reconciliation

    def _begin_reconciling(self) -> None:
        wanted = self._resolved()
        keep, have = frozenset(wanted), frozenset(self.owned)
        leaving = tuple(partition for partition in self.owned if partition not in keep)
        added = tuple(partition for partition in wanted if partition not in have)
        self._steps = [
            self._auto_commit,
            lambda: self._let_go(leaving, CallbackKind.REVOKED),
            lambda: self._take_over(wanted, added),
            self._acknowledge,
        ]

    def _take_over(
        self, wanted: tuple[TopicPartition, ...], added: tuple[TopicPartition, ...]
    ) -> bool:
        self.owned = wanted
        self.call_back(CallbackKind.ASSIGNED, added)
        return True

    def _acknowledge(self) -> bool:
        self._enter(MemberState.ACKNOWLEDGING, "reconciled")
        return True

    def _after_beat(self) -> None:
        """An acknowledgement has been sent, or an answer taken in: which state follows."""
        if self._steps or self.callback is not None:
            return
        wanted = {TopicPartition(n, p) for n, p in self._resolved()}
        unresolved = any(topic not in self._topic_names for topic in self._target)
        if unresolved:
            self.tell(ClientEventKind.TOPICS_NEEDED, "the assignment has topics without a name")
        if wanted != set(self.owned) or unresolved:
            self._enter(MemberState.RECONCILING, "the assignment changed")
        else:
            self._enter(MemberState.STABLE, "the assignment is fully owned")
