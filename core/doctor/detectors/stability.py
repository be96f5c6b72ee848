"""Do the group's members fit, and does it come to rest?"""

from collections import Counter
from collections.abc import Iterator

from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Certainty, Finding
from kgroups.core.doctor.thresholds import STORM_PER_HOUR, STORM_REBALANCES
from kgroups.core.history.changes import Setback
from kgroups.core.history.repeats import figures

BY_DESIGN = frozenset({"deploy", "created", "protocol_changed", "second_round"})
"""Causes of rebalances that somebody wanted."""
REMEDIES = {
    "session_timeout": "kgroups explain session.timeout.ms",
    "poll_timeout": "kgroups explain max.poll.interval.ms",
    "restart": "kgroups explain group.instance.id",
}


def idle_members(facts: DoctorFacts) -> Iterator[Finding]:
    """Members without partitions, in a group at rest."""
    members = facts.group.members or ()
    if facts.group.state != "Stable" or any(one.assignment is None for one in members):
        return
    idle = [one for one in members if not any((one.assignment or {}).values())]
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
                "client_ids": sorted({one.client_id for one in idle})[:5],
            },
        )


def mixed_applications(facts: DoctorFacts) -> Iterator[Finding]:
    """Members that share no topic: two applications under one group name."""
    sets = {
        frozenset(one.subscription)
        for one in facts.group.members or ()
        if one.subscription and not one.subscription_regex
    }
    apart = [(one, other) for one in sets for other in sets if not one & other]
    if apart:
        one, other = sorted(map(sorted, apart[0]))
        yield Finding(
            "MIXED_APPLICATIONS",
            "warning",
            "likely",
            "each deploy of one application makes the other rebalance",
            f"kgroups describe {facts.word} --members --verbose",
            evidence={"topics": one[:5], "other_topics": other[:5]},
        )


def rebalance_stuck(facts: DoctorFacts) -> Iterator[Finding]:
    """It was rebalancing at every look, with the same members in the same round."""
    if not facts.is_unsettled:
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
    changes = [
        each
        for each in facts.changes or ()
        if each.kind == "rebalance" and each.cause not in BY_DESIGN
    ]
    found = figures(changes, facts.span_ms)
    if found.rebalances < STORM_REBALANCES or not changes:
        return
    span_ms = max(changes[-1].at_ms - changes[0].at_ms, 1)
    per_hour = (found.rebalances - 1) * 3_600_000 / span_ms
    if per_hour < STORM_PER_HOUR:
        return
    causes = Counter(each.cause or "unknown" for each in changes)
    cause, count = causes.most_common(1)[0]
    sure: Certainty = next(
        (each.certainty for each in changes if each.cause == cause and each.certainty), "possible"
    )
    where = {} if found.client_id is None else {"client_id": found.client_id}
    yield Finding(
        "REBALANCE_STORM",
        "error",
        sure,
        "each rebalance stops the group, and what was not committed is read again",
        REMEDIES.get(cause, f"kgroups history {facts.word}"),
        where,
        {
            "rebalances": found.rebalances,
            "rebalances_per_hour": round(per_hour, 1),
            "cause": cause,
            "of_this_cause": count,
            "of_this_client": found.client_rebalances,
        },
    )


def commit_backwards(facts: DoctorFacts) -> Iterator[Finding]:
    """Commits that were lower than those before, while members were there."""
    setbacks: list[Setback] = []
    member_count: int | None = None
    for change in facts.changes or ():
        member_count = change.member_count if change.kind == "rebalance" else member_count
        if change.commits is not None and member_count != 0:  # a group without members was reset
            setbacks += change.commits.setbacks
    by_place = Counter((each.topic, each.partition) for each in setbacks)
    for (topic, partition), count in by_place.items():
        first = next(
            each for each in setbacks if (each.topic, each.partition) == (topic, partition)
        )
        yield Finding(
            "COMMIT_BACKWARDS",
            "warning",
            "certain",
            "records are read again",
            f"kgroups history {facts.word}",
            {"topic": topic, "partition": partition},
            {
                "times": count,
                "old_offset": first.old_offset,
                "new_offset": first.new_offset,
            },
        )
