"""The notes of a plan, one sentence each: whatever its figures do not show."""

from kgroups.core.planning.leaders.watching import LIBRDKAFKA
from kgroups.core.planning.moves import ownership
from kgroups.core.planning.outcomes.outcome import Outcomes
from kgroups.core.planning.prospects import Prospect, Prospects
from kgroups.core.planning.reasons import one_of
from kgroups.core.planning.roster import Roster
from kgroups.core.snapshot import Member


def notes_of(roster: Roster, prospects: Prospects, *, changed: bool) -> list[str]:
    """The notes of a plan, but those of `outcome_notes`.

    Args:
        changed: whether anything was changed before.
    """
    shown = prospects.shown
    return [
        *roster.notes,
        *roster.guesses,
        *shown.strategy.notes,
        *_unsettled(shown),
        *_disagreement(prospects),
        *_failures(prospects),
        *_unnoticed(roster, prospects),
        *_coordinator_notes(roster, shown, changed),
    ]


def outcome_notes(outcomes: Outcomes, shown: Outcomes, client: str | None) -> list[str]:
    """How many outcomes there are, and which of them is shown.

    Args:
        outcomes: all that the plan lists.
        shown: those of the strategy whose outcome is shown, which is the first.
        client: library of the leader that is shown; None: the coordinator assigns.
    """
    notes = []
    count, own = len(outcomes.each), len(shown.each)
    if count > 1:
        rank = shown.ranks()[0]
        which = "the likeliest" if rank == 1 else f"the one of rank {rank}"
        led = "" if client is None else f" with a {client} leader"
        if own == count:
            notes.append(f"{count} outcomes are possible{led}; {which} is shown")
        else:
            some = f"{own} of them{led}"
            notes.append(f"{count} outcomes are possible, {some}; {which} of these is shown")
    if not outcomes.complete:
        notes.append("not every possible outcome was tried; these are a sample")
    return notes


def _unsettled(shown: Prospect) -> list[str]:
    settled = shown.outcomes.each[0].settled
    if settled.settled:
        return []
    return [f"the group has not settled after {len(settled.steps)} rounds"]


def _disagreement(prospects: Prospects) -> list[str]:
    """Which client libraries would do something else than the one that is shown."""
    shown = prospects.shown
    others = [
        client
        for prospect in prospects.each
        if (client := prospect.strategy.leader_client or "") != shown.strategy.leader_client
        and prospect.outcomes.each
        and prospect.outcomes.ends != shown.outcomes.ends
    ]
    if not others:
        return []
    return [
        (
            f"a {shown.strategy.leader_client} leader is assumed; a leader of "
            f"{one_of(others)} would assign differently: choose one with `--as`"
        )
    ]


def _failures(prospects: Prospects) -> list[str]:
    outcomes = prospects.outcomes
    ranks = outcomes.ranks()
    return [
        f"{failure.message} (rank {rank} of {len(ranks)})"
        for failure, rank in zip(outcomes.failures, ranks[len(outcomes.each) :], strict=True)
    ]


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
    """Notes on an assignment by the coordinator."""
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
    return ownership({"": target}) != ownership({"": current})
