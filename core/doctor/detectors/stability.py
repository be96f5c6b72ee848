"""Do the group's members fit, and does it come to rest?"""

from collections import Counter
from collections.abc import Iterable, Iterator

from kgroups.core.doctor.detectors.conflicts import slow_revocation
from kgroups.core.doctor.detectors.consumption import rivals
from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Certainty, Finding
from kgroups.core.doctor.thresholds import (
    BACKWARDS_AGAIN,
    HANDOVER_MS,
    MOST_ECHOES,
    RESTLESS_MS,
    SCALING_MS,
    STORM_PER_HOUR,
    STORM_REBALANCES,
)
from kgroups.core.history.changes import Change, Setback
from kgroups.core.history.repeats import figures

BY_DESIGN = frozenset({"deploy", "created", "protocol_changed", "second_round"})
"""Causes of rebalances that somebody wanted."""
SCALING = frozenset({"member_joined", "member_left"})
"""Causes of the rebalances of a group that grows or shrinks: each client comes or goes once."""
ECHOES = frozenset({"member_returned", "member_rejoined"})
"""Rebalances that follow from an earlier one, whose cause they share."""
REMEDIES = {
    "session_timeout": "kgroups explain session.timeout.ms",
    "poll_timeout": "kgroups explain max.poll.interval.ms",
    "restart": "kgroups explain group.instance.id",
}


def idle_members(facts: DoctorFacts) -> Iterator[Finding]:
    """Members without partitions, in a group at rest."""
    members = facts.group.members or ()
    if facts.group.state != "Stable" or any(member.assignment is None for member in members):
        return
    idle = [member for member in members if not any((member.assignment or {}).values())]
    if idle:
        yield Finding(
            "IDLE_MEMBERS",
            "info",
            "certain",
            "they wait in reserve; more members than partitions do not speed it up",
            f"kgroups plan {facts.word} --members",
            evidence={
                "idle_members": len(idle),
                "member_count": len(members),
                "client_ids": sorted({member.client_id for member in idle})[:5],
            },
        )


def mixed_applications(facts: DoctorFacts) -> Iterator[Finding]:
    """Members that share no topic: two applications under one group name."""
    sets = {
        frozenset(member.subscription)
        for member in facts.group.members or ()
        if member.subscription and not member.subscription_regex
    }
    apart = [(first, other) for first in sets for other in sets if not first & other]
    if apart:
        first, other = sorted(map(sorted, apart[0]))
        yield Finding(
            "MIXED_APPLICATIONS",
            "warning",
            "likely",
            "each deploy of one application makes the other rebalance",
            f"kgroups describe {facts.word} --members --verbose",
            evidence={"topics": first[:5], "other_topics": other[:5]},
        )


def rebalance_stuck(facts: DoctorFacts) -> Iterator[Finding]:
    """It was rebalancing at every look, with the same members in the same round."""
    if not facts.is_unsettled or any(slow_revocation(facts)):
        return
    yield Finding(
        "REBALANCE_STUCK",
        "warning",
        "likely",
        "members wait, and read nothing in a classic eager group",
        f"kgroups history {facts.word}",
        evidence={"state": facts.group.state, "over_seconds": facts.over_seconds},
    )


def rebalance_storm(facts: DoctorFacts) -> Iterator[Finding]:
    """It rebalances again and again, for a reason that nobody wanted."""
    changes = list(_unwanted(facts.changes or ()))
    counts = figures(changes, facts.span_ms)
    if counts.rebalances < STORM_REBALANCES or not changes:
        return
    span_ms = max(changes[-1].at_ms - changes[0].at_ms, 1)
    per_hour = (counts.rebalances - 1) * 3_600_000 / span_ms
    if per_hour < STORM_PER_HOUR:
        return
    named = [change.cause or "unknown" for change in changes]
    roots = [cause for cause in named if cause not in ECHOES]
    causes = Counter(roots if MOST_ECHOES * len(roots) >= len(named) - len(roots) else named)
    cause, count = causes.most_common(1)[0]
    sure: Certainty = next(
        (c.certainty for c in changes if c.cause == cause and c.certainty), "possible"
    )
    where = {} if counts.client_id is None else {"client_id": counts.client_id}
    yield Finding(
        "REBALANCE_STORM",
        "error",
        sure,
        "each rebalance stops the group, and what was not committed is read again",
        REMEDIES.get(cause, f"kgroups history {facts.word}"),
        where,
        {
            "rebalances": counts.rebalances,
            "rebalances_per_hour": round(per_hour, 1),
            "cause": cause,
            "of_this_cause": count,
            "of_this_client": counts.client_rebalances,
        },
    )


def _unwanted(changes: Iterable[Change]) -> Iterator[Change]:
    """Rebalances that nobody wanted; members that come one after the other count as one.

    Members that ask for another round soon after some came or went belong to that.
    """
    before: Change | None = None
    moved_ms: int | None = None
    for change in changes:
        if change.kind != "rebalance":
            continue
        if change.cause != "member_rejoined":
            moved_ms = change.at_ms
        elif moved_ms is not None and change.at_ms - moved_ms <= RESTLESS_MS:
            continue
        if change.cause in BY_DESIGN:
            continue
        goes_on = before is not None and change.at_ms - before.at_ms <= SCALING_MS
        if not (goes_on and before is not None and change.cause == before.cause in SCALING):
            yield change
        before = change


def commit_backwards(facts: DoctorFacts) -> Iterator[Finding]:
    """Commits that were lower than those before, while members were there."""
    setbacks: dict[tuple[str, int], list[tuple[Setback, bool]]] = {}
    member_count: int | None = None
    handover_ms = -HANDOVER_MS
    for change in facts.changes or ():
        if change.kind == "rebalance":
            member_count = change.member_count
            if (member_count or 0) > 1 or change.members.gone:
                handover_ms = change.at_ms
        if change.commits is None:
            continue
        contested = {(one.topic, one.partition) for one in change.commits.rivals}
        for step in change.commits.setbacks:
            if member_count == 0 and (step.topic, step.partition) not in contested:
                continue  # a group without members was reset
            of_handover = step.at_ms - handover_ms <= HANDOVER_MS
            setbacks.setdefault((step.topic, step.partition), []).append((step, of_handover))
    for (topic, partition), steps in setbacks.items():
        first, _ = steps[0]
        contest = rivals(facts, (topic, partition))
        is_usual = len(steps) < BACKWARDS_AGAIN and all(of_handover for _, of_handover in steps)
        why = ", as a new owner begins at the last commit" if is_usual else ""
        if contest:
            is_usual, why = False, ": two commit it in turn, each from where it is itself"
        yield Finding(
            "COMMIT_BACKWARDS",
            "info" if is_usual else "warning",
            "certain",
            f"records are read again{why}",
            f"kgroups history {facts.word}",
            {"topic": topic, "partition": partition},
            {
                "times": len(steps),
                "old_offset": first.old_offset,
                "new_offset": first.new_offset,
                **contest,
            },
        )
