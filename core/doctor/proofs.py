"""Advice that is a change is tried on the group as it is: before and after are in the evidence."""

from dataclasses import replace

from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Finding
from kgroups.core.errors import KgroupsError


def proved(facts: DoctorFacts, finding: Finding) -> Finding:
    """The finding with what its advice comes to, where that can be planned.

    One more member helps if the busiest one has fewer partitions then; where it has as many, the
    advice is more partitions.
    """
    if finding.code != "FALLING_BEHIND":
        return finding
    from kgroups.core.planning.changes.kinds import AddMembers  # 100 ms, for this finding only
    from kgroups.core.planning.plan import plan_group

    try:
        after = plan_group(facts.snapshot, facts.group, (AddMembers(),)).metrics.partitions_max
    except KgroupsError:
        return finding
    owned = [
        sum(map(len, (member.assignment or {}).values())) for member in facts.group.members or ()
    ]
    now = max(owned, default=0)
    evidence = {
        **finding.evidence,
        "partitions_max": now,
        "partitions_max_with_one_more_member": after,
    }
    if after is None or after < now:
        return replace(finding, evidence=evidence)
    impact = f"{finding.impact}; one more member would not help, more partitions would"
    next_ = f"kgroups plan {facts.word} --set-partitions TOPIC=N --add-members 1"
    return replace(finding, evidence=evidence, impact=impact, next=next_)
