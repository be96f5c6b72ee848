"""An assignment as three arrays, which saves a million small objects that are never read.

Partitions have one number each, `base[topic] + partition`, with topics in name order. Member i
holds `flat[indptr[i]:indptr[i + 1]]`, in list order. The arrays are plain lists for a small group
(importing numpy would cost more than it saves) and numpy arrays for a big one.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from kgroups.assignors.spec import Fault, TopicPartition

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]


class TopicTable:
    """The topics of a request, numbered, and their partitions in one row of numbers.

    Args:
        names: existing topics in name order.
        counts: number of partitions of each, above 0.
    """

    __slots__ = ("_stray_numbers", "bases", "counts", "index", "names", "strays", "total")

    def __init__(self, names: list[str], counts: list[int]) -> None:
        self.names = names
        self.counts = counts
        self.index = {name: number for number, name in enumerate(names)}
        self.bases = []
        total = 0
        for count in counts:
            self.bases.append(total)
            total += count
        self.total = total
        self.strays: list[TopicPartition] = []
        self._stray_numbers: dict[TopicPartition, int] = {}

    def number(self, claim: TopicPartition) -> int | None:
        """Number of a claimed partition; None if it does not exist."""
        topic = self.index.get(claim[0])
        if topic is None or not 0 <= claim[1] < self.counts[topic]:
            return None
        return self.bases[topic] + claim[1]

    def existing(self, runs: Iterable[tuple[str, Sequence[int]]]) -> list[int]:
        """Numbers of those of these partitions that exist."""
        numbers = (self.number((topic, part)) for topic, parts in runs for part in parts)
        return [number for number in numbers if number is not None]

    def claimed(self, topic: str, partition: int) -> int:
        """Number of a partition; of one that exists only in a claim, one behind all others."""
        number = self.number((topic, partition))
        if number is None:
            number = self._stray_numbers.get((topic, partition))
        if number is None:
            number = self._stray_numbers[topic, partition] = self.total + len(self.strays)
            self.strays.append((topic, partition))
        return number

    def partition(self, number: int) -> TopicPartition:
        """(topic, partition) of a global partition number."""
        if number >= self.total:
            return self.strays[number - self.total]
        topic = bisect_right(self.bases, number) - 1
        return self.names[topic], number - self.bases[topic]

    def topic_of(self, number: int) -> int:
        """Topic number of a global partition number."""
        if number >= self.total:
            return self.index[self.strays[number - self.total][0]]
        return bisect_right(self.bases, number) - 1

    def partitions(self, numbers: "Numbers") -> list[TopicPartition]:
        """(topic, partition) of each global partition number."""
        listed: Sequence[int] = numbers if isinstance(numbers, list | range) else list(numbers)
        return [self.partition(int(number)) for number in listed]


def withhold(
    lists: Sequence[list[int]], owned: Sequence[set[int]], claims: Sequence[set[int]]
) -> dict[int, int]:
    """Take from members what they do not own and somebody who claims it is to lose.

    A cooperative round hands it on in the next one.

    Args:
        lists: partition numbers of each member; what is taken is gone from them.
        owned: what each had for certain.
        claims: what each says it had.
    Returns:
        Partition number to the place of the member that would have got it.
    Source: AbstractStickyAssignor.adjustAssignment, and its ports.
    """
    lost = set[int]().union(
        *(mine.difference(got) for mine, got in zip(claims, lists, strict=True))
    )
    withheld = {
        number: place
        for place, numbers in enumerate(lists)
        for number in numbers
        if number not in owned[place] and number in lost
    }
    for number, place in withheld.items():
        lists[place].remove(number)
    return withheld


class CompactAssignment:
    """Who gets what, in arrays.

    Args:
        member_ids: every member, in the order of the Java answer.
        topics: what the partition numbers mean.
        indptr: where each member's partitions begin in `flat`; one longer than `member_ids`.
        flat: partition numbers, member after member, in list order.
        faults: what the Java class does wrong with the request.
        withheld: partition number -> position of the member that gets it in the next round of a
            cooperative rebalance.
        generation: newest generation that the assignor has seen.
        by_hash: ids of the members of which the order in hash tables has decided who gets what,
            and generations of claims have decided nothing; None: of any, and they may have, as far
            as the strategy tells.
        user_data: member id to the leader's bytes for it; empty but for strategies of users.
    """

    __slots__ = (
        "_position", "by_hash", "faults", "flat", "generation", "indptr", "member_ids", "topics",
        "user_data", "withheld_numbers",
    )  # fmt: skip

    def __init__(
        self,
        member_ids: Sequence[str],
        topics: TopicTable,
        indptr: "Numbers",
        flat: "Numbers",
        *,
        faults: Sequence[Fault] = (),
        withheld: dict[int, int] | None = None,
        generation: int = -1,
    ) -> None:
        self.member_ids = member_ids
        self.topics = topics
        self.indptr = indptr
        self.flat = flat
        self.faults = tuple(faults)
        self.withheld_numbers = withheld or {}
        self.generation = generation
        self.by_hash: frozenset[str] | None = None
        self.user_data: Mapping[str, bytes] = {}
        self._position: dict[str, int] | None = None

    @classmethod
    def of_lists(
        cls,
        member_ids: Sequence[str],
        topics: TopicTable,
        lists: Sequence[Sequence[int]],
        *,
        faults: Sequence[Fault] = (),
        withheld: dict[int, int] | None = None,
        generation: int = -1,
    ) -> "CompactAssignment":
        """The assignment that gives each member its list of partition numbers."""
        indptr = [0]
        flat: list[int] = []
        for numbers in lists:
            flat += numbers
            indptr.append(len(flat))
        return cls(
            member_ids, topics, indptr, flat,
            faults=faults, withheld=withheld, generation=generation,
        )  # fmt: skip

    @property
    def withheld(self) -> dict[TopicPartition, str]:
        """(topic, partition) to the member that gets it in the next round."""
        return {
            self.topics.partition(number): self.member_ids[position]
            for number, position in self.withheld_numbers.items()
        }

    def permuted(self, order: Sequence[int]) -> "CompactAssignment":
        """The same assignment with members in another order of positions."""
        place = {member: index for index, member in enumerate(order)}
        permuted = CompactAssignment.of_lists(
            [self.member_ids[index] for index in order],
            self.topics,
            [[int(number) for number in self.numbers_of(index)] for index in order],
            faults=self.faults,
            withheld={number: place[member] for number, member in self.withheld_numbers.items()},
            generation=self.generation,
        )
        permuted.by_hash = self.by_hash
        return permuted

    def numbers_of(self, position: int) -> "Numbers":
        """Partition numbers of the member at this position, in list order."""
        return self.flat[self.indptr[position] : self.indptr[position + 1]]

    def partitions_of(self, member_id: str) -> list[TopicPartition]:
        """(topic, partition) of one member, in list order; empty if it gets nothing."""
        if self._position is None:
            self._position = {name: index for index, name in enumerate(self.member_ids)}
        position = self._position.get(member_id)
        return [] if position is None else self.topics.partitions(self.numbers_of(position))

    def counts(self) -> list[int]:
        """Number of partitions of each member, in `member_ids` order."""
        bounds = list(self.indptr)
        return [int(end - begin) for begin, end in pairwise(bounds)]

    def items(self) -> Iterator[tuple[str, dict[str, list[int]]]]:
        """Member id and its partitions by topic, in `member_ids` order; built on demand.

        Topics stand in the order of their first partition, as in a SyncGroup request.
        """
        for position, member_id in enumerate(self.member_ids):
            held: dict[str, list[int]] = {}
            for topic, partition in self.topics.partitions(self.numbers_of(position)):
                held.setdefault(topic, []).append(partition)
            yield member_id, held
