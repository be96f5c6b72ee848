"""A roster as the assignor meets it: what each member brings along to the next rebalance.

What a member owns then is its *current assignment*, at the group's current generation; the bytes
of its last join that DescribeGroups shows are one round older. A member that joins owns nothing.
Server side the assignor starts from the target assignment instead.

A cooperative member gives up what it does not subscribe to any more before it joins; kafka-python
does so too, but goes on claiming it, because it claims what it was assigned last.

Source: ConsumerCoordinator.metadata and .onJoinPrepare; rd_kafka_cgrp_modify_subscription;
kafka-python's CooperativeStickyAssignor.metadata; TargetAssignmentBuilder.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from kgroups.assignors.other_clients.rejoins import NO_GENERATION, rejoin_as
from kgroups.assignors.rejoin import COOPERATIVE, STICKY
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions
from kgroups.core.coordinator.kip848.tally import NO_COUNT, TopicCount, is_homogeneous
from kgroups.core.planning.leaders.libraries import (
    LIBRARIES,
    PYTHON,
    SPEAKERS,
    is_undated,
    rack_told,
)
from kgroups.core.planning.moves import RebalanceProtocol
from kgroups.core.planning.outcomes.ids import listing
from kgroups.core.planning.roster import Roster, Seat
from kgroups.core.planning.topic_patterns import matching_topics
from kgroups.core.snapshot import (
    Group,
    Member,
    Topic,
    TopicPartition,
)

JAVA, FRANZ_GO, SARAMA = "java", "franz-go", "sarama"

Holdings = Mapping[str, Sequence[int]]
LagByPartition = Mapping[TopicPartition, int | None]
PartitionRacks = Mapping[TopicPartition, tuple[str | None, ...]]

# A name that no topic can have.
UNREAD_TOPIC: Final = "/"


@dataclass(frozen=True, slots=True)
class Assumed:
    """Assumptions with which a rebalance is computed, besides the roster.

    Args:
        leader: its client library; None server side.
        ids: name in the roster of a member that joins to its assumed id, which is the key of the
            answer too; absent ones keep their names.
        topic_ids: assumed ids of topics that do not exist yet.
        unlike: whether equal subscriptions look different to a Python client: its leader knows
            topics that nobody subscribes to, or members name theirs in different orders.
        racks: assumed racks of partitions that do not exist yet.
        libraries: assumed client libraries of members that do not show theirs.
        lags: records to be read by partition, for assignors that balance by lag.
        faithful: repeat what Java's class does wrong instead of reporting it.
        batches: in which a coordinator takes in what happens to a KIP-848 group: names of seats.
        orders: in which it meets the members at each target, by their names in the roster; empty:
            those that join last.
        weight: how likely it is beside others.
    """

    leader: str | None = None
    ids: Mapping[str, str] = field(default_factory=dict)
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    unlike: bool = False
    racks: PartitionRacks = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)
    lags: LagByPartition = field(default_factory=dict)
    faithful: bool = False
    batches: tuple[frozenset[str], ...] = ()
    orders: tuple[tuple[str, ...], ...] = ()
    weight: float = 1.0

    def until(self, number: int) -> Hashable:
        """All that decides the target of this number, and those before, of a KIP-848 group.

        Where it is not said in which order members are met, their ids tell.
        """
        orders = self.orders[: number + 1] or tuple(self.ids.items())
        return self.batches[: number + 1], orders, tuple(self.topic_ids.items())


NOTHING_ASSUMED: Final = Assumed()


@dataclass(frozen=True, slots=True)
class Round:
    """Partitions and generations that members bring to one rebalance.

    Args:
        held: what the assignor is told that they have: member id to topic to partitions; absent
            members own nothing.
        generation: the generation in which they were given, or the next one if that was missed.
        missed: who was given it in an older generation, and in which.
        current: what they really have, where that is something else: KIP-848, and topics that
            members of a cooperative group gave up before they join.
    """

    held: Mapping[str, Holdings]
    generation: int
    current: Mapping[str, Holdings] | None = None
    missed: Mapping[str, int] = field(default_factory=dict)


def first_round(roster: Roster, protocol: RebalanceProtocol, leader: str | None = None) -> Round:
    """The round that begins the next rebalance of a group.

    Args:
        protocol: where the coordinator assigns, it starts from the target assignment.
        leader: its client library.
    """
    members = roster.group.members or ()
    current = {member.member_id: member.assignment or {} for member in members}
    generation = current_generation(roster.group)
    if protocol == "consumer":
        return Round({member.member_id: _target(member) for member in members}, generation, current)
    if protocol == "cooperative":
        # A sarama member that subscribes to something else begins anew, and claims nothing.
        changed = [seat for seat in roster.seats if seat.changed]
        anew = {s.member.member_id for s in changed if library_of(s, roster, leader) == SARAMA}
        current = {name: held for name, held in current.items() if name not in anew}
    return next_round(roster, current, generation, protocol)


def next_round(
    roster: Roster,
    held: Mapping[str, Holdings],
    generation: int,
    protocol: RebalanceProtocol,
    missed: Mapping[str, int] | None = None,
) -> Round:
    """The round of a classic group after one that gave its members this.

    Args:
        missed: as of `Round`.
    """
    if protocol == "eager":
        return Round(held, generation, missed=missed or {})
    read = {seat.member.member_id: frozenset(seat.topics) for seat in roster.seats}
    owned = {
        name: {topic: numbers for topic, numbers in topics.items() if topic in read[name]}
        if name in read
        else topics
        for name, topics in held.items()
    }
    return Round(held, generation, owned, missed or {})


def _target(member: Member) -> Holdings:
    shown = member.target_assignment
    return shown if shown is not None else member.assignment or {}


def current_generation(group: Group) -> int:
    """The group's generation, as far as it shows.

    DescribeGroups does not tell it; the subscriptions tell the one before. Only its being the
    same for all members and newer than what joiners bring matters.
    """
    if group.group_epoch is not None:
        return group.group_epoch
    generations = [m.generation for m in group.members or () if m.generation is not None]
    return max(generations, default=0) + 1


def build_request(
    roster: Roster, brought: Round, strategy_name: str, assumed: Assumed = NOTHING_ASSUMED
) -> AssignmentRequest:
    """The rebalance that decides this roster.

    Args:
        brought: what the members own when they join.
        strategy_name: decides in which form a member says what it owns.
    Returns:
        The request, members in the order in which the coordinator will list them, with the
        topics that somebody subscribes to.
    """
    names, leader = assumed.ids, assumed.leader
    orders = _shown_orders(roster)
    seats = {names.get(seat.member.member_id, seat.member.member_id): seat for seat in roster.seats}
    listed = listed_members(roster, names)
    if assumed.orders and roster.group.type != "classic":  # the table of who assigns
        listed = [names.get(name, name) for name in assumed.orders[0]]
    subscribed = frozenset(roster.subscribed())
    topics = {
        name: _topic_partitions(
            topic, assumed.lags, assumed.racks, assumed.topic_ids.get(name), roster.broker_racks
        )
        for name, topic in roster.topics.items()
        if name in subscribed
    }
    if assumed.unlike:
        topics[UNREAD_TOPIC] = TopicPartitions(1)
    return AssignmentRequest(
        members=[
            _subscription(
                name,
                _named_alike(seats[name], orders, leader),
                brought,
                strategy_name,
                assumed.libraries.get(name) or library_of(seats[name], roster, leader),
            )
            for name in listed
        ],
        topics=topics,
        generation=brought.generation,
        faithful=assumed.faithful,
        options=_likeness(roster),
    )


def words_of(
    seat: Seat, roster: Roster, brought: Round, strategy_name: str, leader: str | None, library: str
) -> MemberSubscription:
    """The subscription that a member that stays sends, in `build_request`, with this library."""
    named = _named_alike(seat, _shown_orders(roster), leader)
    return _subscription(seat.member.member_id, named, brought, strategy_name, library)


def listed_members(roster: Roster, ids: Mapping[str, str]) -> list[str]:
    """Ids of the members in the order in which the coordinator will list them.

    Args:
        ids: as of `build_request`.
    """
    staying, joining = (
        [
            ids.get(seat.member.member_id, seat.member.member_id)
            for seat in roster.seats
            if seat.joins is joins
        ]
        for joins in (False, True)
    )
    return listing(roster.group, staying, joining)


def _likeness(roster: Roster) -> Mapping[str, object]:
    """Whether a coordinator takes equal subscriptions for such: it compares patterns as texts."""
    if roster.group.type != "consumer" or not any(seat.pattern for seat in roster.seats):
        return {}
    patterns: Counter[str] = Counter()
    counts: dict[str, TopicCount] = {}
    matched: dict[str, frozenset[str]] = {}
    for seat in roster.seats:
        named = seat.topics
        if seat.pattern is not None:
            text = seat.sent_pattern
            patterns[text] += 1
            named = () if seat.joins else seat.member.subscription or ()
            matched[text] = frozenset(seat.topics) - frozenset(named)
        for topic in named:
            count = counts.get(topic, NO_COUNT)
            counts[topic] = count._replace(by_name=count.by_name + 1)
    matched |= _orphaned(roster, patterns)
    for topic in (topic for topics in matched.values() for topic in topics):
        count = counts.get(topic, NO_COUNT)
        counts[topic] = count._replace(by_pattern=count.by_pattern + 1)
    return {"homogeneous": is_homogeneous(patterns, counts, len(roster.seats))}


def _orphaned(roster: Roster, patterns: Mapping[str, int]) -> dict[str, frozenset[str]]:
    """Patterns of which the last member leaves, and what they match.

    A coordinator looks whether members are alike before it forgets the pattern, and again only when
    another member, or the metadata of a topic, changes.

    Source: ConsumerGroup.removeMember; GroupMetadataManager.consumerGroupFenceMembers.
    """
    if roster.topics_changed or any(seat.joins or seat.changed for seat in roster.seats):
        return {}
    left = {member.subscription_regex for member in roster.leavers} - {None, *patterns}
    return {
        text: frozenset(matching_topics(roster.topics, text, "re2"))
        for text in left
        if text is not None
    }


def _shown_orders(roster: Roster) -> Mapping[frozenset[str], tuple[str, ...]]:
    """In which order members name their topics, for each set of topics that somebody shows."""
    return {frozenset(seat.topics): seat.topics for seat in roster.seats if _shows_order(seat)}


def _shows_order(seat: Seat) -> bool:
    """Whether it goes on naming the topics that it shows."""
    return not seat.joins and seat.topics == seat.member.subscription


def _named_alike(
    seat: Seat, orders: Mapping[frozenset[str], tuple[str, ...]], leader: str | None
) -> Seat:
    """A member whose order of topics is not known names them as others do that have the same.

    A Python leader that does not know all of its topics compares the rest with what others have.
    """
    if _shows_order(seat):
        return seat
    named = orders.get(frozenset(seat.topics))
    if named is None and leader in PYTHON:
        ranked = sorted(orders.values(), key=lambda order: -len(set(order) & set(seat.topics)))
        first = dict.fromkeys(topic for order in ranked for topic in order if topic in seat.topics)
        named = (*first, *(topic for topic in seat.topics if topic not in first))
    return seat if named is None else replace(seat, topics=named)


def _subscription(
    member_id: str, seat: Seat, brought: Round, strategy_name: str, library: str
) -> MemberSubscription:
    """A member's subscription when it joins, as its client library writes it."""
    held, facts = brought.held.get(member_id), seat.member
    rack = facts.rack
    if seat.joins and facts.member_protocol == "classic":
        rack = rack_told(library, strategy_name, rack)
    joins = MemberSubscription(member_id, seat.topics, instance_id=facts.instance_id, rack=rack)
    if held is None:
        return joins
    if strategy_name not in SPEAKERS:
        owned = [(topic, tuple(numbers)) for topic, numbers in held.items()]
        said = replace(joins, owned=owned, generation=brought.generation)
    elif library == SARAMA and strategy_name == STICKY and was_told_nothing(facts):
        said = joins
    else:
        pairs = [(topic, number) for topic, numbers in held.items() for number in numbers]
        if library == JAVA and strategy_name == COOPERATIVE:
            pairs = [(topic, number) for topic, number in pairs if topic in seat.topics]
        given = brought.missed.get(member_id, brought.generation)
        said = rejoin_as(
            library,
            joins,
            strategy_name,
            pairs,
            brought.generation if library == FRANZ_GO else given,
        )
        if library == JAVA:
            said = replace(said, generation=brought.generation)
    undated = not seat.joins and is_undated(facts)
    return replace(said, generation=NO_GENERATION) if undated else said


def was_told_nothing(member: Member) -> bool:
    """Whether its assignment came without user data.

    A sticky sarama member joins again with the user data of its assignment, so that under a
    leader of another library, which writes none, it says nothing of what it has.

    Source: sarama consumer_group.go, newSession.
    """
    return member.assignment_version is not None and not member.assignment_user_data


def library_of(seat: Seat, roster: Roster, leader: str | None) -> str:
    """Whose way of saying what it has a member uses: the leader's where it does not show."""
    if seat.library is not None:
        return seat.library
    if seat.joins or not roster.group.assignor:
        return leader or JAVA
    possible = roster.evidence.libraries[seat.member.member_id]
    if leader in possible:
        return leader
    return next((name for name in LIBRARIES if name in possible), JAVA)


def _topic_partitions(
    topic: Topic,
    lags: LagByPartition,
    assumed_racks: PartitionRacks,
    assumed_id: str | None,
    broker_racks: Mapping[int, str | None],
) -> TopicPartitions:
    placed = [
        topic.partitions[number].racks or assumed_racks.get((topic.topic, number), ())
        for number in sorted(topic.partitions)
    ]
    racked = any(rack is not None for racks in placed for rack in racks)
    count = len(placed)
    lag = [lags.get((topic.topic, number)) for number in range(count)] if lags else ()
    led = [
        placed[number][:1] if log.leader is None else (broker_racks.get(log.leader),)
        for number, log in sorted(topic.partitions.items())
    ]
    return TopicPartitions(
        count,
        placed if racked else (),
        lag,
        topic.topic_id or assumed_id,
        [next(iter(racks), None) for racks in led] if racked else (),
    )
