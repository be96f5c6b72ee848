"""Subscriptions differ: what the fast and the literal form of the general algorithm share.

Members are known by their rank in id order, so that the smaller number wins a tie.

Source: AbstractStickyAssignor.GeneralAssignmentBuilder (KAFKA-12675, KAFKA-15106).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.claims import NO_GENERATION, Claims
from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.java.sticky_constrained import not_held
from kgroups.assignors.java.sticky_racks import RackInfo
from kgroups.assignors.order.java_table import table_capacity
from kgroups.assignors.spec import Fault


@dataclass(slots=True)
class Start:
    """A general assignment after claims that no longer fit are dropped.

    Args:
        lists: per member (position) the claims that it keeps.
        unassigned: partitions without an owner, in the order in which they are dealt.
        revoked: whether a claim was dropped because its member lost the right to it.
        previous: partition -> (member, generation) of the newest older owner.
    """

    lists: list[list[int]]
    unassigned: list[int]
    revoked: bool
    previous: dict[int, tuple[int, int]]


class GeneralView:
    """Subscriptions of a group, as the general algorithm counts them.

    A topic that a member names twice counts twice, as in Java.
    """

    def __init__(self, view: LeaderView) -> None:
        self.view = view
        self.table = view.table
        self.racks = RackInfo(view)

    @cached_property
    def listed(self) -> list[list[int]]:
        """Per member the numbers of its existing topics, duplicates kept."""
        index = self.table.index
        lists: dict[tuple[str, ...], list[int]] = {}
        result = []
        for member in self.view.members:
            numbers = lists.get(member.topics)
            if numbers is None:
                numbers = lists[member.topics] = [index[t] for t in member.topics if t in index]
            result.append(numbers)
        return result

    @cached_property
    def readers(self) -> list[list[int]]:
        """Per topic its subscribers in hash order; shared between topics with the same ones."""
        return self.view.subscribers_in(range(len(self.view.members)))

    @cached_property
    def reader_counts(self) -> list[int]:
        """Per topic the number of subscriptions to it, duplicates counted."""
        counts = [len(readers) for readers in self.readers]
        for numbers in self.listed:
            if len(set(numbers)) < len(numbers):
                for topic, times in Counter(numbers).items():
                    counts[topic] += times - 1
        return counts

    @cached_property
    def topic_order(self) -> list[int]:
        """Topics by number of subscriptions, then name."""
        return sorted(range(len(self.table.names)), key=self.reader_counts.__getitem__)

    @cached_property
    def subscribed(self) -> list[frozenset[int]]:
        """Per member its existing topics; equal subscriptions share one set."""
        classes, member_class = self.view.classes
        sets = [frozenset(topics) for topics in classes]
        return [sets[number] for number in member_class]

    def movable_runs(self, shared: Sequence[int]) -> Sequence[tuple[int, Sequence[int]]]:
        """Partitions of shared topics in the order in which they are tried, by topic.

        Args:
            shared: topics with two subscriptions or more, in order.
        """
        bases, counts = self.table.bases, self.table.counts
        return [(topic, range(bases[topic], bases[topic] + counts[topic])) for topic in shared]

    def capacity_of(self, member: int) -> int:
        """How many partitions a member could hold at most, as Java counts them."""
        numbers = self.listed[member]
        if len(numbers) == len(self.table.names):
            return self.table.total
        return sum(self.table.counts[topic] for topic in numbers)

    def topic_of(self, number: int) -> int:
        """Topic number of a partition number."""
        return self.table.topic_of(number)

    def start(self, claims: Claims) -> Start:
        """The assignment to begin with."""
        lists: list[list[int]] = []
        revoked = False
        for member, numbers in enumerate(claims.owned):
            mine = self.subscribed[member]
            kept = [
                number
                for number in numbers
                if self.topic_of(number) in mine and not self.racks.mismatch(member, number)
            ]
            revoked = revoked or len(kept) < len(numbers)
            lists.append(kept)
        return Start(
            lists, not_held(self.table, lists, self.topic_order), revoked, self._previous(claims)
        )

    def _previous(self, claims: Claims) -> dict[int, tuple[int, int]]:
        """The newest owner of older generations, where a member claims an older one."""
        previous: dict[int, tuple[int, int]] = {}
        for member, numbers in enumerate(claims.raw):
            generation = claims.generations[member]
            generation = NO_GENERATION if generation is None else generation
            if generation >= claims.newest:
                continue
            for number in numbers:
                if number not in previous or previous[number][1] < generation:
                    previous[number] = (member, generation)
        return previous

    def strays_from(self, start: Start) -> bool:
        """Whether an older owner no longer subscribes to what it had."""
        return any(
            self.topic_of(number) not in self.subscribed[member]
            for number, (member, _) in start.previous.items()
        )

    def without_strays(self, start: Start, claims: Claims) -> Start:
        """The start without older owners that no longer subscribe; each one is a fault."""
        kept = {}
        for number, (member, generation) in start.previous.items():
            if self.topic_of(number) in self.subscribed[member]:
                kept[number] = (member, generation)
                continue
            topic, partition = self.table.partition(number)
            member_id = self.view.member_ids[member]
            claims.faults.append(
                Fault(
                    "UNSUBSCRIBED_OWNER",
                    (
                        f"`{member_id}` had {topic}-{partition} in an older generation and no "
                        "longer subscribes to it: a Java leader may assign it anyway, or fail"
                    ),
                    member_id,
                    topic,
                    partition,
                )
            )
        start.previous = kept
        return start

    def answer(
        self, lists: list[list[int]], claims: Claims, withheld: dict[int, int], fixed: Iterable[int]
    ) -> CompactAssignment:
        """The answer, members in Java's order.

        Members that took no part in the reassignment leave the map and come back at the end.
        """
        view = self.view
        assignment = CompactAssignment.of_lists(
            view.member_ids,
            view.table,
            lists,
            faults=claims.faults,
            withheld=withheld,
            generation=claims.newest,
        )
        order = view.copied(range(len(lists)))
        apart = set(fixed)
        if apart:
            sized = view.copied(range(len(lists)), table_capacity(len(lists)))
            taken = [member for member in sized if member in apart]
            order = view.taken_and_returned(taken, view.copied(taken))
        return view.in_order(assignment, view.copied(order))
