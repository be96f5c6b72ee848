"""Topics that a leader has not noticed: it assigns the others first and everything a moment later.

A leader of Java or kafka-python may not know a topic yet that nobody has read. Java's knows those
that it does not read itself only while it leads: each time it joins it drops them, and asks for
them when it leads again. It waits then for metadata, but any answer will do: one to a question from
before has its own topics alone.

Source: ConsumerCoordinator.onJoinPrepare and .updateGroupSubscription,
ConsumerNetworkClient.awaitMetadataUpdate.
"""

from typing import Final

from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.outcomes.visible_order import STICKY_FAMILY
from kgroups.core.planning.roster import Roster

LATE: Final = frozenset({"java", "kafka-python"})


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
