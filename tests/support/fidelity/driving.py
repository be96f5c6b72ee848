"""Predict, do it, wait, compare: the changes of one live group, one after the other."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import settings_from_text
from kgroups.core.kafka.lookups.logged_leaders import QUICK, logged_leaders
from kgroups.core.kafka.writes.member_removal import remove_members
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    Deploy,
    Expire,
    Pattern,
    RemoveMember,
    Restart,
    RollingRestart,
    SetPartitions,
    Subscribe,
    SwitchClient,
)
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.leaders.guess import leader_matters
from kgroups.core.planning.plan import Plan
from kgroups.core.snapshot import ClusterSnapshot, Group, Member
from tests.support.fidelity.driven_group import DrivenGroup, MemberSpec
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.hosts.process import HostFailed
from tests.support.fidelity.judging import Judgement, Owned, Verdict, judge, owned_by_client
from tests.support.fidelity.libraries import TRAITS, Library
from tests.support.fidelity.scripts import Kind, Script, Step, switched
from tests.support.kafka.waiting import DeadlinePassed, wait_until
from tests.support.kafka.workload import admin_of, create_topics

SETTLE_S = 90.0
# How long nothing may happen before a group is at rest: members look at the metadata in turn.
QUIET_S = 2.0
# The same where partitions are with nobody, or with two.
DOUBTFUL_QUIET_S = 8.0
# The same where a coordinator may still have to look which topics another pattern stands for.
PATTERN_QUIET_S = 12.0


@dataclass(frozen=True)
class Result:
    """What was predicted and what came.

    Args:
        label: the library of the group's members, or `mixed`.
        confidence: of the plan, made before the change; `refused` if there was none.
        outcomes: how many it named.
        leader: the client library that the plan took for the leader's; None server side.
        shown: whether the assignment that the plan showed came.
        came: who has what after it; None if the client broke.
        told: the confidence of a plan that is told the library of all members (`--as`), and
            whether that was right; empty where there is no such plan.
    """

    group: str
    label: str
    protocol: str
    strategy: str
    kind: Kind
    step: int
    confidence: str
    outcomes: int
    verdict: Verdict
    shown: bool = False
    leader: str | None = None
    reason: str = ""
    detail: str = ""
    came: Owned | None = None
    told: tuple[str, Verdict] | None = None


class LostMember(RuntimeError):
    """A member that nobody touched has another id now: its session ended."""


Watcher = Callable[
    [ClusterSnapshot, Sequence[Change | Deploy], Result, ClusterSnapshot | None], None
]


def drive(
    pool: HostPool, bootstrap: str, script: Script, watch: Watcher | None = None
) -> list[Result]:
    """The results of a group's changes; the last one is the first on which a client broke."""
    create_topics(bootstrap, script.topics)
    driven = DrivenGroup(
        pool, bootstrap, script.group, script.protocol, script.strategy, dict(script.topics)
    )
    results: list[Result] = []
    with (
        driven,
        ClusterAdmin(settings_from_text("", bootstrap), timeout_ms=30_000) as admin,
    ):
        run = _Run(admin, bootstrap, script, driven)
        try:
            driven.join(script.members)
            before = run.settled()
        except (HostFailed, DeadlinePassed, TimeoutError) as failure:
            return [_broken(script, 0, None, failure)]
        for number in range(len(script.steps)):
            result, after, changes = run.changed(before, number)
            results.append(result)
            if watch is not None:
                watch(before, changes, result, after)
            if after is None:
                break
            before = after
    return results


def _broken(script: Script, number: int, plan: Plan | None, failure: BaseException) -> Result:
    return Result(
        script.group,
        script.label,
        script.protocol,
        script.strategy,
        script.steps[number].kind,
        number,
        (plan.confidence or "none") if plan else "refused",
        len(plan.outcomes.each) if plan else 0,
        "broken",
        detail=f"{type(failure).__name__}: {failure}",
    )


@dataclass
class _Run:
    """A group on its way."""

    admin: ClusterAdmin
    bootstrap: str
    script: Script
    driven: DrivenGroup

    @property
    def library(self) -> Library:
        """The first of the libraries."""
        return self.script.libraries[0]

    def changed(
        self, before: ClusterSnapshot, number: int
    ) -> tuple[Result, ClusterSnapshot | None, list[Change | Deploy]]:
        """What comes of one change; and the group after it, or None if a client broke."""
        script, step = self.script, self.script.steps[number]
        planned = self._planned(step)
        changes = planned if isinstance(planned[0], Deploy) else [*self._said(), *planned]
        plan: Plan | None = None
        before = self._led(before)
        judgement = Judgement("wrong", shown=False)
        try:
            plan = plan_changes(before, before.groups[0], changes)
        except KgroupsError as error:
            judgement = Judgement("wrong", shown=False, detail=f"no plan: {error.message}")
        try:
            moved = DOING[step.kind](self, step, before)
            after = self.settled()
            _check_ids(before.groups[0], after.groups[0], moved)
        except (HostFailed, DeadlinePassed, TimeoutError, LostMember) as failure:
            return _broken(script, number, plan, failure), None, changes
        came = owned_by_client(after.groups[0])
        if plan is not None:
            judgement = judge(plan, came)
        if judgement.verdict == "wrong" and self._unnoticed(step, before, came):
            judgement = Judgement("broken", shown=False, detail="no member took notice of it")
        told = self._told(before, changes, came) if judgement.verdict != "broken" else None
        result = Result(
            script.group,
            script.label,
            script.protocol,
            script.strategy,
            step.kind,
            number,
            (plan.confidence or "none") if plan else "refused",
            len(plan.outcomes.each) if plan else 0,
            judgement.verdict,
            judgement.shown,
            plan.leader_client if plan else None,
            (plan.confidence_reason or "") if plan else "",
            judgement.detail,
            came,
            told,
        )
        return result, after, changes

    def _led(self, snapshot: ClusterSnapshot) -> ClusterSnapshot:
        """The group with its leader, where `kgroups plan` looks for it unasked."""
        (group,) = snapshot.groups
        if group.type != "classic" or not leader_matters(group):
            return snapshot
        try:
            leader = logged_leaders(self.admin, [group], QUICK).leader_of(group)
        except KgroupsError:
            return snapshot
        return replace(snapshot, groups=(replace(group, leader=leader),))

    def _told(
        self, before: ClusterSnapshot, changes: Sequence[Change | Deploy], came: Owned
    ) -> tuple[str, Verdict] | None:
        """What becomes of a plan that is told which library the members use, where that is one."""
        libraries = {spec.library for spec in self.driven.members.values()} | {self.library}
        group = before.groups[0]
        if self.script.label == "mixed" or len(libraries) > 1 or group.type != "classic":
            return None
        try:
            plan = plan_changes(before, group, changes, leader=self.library)
        except KgroupsError:
            return "refused", "wrong"
        return plan.confidence or "none", judge(plan, came).verdict

    def _unnoticed(self, step: Step, before: ClusterSnapshot, came: Owned) -> bool:
        """Whether a topic grew, and nobody made the group rebalance.

        In sarama and aiokafka it is the leader that looks, and a static one that restarted does
        not know that it is the leader.
        """
        if step.kind != "partitions" or came != owned_by_client(before.groups[0]):
            return False
        held = {partition for each in came.values() for partition in each}
        return any((step.topic, number) not in held for number in range(step.count))

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
                [self.script.group],
                more_topics=lambda name: name.startswith(f"{self.script.group}-"),
            )
            found = self._seen(snapshot, seen)
            if found is None:
                since.clear()
                return None
            key, complete = found
            if not since or since[0][0] != key:
                since[:] = [(key, time.monotonic())]
            quiet = self._quiet_s(snapshot.groups[0]) if complete else DOUBTFUL_QUIET_S
            return snapshot if time.monotonic() - since[0][1] >= quiet else None

        try:
            found = wait_until(
                at_rest, f"{self.script.group} is at rest", timeout_s=SETTLE_S, pause_s=0.3
            )
        except DeadlinePassed as passed:
            raise DeadlinePassed(f"{passed}: {seen[-1:]}") from None
        assert found is not None
        return found

    def _quiet_s(self, group: Group) -> float:
        """How long nothing may happen; coordinators look at patterns every ten seconds at most."""
        patterns = {member.subscription_regex for member in group.members or ()}
        return PATTERN_QUIET_S if group.type == "consumer" and len(patterns) > 1 else QUIET_S

    def _seen(self, snapshot: ClusterSnapshot, seen: list[str]) -> tuple[object, bool] | None:
        """What there is to be seen of a group, and whether each partition has one owner."""
        if not snapshot.groups or snapshot.groups[0].state != "Stable":
            seen.append(f"state {snapshot.groups[0].state if snapshot.groups else 'none'}")
            return None
        group = snapshot.groups[0]
        members = group.members or ()
        specs = self.driven.members
        if sorted(member.client_id for member in members) != sorted(specs):
            seen.append(f"members {[m.client_id for m in members]}, wanted {sorted(specs)}")
            return None
        late = [m for m in members if not self._up_to_date(m, group, specs[m.client_id])]
        if late:
            seen.append(f"not up to date: {late[0]}")
            return None
        shown = owned_by_client(group)
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

    def _said(self) -> list[Change]:
        """The patterns of members, which those of the classic protocol do not show."""
        if self.driven.protocol == "consumer":
            return []
        return [
            Pattern(spec.pattern, TRAITS[spec.library].dialect, name)
            for name, spec in self.driven.members.items()
            if spec.pattern
        ]

    def _planned(self, step: Step) -> list[Change | Deploy]:
        """The change, as it is said to a plan before it happens."""
        name = step.names[0] if step.names else ""
        match step.kind:
            case "join" | "join of several" | "static join":
                return [self._joins(spec) for spec in step.joins]
            case "leave" | "leave of several" | "crash" | "removal":
                return [RemoveMember(name) for name in step.names]
            case "restart" | "static restart":
                return [Restart(name)]
            case "static expiry":
                return [Expire(name)]
            case "rolling restart":
                return [RollingRestart()]
            case "switch of library":
                return [SwitchClient(step.library)]
            case "partitions":
                return [SetPartitions(step.topic, step.count)]
            case "new topic":
                return [AddTopic(step.topic, step.count)]
            case "subscription":
                return [Subscribe(step.topics, member=name) for name in step.names]

    def _joins(self, spec: MemberSpec) -> AddMembers:
        server = self.driven.protocol == "consumer"
        dialect = "re2" if server else TRAITS[spec.library].dialect
        return AddMembers(
            client_id=spec.name,
            rack=spec.rack or None,
            instance_id=spec.instance or None,
            topics=spec.topics or None,
            library=spec.library,
            pattern=Pattern(spec.pattern, dialect) if spec.pattern else None,
        )

    # What is done: each returns the names of members that have another id then.

    def join(self, step: Step, _: ClusterSnapshot) -> set[str]:
        self.driven.join(step.joins)
        return {spec.name for spec in step.joins}

    def leave(self, step: Step, _: ClusterSnapshot) -> set[str]:
        self.driven.leave(step.names)
        return set()

    def crash(self, step: Step, _: ClusterSnapshot) -> set[str]:
        self.driven.crash(step.names[0])
        return set()

    def remove(self, step: Step, before: ClusterSnapshot) -> set[str]:
        self.driven.leave(step.names)
        members = [m for m in before.groups[0].members or () if m.client_id in step.names]
        errors = remove_members(self.admin, self.script.group, members, "planned")
        failed = [error for error in errors.values() if error is not None]
        if failed:
            raise HostFailed(f"removal: {failed}")
        return set()

    def restart(self, step: Step, before: ClusterSnapshot) -> set[str]:
        """Each member goes and comes back; dynamic ones are waited for in between."""
        names = step.names or tuple(_rolled(before.groups[0]))
        for name in names:
            spec = self.driven.members[name]
            if step.kind == "switch of library":
                spec = switched(spec, step.library)
            self.driven.leave([name])
            if step.kind == "static expiry" or (not spec.instance and self.driven.members):
                self.settled()
            self.driven.join([spec])
            self.settled()
        return set(names)

    def grow(self, step: Step, _: ClusterSnapshot) -> set[str]:
        grow_topic(self.bootstrap, step.topic, step.count)
        self.driven.topics[step.topic] = step.count
        return set()

    def create(self, step: Step, _: ClusterSnapshot) -> set[str]:
        create_topics(self.bootstrap, {step.topic: step.count})
        self.driven.topics[step.topic] = step.count
        return set()

    def subscribe(self, step: Step, _: ClusterSnapshot) -> set[str]:
        self.driven.subscribe(step.names, step.topics)
        return set()


DOING: Mapping[Kind, Callable[[_Run, Step, ClusterSnapshot], set[str]]] = {
    "join": _Run.join,
    "join of several": _Run.join,
    "static join": _Run.join,
    "leave": _Run.leave,
    "leave of several": _Run.leave,
    "crash": _Run.crash,
    "removal": _Run.remove,
    "restart": _Run.restart,
    "static restart": _Run.restart,
    "static expiry": _Run.restart,
    "rolling restart": _Run.restart,
    "switch of library": _Run.restart,
    "partitions": _Run.grow,
    "new topic": _Run.create,
    "subscription": _Run.subscribe,
}


def _rolled(group: Group) -> Iterator[str]:
    """Client ids in the order in which a deploy goes through members."""
    members = group.members or ()
    for member in sorted(members, key=lambda m: (m.instance_id or m.client_id, m.member_id)):
        yield member.client_id


def _check_ids(before: Group, after: Group, moved: set[str]) -> None:
    """Refuse a change during which a member lost its session that should not have."""
    ids = {member.client_id: member.member_id for member in before.members or ()}
    for member in after.members or ():
        known = ids.get(member.client_id)
        if known not in (None, member.member_id) and member.client_id not in moved:
            raise LostMember(f"{known} is {member.member_id} now")


def grow_topic(bootstrap: str, topic: str, count: int) -> None:
    """Give a topic more partitions and wait until the broker's metadata have them."""
    admin: AdminClient = admin_of(bootstrap)
    for future in admin.create_partitions([NewPartitions(topic, count)]).values():
        future.result(60)
    wait_until(
        lambda: len(admin.list_topics(timeout=60).topics[topic].partitions) == count,
        f"{topic} has {count} partitions",
    )
