"""`sticky` and `cooperative-sticky` as sarama computes them: the order of Go's maps decides much.

What nobody owns is dealt in any order, what a member owns is tried in any order, and of several
moves that could be reversed any one is. Members that take no part are left out of the answer where
moving made it no better: the assignment that should be restored is not the one that is sent.

Source: balance_strategy.go and balance_strategy_cooperative_sticky.go of sarama 1.61.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypeAlias

from kgroups.assignors.compact import CompactAssignment, withhold
from kgroups.assignors.other_clients.choices import ByChance, Choices
from kgroups.assignors.other_clients.ported_group import PortedGroup
from kgroups.assignors.other_clients.ported_sticky import PortedStart, PortedSticky
from kgroups.assignors.other_clients.user_data import read_sarama_data
from kgroups.assignors.spec import AssignmentRequest, AssignorError, TopicPartition

NO_GENERATION = -1

Claims: TypeAlias = Sequence[tuple[list[TopicPartition], int]]


@dataclass(frozen=True, slots=True)
class SaramaSticky(ByChance):
    """A sticky strategy of a sarama leader.

    Args:
        name: registered name.
        cooperative: read what members own and withhold what changes hands.
    """

    name: str
    cooperative: bool = False

    def runs(self, request: AssignmentRequest) -> Callable[[Choices], CompactAssignment]:
        """The runs of one request.

        Raises:
            AssignorError: a member's user data cannot be read.
        """
        group = PortedGroup(request)
        return partial(self._decide, _Request(group, self._claims(group)))

    def _decide(self, request: "_Request", choices: Choices) -> CompactAssignment:
        group = request.group
        if not group.ids:
            return CompactAssignment.of_lists([], group.table, [])
        run = _Run(group, request.start(choices), choices)
        lists = [sorted(numbers) for numbers in group.in_positions(run.run())]
        if run.endless:
            raise AssignorError(
                (
                    f"a sarama leader never finishes this rebalance: its `{self.name}` moves the "
                    "same partitions in a cycle"
                ),
                hint="members claim partitions of several generations; restart those with older "
                "ones",
            )
        claimed = request.claimed
        withheld = withhold(lists, claimed, claimed) if self.cooperative else {}
        return CompactAssignment.of_lists(
            group.view.member_ids,
            group.table,
            lists,
            withheld=withheld,
            generation=max(generation for _, generation in request.claims),
        )

    def _claims(self, group: PortedGroup) -> Claims:
        """The partitions that each member claims, and their generation, by position."""
        claims = []
        for member in group.view.members:
            runs, generation = member.owned, member.generation
            if not self.cooperative:
                runs, generation = read_sarama_data(member)
            claims.append(([(topic, n) for topic, held in runs for n in held], generation))
        return claims


class _Run(PortedSticky):
    """One run."""

    tries_unassigned_first = False

    def __init__(self, group: PortedGroup, start: "_Start", choices: Choices) -> None:
        super().__init__(group, start, choices)
        self._begun = start
        self._apart: dict[int, dict[int, None]] = {}

    def run(self) -> list[list[int]]:
        """Partition numbers by rank, in no order."""
        lists = super().run()
        for rank, numbers in self._apart.items():
            lists[rank] = list(numbers)
        return lists

    def fill(self) -> None:
        """Deal what has no owner, first what its owner no longer reads, each in any order."""
        for numbers in (self._begun.dropped, self._begun.unassigned):
            left = list(numbers)
            taker = self._takes_all(left)
            if taker is not None:
                for number in left:
                    self.give(number, taker)
                continue
            while left:
                number = self.choices.pick(left, self._state("deal"))
                left.remove(number)
                self.give(number, self.least_loaded(self.topic_of(number)).first())

    def _takes_all(self, numbers: Sequence[int]) -> int | None:
        """Who gets all of these whatever their order: it has less than others even then."""
        heaps = {id(heap): heap for heap in map(self.least_loaded, map(self.topic_of, numbers))}
        if len(heaps) != 1:
            return None
        (heap,) = heaps.values()
        taker = heap.first()
        others = [self.sizes[rank] for rank in heap.members if rank != taker]
        if others and self.sizes[taker] + len(numbers) > min(others):
            return None
        return taker

    def initializing(self) -> bool:
        """Whether some member has nothing: the result is then kept in any case."""
        return min(self.sizes) == 0

    def set_apart(self, rank: int) -> None:
        """Partitions of a member that takes no part are out of sight, also for its size."""
        super().set_apart(rank)
        self._apart[rank], self.held[rank] = self.held[rank], {}
        self.sizes[rank] = 0

    def tried(self, shared: set[int]) -> Iterable[int]:
        """The partitions to try; of equal subscriptions one of the fullest member at a time."""
        if not self._begun.by_load:
            return super().tried(shared)
        return _AnyOrder(self) if shared else ()

    def actual(self, reverse: Sequence[int]) -> int:
        """Any of them."""
        return self.choices.pick(reverse, self._state("reverse"))

    def move(self, number: int, target: int) -> None:
        """Move this partition; who took no part is there again with it alone."""
        if target in self.fixed:
            self.working.add(target)
            self.counted.add(target)
        super().move(number, target)

    def reverted(self, before: list[list[int]]) -> list[list[int]]:
        """The assignment sent all the same: what was moved, and nothing for who took no part."""
        self._apart.clear()
        return [list(numbers) for numbers in self.held]

    def _state(self, where: str, tried: tuple[int, ...] = ()) -> object:
        """All that decides how this run goes on."""
        if not self.choices.wants_states:
            return None
        return where, tuple(self.owner), self.movements.state(), tried


class _AnyOrder:
    """Partitions in an order that is left to chance, found out as far as somebody looks.

    Args:
        run: tells when there is nothing left to even out, where the library stops looking.
    """

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._found: list[int] = []
        start = run._begun
        self._left = [sorted(numbers) for numbers in start.kept]
        self._members = iter(_fullest_first([len(numbers) for numbers in start.kept]))
        self._rest = sorted(set(range(run.group.table.total)).difference(*self._left))

    def __iter__(self) -> Iterator[int]:
        place = 0
        while not self._run.even():
            if place == len(self._found) and not self._more():
                return
            yield self._found[place]
            place += 1

    def _more(self) -> bool:
        """Find out the next one, if there is one."""
        member = next(self._members, None)
        left = self._rest if member is None else self._left[member]
        if not left:
            return False
        earlier = [number for number in left if number in self._run.start.previous]
        state = self._run._state("try", tuple(self._found))
        self._found.append(self._run.choices.pick(earlier or left, state))
        left.remove(self._found[-1])
        return True


def _fullest_first(sizes: list[int]) -> Iterator[int]:
    """Whose turn it is: of the members with the most partitions left the last one in id order."""
    for size in range(max(sizes, default=0), 0, -1):
        for rank in reversed(range(len(sizes))):
            if sizes[rank] >= size:
                yield rank


@dataclass(slots=True)
class _Start(PortedStart):
    """Where the algorithm begins.

    Args:
        kept: the lists, before anything is dealt.
        dropped: partitions whose owner no longer subscribes to their topic.
        by_load: whether the fullest member's partitions are tried first.
    """

    kept: list[list[int]] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    by_load: bool = False


class _Request:
    """The state that all runs of one request begin with.

    Args:
        claims: what each member says it has, and the generation of it, by position.
    """

    def __init__(self, group: PortedGroup, claims: Claims) -> None:
        self.group = group
        self.claims = claims
        self._start: _Start | None = None

    @cached_property
    def claimed(self) -> list[set[int]]:
        """The partitions that each member owns, by position."""
        return [set(self.group.table.existing(m.owned)) for m in self.group.view.members]

    def start(self, choices: Choices) -> "_Start":
        """Where a run begins; the same for all where nothing of it is left to chance."""
        if self._start is not None:
            return self._start
        start = _start(self.group, self.claims, choices)
        if choices.sole:
            self._start = start
        return start


def _start(group: PortedGroup, claims: Claims, choices: Choices) -> _Start:
    """The assignment to begin with: the newest claim counts, any one of a generation."""
    claimants: dict[TopicPartition, dict[int, dict[int, None]]] = {}
    for position, (claimed, generation) in enumerate(claims):
        for claim in claimed:
            by_generation = claimants.setdefault(claim, {})
            by_generation.setdefault(generation, {})[group.ranks[position]] = None
    lists: list[list[int]] = [[] for _ in group.ids]
    previous: dict[int, int] = {}
    dropped = []
    for claim, by_generation in claimants.items():
        owners = [choices.pick(list(by_generation[g])) for g in sorted(by_generation, reverse=True)]
        number = group.table.number(claim)
        if number is None:
            continue
        if len(owners) > 1:
            previous[number] = owners[1]
        if group.table.index[claim[0]] in group.subscribed[owners[0]]:
            lists[owners[0]].append(number)
        else:
            dropped.append(number)
    owned = {number for numbers in lists for number in numbers}.union(dropped)
    unassigned = [number for number in range(group.table.total) if number not in owned]
    by_load = bool(claimants) and _identical(group, choices)
    return _Start(
        lists, group.by_readers(), unassigned, False, previous, list(lists), dropped, by_load
    )


def _identical(group: PortedGroup, choices: Choices) -> bool:
    """Whether subscriptions count as equal; a member without topics may be overlooked."""
    doubled = any(len(set(topics)) < len(topics) for topics in group.listed)
    if doubled and (len(group.ids) > 1 or group.table.total > 1):
        return False
    readers = {frozenset(held) for held in group.readers}
    reading = {topics for topics in group.subscribed if topics}
    if len(readers) > 1 or len(reading) > 1:
        return False
    if reading and len(group.ids) > sum(map(bool, group.subscribed)):
        return choices.pick([False, True])
    return True
