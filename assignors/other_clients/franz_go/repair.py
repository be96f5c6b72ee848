"""franz-go, different subscriptions or racks: which partitions members hold, not how many.

Partitions with the same subscribers in the same rack make a row, and a table says how many of each
row each member holds and how many it came with. Taking one more than it came with costs a move,
giving such a one up saves one; what is far from its member costs more than all moves together.
Rotations that lower the price are found with Bellman-Ford and carried out until there are none;
then everybody takes back what it came with, as far as its numbers allow.

Source: kgo/internal/sticky/repair.go of franz-go 1.22.
"""

from dataclasses import dataclass

from kgroups.assignors.other_clients.franz_go.racks import NO_RACK
from kgroups.assignors.other_clients.franz_go.steals import NOBODY, Balancing

NOWHERE = -1
NEVER = 1 << 62


@dataclass(slots=True)
class Cell:
    """Partitions of one row that one member holds.

    Args:
        far: price of each for being in another rack than its member.
        held: how many it holds.
        came: how many it came with.
    """

    row: int
    member: int
    far: int = 0
    held: int = 0
    came: int = 0

    @property
    def taking(self) -> int:
        """Price of one more."""
        return int(self.held >= self.came) + self.far

    @property
    def giving(self) -> int:
        """Price of one less."""
        return NEVER if self.held == 0 else -int(self.held > self.came) - self.far

    def room(self, step: int) -> int:
        """How many partitions can go this way before the price of the next one changes."""
        if step > 0:
            return self.came - self.held if self.held < self.came else NEVER
        return self.held - self.came if self.held > self.came else self.held


@dataclass(frozen=True, slots=True)
class Rotation:
    """Cells that gain (+1) and lose (-1) one each.

    Args:
        steps: (cell, +1 or -1).
        shifts: whether a member ends with one more and another one with one less.
    """

    steps: tuple[tuple[int, int], ...]
    shifts: bool


def repair(group: Balancing) -> None:
    """Rearrange the plan so that more partitions are near their members, and fewer move."""
    rows = Rows(group)
    cells, place = _table(group, rows)
    if not cells:
        return
    loads = [len(numbers) for numbers in group.plan]
    finder = Finder(rows.count, len(group.plan), cells, loads)
    moved = False
    while rotations := finder.find():
        moved = True
        for rotation in rotations:
            room = min(cells[cell].room(step) for cell, step in rotation.steps)
            times = 1 if rotation.shifts else room
            for cell, step in rotation.steps:
                cells[cell].held += step * times
                loads[cells[cell].member] += step * times
    crossed = any(
        group.origin[number] not in (NOBODY, member)
        for member, numbers in enumerate(group.plan)
        for number in numbers
    )
    if moved or crossed:
        _realize(group, rows, cells, place)


class Rows:
    """The rows of the table: one for each class of topics, and in it for each rack."""

    def __init__(self, group: Balancing) -> None:
        by_readers: dict[tuple[int, ...], int] = {}
        self._group = group
        self._classes = [by_readers.setdefault(tuple(r), len(by_readers)) for r in group.readers]
        self._width = group.racks.count + 1 if group.racks is not None else 1
        self.count = len(by_readers) * self._width
        self.of_member: list[list[int]] = [[] for _ in group.plan]
        for number, readers in enumerate(by_readers):
            for member in readers:
                self.of_member[member] += range(number * self._width, (number + 1) * self._width)

    def of_partition(self, number: int) -> int:
        """The row of a partition."""
        rack = self._group.racks.partitions[number] if self._group.racks is not None else 0
        return self._classes[self._group.place_of(number)] * self._width + rack

    def price(self, row: int, member: int, total: int) -> int:
        """The cost of a partition of this row for being far from this member.

        Args:
            total: number of partitions: no more than these can move.
        """
        if self._group.racks is None:
            return 0
        rack, own = row % self._width, self._group.racks.members[member]
        return (total + 1) * (rack != NO_RACK and own not in (NO_RACK, rack))


def _table(group: Balancing, rows: Rows) -> tuple[list[Cell], dict[tuple[int, int], int]]:
    """The cells, by member and row; where the cell of (member, row) is."""
    everything = {
        (member, row): Cell(row, member, rows.price(row, member, len(group.origin)))
        for member, own in enumerate(rows.of_member)
        for row in own
    }
    for member, numbers in enumerate(group.plan):
        for number in numbers:
            cell = everything.get((member, rows.of_partition(number)))
            if cell is not None:
                cell.held += 1
    for number, member in enumerate(group.origin):
        cell = everything.get((member, rows.of_partition(number)))
        if cell is not None:
            cell.came += 1
    filled = {cell.row for cell in everything.values() if cell.held}
    cells = [cell for cell in everything.values() if cell.row in filled]
    return cells, {(cell.member, cell.row): at for at, cell in enumerate(cells)}


class Finder:
    """Looks for rotations that lower the price.

    Nodes are rows, members, and one for each load: a member enters the node of the load that it
    has with one more, and whoever has that load leaves it with one less.

    Args:
        cells, loads: changed by the owner of this object.
    """

    def __init__(self, rows: int, members: int, cells: list[Cell], loads: list[int]) -> None:
        self._rows, self._members = rows, members
        self._cells, self._loads = cells, loads

    def find(self) -> list[Rotation]:
        """Rotations that lower the price and have no node in common; none if there are none."""
        first = self._rows + self._members
        at_load = {
            load: first + number
            for number, load in enumerate(dict.fromkeys(load for load in self._loads if load > 0))
        }
        nodes = first + len(at_load)
        distance = [0] * nodes
        by_cell, source = [NOWHERE] * nodes, [NOWHERE] * nodes
        for _ in range(nodes):
            moved = self._relax(distance, by_cell, source)
            moved = self._shift(at_load, distance, by_cell, source) or moved
            if not moved:
                return []
            if starts := _on_cycles(source):
                return [self._rotation(start, by_cell, source) for start in starts]
        return []

    def _relax(self, distance: list[int], by_cell: list[int], source: list[int]) -> bool:
        """Take and give through every cell once; whether a distance fell."""
        moved = False
        for at, cell in enumerate(self._cells):
            row, member = cell.row, self._rows + cell.member
            if distance[row] + cell.taking < distance[member]:
                distance[member] = distance[row] + cell.taking
                by_cell[member], source[member], moved = at, row, True
            if distance[member] + cell.giving < distance[row]:
                distance[row] = distance[member] + cell.giving
                by_cell[row], source[row], moved = at, member, True
        return moved

    def _shift(
        self, at_load: dict[int, int], distance: list[int], by_cell: list[int], source: list[int]
    ) -> bool:
        """Let members gain and lose one against each other; whether a distance fell."""
        moved = False
        for number, load in enumerate(self._loads):
            member = self._rows + number
            above, own = at_load.get(load + 1), at_load.get(load)
            for start, end in ((member, above), (own, member)):
                if start is None or end is None or distance[start] >= distance[end]:
                    continue
                distance[end], by_cell[end], source[end] = distance[start], NOWHERE, start
                moved = True
        return moved

    def _rotation(self, start: int, by_cell: list[int], source: list[int]) -> Rotation:
        """The rotation on whose cycle this node is."""
        steps: list[tuple[int, int]] = []
        shifts, node = False, start
        while True:
            if node >= self._rows + self._members:
                shifts = True
            elif by_cell[node] != NOWHERE:
                steps.append((by_cell[node], 1 if node >= self._rows else -1))
            node = source[node]
            if node == start:
                return Rotation(tuple(steps), shifts)


def _on_cycles(source: list[int]) -> list[int]:
    """One node of every cycle of nodes and where they were reached from."""
    seen = [NOWHERE] * len(source)
    nodes = []
    for start in range(len(source)):
        node = start
        while node != NOWHERE and seen[node] == NOWHERE:
            seen[node] = start
            node = source[node]
        if node != NOWHERE and seen[node] == start:
            nodes.append(node)
    return nodes


def _realize(
    group: Balancing, rows: Rows, cells: list[Cell], place: dict[tuple[int, int], int]
) -> None:
    """Write the plan anew from the table."""
    needed = [cell.held for cell in cells]
    piles: dict[int, list[int]] = {}
    everything = [number for numbers in group.plan for number in numbers]
    for numbers in group.plan:
        numbers.clear()
    for number in everything:
        row, member = rows.of_partition(number), group.origin[number]
        at = place.get((member, row))
        if at is not None and needed[at] > 0:
            needed[at] -= 1
            group.plan[member].append(number)
        else:
            piles.setdefault(row, []).append(number)
    for at, cell in enumerate(cells):
        pile = piles.get(cell.row, [])
        group.plan[cell.member] += pile[: needed[at]]
        del pile[: needed[at]]
