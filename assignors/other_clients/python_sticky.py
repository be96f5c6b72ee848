"""`sticky` and `cooperative-sticky` as kafka-python computes them, and `sticky` as aiokafka does.

One algorithm in two copies. kafka-python's undoes two moves where one would leave a member with
too much, aiokafka's may go round for ever there. Which of several moves is cancelled, and which of
several partitions with an older owner comes first, is left to the order of a Python set.

Source: kafka-python 3.0.12, coordinator/assignors/sticky and cooperative_sticky.py; aiokafka 0.14,
coordinator/assignors/sticky (both after Kafka 2.3).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.other_clients.choices import ByChance, Choices
from kgroups.assignors.other_clients.ported_group import PortedGroup, claimed_once
from kgroups.assignors.other_clients.ported_sticky import PortedStart, PortedSticky
from kgroups.assignors.other_clients.user_data import (
    read_kafka_python_data,
    read_strict_sticky_data,
)
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartition,
)

NO_GENERATION = -1


@dataclass(frozen=True, slots=True)
class PythonSticky(ByChance):
    """A sticky strategy of a Python library's leader.

    Args:
        name: registered name.
        library: `kafka-python` or `aiokafka`.
        cooperative: read what members own and withhold what changes hands.
    """

    name: str
    library: str
    cooperative: bool = False

    def decide(self, request: AssignmentRequest, choices: Choices) -> CompactAssignment:
        """One answer.

        Raises:
            AssignorError: the library's leader raises, or never ends.
        """
        group = PortedGroup(request)
        if not group.ids:
            return CompactAssignment.of_lists([], group.table, [])
        claims = [self._claims(member) for member in group.view.members]
        run = _Run(group, _start(group, claims, choices), choices, self)
        lists = [sorted(numbers) for numbers in run.run()]
        if run.endless:
            raise AssignorError(
                (
                    f"{_article(self.library)} leader never finishes this rebalance: its "
                    f"`{self.name}` moves the same partitions in a cycle"
                ),
                hint="members claim partitions of several generations; restart those with older "
                "ones",
            )
        withheld = self._withhold(group, claims, lists) if self.cooperative else {}
        answer = CompactAssignment.of_lists(
            group.view.member_ids,
            group.table,
            group.in_positions(lists),
            withheld=withheld,
            generation=max((generation for _, generation in claims), default=NO_GENERATION),
        )
        if claimed_once(claim for claimed, _ in claims for claim in claimed):
            answer.by_hash = frozenset()
        return answer

    def reads(self, member: MemberSubscription) -> Hashable:
        """A member's subscription as a leader reads it, but for the generation.

        That decides only between members that claim the same (`CompactAssignment.by_hash`).
        """
        return tuple(self._claims(member)[0])

    def _claims(self, member: MemberSubscription) -> tuple[list[TopicPartition], int]:
        """The partitions that a member claims, and their generation."""
        if self.cooperative:
            return _listed(member.owned), member.generation
        read = read_kafka_python_data if self.library == "kafka-python" else read_strict_sticky_data
        runs, generation = read(member)
        return _listed(runs), generation

    def _withhold(
        self,
        group: PortedGroup,
        claims: Sequence[tuple[list[TopicPartition], int]],
        lists: list[list[int]],
    ) -> dict[int, int]:
        """Take from everybody what somebody else claims; the last of two claims counts."""
        owner = {}
        for position, (claimed, _) in enumerate(claims):
            owner.update({group.table.number(claim): group.ranks[position] for claim in claimed})
        withheld = {
            number: group.positions[rank]
            for rank, numbers in enumerate(lists)
            for number in numbers
            if owner.get(number, rank) != rank
        }
        for number, position in withheld.items():
            lists[group.ranks[position]].remove(number)
        return withheld


class _Run(PortedSticky):
    """One run of either library."""

    def __init__(
        self, group: PortedGroup, start: PortedStart, choices: Choices, strategy: PythonSticky
    ) -> None:
        super().__init__(group, start, choices)
        self._strategy = strategy

    def actual(self, reverse: Sequence[int]) -> int:
        """Any of them: a set of tuples with texts has another order in every process."""
        state = (tuple(self.owner), self.movements.state()) if self.choices.wants_states else None
        return self.choices.pick(reverse, state)

    def reassign(self, number: int, target: int) -> None:
        """As in Java; kafka-python first gives its partition to whom the other one is taken from.

        Raises:
            AssignorError: the target takes no part.
        """
        if target in self.fixed:
            raise AssignorError(
                (
                    f"{_article(self._strategy.library)} leader fails this rebalance: its "
                    f"`{self._strategy.name}` raises KeyError for an earlier owner that is not in "
                    "it"
                ),
                hint="a member's claim of an older generation names topics that it does not "
                "subscribe to",
            )
        topic, source = self.topic_of(number), self.owner[number]
        reverse = self.movements.reversed_by(topic, number, source, target)
        moving = self.actual(reverse) if reverse else number
        other = self.owner[moving]
        if other != source and self._strategy.library == "kafka-python":
            self.move(number, other)
        self.move(moving, target)

    def size_of(self, rank: int) -> int:
        """An older owner that takes no part counts as one without partitions from now on."""
        if rank in self.fixed:
            self.counted.add(rank)
            return 0
        return self.sizes[rank]


def _listed(runs: Sequence[tuple[str, Sequence[int]]]) -> list[TopicPartition]:
    return [(topic, partition) for topic, partitions in runs for partition in partitions]


def _article(library: str) -> str:
    return f"an {library}" if library[0] in "aeiou" else f"a {library}"


def _start(
    group: PortedGroup, claims: Sequence[tuple[list[TopicPartition], int]], choices: Choices
) -> PortedStart:
    """The assignment to begin with: the newest claim counts, the first of one generation."""
    by_generation: dict[TopicPartition, dict[int, int]] = {}
    for position, (claimed, generation) in enumerate(claims):
        for claim in claimed:
            claimants = by_generation.setdefault(claim, {})
            if not (generation and generation in claimants):
                claimants[generation] = group.ranks[position]
    lists: list[list[int]] = [[] for _ in group.ids]
    current: list[list[int]] = [[] for _ in group.ids]
    previous: dict[int, int] = {}
    revoked = False
    for claim, claimants in by_generation.items():
        newest, *older = sorted(claimants, reverse=True)
        rank, number = claimants[newest], group.table.number(claim)
        if number is None:
            revoked = revoked or _known(group, claim)
            continue
        if older:
            previous[number] = claimants[older[0]]
        current[rank].append(number)
        if group.table.index[claim[0]] in group.subscribed[rank]:
            lists[rank].append(number)
        else:
            revoked = True
    order = group.by_readers()
    if by_generation and _identical(group):
        tried = _rounds(current, previous, choices)
        seen = set(tried)
        order = tried + [number for number in order if number not in seen]
    kept = {number for numbers in lists for number in numbers}
    unassigned = [number for number in order if number not in kept]
    return PortedStart(lists, order, unassigned, revoked, previous)


def _known(group: PortedGroup, claim: TopicPartition) -> bool:
    """Whether the leader knows this partition, of a topic that nobody subscribes to any more."""
    topic = group.view.request.topics.get(claim[0])
    return (
        topic is not None and claim[0] not in group.table.index and 0 <= claim[1] < topic.partitions
    )


def _identical(group: PortedGroup) -> bool:
    """Whether all members name the same topics in the same order, and the leader knows no other."""
    others = any(
        topic.partitions > 0 and name not in group.table.index
        for name, topic in group.view.request.topics.items()
    )
    return (
        not others
        and all(readers == group.readers[0] for readers in group.readers)
        and all(topics == group.listed[0] for topics in group.listed)
    )


def _rounds(
    current: Sequence[Sequence[int]], previous: dict[int, int], choices: Choices
) -> list[int]:
    """One partition of the fullest member at a time, what had an older owner first."""
    left = [list(numbers) for numbers in current]
    heap = [(-len(numbers), -rank) for rank, numbers in enumerate(left)]
    heapify(heap)
    order: list[int] = []
    while heap:
        _, negative = heappop(heap)
        numbers = left[-negative]
        if not numbers:
            continue
        earlier = [number for number in numbers if number in previous] if previous else []
        taken = choices.pick(earlier, tuple(order)) if earlier else numbers[-1]
        numbers.remove(taken)
        order.append(taken)
        heappush(heap, (-len(numbers), negative))
    return order
