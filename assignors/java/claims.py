"""Who owned what before: what sticky members claim, and who is believed.

Source: AbstractStickyAssignor.allSubscriptionsEqual, StickyAssignor.memberData,
CooperativeStickyAssignor.memberData (KAFKA-12984, KAFKA-14639, KIP-792).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.spec import Fault, MemberSubscription
from kgroups.assignors.wire import TopicRuns, decode_cooperative_data, decode_sticky_data

NO_GENERATION = -1

MemberData = Callable[[MemberSubscription], tuple[TopicRuns, int | None]]


def sticky_member_data(member: MemberSubscription) -> tuple[TopicRuns, int | None]:
    """What an eager sticky member remembers: its user data and nothing else."""
    return member.previous if member.previous is not None else decode_sticky_data(member.user_data)


def cooperative_member_data(member: MemberSubscription) -> tuple[TopicRuns, int | None]:
    """What a cooperative member brings along; the generation on the wire outranks user data."""
    if member.generation >= 0:
        return member.owned, member.generation
    return member.owned, decode_cooperative_data(member.user_data)


@dataclass(slots=True)
class Claims:
    """Claims of a group; `settle_claims` says who is believed.

    Args:
        raw: per member the partition numbers that it claims, in its own order.
        generations: per member the generation of its claim; None if it names none.
        owned: per member the claims that are believed.
        doubled: partitions that two members of one generation claim.
        newest: newest generation seen.
        equal: whether all subscriptions count as equal.
        faults: what the Java class does wrong with these claims.
    """

    raw: list[list[int]]
    generations: list[int | None]
    owned: list[list[int]] = field(default_factory=list)
    doubled: set[int] = field(default_factory=set)
    newest: int = NO_GENERATION
    equal: bool = True
    faults: list[Fault] = field(default_factory=list)


def read_claims(view: LeaderView, member_data: MemberData) -> Claims:
    """Every member's claims, not settled yet.

    Claims on partitions that no longer exist are kept only in a faithful request; otherwise they
    are dropped and reported.
    """
    claims = Claims([], [], newest=view.request.generation)
    for member in view.members:
        runs, generation = member_data(member)
        claims.raw.append(_numbers(view, member, runs, claims.faults))
        claims.generations.append(generation)
    claims.newest = max([claims.newest, *(g for g in claims.generations if g is not None)])
    claims.equal = _equal_subscriptions(view, claims.faults)
    return claims


def _numbers(
    view: LeaderView, member: MemberSubscription, runs: TopicRuns, faults: list[Fault]
) -> list[int]:
    """Partition numbers of claimed partitions whose topic exists."""
    table = view.table
    index, bases, counts = table.index, table.bases, table.counts
    numbers: list[int] = []
    for topic, partitions in runs:
        place = index.get(topic)
        if place is None:
            continue
        base, count = bases[place], counts[place]
        if len(partitions) == 1 and 0 <= partitions[0] < count:
            numbers.append(base + partitions[0])
            continue
        if partitions and min(partitions) >= 0 and max(partitions) < count:
            numbers += [base + partition for partition in partitions] if base else partitions
            continue
        for partition in partitions:
            if 0 <= partition < count:
                numbers.append(base + partition)
            elif view.request.faithful:
                numbers.append(table.claimed(topic, partition))
            else:
                faults.append(
                    Fault(
                        "PHANTOM_PARTITION",
                        f"`{member.member_id}` claims {topic}-{partition}, which does not exist: "
                        "a Java leader keeps it and may give other partitions to two members "
                        "or fail the rebalance",
                        member.member_id,
                        topic,
                        partition,
                    )
                )
    return numbers


def _equal_subscriptions(view: LeaderView, faults: list[Fault]) -> bool:
    """Whether Java takes the subscriptions for equal.

    The reference is the first list that is not empty, so members without topics that come before
    it in hash order do not count as different and are given partitions. Other lists are compared
    by their length, so one that names a topic twice counts as equal though it lacks another.
    Unless the request is faithful both do count, and the fault is reported.
    """
    reference: set[str] = set()
    last: tuple[str, ...] | None = None
    idle: list[MemberSubscription] = []
    lacking: list[MemberSubscription] = []
    for member in view.members:
        if member.topics is last:
            continue
        if not reference:
            reference = set(member.topics)
            if not reference:
                idle.append(member)
        elif len(member.topics) != len(reference):
            return False
        elif (named := set(member.topics)) != reference:
            if not named < reference:
                return False
            lacking.append(member)
        last = member.topics
    if not (idle or lacking) or not reference or view.request.faithful:
        return True
    faults += [
        Fault(
            "EMPTY_SUBSCRIPTION",
            (
                f"`{member.member_id}` subscribes to nothing, but comes first in hash order: a "
                "Java leader assigns it partitions anyway"
            ),
            member.member_id,
        )
        for member in idle
    ]
    faults += [
        Fault(
            "DOUBLED_TOPIC",
            (
                f"`{member.member_id}` lists a topic twice, so its list is as long as the others': "
                "a Java leader assigns it partitions of topics it does not subscribe to"
            ),
            member.member_id,
        )
        for member in lacking
    ]
    return False


def settle_claims(view: LeaderView, claims: Claims) -> Claims:
    """Fill `owned` and `doubled`: the first claim stands until a newer one comes.

    A later claim is held against the generation *on the wire* of the recorded owner, even where
    claims come out of user data.
    """
    owner: dict[int, int] = {}
    claims.owned = []
    for member, numbers in enumerate(claims.raw):
        mine: list[int] = []
        claims.owned.append(mine)
        generation = claims.generations[member]
        generation = NO_GENERATION if generation is None else generation
        for number in numbers:
            other = owner.get(number)
            if other is None:
                mine.append(number)
                owner[number] = member
                continue
            theirs = max(view.members[other].generation, NO_GENERATION)
            if generation < theirs:
                continue
            if number in claims.owned[other]:
                claims.owned[other].remove(number)
            owner[number] = member
            if generation == theirs:
                claims.doubled.add(number)
            else:
                mine.append(number)
    return claims
