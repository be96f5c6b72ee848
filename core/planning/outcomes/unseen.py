"""What only leaders see: racks to come, what Python clients know, and libraries of members.

Brokers place new partitions by chance (`placements.py`), so that strategies that look at racks may
do any of several things. A leader of a Python client takes equal subscriptions for different ones
where members name their topics in different orders, which their sets decide, or where it knows a
topic that nobody subscribes to, as one that subscribes by a pattern does.

A leader of Java or kafka-python may not know a topic yet that nobody has read, and then assigns the
others first and everything a moment later. Java's knows those that it does not read itself only
while it leads: each time it joins it drops them, and asks for them when it leads again. It waits
then for metadata, but any answer will do: one to a question from before has its own topics alone.

Members whose bytes fit several libraries say what they have as any of these would: where a group is
mixed, where Java would have had to send what franz-go always does, and where a sticky member that
has just joined has said nothing yet and nobody named the library, each of them is tried.

Source: kafka-python 3.0.12 and aiokafka 0.14,
_are_subscriptions_identical of their sticky assignors; ConsumerCoordinator.onJoinPrepare and
.updateGroupSubscription, ConsumerNetworkClient.awaitMetadataUpdate.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice, product
from typing import Final

from kgroups.assignors.other_clients.rejoins import PLAIN, REJOIN_FORMS
from kgroups.assignors.rejoin import COOPERATIVE, STICKY
from kgroups.core.planning.assignor_request import PartitionRacks, was_told_nothing
from kgroups.core.planning.leaders.libraries import (
    LIBRARIES,
    PYTHON,
    Form,
    form_of,
)
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.outcomes.placements import placements
from kgroups.core.planning.outcomes.visible import STICKY_FAMILY
from kgroups.core.planning.roster import Roster

# Libraries whose cooperative members say what they own without a generation, in some releases.
UNDATED: Final = frozenset({"java", "sarama"})
UNLIKE_WEIGHT: Final = 0.25
MOST_PLACEMENTS: Final = 64
MOST_LIBRARIES: Final = 27
LATE: Final = frozenset({"java", "kafka-python"})
LEADERS_OWN_WEIGHT: Final = 4.0


@dataclass(frozen=True, slots=True)
class Unseen:
    """One of the things that may be.

    Args:
        unlike, racks, libraries: as of `build_request`.
        weight: how likely it is.
    """

    unlike: bool
    racks: PartitionRacks
    libraries: Mapping[str, str]
    weight: float


def unseen(roster: Roster, strategy: Strategy) -> tuple[list[Unseen], bool]:
    """Everything that may be, and whether that is all."""
    likeness = [(False, 1.0)]
    if strategy.leader_client in PYTHON and strategy.assignor.name in STICKY_FAMILY:
        likeness = [(False, 1 - UNLIKE_WEIGHT), (True, UNLIKE_WEIGHT)]
    placements = list(islice(_placements(roster, strategy), MOST_PLACEMENTS + 1))
    libraries = list(islice(_libraries(roster, strategy), MOST_LIBRARIES + 1))
    complete = len(placements) <= MOST_PLACEMENTS and len(libraries) <= MOST_LIBRARIES
    placements, libraries = placements[:MOST_PLACEMENTS], libraries[:MOST_LIBRARIES]
    weights = [1.0 if place else LEADERS_OWN_WEIGHT for place in range(len(libraries))]
    return [
        Unseen(unlike, racks, named, weight * share / sum(weights) / len(placements))
        for (unlike, weight), racks, (named, share) in product(
            likeness, placements, zip(libraries, weights, strict=True)
        )
    ], complete


def hides_libraries(roster: Roster, strategy: Strategy) -> bool:
    """Whether it makes a difference which libraries members use that do not show theirs."""
    return len(list(islice(_libraries(roster, strategy), 2))) > 1


def hides_claims(roster: Roster, strategy: Strategy) -> bool:
    """Whether it is not known if the leader can see what members will have.

    A cooperative franz-go leader takes what is owned from subscriptions with a generation, and else
    from user data like its own. sarama's members have neither when they are told that brokers are
    of a time before generations, which a member that is to join does not show.

    Source: franz-go, kgo/internal/sticky, parseMemberMetadata.
    """
    if strategy.leader_client != "franz-go" or strategy.assignor.name != COOPERATIVE:
        return False
    return any(seat.joins and seat.library == "sarama" for seat in roster.seats)


def may_be_late(roster: Roster, strategy: Strategy) -> bool:
    """Whether it matters that a leader may not know a topic yet."""
    known = strategy.leader_client not in LATE or strategy.assignor.name not in STICKY_FAMILY
    return not known and bool(unread_topics(roster, strategy))


def unread_topics(roster: Roster, strategy: Strategy) -> frozenset[str]:
    """Topics that a leader may not know: nobody reads them now, or it leads for the first time.

    Where a member leaves, it may be the leader, and the first of the others follows it. A static
    member of kafka-python that restarted does not know that it leads until the next rebalance.
    """
    before = {topic for seat in roster.seats for topic in seat.read_before}
    before |= {topic for member in roster.leavers for topic in member.subscription or ()}
    first = next((seat for seat in roster.seats if not seat.joins), None)
    if roster.leavers and first is not None:
        before &= set(first.read_before)
    if strategy.leader_client == "kafka-python":
        known = {seat.member.member_id for seat in roster.seats}
        for seat in roster.seats:
            if not seat.joins and seat.member.instance_id and not seat.member.user_data:
                before &= set(seat.read_before)
            # It asks for its own topics alone from then on, until it leads again.
            if seat.changed and seat.member.member_id in (strategy.leaders or known):
                before &= set(seat.topics)
    return frozenset(roster.subscribed()) - before


def foreign_topics(roster: Roster, strategy: Strategy) -> list[frozenset[str]]:
    """Topics that a Java leader may not know in any round, because it does not read them.

    One set for each of the members that may lead; nothing where that makes no difference.
    """
    if strategy.leader_client != "java" or strategy.assignor.name not in STICKY_FAMILY:
        return []
    known = strategy.leaders or {roster.group.leader}
    seats = [seat for seat in roster.seats if seat.member.member_id in known] or roster.seats
    reads = [seat.topics for seat in seats]
    reads += [member.subscription or () for member in roster.leavers]
    subscribed = frozenset(roster.subscribed())
    found = {subscribed - frozenset(own) for own in reads}
    return sorted((topics for topics in found if topics), key=sorted)


def _libraries(roster: Roster, strategy: Strategy) -> Iterator[Mapping[str, str]]:
    """What members' libraries may be, where that makes a difference; first the leader's own."""
    name, leader = strategy.assignor.name, strategy.leader_client
    if leader is None or name not in STICKY_FAMILY or name != roster.group.assignor:
        yield {}
        return
    staying = [seat.member for seat in roster.seats if not seat.joins]
    possible = {m.member_id: roster.evidence.libraries[m.member_id] for m in staying}
    mixed = any(leader not in each for each in possible.values())
    options: dict[str, list[str]] = {}
    for member in staying:
        found = possible[member.member_id]
        default = leader if leader in found else next(each for each in LIBRARIES if each in found)
        odd = default == "java" and form_of(member.user_data) is Form.NOTHING
        mute = name == STICKY and "sarama" in found and was_told_nothing(member)
        silent = name == STICKY and form_of(member.user_data) is Form.EMPTY
        fresh = silent and not strategy.said
        if mixed or odd or mute or fresh:
            options[member.member_id] = _unlike_forms(default, found, name, mute=mute)
    options = {member: each for member, each in options.items() if len(each) > 1}
    for chosen in product(*options.values()):
        yield dict(zip(options, chosen, strict=True))


def _unlike_forms(default: str, found: frozenset[str], strategy: str, *, mute: bool) -> list[str]:
    """Of these libraries one for each way of saying what a member has, the default first."""
    ways: dict[object, str] = {_way(default, strategy, mute=mute): default}
    for library in sorted(found):
        ways.setdefault(_way(library, strategy, mute=mute), library)
    return list(ways.values())


def _way(library: str, strategy: str, *, mute: bool) -> object:
    """How a library's members say what they have; sarama's do it as Java's, or are mute."""
    if library == "sarama" and mute:
        return library
    if library in ("java", "sarama"):
        return "java"
    return REJOIN_FORMS.get((library, strategy), PLAIN)


def places_new_partitions(roster: Roster, strategy: Strategy) -> bool:
    """Whether it makes a difference in which racks brokers place partitions to come."""
    return len(list(islice(_placements(roster, strategy), 2))) > 1


def _placements(roster: Roster, strategy: Strategy) -> Iterator[PartitionRacks]:
    """Every way in which brokers may place the partitions that do not exist yet."""
    topics = list(_topic_placements(roster, strategy)) if _looks_at_racks(roster, strategy) else []
    for chosen in product(*topics):
        yield {partition: racks for placed in chosen for partition, racks in placed.items()}


def _looks_at_racks(roster: Roster, strategy: Strategy) -> bool:
    """Whether racks of partitions make a difference to this strategy, for these members."""
    known = {rack for rack in roster.broker_racks.values() if rack}
    name, library = strategy.assignor.name, strategy.leader_client
    if strategy.runs_on_broker or not any(seat.member.rack in known for seat in roster.seats):
        return False
    if strategy.balances_racks:
        return True
    if library == "java":
        return name == "range" or name in STICKY_FAMILY
    return library is None or (library == "librdkafka" and name in ("range", "cooperative-sticky"))


def _topic_placements(roster: Roster, strategy: Strategy) -> Iterator[list[PartitionRacks]]:
    """Of each topic with partitions that do not exist yet, every way in which they may be placed.

    All partitions of a topic that is created have as many replicas. To who balances racks those of
    leaders count, which may be any.
    """
    racks = list(roster.broker_racks.values())
    led = [(rack,) for rack in dict.fromkeys(racks)]
    for name in roster.subscribed():
        logs = roster.topics[name].partitions
        new = [(name, n) for n, log in logs.items() if not log.racks and log.leader is None]
        sizes = {len(log.racks) for log in logs.values() if log.racks}
        wanted = sorted({min(size, len(racks)) for size in sizes or range(1, len(racks) + 1)})
        if not new or not racks:
            continue
        placed = (
            product(led, repeat=len(new))
            if strategy.balances_racks
            else chain.from_iterable(placements(racks, len(new), size) for size in wanted)
        )
        each = (dict(zip(new, chosen, strict=True)) for chosen in placed)
        yield list(islice(each, MOST_PLACEMENTS + 1))
