"""What is to be known of a plan besides its figures, one sentence each."""

from collections.abc import Mapping, Sequence

from kgroups.core.planning.leaders.watching import LIBRDKAFKA
from kgroups.core.planning.outcomes.outcome import canonical
from kgroups.core.planning.prospects import Prospect, Prospects
from kgroups.core.planning.roster import Roster
from kgroups.core.snapshot import Member


def notes_of(roster: Roster, prospects: Prospects, *, changed: bool) -> list[str]:
    """The notes of a plan.

    Args:
        changed: whether anything was changed before.
    """
    shown = prospects.shown
    return [
        *roster.notes,
        *roster.guesses,
        *shown.strategy.notes,
        *_outcome_notes(prospects),
        *_disagreement(prospects),
        *_failures(prospects),
        *_unnoticed(roster, prospects),
        *_coordinator_notes(roster, shown, changed),
    ]


def _outcome_notes(prospects: Prospects) -> list[str]:
    shown = prospects.shown
    outcomes, top = shown.outcomes, shown.outcomes.each[0]
    notes = []
    if len(outcomes.each) > 1:
        notes.append(
            f"{len(outcomes.each)} outcomes are possible{_of(shown)}; the likeliest "
            f"({top.share:.0%}) is shown"
        )
    if not outcomes.complete:
        notes.append("not every possible outcome was tried; these are a sample")
    if not top.settled.settled:
        notes.append(f"the group has not settled after {len(top.settled.steps)} rounds")
    return notes


def _of(shown: Prospect) -> str:
    client = shown.strategy.leader_client
    return "" if client is None else f" with a {client} leader"


def _disagreement(prospects: Prospects) -> list[str]:
    """Which client libraries would do something else than the one that is shown."""
    shown = prospects.shown
    ends = _ends(shown)
    others = [
        client
        for prospect in prospects.each
        if (client := prospect.strategy.leader_client or "") != shown.strategy.leader_client
        and prospect.outcomes.each
        and _ends(prospect) != ends
    ]
    if not others:
        return []
    return [
        (
            f"a {shown.strategy.leader_client} leader is assumed; a leader of "
            f"{' or '.join(dict.fromkeys(others))} would assign differently: choose one with `--as`"
        )
    ]


def _ends(prospect: Prospect) -> set[object]:
    return {canonical(outcome.settled.shares) for outcome in prospect.outcomes.each}


def _failures(prospects: Prospects) -> list[str]:
    return [f"{failure.message} ({failure.share:.0%})" for failure in prospects.outcomes.failures]


def _unnoticed(roster: Roster, prospects: Prospects) -> list[str]:
    """Topics that grow without a rebalance."""
    topics = " and ".join(f"`{name}`" for name in sorted(roster.topics_before))
    return list(
        dict.fromkeys(
            f"{_overlooking(prospect)} does not notice new partitions of {topics}: "
            "they have no owner until something else makes the group rebalance"
            for prospect in prospects.each
            if prospect.unnoticed is not False
        )
    )


def _overlooking(prospect: Prospect) -> str:
    """Which leader does not notice that topics grow."""
    library = prospect.strategy.leader_client
    if library == LIBRDKAFKA:
        return "a librdkafka leader that does not read them"
    return f"a static {library} leader that has come back since the last rebalance"


def _coordinator_notes(roster: Roster, shown: Prospect, changed: bool) -> list[str]:
    """What is peculiar to an assignment by the coordinator."""
    group = roster.group
    if not shown.strategy.runs_on_broker or group.type != "consumer":
        return []
    notes: list[str] = []
    own = shown.strategy.assignor.name == (group.assignor or shown.strategy.assignor.name)
    if own and not changed and group.group_epoch == group.target_epoch:
        notes.append(
            "the coordinator computes a new target only when members, subscriptions or topics "
            "change; this is the target after the next change"
        )
    moving = [m.member_id for m in group.members or () if _is_moving(m)]
    if moving:
        notes.append(
            f"{len(moving)} of {len(group.members or ())} members have not reached their "
            "current target yet; moves are from the current owners to those of the plan"
        )
    return notes


def _is_moving(member: Member) -> bool:
    target, current = member.target_assignment, member.assignment
    if target is None or current is None:
        return False
    return _as_sets(target) != _as_sets(current)


def _as_sets(held: Mapping[str, Sequence[int]]) -> dict[str, frozenset[int]]:
    return {topic: frozenset(numbers) for topic, numbers in held.items() if numbers}
