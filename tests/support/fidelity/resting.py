"""When a driven group is at rest: nothing happens any more, and members believe what is shown."""

import time
from dataclasses import dataclass

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.snapshot import ClusterSnapshot, Group, Member
from tests.support.fidelity.driven_group import DrivenGroup, MemberSpec
from tests.support.fidelity.judging import name_of, owned_by_name
from tests.support.kafka.waiting import DeadlinePassed, wait_until

SETTLE_S = 90.0
# How long nothing may happen before a group is at rest: members look at the metadata in turn.
QUIET_S = 2.0
# The same where partitions are with nobody, or with two.
DOUBTFUL_QUIET_S = 8.0
# The same where a coordinator may still have to look which topics another pattern stands for.
PATTERN_QUIET_S = 12.0


@dataclass
class Rest:
    """What it takes for a group to be at rest.

    Args:
        quiet_s: how long nothing may happen where each partition has one owner.
    """

    admin: ClusterAdmin
    driven: DrivenGroup
    quiet_s: float = QUIET_S

    def settled(self) -> ClusterSnapshot:
        """The group when nothing happens any more, and its members believe what the broker shows.

        Raises:
            DeadlinePassed: it does not come to that.
            HostFailed: a client failed.
        """
        since: list[tuple[object, float]] = []
        seen: list[str] = []

        def at_rest() -> ClusterSnapshot | None:
            snapshot = self.admin.snapshot(
                [self.driven.group],
                more_topics=lambda name: name.startswith(f"{self.driven.group}-"),
            )
            found = self._seen(snapshot, seen)
            if found is None:
                since.clear()
                return None
            key, complete = found
            if not since or since[0][0] != key:
                since[:] = [(key, time.monotonic())]
            quiet = self._quiet_s(snapshot.groups[0], complete=complete)
            return snapshot if time.monotonic() - since[0][1] >= quiet else None

        try:
            found = wait_until(
                at_rest, f"{self.driven.group} is at rest", timeout_s=SETTLE_S, pause_s=0.6
            )
        except DeadlinePassed as passed:
            raise DeadlinePassed(f"{passed}: {seen[-1:]}") from None
        assert found is not None
        return found

    def _quiet_s(self, group: Group, *, complete: bool) -> float:
        """How long nothing may happen; coordinators look at patterns every ten seconds at most."""
        patterns = {member.subscription_regex for member in group.members or ()}
        late = len(patterns) > 1 or (not complete and patterns != {None})
        if group.type == "consumer" and late:
            return PATTERN_QUIET_S
        return self.quiet_s if complete else DOUBTFUL_QUIET_S

    def _seen(self, snapshot: ClusterSnapshot, seen: list[str]) -> tuple[object, bool] | None:
        """What there is to be seen of a group, and whether each partition has one owner."""
        if not snapshot.groups or snapshot.groups[0].state != "Stable":
            seen.append(f"state {snapshot.groups[0].state if snapshot.groups else 'none'}")
            return None
        group = snapshot.groups[0]
        members = group.members or ()
        specs = self.driven.members
        names = sorted(map(name_of, members))
        if names != sorted(specs):
            seen.append(f"members {names}, wanted {sorted(specs)}")
            return None
        late = [m for m in members if not self._up_to_date(m, group, specs[name_of(m)])]
        if late:
            seen.append(f"not up to date: {late[0]}")
            return None
        shown = owned_by_name(group)
        owned = self.driven.owned()
        if not all(self._believes(specs[name], shown[name], owned[name]) for name in specs):
            seen.append(f"shown {shown}, owned {owned}")
            return None
        wanted = {
            (topic, number)
            for spec in specs.values()
            for topic in self.driven.reads(spec)
            for number in range(self.driven.topics[topic])
        }
        each = [partition for held in shown.values() for partition in held]
        key = (tuple(sorted(m.member_id for m in members)), frozenset(shown.items()))
        return key, len(each) == len(wanted) and set(each) == wanted

    def _believes(
        self, spec: MemberSpec, shown: frozenset[tuple[str, int]], owned: frozenset[tuple[str, int]]
    ) -> bool:
        if spec.library == "kafkajs":  # it drops what it does not subscribe to
            return owned == {pair for pair in shown if pair[0] in self.driven.reads(spec)} or (
                owned == shown
            )
        return owned == shown

    def _up_to_date(self, member: Member, group: Group, spec: MemberSpec) -> bool:
        """Whether a member reads what it should, and has what the coordinator wants it to have."""
        if group.type == "consumer":
            return (
                member.member_epoch == group.group_epoch == group.target_epoch
                and member.assignment == member.target_assignment
                and (bool(spec.pattern) or set(member.subscription or ()) == set(spec.topics))
            )
        return set(member.subscription or ()) == self.driven.reads(spec)
