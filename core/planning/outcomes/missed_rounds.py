"""Members that miss what a round gave them, because the next round begins before they ask for it.

A leader's SyncGroup ends a round. Whoever asks for its share after another member has joined again,
as one of a cooperative group does that gives something up, is answered REBALANCE_IN_PROGRESS. It
joins the next round with what it had before: Java and franz-go say the new generation with that,
the others the old one, so that they lose what they claim.

kafka-python's members make the next round themselves: an answer that comes when `poll` has run out
of time is thrown away, even the leader's, and the next `poll` joins again.

Source: GroupMetadataManager.classicGroupSyncToClassicGroup; SyncGroupResponseHandler and
ConsumerCoordinator.metadata (the generation is JoinGroup's); franz-go's consumer_group.go;
rdkafka_sticky_assignor.c (the state is SyncGroup's); kafka-python's coordinator/base.py,
join_group_async (a `_join_task` that has ended is begun anew, whatever it answered).
"""

from itertools import combinations
from typing import Final

from kgroups.core.planning.assignor_request import library_of
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.outcomes.outcome import Settled
from kgroups.core.planning.outcomes.visible_order import STICKY_FAMILY
from kgroups.core.planning.roster import Roster

# Libraries whose members say the generation that JoinGroup answered last.
AHEAD: Final = frozenset({"java", "franz-go"})

KAFKA_PYTHON: Final = "kafka-python"

MOST_SETS: Final = 64
# Members and partitions, all sets together.
SIZE_BUDGET: Final = 40_000
LEAST_SETS: Final = 2


def may_miss(roster: Roster, strategy: Strategy) -> bool:
    """Whether rounds may follow each other so that it matters who missed one."""
    if strategy.assignor.name not in STICKY_FAMILY or len(roster.seats) < 2:
        return False
    return strategy.protocol == "cooperative" or bool(discarders(roster, strategy))


def discarders(roster: Roster, strategy: Strategy) -> frozenset[str]:
    """Ids of the members that may throw away what a round gave them, and make another one."""
    leader = strategy.leader_client
    return frozenset(
        seat.member.member_id
        for seat in roster.seats
        if library_of(seat, roster, leader) == KAFKA_PYTHON
    )


def misses(
    roster: Roster, strategy: Strategy, settled: Settled, *, pressed: bool, rests: bool = False
) -> tuple[tuple[frozenset[str], ...], bool]:
    """Who may miss the last round of these, one set for each way, and whether these are all.

    Args:
        pressed: whether another round begins whoever gives something up: somebody joins, or the
            leader does.
        rests: whether none begins, if nobody throws away what it is given.
    """
    if strategy.assignor.name not in STICKY_FAMILY:
        return (), True
    step = settled.steps[-1]
    losers = frozenset(member for _, _, member in step.revoked)
    changed = losers | {member for _, _, member in step.assigned}
    leaders = strategy.leaders or {roster.group.leader}
    again = discarders(roster, strategy)
    certain = (leaders if len(leaders) == 1 else frozenset[str]()) - again
    some = changed if _says_the_same(roster, strategy) else set(settled.shares)
    names = sorted(again if rests else some - certain)
    most = max(LEAST_SETS, min(MOST_SETS, SIZE_BUDGET // _size(roster)))
    sizes = range(1, len(names) + 1) if 2 ** len(names) <= most else (1, len(names), len(names) - 1)
    rounds = [
        chosen
        for size in sizes
        for chosen in map(frozenset, combinations(names, size))
        if chosen and (pressed or chosen & again or losers - chosen)
    ]
    rounds = list(dict.fromkeys(rounds))
    if 2 ** len(names) <= most:
        return tuple(rounds), True
    return tuple(rounds[: most - 1] + rounds[-1:]), False


def _says_the_same(roster: Roster, strategy: Strategy) -> bool:
    """Whether members to whom a round brought nothing new say the same whether they missed it."""
    leader = strategy.leader_client
    libraries = {library_of(seat, roster, leader) for seat in roster.seats}
    if strategy.protocol != "cooperative":
        return False
    return libraries <= {"franz-go"} or (leader == "java" and libraries <= AHEAD)


def _size(roster: Roster) -> int:
    partitions = sum(len(roster.topics[name].partitions) for name in roster.subscribed())
    return max(len(roster.seats) + partitions, 1)
