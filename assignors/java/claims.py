"""Who owned what before: what sticky members claim, and who is believed.

Source: AbstractStickyAssignor.allSubscriptionsEqual, StickyAssignor.memberData,
CooperativeStickyAssignor.memberData (KAFKA-12984, KAFKA-14639, KIP-792).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.spec import Fault, MemberSubscription
from kgroups.assignors.wire import TopicRuns, decode_cooperative_data, decode_sticky_data

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NO_GENERATION = -1
BULK_BYTES = 1 << 18
BULK_MEMBERS = 64
BULK_FROM = 50_000  # claims; below, importing numpy costs more than it saves

MemberData = Callable[[MemberSubscription], tuple[TopicRuns, int | None]]


def sticky_member_data(member: MemberSubscription) -> tuple[TopicRuns, int | None]:
    """The memory of an eager sticky member: its user data and nothing else."""
    return member.previous if member.previous is not None else decode_sticky_data(member.user_data)


def cooperative_member_data(member: MemberSubscription) -> tuple[TopicRuns, int | None]:
    """The claims of a cooperative member; the generation on the wire outranks user data."""
    if member.generation >= 0:
        return member.owned, member.generation
    return member.owned, decode_cooperative_data(member.user_data)


@dataclass(slots=True)
class Claims:
    """Claims of a group after conflicts are settled.

    Args:
        raw: per member the partition numbers that it claims, in its own order.
        generations: per member the generation of its claim; None if it names none.
        owned: per member the claims that are believed.
        doubled: partitions that two members of one generation claim.
        newest: newest generation seen.
        equal: whether all subscriptions count as equal.
        faults: what the Java class does wrong with these claims.
        bulk: the believed claims in one array, with the number of each member, where there are
            many and none are in conflict; `raw` and `owned` are then empty until `listed`.
    """

    raw: list[list[int]]
    generations: list[int | None]
    owned: list[list[int]] = field(default_factory=list)
    doubled: set[int] = field(default_factory=set)
    newest: int = NO_GENERATION
    equal: bool = True
    faults: list[Fault] = field(default_factory=list)
    bulk: "tuple[npt.NDArray[np.int32], Sequence[int]] | None" = None

    def listed(self) -> "Claims":
        """These claims with `raw` and `owned` filled."""
        if self.bulk is not None and not self.raw:
            numbers, start = self.bulk[0].tolist(), 0
            for size in self.bulk[1]:
                self.raw.append(numbers[start : start + size])
                start += size
            self.owned = self.raw
        return self


def read_claims(view: LeaderView, member_data: MemberData, bulk_from: int = BULK_FROM) -> Claims:
    """Every member's claims, settled.

    Claims on partitions that no longer exist are kept only in a faithful request; otherwise they
    are dropped and reported.

    Args:
        bulk_from: number of claims from which arrays are used.
    """
    claims = Claims([], [], newest=view.request.generation)
    bulk = None
    if member_data is sticky_member_data and not any(m.previous for m in view.members):
        data = [member.user_data for member in view.members]
        if not bulk_from or is_much(data):
            from kgroups.assignors.kernels.bulk_claims import read_bulk  # numpy

            bulk = read_bulk(view.table, data)
    if bulk is not None:
        claims.generations = bulk.generations
        claims.bulk = bulk.numbers, bulk.sizes.tolist()
    else:
        for member in view.members:
            runs, generation = member_data(member)
            claims.raw.append(_numbers(view, member, runs, claims.faults))
            claims.generations.append(generation)
        if sum(map(len, claims.raw)) >= bulk_from:
            claims.bulk = _in_bulk(claims.raw)
    claims.newest = max([claims.newest, *(g for g in claims.generations if g is not None)])
    claims.equal = _equal_subscriptions(view, claims.faults)
    if claims.bulk is not None and _distinct(claims.bulk[0]):
        claims.owned = claims.raw
        return claims
    claims.listed().bulk = None
    _settle(claims, [member.generation for member in view.members])
    return claims


def is_much(data: Sequence[bytes | None]) -> bool:
    """Whether the user data of members are worth reading side by side."""
    return len(data) >= BULK_MEMBERS and sum(len(part or b"") for part in data) >= BULK_BYTES


def _in_bulk(raw: list[list[int]]) -> "tuple[npt.NDArray[np.int32], Sequence[int]]":
    """All claims in one array, and the number of each member."""
    import numpy as np

    sizes = [len(numbers) for numbers in raw]
    return np.fromiter(chain.from_iterable(raw), dtype=np.int32, count=sum(sizes)), sizes


def _distinct(numbers: "npt.NDArray[np.int32]") -> bool:
    """Whether no partition is claimed twice."""
    import numpy as np

    if not len(numbers):
        return True
    seen = np.zeros(int(numbers.max()) + 1, dtype=bool)
    seen[numbers] = True
    return int(np.count_nonzero(seen)) == len(numbers)


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
            numbers += [base + partition for partition in partitions]
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


def _settle(claims: Claims, wire_generations: Sequence[int]) -> None:
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
            theirs = max(wire_generations[other], NO_GENERATION)
            if generation < theirs:
                continue
            if number in claims.owned[other]:
                claims.owned[other].remove(number)
            owner[number] = member
            if generation == theirs:
                claims.doubled.add(number)
            else:
                mine.append(number)
