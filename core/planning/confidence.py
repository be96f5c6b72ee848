"""How sure a plan is: one word, what it means, and why it is that word here."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from kgroups.core.planning.leaders.guess import LOGGED
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.outcomes.change_order import LEARNS, events_of, finders_of
from kgroups.core.planning.outcomes.member_libraries import hides_claims, hides_libraries
from kgroups.core.planning.outcomes.missed_rounds import may_miss
from kgroups.core.planning.outcomes.outcome import Outcomes
from kgroups.core.planning.outcomes.partition_racks import places_new_partitions
from kgroups.core.planning.outcomes.sizes import sizes_are_certain
from kgroups.core.planning.outcomes.unnoticed_topics import foreign_topics, may_be_late
from kgroups.core.planning.outcomes.visible_order import STICKY_FAMILY
from kgroups.core.planning.prospects import Prospect, Prospects, goes_on_failing
from kgroups.core.planning.roster import Roster

Word = Literal["exact", "outcomes", "likely", "counts"]

DEFINITIONS: Final[Mapping[Word, str]] = {
    "exact": "the only possible outcome",
    "outcomes": "one of several possible outcomes; --outcomes shows all",
    "likely": "the likeliest outcome; others cannot be ruled out",
    "counts": "the sizes of the shares are certain, not which member gets which",
}


# Strategies that deal the same numbers to members that read the same, whoever leads.
EVEN: Final = frozenset({"roundrobin", "sticky", "cooperative-sticky", "uniform"})

HIDDEN_RACKS: Final = "it does not show whether a franz-go leader balances racks (`BalanceRacks`)"


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure a plan is.

    Args:
        reason: why, without a full stop; for `exact` what it rests on.
    """

    word: Word
    reason: str


def confidence_of(roster: Roster, prospects: Prospects) -> Confidence:
    """How sure it is that what a plan shows will happen, and by what the leader is known."""
    found = _confidence_of(roster, prospects)
    if found.word != "exact" and not roster.guesses and _leaves_no_choice(roster, prospects):
        return Confidence("exact", "one member is left, and it gets everything that it reads")
    if not _leader_is_logged(roster) or LOGGED in found.reason:
        return found
    return Confidence(found.word, f"{found.reason}; {LOGGED}")


def _leader_is_logged(roster: Roster) -> bool:
    """Whether the group's own record says which of the members leads until the changes."""
    group, told = roster.group, roster.evidence.known.leaders is None
    return told and any(member.member_id == group.leader for member in group.members or ())


def _confidence_of(roster: Roster, prospects: Prospects) -> Confidence:
    outcomes = prospects.outcomes
    deciding = [p for p in prospects.each if p.unnoticed is not True]
    doubts = list(dict.fromkeys(d for p in deciding if (d := p.strategy.doubt)))
    doubts += roster.guesses
    if not outcomes.complete:
        doubts += _gaps(roster, prospects)
    if doubts:
        # Another algorithm than ours may stop at other sizes where members read different topics.
        ours = outcomes.complete and not any(p.strategy.doubt for p in prospects.each)
        sure = ours or _deals_evenly(roster, prospects) or _ends_alike(roster, prospects)
        by_size = not roster.guesses and sure and same_sizes(outcomes)
        return Confidence("counts" if by_size else "likely", "; ".join(doubts))
    if len(outcomes.each) == 1 and not outcomes.failures:
        return Confidence("exact", _ground(prospects))
    return Confidence("outcomes", "; ".join(_choices(roster, prospects)))


def _leaves_no_choice(roster: Roster, prospects: Prospects) -> bool:
    """Whether one member gets all partitions, as every release of every library gives them to it.

    Not everything may have been tried then, such as who leaves first; it comes to the same. A
    strategy that is not the libraries' own may do anything.
    """
    ends = prospects.outcomes.each
    if len(roster.seats) != 1 or len(ends) != 1 or prospects.outcomes.failures:
        return False
    seat, end = roster.seats[0], ends[0].settled
    held = end.shares.get(seat.member.member_id, {})
    return (
        all(prospect.strategy.leader_client for prospect in prospects.each)
        and end.settled
        and all(
            set(held.get(name, ())) == set(roster.topics[name].partitions)
            for name in roster.subscribed()
        )
    )


def _gaps(roster: Roster, prospects: Prospects) -> list[str]:
    """Why there may be outcomes that were not tried."""
    found = []
    for prospect in prospects.each:
        if prospect.outcomes.complete:
            continue
        if goes_on_failing(prospect.strategy, prospect.outcomes):
            found.append("a sarama leader may fail and join again, and what follows was not tried")
        elif hides_claims(roster, prospect.strategy):
            found.append("a franz-go leader does not see what members without generations have")
        elif prospect.raced:
            found.append(_one_by_one(roster, prospect))
        elif prospect.outcomes.each and not prospect.outcomes.each[0].settled.settled:
            found.append("the group does not settle")
        else:
            found.append(
                "not every order of new member ids, of members joining, or of a leader's "
                "random choices was tried"
            )
    return list(dict.fromkeys(found))


def _one_by_one(roster: Roster, prospect: Prospect) -> str:
    """Why it matters that things happen one after another."""
    strategy = prospect.strategy
    who = strategy.leader_client
    if events_of(roster, strategy) - {LEARNS} != finders_of(roster, strategy):
        also = ", or on new member ids" if roster.newcomers else ""
        return (
            "the changes may come in one rebalance or in several, and the result depends on "
            f"that{also}"
        )
    return (
        f"with a {who} leader, members report changes one after another, and the result "
        "depends on their order"
    )


def _deals_evenly(roster: Roster, prospects: Prospects) -> bool:
    """Whether the sizes of shares are known whatever comes: all members read the same."""
    return len({frozenset(seat.topics) for seat in roster.seats}) == 1 and all(
        prospect.strategy.assignor.name in EVEN
        and (prospect.strategy.runs_on_broker or prospect.strategy.leader_client is not None)
        and _comes_to_rest(prospect)
        for prospect in prospects.each
    )


def _ends_alike(roster: Roster, prospects: Prospects) -> bool:
    """Whether the sizes of shares are known whatever our own strategies choose on the way."""
    return all(map(_comes_to_rest, prospects.each)) and stops_alike(
        roster, [prospect.strategy for prospect in prospects.each]
    )


def stops_alike(roster: Roster, strategies: Sequence[Strategy]) -> bool:
    """Whether shares are of the same sizes wherever these strategies, as we know them, stop."""
    return all(
        strategy.assignor.name in STICKY_FAMILY
        and strategy.leader_client is not None
        and strategy.doubt is None
        for strategy in strategies
    ) and sizes_are_certain(roster)


def _comes_to_rest(prospect: Prospect) -> bool:
    return all(each.settled.settled for each in prospect.outcomes.each)


def same_sizes(outcomes: Outcomes) -> bool:
    """Whether shares are of the same sizes, whatever happens."""
    if outcomes.failures:
        return False
    sizes = {
        frozenset(
            Counter(sum(map(len, held.values())) for held in each.settled.shares.values()).items()
        )
        for each in outcomes.each
    }
    return len(sizes) == 1


def _ground(prospects: Prospects) -> str:
    """What `exact` rests on."""
    clients = [p.strategy.leader_client for p in prospects.each if p.strategy.leader_client]
    libraries = list(dict.fromkeys(clients))
    if all(prospect.unnoticed for prospect in prospects.each):
        return f"a {one_of(libraries)} leader does not notice that topics grow"
    if not libraries:
        strategy = prospects.each[0].strategy
        if strategy.runs_on_broker:
            return "the coordinator assigns, and all its inputs are known"
        return f"`{strategy.assignor.name}` assigns, and all its inputs are known"
    if len(libraries) == 1:
        return f"the leader is a {libraries[0]} client ({prospects.reason})"
    return f"the leader is a {one_of(libraries)} client, and all of them would assign alike"


def _choices(roster: Roster, prospects: Prospects) -> list[str]:
    """What decides between the outcomes."""
    found = []
    ends = [_ends_and_failures(prospect) for prospect in prospects.each]
    libraries = [prospect.strategy.leader_client or "" for prospect in prospects.each]
    by_library = [
        {e for end, other in zip(ends, libraries, strict=True) if other == library for e in end}
        for library in libraries
    ]
    if any(one != by_library[0] for one in by_library):
        found.append(f"the leader may be a {one_of(libraries)} client, and they assign differently")
    if any(end != each for end, each in zip(ends, by_library, strict=True)):
        found.append(HIDDEN_RACKS)
    failing = [p.strategy.leader_client or "" for p in prospects.each if p.outcomes.failures]
    if failing:
        found.append(f"a {one_of(failing)} leader fails this rebalance")
    if any(prospect.unnoticed is not False for prospect in prospects.each):
        found.append("the leader may not notice that topics grow")
    several = [
        prospect
        for prospect in prospects.each
        if len(prospect.outcomes.each) > (2 if prospect.unnoticed is None else 1)
    ]
    if any(prospect.raced for prospect in several):
        first = next(prospect for prospect in several if prospect.raced)
        found.append(_one_by_one(roster, first))
    unraced = [prospect for prospect in several if not prospect.raced]
    if any(may_be_late(roster, prospect.strategy) for prospect in unraced):
        found.append("the leader may not know a topic at first that it has not read")
    elif any(foreign_topics(roster, prospect.strategy) for prospect in unraced):
        found.append("the leader may not know a topic at first that it does not read itself")
    if any(hides_libraries(roster, prospect.strategy) for prospect in unraced):
        found.append("members do not show their client libraries")
    if unraced and unraced[0].strategy.runs_on_broker:
        found.append("it depends on new member ids, or on the order in which members join")
    elif roster.newcomers and any(_ids_decide(each.outcomes) for each in unraced):
        found.append("it depends on new member ids")
    elif unraced and places_new_partitions(roster, unraced[0].strategy):
        found.append("the racks in which brokers place new partitions decide")
    elif any(may_miss(roster, prospect.strategy) for prospect in unraced) and not found:
        found.append("members that are late may miss what a round of the rebalance gives them")
    elif unraced and not found:
        found.append(f"a {unraced[0].strategy.leader_client} leader chooses at random")
    return found


def _ids_decide(outcomes: Outcomes) -> bool:
    """Whether some ids of new members leave fewer outcomes than others do."""
    each = {
        frozenset(frozenset(ids.items()) for ids in (outcome.ids, *outcome.more_ids))
        for outcome in outcomes.each
    }
    return len(each) > 1


def _ends_and_failures(prospect: Prospect) -> frozenset[object]:
    return prospect.outcomes.ends | {failure.message for failure in prospect.outcomes.failures}


def one_of(names: Sequence[str]) -> str:
    """Names as an enumeration: `java, sarama or franz-go`."""
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} or {last}" if most else last
