"""Advice that is a change is tried on the group as it is: what it would be then, beside now."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Final

from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Finding, Level, Proof
from kgroups.core.doctor.thresholds import RELIEF_SHARE
from kgroups.core.errors import KgroupsError
from kgroups.core.snapshot import TopicPartition

if TYPE_CHECKING:  # planning and simulation take 100 ms and more: for such findings only
    from kgroups.core.planning.changes.kinds import Change
    from kgroups.core.planning.plan import Plan

PROOF_S: Final = 3.0
"""For one proof."""
RUN_S: Final[Mapping[Level, float]] = {"info": 1.0, "warning": 9.0, "error": 9.0}
"""For all proofs of a run, after which those of this level are left out."""
STRATEGIES: Final = {
    "classic": ("cooperative-sticky", "roundrobin", "range"),
    "consumer": ("uniform", "range"),
}
"""The settings that a group may be switched to, by its type."""
Watch = Callable[[], None]


class OutOfTime(Exception):
    """A proof takes too long."""


class Prover:
    """Tries the advice of findings, as long as there is time for it.

    Args:
        clock: seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._spent_s = 0.0

    def prove(self, facts: DoctorFacts, finding: Finding) -> tuple[Finding, str | None]:
        """The finding with what its advice comes to; if that is not known, why."""
        prove = PROOFS.get(finding.code)
        if prove is None:
            return finding, None
        began_s, most_s = self._clock(), RUN_S[finding.level]
        limit_s = min(PROOF_S, most_s - self._spent_s)

        def watch() -> None:
            if self._clock() - began_s > limit_s:
                raise OutOfTime

        try:
            if limit_s <= 0:
                return finding, f"proof: {most_s:g}s for all groups are over"
            return prove(facts, finding, watch), None
        except OutOfTime:
            return finding, f"proof: it takes more than {limit_s:.2g}s"
        except KgroupsError:
            return finding, "proof: the group cannot be planned or simulated as it is now"
        finally:
            self._spent_s += self._clock() - began_s


def _one_more_member(facts: DoctorFacts, finding: Finding, watch: Watch) -> Finding:
    """It helps if the busiest one has fewer partitions then; if not, the advice is partitions."""
    from kgroups.core.planning.changes.kinds import AddMembers, SetPartitions

    now, after = _busiest(facts), _plan(facts, (AddMembers(),), watch).metrics.partitions_max
    proof = _planned("one more member", {"partitions_max": now}, {"partitions_max": after})
    if after is None or after < now:
        return replace(finding, proof=proof)
    topic = max(facts.rows or (), key=lambda row: row.lag or 0).topic
    wanted = len(facts.group.members or ()) + 1
    count = max(wanted, 1 + len(facts.snapshot.topics[topic].partitions))
    plan = _plan(facts, (SetPartitions(topic, count), AddMembers()), watch)
    busy = sum(member.partitions > 0 for member in plan.members)
    change = f"{count} partitions of {topic} and one more member"
    members = len(
        [one for one in facts.group.members or () if any((one.assignment or {}).values())]
    )
    return replace(
        finding,
        impact=f"{finding.impact}; one more member would not help, more partitions would",
        next=f"kgroups plan {facts.word} --set-partitions {topic}={count} --add-members 1",
        proof=_planned(change, {"reading_members": members}, {"reading_members": busy}),
    )


def _without_idle_members(facts: DoctorFacts, finding: Finding, watch: Watch) -> Finding:
    """The busiest member has as many partitions without them."""
    from kgroups.core.planning.changes.kinds import RemoveMember

    idle = [each for each in facts.group.members or () if not any((each.assignment or {}).values())]
    if len(idle) == len(facts.group.members or ()):
        return finding
    plan = _plan(facts, [RemoveMember(each.member_id) for each in idle], watch)
    before, after = _busiest(facts), plan.metrics.partitions_max
    proof = _planned("no idle members", {"partitions_max": before}, {"partitions_max": after})
    return replace(finding, proof=proof)


def _another_strategy(facts: DoctorFacts, finding: Finding, watch: Watch) -> Finding:
    """The finding with what its owner reads under another strategy, or with one more member.

    The partition itself stays whole, so that only what its owner reads besides can be less.
    """
    from kgroups.core.planning.changes.kinds import AddMembers

    rates = {at: each.rate_in or 0.0 for at, each in (facts.times.rows if facts.times else ())}
    hot = (str(finding.where["topic"]), int(finding.where["partition"]))
    owners = {one.member_id: one.assignment or {} for one in facts.group.members or ()}
    now = _rate_of_owner(owners, hot, rates)
    if not now:
        return finding
    tries: list[tuple[str, str, Sequence[Change], str | None]] = [
        (f"the strategy {name}", f"--assignor {name}", (), name)
        for name in STRATEGIES.get(facts.group.type, ())
        if name != facts.group.assignor
    ]
    tries.append(("one more member", "--add-members 1", (AddMembers(),), None))
    found: list[tuple[float, str, str]] = []
    for change, option, changes, name in tries:
        plan = _plan(facts, changes, watch, name)
        after = {each.member_id: each.assignment for each in plan.members}
        found.append((_rate_of_owner(after, hot, rates), change, option))
    rate, change, option = min(found, key=lambda each: each[0])
    proof = _planned(change, {"owner_rate_in": round(now, 1)}, {"owner_rate_in": round(rate, 1)})
    if rate > RELIEF_SHARE * now:
        impact = "one member has nearly all the work, and neither more members nor another strategy"
        return replace(finding, impact=f"{impact} change that", proof=proof)
    return replace(
        finding,
        impact=f"{finding.impact.partition(';')[0]}; its owner reads other partitions, too",
        next=f"kgroups plan {facts.word} {option}",
        proof=proof,
    )


def _rate_of_owner(
    owners: Mapping[str, Mapping[str, Sequence[int]]],
    hot: TopicPartition,
    rates: Mapping[TopicPartition, float],
) -> float:
    """Records a second that come to what the owner of a partition has."""
    for assignment in owners.values():
        places = {(topic, n) for topic, numbers in assignment.items() for n in numbers}
        if hot in places:
            return sum(rates.get(at, 0.0) for at in places)
    return 0.0


def _busiest(facts: DoctorFacts) -> int:
    """Partitions of the member that has most."""
    members = facts.group.members or ()
    return max((sum(map(len, (one.assignment or {}).values())) for one in members), default=0)


def _planned(change: str, before: Mapping[str, object], after: Mapping[str, object]) -> Proof:
    return Proof(change, "plan", before, after)


def _plan(
    facts: DoctorFacts, changes: "Sequence[Change]", watch: Watch, assignor: str | None = None
) -> "Plan":
    """The group after these changes, in the likeliest way.

    Raises:
        KgroupsError: it cannot be planned.
    """
    from kgroups.core.planning.outcomes.search import Effort
    from kgroups.core.planning.plan import plan_group

    effort = Effort(1, watch)
    return plan_group(facts.snapshot, facts.group, tuple(changes), assignor, effort=effort)


def _storm(facts: DoctorFacts, finding: Finding, watch: Watch) -> Finding:
    from kgroups.core.doctor.storm_proof import storm_proof

    return storm_proof(facts, finding, watch)


PROOFS: Final[Mapping[str, Callable[[DoctorFacts, Finding, Watch], Finding]]] = {
    "FALLING_BEHIND": _one_more_member,
    "HOT_PARTITION": _another_strategy,
    "IDLE_MEMBERS": _without_idle_members,
    "REBALANCE_STORM": _storm,
}
"""How the advice of a finding is tried."""
