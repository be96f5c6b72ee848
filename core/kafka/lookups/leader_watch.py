"""Leaders and generations of classic groups in snapshots that are taken again and again."""

from collections.abc import Hashable
from dataclasses import replace

from kgroups.core.errors import ClusterError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.logged_leaders import QUICK, LoggedLeaders, logged_leaders
from kgroups.core.rounds import rounds_of
from kgroups.core.snapshot import ClusterSnapshot, Group


class LeaderWatch:
    """Looks into `__consumer_offsets` for groups that are otherwise than in the snapshot before.

    A look is two round trips a partition. What it does not find is not known.
    """

    def __init__(self, admin: ClusterAdmin) -> None:
        self._admin = admin
        self._known: dict[str, tuple[Hashable, str | None, int | None]] = {}

    def add_to(self, snapshot: ClusterSnapshot) -> ClusterSnapshot:
        """The snapshot with leaders and generations."""
        rounds = {
            group.group: rounds_of(group)
            for group in snapshot.groups
            if group.type == "classic" and group.state == "Stable" and group.members
        }
        new = [
            group
            for group in snapshot.groups
            if group.group in rounds
            and self._known.get(group.group, (None,))[0] != rounds[group.group]
        ]
        names = {group.group for group in snapshot.groups}
        self._known = {name: leader for name, leader in self._known.items() if name in names}
        answer = self._look_up(new)
        for group in new:
            led = answer.led(group)
            # A record of other members: the group is changing, so it is looked up once more.
            if led.leader is not None or group.group not in answer.found:
                self._known[group.group] = rounds[group.group], led.leader, led.generation
        return replace(
            snapshot, groups=tuple(self._led(group, rounds) for group in snapshot.groups)
        )

    def _look_up(self, groups: list[Group]) -> LoggedLeaders:
        try:
            return logged_leaders(self._admin, groups, QUICK) if groups else LoggedLeaders()
        except ClusterError:
            return LoggedLeaders()

    def _led(self, group: Group, rounds: dict[str, Hashable]) -> Group:
        leader = self._known.get(group.group)
        if leader is None or leader[0] != rounds.get(group.group):
            return group
        return replace(group, leader=leader[1], generation=leader[2])
