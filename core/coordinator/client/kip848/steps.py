"""Steps of a member of a consumer group (KIP-848): it reconciles, joins, and leaves.

A step that needs an answer or a callback holds up those behind it. Source:
`AbstractMembershipManager`, `ConsumerMembershipManager`.
"""

from collections.abc import Iterable

from kgroups.core.coordinator.client.effects import CallbackKind, ClientEventKind, TopicPartition
from kgroups.core.coordinator.client.kip848.commits import Kip848Commits
from kgroups.core.coordinator.client.kip848.heartbeats import heartbeat_request
from kgroups.core.coordinator.client.kip848.member import (
    HEARTBEAT_API,
    JOIN_EPOCH,
    LEAVE_EPOCH,
    LEAVE_STATIC_EPOCH,
    POLL_OVER,
)
from kgroups.core.coordinator.client.kip848.states import MemberState
from kgroups.core.coordinator.timers import Timers


class Kip848ClientSteps(Kip848Commits):
    """What a member does when something is to be changed; attributes as `Kip848ClientMember`'s."""

    __slots__ = ()

    def _let_go(self, partitions: Iterable[TopicPartition], kind: CallbackKind) -> bool:
        gone = tuple(partitions)
        if gone:
            self._call_back(kind, gone)
            self._steps.insert(0, lambda: self._forget(gone))
        return True

    def _forget(self, gone: tuple[TopicPartition, ...]) -> bool:
        left = frozenset(gone)
        self.owned = tuple(one for one in self.owned if one not in left)
        return True

    def _join(self) -> bool:
        if self.subscribed:
            self.epoch, self._sent = JOIN_EPOCH, None
            self._target = {}
            self._enter(MemberState.JOINING, "polled while not a member")
            self._arm(POLL_OVER, self.config.max_poll_interval_ms)
        return True

    def _leave(self, member: bool) -> bool:
        if member and self.coordinator is not None:
            self._say_good_bye()
        self._enter(MemberState.LEAVING, "gave up all partitions")
        self._timers = Timers()
        self._flights.clear()
        self._give_commits_up("the member has left the group")
        self._enter(self._leaves_to, "left the group")
        if self._leaves_to is MemberState.UNSUBSCRIBED:
            self.epoch, self._sent = JOIN_EPOCH, None
        return True

    def _say_good_bye(self) -> None:
        static = self.config.group_instance_id is not None
        self.epoch = LEAVE_STATIC_EPOCH if static else LEAVE_EPOCH
        self._send(HEARTBEAT_API, heartbeat_request(self._place(), self._whole_beat(), None))

    # ------------------------------------------------------------------ reconciliation

    def _begin_reconciling(self) -> None:
        wanted = self._resolved()
        keep, have = frozenset(wanted), frozenset(self.owned)
        leaving = tuple(one for one in self.owned if one not in keep)
        added = tuple(one for one in wanted if one not in have)
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
        self._call_back(CallbackKind.ASSIGNED, added)
        return True

    def _acknowledge(self) -> bool:
        self._enter(MemberState.ACKNOWLEDGING, "reconciled")
        return True

    def _after_beat(self) -> None:
        """An acknowledgement has been sent, or an answer taken in: which state follows."""
        if self._steps or self._callback is not None:
            return
        wanted = {TopicPartition(n, p) for n, p in self._resolved()}
        unresolved = any(topic not in self._topic_names for topic in self._target)
        if unresolved:
            self._tell(ClientEventKind.TOPICS_NEEDED, "the assignment has topics without a name")
        if wanted != set(self.owned) or unresolved:
            self._enter(MemberState.RECONCILING, "the assignment changed")
        else:
            self._enter(MemberState.STABLE, "the assignment is fully owned")
