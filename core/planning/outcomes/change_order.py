"""Changes that need not come in one rebalance, and the group before some of them have come.

Among them are topics that a leader has not noticed: it assigns the others first and everything a
moment later. A leader of Java or kafka-python may not know a topic yet that nobody has read. Java's
knows those that it does not read itself only while it leads: each time it joins it drops them, and
asks for them when it leads again. It waits then for metadata, but any answer will do: one to a
question from before has its own topics alone.

Source: as in `races`; ConsumerCoordinator.onJoinPrepare and .updateGroupSubscription,
ConsumerNetworkClient.awaitMetadataUpdate.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Final

from kgroups.core.planning.leaders.libraries import SPEAKERS
from kgroups.core.planning.leaders.strategies import COOPERATIVE, Strategy
from kgroups.core.planning.outcomes.coordinator_batches import before
from kgroups.core.planning.outcomes.visible_order import STICKY_FAMILY, TEXT_ONLY
from kgroups.core.planning.roster import Roster, Seat
from kgroups.core.snapshot import Topic

# With more events than this, only all of them together, and one after the other in one order.
MOST_EVENTS: Final = 5

# How much likelier it is that all that is to come comes with the next round than any other way.
ALL_AT_ONCE: Final = 4.0

LATE: Final = frozenset({"java", "kafka-python"})  # to know topics

FIND_ALONE: Final = frozenset({"librdkafka", "franz-go"})  # do not look again before they join

# What stands beside ids of members: topics that are created or grow, and a leader that learns of
# topics that it has not read before.
TOPICS: Final = "/"
LEARNS: Final = "//"


def finders_of(roster: Roster, strategy: Strategy) -> frozenset[str]:
    """Ids of the members that come with something new, each in its own time."""
    return frozenset(
        seat.member.member_id
        for seat in roster.seats
        if not seat.joins
        and (seat.changed or (seat.finds_topics and _may_find_alone(roster, seat, strategy)))
    )


def _may_find_alone(roster: Roster, seat: Seat, strategy: Strategy) -> bool:
    """Whether it may join without what others have found, whoever leads.

    Some do not look at the metadata again before they join. The others ask a broker that may not
    know the topic yet, and Java's not even that if they have asked just before.

    Source: ConsumerCoordinator.poll (`timeToAllowUpdate`).
    """
    if strategy.assignor.name not in STICKY_FAMILY:
        return False
    if sum(not seat.joins and seat.finds_topics for seat in roster.seats) > 1:
        return True
    if strategy.assignor.name not in COOPERATIVE:
        return False
    leader = strategy.leader_client
    if leader in FIND_ALONE:
        return True
    libraries = roster.evidence.libraries[seat.member.member_id]
    return leader not in libraries and not FIND_ALONE.isdisjoint(libraries)


def events_of(roster: Roster, strategy: Strategy) -> frozenset[str]:
    """Changes that need not come in one rebalance, where that matters.

    Ids of members that come with something new, join or leave; `TOPICS` and `LEARNS`.
    """
    events = _events(roster, strategy)
    return events | {LEARNS} if may_be_late(roster, strategy) else events


def _events(roster: Roster, strategy: Strategy) -> frozenset[str]:
    if strategy.protocol == "consumer":
        return frozenset()
    finders = finders_of(roster, strategy)
    if not _remembers(strategy):
        return finders if _fails_in_between(strategy) else frozenset()
    joiners: frozenset[str] = frozenset()
    if roster.group.members:
        joiners = frozenset(seat.member.member_id for seat in roster.seats if seat.joins)
    leavers = frozenset(member.member_id for member in roster.leavers)
    events = finders | joiners | leavers
    if not roster.topics_before or not events or _find_topics(roster, finders):
        return events
    return events | {TOPICS}


def _find_topics(roster: Roster, finders: frozenset[str]) -> bool:
    """Whether the members that find the new topics are events already, each by itself.

    Others, such as Java's, know of a topic as soon as anything makes them join.
    """
    unchanged = [seat for seat in roster.seats if not seat.changed]
    if finders.isdisjoint(seat.member.member_id for seat in unchanged):
        return False
    return all(
        seat.joins or not seat.finds_topics or seat.member.member_id in finders
        for seat in unchanged
    )


def is_raced(roster: Roster, strategy: Strategy) -> bool:
    """Whether it matters what meets in one rebalance."""
    return len(_events(roster, strategy)) > 1


def _remembers(strategy: Strategy) -> bool:
    """Whether it may start from what was before; of one of the user's own nothing is known."""
    name = strategy.assignor.name
    return name in STICKY_FAMILY or (name not in SPEAKERS and name not in TEXT_ONLY)


def _fails_in_between(strategy: Strategy) -> bool:
    """Whether the leader fails while some come with what is new and others do not."""
    return strategy.leader_client == "kafka-python" and strategy.assignor.name == "roundrobin"


def later_ones(late: frozenset[str], *, moved: bool) -> list[tuple[frozenset[str], float]]:
    """Sets of changes still to come in the next round, with their weights; the empty one first.

    Args:
        moved: whether there is a next round even if nothing comes.
    """
    names, most = sorted(late), len(late) if moved else max(len(late) - 1, 0)
    sizes = range(most + 1) if len(names) <= MOST_EVENTS else (0, most)
    subsets = [
        frozenset(chosen)
        for size in sizes
        for chosen in (
            combinations(names, size) if len(names) <= MOST_EVENTS else [names[len(names) - size :]]
        )
    ]
    subsets = list(dict.fromkeys(subsets))
    weights = [1.0 if late else ALL_AT_ONCE for late in subsets]
    return [(late, weight / sum(weights)) for late, weight in zip(subsets, weights, strict=True)]


def without_events(roster: Roster, late: frozenset[str], strategy: Strategy) -> Roster:
    """The group while some of what happens to it has not happened yet."""
    if not late:
        return roster
    topics = roster.topics
    if LEARNS in late:
        topics = _known_topics(topics, unread_topics(roster, strategy))
    if TOPICS in late:
        changed = roster.topics_before
        topics = {name: changed.get(name, topic) or topic for name, topic in topics.items()}
        topics = {name: entry for name, entry in topics.items() if changed.get(name, entry)}
    return replace(roster, seats=before(roster, late).seats, topics=topics)


def without_topics(roster: Roster, unknown: frozenset[str]) -> Roster:
    """The group as a leader sees it that does not know these topics."""
    return replace(roster, topics=_known_topics(roster.topics, unknown)) if unknown else roster


def _known_topics(topics: Mapping[str, Topic], unknown: frozenset[str]) -> dict[str, Topic]:
    return {name: topic for name, topic in topics.items() if name not in unknown}


def may_be_late(roster: Roster, strategy: Strategy) -> bool:
    """Whether it matters that a leader may not know a topic yet."""
    on_time = strategy.leader_client not in LATE or strategy.assignor.name not in STICKY_FAMILY
    return not on_time and bool(unread_topics(roster, strategy))


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
        leaders = {seat.member.member_id for seat in roster.seats}
        for seat in roster.seats:
            if not seat.joins and seat.member.instance_id and not seat.member.user_data:
                before &= set(seat.read_before)
            # It asks for its own topics alone from then on, until it leads again.
            if seat.changed and seat.member.member_id in (strategy.leaders or leaders):
                before &= set(seat.topics)
    return frozenset(roster.subscribed()) - before


def foreign_topics(roster: Roster, strategy: Strategy) -> list[frozenset[str]]:
    """Topics that a Java leader may not know in any round, because it does not read them.

    One set for each of the members that may lead; nothing where that makes no difference.
    """
    if strategy.leader_client != "java" or strategy.assignor.name not in STICKY_FAMILY:
        return []
    leaders = strategy.leaders or {roster.group.leader}
    seats = [seat for seat in roster.seats if seat.member.member_id in leaders] or roster.seats
    reads = [seat.topics for seat in seats]
    reads += [member.subscription or () for member in roster.leavers]
    subscribed = frozenset(roster.subscribed())
    hidden = {subscribed - frozenset(own) for own in reads}
    return sorted((topics for topics in hidden if topics), key=sorted)
