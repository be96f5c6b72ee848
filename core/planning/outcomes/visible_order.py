"""The orders of ids that a strategy can see: text order, and that of which hash tables."""

from dataclasses import dataclass
from typing import Final

from kgroups.core.planning.leaders.libraries import KAFKAJS_ROUND_ROBIN
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.roster import Roster

# Strategies that see no order but that of the texts, whichever library leads; those of `ORDERED`
# keep members of which some are static as the coordinator lists them.
TEXT_ONLY: Final = frozenset({"range", "roundrobin", KAFKAJS_ROUND_ROBIN, "lag"})
ORDERED: Final = frozenset({"librdkafka", "kafka-python"})
HASH_ONLY: Final = frozenset({"uniform"})
STICKY_FAMILY: Final = frozenset({"sticky", "cooperative-sticky"})


@dataclass(frozen=True, slots=True)
class Tables:
    """Hash tables whose order is seen.

    Args:
        listing: the coordinator's of a classic group, in whose order members are listed.
        leader: the table of the leader, or of the coordinator that assigns.
        copies: larger ones, into which Java's sticky strategies copy that one.
    """

    listing: bool = True
    leader: bool = True
    copies: bool = False


@dataclass(frozen=True, slots=True)
class Visible:
    """The orders of member ids that a strategy can see.

    Args:
        text: whether it sees their order as texts.
        tables: the tables whose order it sees; None: none.
    """

    text: bool
    tables: Tables | None


def visible_orders(roster: Roster, strategy: Strategy) -> Visible:
    """The orders of this group's member ids that this strategy can see.

    Java's sticky strategies look at hash order to decide who keeps a surplus. In a group of equal
    subscriptions with a partition for everybody, a newcomer, which has nothing, has no part in it;
    but of several that join one after another the first ones have something then.
    """
    name, library = strategy.assignor.name, strategy.leader_client
    if name in HASH_ONLY:
        return Visible(False, Tables(listing=False))
    if name in TEXT_ONLY:
        static = {seat.member.instance_id is not None for seat in roster.seats}
        listed = library in ORDERED and len(static) > 1
        return Visible(True, Tables(leader=False) if listed else None)
    if name not in STICKY_FAMILY:
        return Visible(True, Tables(listing=not strategy.runs_on_broker, copies=True))
    if library != "java":
        return Visible(True, Tables(leader=False))
    subscriptions = {frozenset(seat.topics) for seat in roster.seats}
    read = [roster.topics[name] for name in roster.subscribed()]
    partitions = sum(len(topic.partitions) for topic in read)
    alone = sum(seat.joins for seat in roster.seats) + len(roster.leavers) < 2
    if len(subscriptions) == 1 and partitions >= len(roster.seats) and alone:
        return Visible(True, None)
    return Visible(True, Tables(copies=True))
