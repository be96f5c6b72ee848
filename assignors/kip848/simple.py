"""`simple` of share groups: as many members read each partition as it takes to keep all busy.

Source: org.apache.kafka.coordinator.group.assignor.SimpleAssignor,
SimpleHomogeneousAssignmentBuilder and SimpleHeterogeneousAssignmentBuilder (KIP-932, KAFKA-19362
and KAFKA-19363: Kafka 4.2).
"""

from collections.abc import Mapping, Sequence
from math import ceil

from kgroups.assignors.kip848.broker_view import ServerView
from kgroups.assignors.kip848.target import Change, TargetAssignment, sized_capacity, uuid_hash
from kgroups.assignors.order.java_order import MASK, hash_order, int_map_order, spread
from kgroups.assignors.order.java_table import HashTable
from kgroups.assignors.spec import AssignmentRequest

Slot = tuple[int, int]
"""Number of a topic, and a partition of it."""


class SimpleAssignor:
    """`simple` of a share group; sticky as far as it stays even, and racks play no part."""

    name = "simple"
    waives = frozenset({"unique", "balanced", "sticky", "order-free"})

    def assign(self, request: AssignmentRequest) -> TargetAssignment:
        """Every partition of the subscribed topics, each to one member or more."""
        view = ServerView(request)
        members = range(len(view.members))
        read = [view.subscribed_topics(member) for member in members]
        topics = view.by_id(list(dict.fromkeys(topic for row in read for topic in row)), 16)
        if not members or not (view.members[0].topics if view.homogeneous else topics):
            return TargetAssignment([], view.table, [], [])
        changes = [view.previous(member) for member in members]
        for change in changes:
            change.keeps_empty = True
        if view.homogeneous:
            _share_all(view, read[0], changes)
        else:
            for topic in topics:
                _share_one(view, topic, [m for m in members if topic in read[m]], changes)
        return view.target(members, changes, sized_capacity(len(members) + 1))


def _share_all(view: ServerView, topics: Sequence[int], changes: Sequence[Change]) -> None:
    """All topics together, as every member subscribes to the same ones."""
    codes = [uuid_hash(halves) for halves in view.id_halves]

    def hashed(slot: Slot) -> int:
        """`TopicIdPartition.hashCode` as an unsigned 32-bit number."""
        return 31 * codes[slot[0]] + slot[1] & MASK

    wanted = [(topic, number) for topic in topics for number in range(view.table.counts[topic])]
    table: HashTable[Slot] = HashTable(sized_capacity(len(wanted) + 1))
    held: dict[int, list[Slot]] = {}
    for member, change in enumerate(changes):
        change.gone = [topic for topic, _ in change.kept if topic not in topics]
        held[member] = [(t, number) for t, row in change.kept if t in topics for number in row]
        for slot in held[member]:
            table.compute(slot, spread(hashed(slot)))
    for slot in wanted:
        table.compute(slot, spread(hashed(slot)))
    shares = _Shares(changes, range(len(changes)), table.listed())
    for member, change in enumerate(changes):
        full = 0 < len(held[member]) >= shares.desired[member]
        change.changed = full or bool(change.gone) or len(change.kept) < change.size
        held[member] = hash_order(held[member], [hashed(slot) for slot in held[member]])
    shares.even_out(held)


def _share_one(
    view: ServerView, topic: int, readers: Sequence[int], changes: Sequence[Change]
) -> None:
    """One topic, where members subscribe to different ones."""
    held = {}
    for member, change in enumerate(changes):
        row = next((numbers for each, numbers in change.kept if each == topic), ())
        held[member] = [(topic, number) for number in int_map_order(row)]
    slots = [(topic, number) for number in range(view.table.counts[topic])]
    _Shares(changes, readers, slots).even_out(held)


class _Shares:
    """Who shares which partitions.

    Args:
        changes: of all members, by position; takes down what moves.
        readers: the members that may have these partitions, ascending.
        slots: the partitions, in the order in which they are given out.
    """

    def __init__(
        self, changes: Sequence[Change], readers: Sequence[int], slots: Sequence[Slot]
    ) -> None:
        self._changes, self._readers, self._slots = changes, readers, slots
        self._sharing = -(-len(readers) // len(slots)) if slots else 0
        each = self._sharing * len(slots) / len(readers)
        self.desired = {
            member: ceil(each * (place + 1)) - ceil(each * place)
            for place, member in enumerate(readers)
        }
        self._had: dict[Slot, list[int]] = {slot: [] for slot in slots}
        self._has: dict[int, set[Slot]] = {}

    def even_out(self, held: Mapping[int, Sequence[Slot]]) -> None:
        """Revoke what a member, then a partition has too much of; give out what is missing.

        Args:
            held: what each member has, in the order in which it gives up.
        """
        self._has = {member: set(slots) for member, slots in held.items()}
        for member, slots in held.items():
            for slot in slots:
                self._had[slot].append(member)
        for member, slots in held.items():
            for slot in slots[: max(0, len(slots) - self.desired.get(member, 0))]:
                self._move(member, slot, added=False)
        for slot, members in self._had.items():
            sharers = [m for m in int_map_order(members) if slot in self._has[m]]
            for member in sharers[: max(0, len(sharers) - self._sharing)]:
                self._move(member, slot, added=False)
        self._fill()

    def _fill(self) -> None:
        """Give each partition members until it has enough; who is full drops out of the turn."""
        short = [m for m in self._readers if len(self._has[m]) < self.desired[m]]
        turn, gave = 0, False
        for slot, members in self._had.items():
            sharers = {member for member in members if slot in self._has[member]}
            missing = self._sharing - len(sharers)
            while missing > 0 and short:
                if turn == len(short):
                    if not gave:
                        break
                    turn, gave = 0, False
                member = short[turn]
                turn += 1
                if member in sharers:
                    continue
                self._move(member, slot, added=True)
                missing, gave = missing - 1, True
                if len(self._has[member]) >= self.desired[member]:
                    turn -= 1
                    del short[turn]

    def _move(self, member: int, slot: Slot, *, added: bool) -> None:
        has = self._has[member]
        if added != (slot in has):
            (has.add if added else has.remove)(slot)
            change = self._changes[member]
            change.changed, change.steps = True, [*change.steps, (*slot, added)]
