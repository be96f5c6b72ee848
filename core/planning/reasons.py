"""The reasons beside the word for a plan's confidence, half a sentence each."""

from collections.abc import Sequence
from typing import Final

from kgroups.core.planning.outcomes.change_order import (
    LEARNS,
    events_of,
    finders_of,
    foreign_topics,
    may_be_late,
)
from kgroups.core.planning.outcomes.member_libraries import hides_claims, hides_libraries
from kgroups.core.planning.outcomes.missed_rounds import may_miss
from kgroups.core.planning.outcomes.outcome import Outcomes
from kgroups.core.planning.outcomes.partition_racks import places_new_partitions
from kgroups.core.planning.prospects import Prospect, Prospects, goes_on_failing
from kgroups.core.planning.roster import Roster

# Of one step.
COORDINATOR: Final = "the coordinator assigns, and all its inputs are known"
IDS_DECIDE: Final = "it depends on the ids that new members get"
HIDDEN_RACKS: Final = "it does not show whether a franz-go leader balances racks (`BalanceRacks`)"
RESTARTED: Final = "a static member that rejoins within its session keeps its partitions"
RECKONS: Final = "a franz-go leader that comes back may make the group rebalance"

# Of a step that follows others.
EARLIER_IDS: Final = "it depends on the new ids of members that have rejoined"
FOLLOWS: Final = "it follows a step with other possible outcomes"
MORE_ORDERS: Final = "not every order of new member ids was tried"
UNKNOWN_RACKS: Final = "members do not tell their racks, and would with the other library"
UNKNOWN_IDS: Final = "returning members get new ids, and the assignment depends on them"
MORE_WAYS: Final = "these steps can end in more ways than were tried"


def ground(prospects: Prospects) -> str:
    """The reason of an `exact` plan: by what the leader, or the coordinator, is known."""
    clients = [p.strategy.leader_client for p in prospects.each if p.strategy.leader_client]
    libraries = list(dict.fromkeys(clients))
    if all(prospect.unnoticed for prospect in prospects.each):
        return f"a {one_of(libraries)} leader does not notice that topics grow"
    if not libraries:
        strategy = prospects.each[0].strategy
        if strategy.runs_on_broker:
            return COORDINATOR
        return f"`{strategy.assignor.name}` assigns, and all its inputs are known"
    if len(libraries) == 1:
        return f"the leader is a {libraries[0]} client ({prospects.reason})"
    return f"the leader is a {one_of(libraries)} client, and all of them would assign alike"


def choices(roster: Roster, prospects: Prospects) -> list[str]:
    """The reasons of an `outcomes` plan: everything that decides between its outcomes."""
    reasons = []
    ends = [_ends_and_failures(prospect) for prospect in prospects.each]
    libraries = [prospect.strategy.leader_client or "" for prospect in prospects.each]
    by_library = [
        {e for end, other in zip(ends, libraries, strict=True) if other == library for e in end}
        for library in libraries
    ]
    if any(end != by_library[0] for end in by_library):
        reasons.append(
            f"the leader may be a {one_of(libraries)} client, and they assign differently"
        )
    if any(end != other for end, other in zip(ends, by_library, strict=True)):
        reasons.append(HIDDEN_RACKS)
    failing = [p.strategy.leader_client or "" for p in prospects.each if p.outcomes.failures]
    if failing:
        reasons.append(f"a {one_of(failing)} leader fails this rebalance")
    if any(prospect.unnoticed is not False for prospect in prospects.each):
        reasons.append("the leader may not notice that topics grow")
    several = [
        prospect
        for prospect in prospects.each
        if len(prospect.outcomes.each) > (2 if prospect.unnoticed is None else 1)
    ]
    if any(prospect.raced for prospect in several):
        first = next(prospect for prospect in several if prospect.raced)
        reasons.append(_one_by_one(roster, first))
    unraced = [prospect for prospect in several if not prospect.raced]
    if any(may_be_late(roster, prospect.strategy) for prospect in unraced):
        reasons.append("the leader may not know a topic at first that it has not read")
    elif any(foreign_topics(roster, prospect.strategy) for prospect in unraced):
        reasons.append("the leader may not know a topic at first that it does not read itself")
    if any(hides_libraries(roster, prospect.strategy) for prospect in unraced):
        reasons.append("members do not show their client libraries")
    if unraced and unraced[0].strategy.runs_on_broker:
        reasons.append(f"{IDS_DECIDE}, or on the order in which members join")
    elif roster.newcomers and any(_ids_decide(prospect.outcomes) for prospect in unraced):
        reasons.append(IDS_DECIDE)
    elif unraced and places_new_partitions(roster, unraced[0].strategy):
        reasons.append("the racks in which brokers place new partitions decide")
    elif any(may_miss(roster, prospect.strategy) for prospect in unraced) and not reasons:
        reasons.append("a member that rejoins late may get nothing until the next round")
    elif unraced and not reasons:
        reasons.append(f"a {unraced[0].strategy.leader_client} leader chooses at random")
    return reasons


def gaps(roster: Roster, prospects: Prospects) -> list[str]:
    """The reasons for which outcomes may be missing, one for each kind of gap."""
    reasons = []
    for prospect in prospects.each:
        if prospect.outcomes.complete:
            continue
        if goes_on_failing(prospect.strategy, prospect.outcomes):
            reasons.append(
                "a sarama leader may fail and join again, and what follows was not tried"
            )
        elif hides_claims(roster, prospect.strategy):
            reasons.append("a franz-go leader does not see what members without generations have")
        elif prospect.raced:
            reasons.append(_one_by_one(roster, prospect))
        elif prospect.outcomes.each and not prospect.outcomes.each[0].settled.settled:
            reasons.append("the group does not settle")
        else:
            reasons.append(
                "not every order of new member ids, of members joining, or of a leader's "
                "random choices was tried"
            )
    return list(dict.fromkeys(reasons))


def _one_by_one(roster: Roster, prospect: Prospect) -> str:
    """Why it matters that things happen one after another."""
    strategy = prospect.strategy
    who = strategy.leader_client
    if events_of(roster, strategy) - {LEARNS} != finders_of(roster, strategy):
        also = ", or on the ids that new members get" if roster.newcomers else ""
        return (
            "the changes may come in one rebalance or in several, and the result depends on "
            f"that{also}"
        )
    return (
        f"with a {who} leader, members report changes one after another, and the result "
        "depends on their order"
    )


def _ids_decide(outcomes: Outcomes) -> bool:
    """Whether some ids of new members leave fewer outcomes than others do."""
    ends = {
        frozenset(frozenset(ids.items()) for ids in (outcome.ids, *outcome.more_ids))
        for outcome in outcomes.each
    }
    return len(ends) > 1


def _ends_and_failures(prospect: Prospect) -> frozenset[object]:
    return prospect.outcomes.ends | {failure.message for failure in prospect.outcomes.failures}


def one_of(names: Sequence[str]) -> str:
    """Names as an enumeration: `java, sarama or franz-go`."""
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} or {last}" if most else last
