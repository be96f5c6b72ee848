"""Predict, do it, wait, compare: the changes of one live group, one after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.logged_leaders import QUICK, logged_leaders
from kgroups.core.planning.changes.kinds import (
    Change,
    Deploy,
)
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import leader_matters
from kgroups.core.planning.plan import Plan
from kgroups.core.snapshot import ClusterSnapshot, Group
from tests.support.fidelity.doing import DOING, Maker
from tests.support.fidelity.driven_group import DrivenGroup
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.hosts.process import HostFailed
from tests.support.fidelity.judging import (
    Judgement,
    Owned,
    Verdict,
    judge,
    name_of,
    owned_by_name,
)
from tests.support.fidelity.libraries import Library
from tests.support.fidelity.resting import Rest
from tests.support.fidelity.scripts import Kind, Script, Step
from tests.support.kafka.settings import settings_from_text
from tests.support.kafka.waiting import DeadlinePassed
from tests.support.kafka.workload import create_topics


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
        unaided: the confidence of a plan that is not told the library (`--as`), and whether that
            was right; None where there is nothing to tell.
        racked: whether members have racks, so that it matters where brokers placed partitions.
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
    unaided: tuple[str, Verdict] | None = None
    racked: bool = False


class LostMember(RuntimeError):
    """The session of a member that nobody touched has ended."""


# What happens to members, each for itself.
BY_MEMBER = (Maker.join, Maker.leave, Maker.crash, Maker.remove, Maker.subscribe)

GROWTH: frozenset[Kind] = frozenset({"partitions", "new topic"})

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
        rest = Rest(admin, driven)
        run = _Run(admin, script, driven, Maker(admin, bootstrap, driven, rest), rest)
        try:
            driven.join(script.members)
            before = rest.settled()
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


def _result(script: Script, number: int, plan: Plan | None, verdict: Verdict) -> Result:
    """Of a change, with what its plan tells."""
    return Result(
        script.group,
        script.label,
        script.protocol,
        script.strategy,
        script.steps[number].kind,
        number,
        _word_of(plan),
        len(plan.outcomes.each) if plan else 0,
        verdict,
        leader=plan.leader_client if plan else None,
        reason=(plan.confidence_reason or "") if plan else "",
    )


def _broken(script: Script, number: int, plan: Plan | None, failure: BaseException) -> Result:
    detail = f"{type(failure).__name__}: {failure}"
    return replace(_result(script, number, plan, "broken"), detail=detail)


def _planned(
    before: ClusterSnapshot, changes: Sequence[Change | Deploy], library: Library | None = None
) -> tuple[Plan | None, str]:
    """The plan of the group, or why there is none."""
    try:
        racks = False if library == "franz-go" else None  # no host says `BalanceRacks`
        return plan_changes(
            before, before.groups[0], changes, leader=library, alike=True, balances_racks=racks
        ), ""
    except KgroupsError as error:
        return None, f"no plan: {error.message}"


def _judged(plan: Plan | None, came: Owned, refusal: str = "") -> Judgement:
    return judge(plan, came) if plan else Judgement("wrong", shown=False, detail=refusal)


def _word_of(plan: Plan | None) -> str:
    return (plan.confidence or "none") if plan else "refused"


@dataclass
class _Run:
    """A group on its way."""

    admin: ClusterAdmin
    script: Script
    driven: DrivenGroup
    maker: Maker
    rest: Rest

    def changed(
        self, before: ClusterSnapshot, number: int
    ) -> tuple[Result, ClusterSnapshot | None, list[Change | Deploy]]:
        """What comes of one change; and the group after it, or None if a client broke."""
        step = self.script.steps[number]
        changes = self.maker.changes(step)
        before, library = self._led(before, step), self._library(step)
        plan, refusal = _planned(before, changes, library)
        unaided = _planned(before, changes)[0] if library else plan
        try:
            moved = self.maker.make(step, before)
            after = self.rest.settled()
            _check_ids(before.groups[0], after.groups[0], moved)
            _check_epochs(before.groups[0], after.groups[0], step)
        except (HostFailed, DeadlinePassed, TimeoutError, LostMember) as failure:
            return _broken(self.script, number, plan, failure), None, changes
        came = owned_by_name(after.groups[0])
        judgement = _judged(plan, came, refusal)
        beside = _word_of(unaided), _judged(unaided, came).verdict
        result = replace(
            _result(self.script, number, plan, judgement.verdict),
            shown=judgement.shown,
            detail=judgement.detail,
            came=came,
            unaided=beside if library else None,
            racked=any(member.rack for member in after.groups[0].members or ()),
        )
        return result, after, changes

    def _led(self, snapshot: ClusterSnapshot, step: Step) -> ClusterSnapshot:
        """The group with its leader, where `kgroups plan` looks for it unasked."""
        (group,) = snapshot.groups
        if group.type != "classic" or not leader_matters(
            Evidence(group), grows=step.kind in GROWTH
        ):
            return snapshot
        try:
            led = logged_leaders(self.admin, [group], QUICK).led(group)
        except KgroupsError:
            return snapshot
        return replace(snapshot, groups=(led,))

    def _library(self, step: Step) -> Library | None:
        """What whoever runs a classic group of one library tells a plan (`--as`)."""
        specs = (*self.driven.members.values(), *step.joins)
        libraries = {spec.library for spec in specs}
        alike = len(libraries) == 1 and self.script.protocol == "classic"
        return libraries.pop() if alike else None


def _check_ids(before: Group, after: Group, moved: set[str]) -> None:
    """Refuse a change during which a member lost its session that should not have."""
    ids = {name_of(member): member.member_id for member in before.members or ()}
    for member in after.members or ():
        known = ids.get(name_of(member))
        if known not in (None, member.member_id) and name_of(member) not in moved:
            raise LostMember(f"{known} is {member.member_id} now")


def _check_epochs(before: Group, after: Group, step: Step) -> None:
    """Refuse a change of a KIP-848 group during which a session ended: it came back by its old id.

    Each that joins, leaves or subscribes to something else makes one new epoch, and no more.
    """
    if before.group_epoch is None or after.group_epoch is None or DOING[step.kind] not in BY_MEMBER:
        return
    events = len(step.joins) or len(step.names)
    grown = after.group_epoch - before.group_epoch
    if grown > events:
        raise LostMember(f"{grown} new epochs from {events} changes")
