"""`sticky` and `cooperative-sticky` as franz-go computes them: its own, optimal algorithm.

Where all members read the same, what is free goes to the least loaded and then the fullest give to
the emptiest. Where they do not, partitions are stolen along chains of members, and a repair finds
among all assignments with the same loads one that keeps most partitions in place. Topics are
numbered in the order of a Go map. Where the application says `BalanceRacks`, partitions that are
free go near a member first, and the repair prefers partitions near members to those that stay.

Source: kgo/internal/sticky/sticky.go and group_balancer.go (AdjustCooperative) of franz-go 1.22.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kgroups.assignors.compact import CompactAssignment, withhold
from kgroups.assignors.java.leader_view import LeaderView, OrderRule
from kgroups.assignors.other_clients.choices import ByChance, Choices
from kgroups.assignors.other_clients.franz_go.racks import number_racks
from kgroups.assignors.other_clients.franz_go.repair import repair
from kgroups.assignors.other_clients.franz_go.steals import NOBODY, Balancing, Levels, steal_all
from kgroups.assignors.other_clients.go_maps import any_order, topic_orders
from kgroups.assignors.other_clients.user_data import read_franz_go_data
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription


@dataclass(frozen=True, slots=True)
class FranzGoSticky(ByChance):
    """A sticky strategy of a franz-go leader.

    Args:
        name: registered name.
        cooperative: read what members own and withhold what changes hands.
        racks: whether the application says `BalanceRacks`.
    """

    name: str
    member_order: OrderRule
    cooperative: bool = False
    racks: bool = False

    def decide(self, request: AssignmentRequest, choices: Choices) -> CompactAssignment:
        """One answer."""
        view = LeaderView(request, self.member_order)
        if not view.members:
            return CompactAssignment.of_lists([], view.table, [])
        run = _StickyRun(view, self.cooperative, self.racks, choices)
        lists: list[list[int]] = [[] for _ in view.members]
        for member, numbers in zip(view.ordered, run.run(), strict=True):
            lists[member] = sorted(numbers)
        withheld = _withhold(view, lists) if self.cooperative else {}
        return CompactAssignment.of_lists(
            view.member_ids,
            view.table,
            lists,
            withheld=withheld,
            generation=max((member.generation for member in view.members), default=-1),
        )


class _StickyRun(Balancing):
    """One run; members are known by their place in the order of members.

    Args:
        cooperative: whether members say on the wire what they own.
        choices: decides the order of topics.
    """

    def __init__(
        self, view: LeaderView, cooperative: bool, balances_racks: bool, choices: Choices
    ) -> None:
        super().__init__(view.table, len(view.members))
        self._balances_racks = balances_racks
        self._topics = view.request.topics
        self._choices = choices
        self._members = [view.members[position] for position in view.ordered]
        index = self._table.index
        self._reads = [frozenset(m.topics) & index.keys() for m in self._members]
        self.mixed = any(len(reads) != len(index) for reads in self._reads)
        self._leader = view.request.leader
        self._claims = [self._claim(member, cooperative) for member in self._members]

    def run(self) -> list[list[int]]:
        """Partition numbers by place in the order of members."""
        stales = self._take_claims()
        self._number_topics()
        self._give_back(stales)
        owners = self.owners()
        if self.mixed:
            self._fill_mixed(owners)
        else:
            self._fill_alike(owners)
        levels = Levels(self.plan)
        if self.mixed:
            steal_all(self, levels)
        else:
            self._even_out(levels)
        if self.mixed or self.racks is not None:
            repair(self)
        return self.plan

    def _claim(self, member: MemberSubscription, cooperative: bool) -> tuple[list[int], int]:
        """Numbers of existing partitions that a member had, and the generation of it."""
        if cooperative and member.generation >= 0:
            runs, generation = member.owned, member.generation
        else:
            runs, generation = read_franz_go_data(member)
        return self._table.existing(runs), generation

    def _take_claims(self) -> dict[int, int]:
        """Give partitions to whoever claims them in the newest generation.

        Returns:
            Partition to its claimant of the next older generation.
        """
        newest: dict[int, tuple[int, int]] = {}
        older: dict[int, tuple[int, int]] = {}
        for member, (numbers, generation) in enumerate(self._claims):
            for number in numbers:
                claim = newest.get(number, (-1, NOBODY))
                if generation > claim[0]:
                    if number in newest:
                        older[number] = claim
                    newest[number] = (generation, member)
                elif generation > older.get(number, (-1, NOBODY))[0]:
                    older[number] = (generation, member)
        for number, (_, member) in newest.items():
            if self._table.names[self._table.topic_of(number)] in self._reads[member]:
                self.plan[member].append(number)
                self.origin[number] = member
        return {number: member for number, (_, member) in older.items()}

    def _number_topics(self) -> None:
        """Choose the order of topics, and put everything into it."""
        named = [t for m in self._members for t in m.topics if t in self._table.index]
        names = list(dict.fromkeys(named))
        leaders = [
            reads
            for member, reads in zip(self._members, self._reads, strict=True)
            if self._leader in (None, member.member_id)
        ]
        free = {
            self._table.topic_of(number)
            for number, member in enumerate(self.origin)
            if member == NOBODY
        }
        if not self.mixed and len(free) < 2 and not self._balances_racks:
            order: Sequence[str] = names  # no topic's place decides anything
        else:
            orders = topic_orders(names, leaders)
            order = (
                any_order(names, self._choices) if orders is None else self._choices.pick(orders)
            )
        if self._balances_racks:
            table = {name: self._topics[name] for name in self._table.names}
            self.racks = number_racks(self._members, table, order, self._choices)
        self.topics = [self._table.index[name] for name in order]
        place = self._places = {topic: number for number, topic in enumerate(self.topics)}
        for numbers in self.plan:
            numbers.sort(key=lambda n: (place[self._table.topic_of(n)], n))
        self.readers = [[] for _ in self.topics]
        for member, reads in enumerate(self._reads):
            for name in reads:
                self.readers[place[self._table.index[name]]].append(member)

    def reads(self, member: int, number: int) -> bool:
        """Whether a member subscribes to a partition's topic."""
        return self._table.names[self._table.topic_of(number)] in self._reads[member]

    def _give_back(self, stales: dict[int, int]) -> None:
        """Give partitions back to older claimants where their owner has two more, or is none."""
        left = [number for number, member in stales.items() if self.reads(member, number)]
        while left:
            number = self._choices.pick(left)
            left.remove(number)
            member, owner = stales[number], self.origin[number]
            if owner != NOBODY:
                if len(self.plan[member]) + 1 >= len(self.plan[owner]):
                    continue
                swap_remove(self.plan[owner], number)
            self.plan[member].append(number)
            self.origin[number] = member

    def _free(self, place: int, owners: Sequence[int]) -> list[int]:
        """Partitions of the topic at this place that nobody has."""
        return [number for number in self.numbers_of(place) if owners[number] == NOBODY]

    def _fill_alike(self, owners: list[int]) -> None:
        """Deal what nobody has to the least loaded member, by a heap with its own ties.

        With racks, members take what is near them first, up to the lower even share.
        """
        heap = list(self.readers[0]) if self.readers else []
        numbers = [n for place in range(len(self.topics)) for n in self._free(place, owners)]
        if self.racks is not None:
            heaps = self._heaps_by_rack(heap)
            share = self._table.total // len(self.plan)
            far = []
            for number in numbers:
                near = heaps[self.racks.partitions[number]]
                if near and self.racks.partitions[number] and len(self.plan[near[0]]) < share:
                    self._give(near, number)
                else:
                    far.append(number)
            numbers = far
        self._heapify(heap)
        for number in numbers:
            self._give(heap, number)

    def _fill_mixed(self, owners: list[int]) -> None:
        """Deal what nobody has to the least loaded reader, near ones before others."""
        for place, readers in enumerate(self.readers):
            free = self._free(place, owners)
            heaps = self._heaps_by_rack(readers) if free else []
            for number in free:
                least = min(len(self.plan[heap[0]]) for heap in heaps if heap)
                fitting = [heap for heap in heaps if heap and len(self.plan[heap[0]]) == least]
                near = heaps[self.racks.partitions[number]] if self.racks is not None else []
                self._give(near if near in fitting else fitting[0], number)

    def _heaps_by_rack(self, readers: Sequence[int]) -> list[list[int]]:
        """A heap of members for each rack, those without one first; one heap without racks."""
        heaps: list[list[int]] = [[] for _ in range(self.racks.count + 1 if self.racks else 1)]
        for reader in readers:
            heaps[self.racks.members[reader] if self.racks else 0].append(reader)
        for heap in heaps:
            self._heapify(heap)
        return heaps

    def _give(self, heap: list[int], number: int) -> None:
        """Give a partition to the first of a heap."""
        self.plan[heap[0]].append(number)
        self._sift_down(heap, 0)

    def _heapify(self, heap: list[int]) -> None:
        for node in reversed(range(len(heap) // 2)):
            self._sift_down(heap, node)

    def _sift_down(self, heap: list[int], node: int) -> None:
        plan = self.plan
        while (left := 2 * node + 1) < len(heap):
            child = left
            if left + 1 < len(heap) and len(plan[heap[left + 1]]) < len(plan[heap[left]]):
                child = left + 1
            if len(plan[heap[node]]) <= len(plan[heap[child]]):
                return
            heap[node], heap[child] = heap[child], heap[node]
            node = child

    def _even_out(self, levels: Levels) -> None:
        """Let the fullest give to the emptiest until they differ by one at most."""
        low, high = levels.lowest(), levels.highest()
        if high.size <= low.size + 1:
            return
        for numbers in self.plan:
            if len(numbers) > low.size + 1:
                numbers.sort(key=self._by_number_then_topic)
        while high.size > low.size + 1:
            pairs = min(len(low.members), len(high.members))
            for taker, giver in zip(low.members[:pairs], high.members[:pairs], strict=True):
                self.plan[taker].append(self.plan[giver].pop())
            up, down = levels.at(low.size + 1), levels.at(high.size - 1)
            up.members += low.members[:pairs]
            down.members += high.members[:pairs]
            del low.members[:pairs], high.members[:pairs]
            if not low.members:
                levels.delete(low.size)
                low = levels.lowest()
            if not high.members:
                levels.delete(high.size)
                high = levels.highest()

    def _by_number_then_topic(self, number: int) -> tuple[int, str]:
        topic, partition = self._table.partition(number)
        return partition, topic


def swap_remove(numbers: list[int], number: int) -> None:
    """Take one out and put the last one in its place."""
    place = numbers.index(number)
    numbers[place] = numbers[-1]
    numbers.pop()


def _withhold(view: LeaderView, lists: list[list[int]]) -> dict[int, int]:
    """Take from members what they do not own and somebody who claims it is to lose.

    A claim that another one of a newer generation beats does not count as owning.

    Source: AdjustCooperative.
    """
    claims = [set(view.table.existing(member.owned)) for member in view.members]
    newest: dict[int, int] = {}
    for member, numbers in zip(view.members, claims, strict=True):
        for number in numbers:
            newest[number] = max(newest.get(number, member.generation), member.generation)
    owned = [
        {number for number in numbers if member.generation >= newest[number]}
        for member, numbers in zip(view.members, claims, strict=True)
    ]
    return withhold(lists, owned, claims)
