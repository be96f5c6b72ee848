"""What is to be known of a plan besides its figures, one sentence each."""

from collections.abc import Mapping, Sequence

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
    """Topics that change without a rebalance.

    librdkafka's members look at the topics that they read, and so does its leader. Of the others
    those that notice join again, but a coordinator answers them with what there is: only a leader
    that joins makes a group rebalance whose subscriptions stay.

    Source: rd_kafka_cgrp_metadata_update_check; GroupMetadataManager,
    classicGroupJoinExistingMember.
    """
    if roster.left or any(seat.joins or seat.changed for seat in roster.seats):
        return []
    leaders = {
        leader
        for prospect in prospects.each
        for leader in prospect.strategy.leaders
        if prospect.strategy.leader_client == "librdkafka" and prospect.strategy.protocol == "eager"
    }
    read = [set(seat.topics) for seat in roster.seats if seat.member.member_id in leaders]
    unread = [name for name in roster.topics_before if any(name not in topics for topics in read)]
    return [
        f"a librdkafka leader does not notice new partitions of `{name}`, which it does not read: "
        "they have no owner until something else makes the group rebalance"
        for name in sorted(unread)
    ]


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
