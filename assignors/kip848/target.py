"""The target assignment of a KIP-848 group: what was kept, and what was changed.

The broker keeps a HashMap of HashSets per member and copies it only when it changes it. Their
iteration order goes into the record, and the next round starts from there; here it is worked out
when somebody asks.

Source: org.apache.kafka.coordinator.group.modern.Assignment,
org.apache.kafka.coordinator.group.assignor.AssignorHelpers.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kgroups.assignors.compact import TopicTable
from kgroups.assignors.order.java_order import MASK, copied_set_capacity, hash_order, spread
from kgroups.assignors.order.java_table import HashTable, table_capacity
from kgroups.assignors.spec import AssignorError, Fault, TopicPartition

Runs = list[tuple[int, Sequence[int]]]

TOPIC_ID_LENGTH = 22
TOPIC_ID_BYTES = 16


def sized_capacity(size: int) -> int:
    """Table size that the assignors give a map or a set for this many elements."""
    return table_capacity(int(size / 0.75 + 1))


def uuid_halves(topic_id: str) -> tuple[int, int]:
    """The two signed 64-bit halves of a Uuid in Kafka's base64 form; they order topics.

    Raises:
        AssignorError: the text is of another form, which would give another order.
    """
    try:
        raw = base64.urlsafe_b64decode(f"{topic_id}==") if len(topic_id) == TOPIC_ID_LENGTH else b""
    except ValueError:
        raw = b""
    if len(raw) != TOPIC_ID_BYTES:
        raise AssignorError(
            f"`{topic_id}` is not a topic id", hint="a topic id is 22 characters of base64"
        )
    return (
        int.from_bytes(raw[:8], "big", signed=True),
        int.from_bytes(raw[8:], "big", signed=True),
    )


def uuid_hash(halves: tuple[int, int]) -> int:
    """`Uuid.hashCode` as an unsigned 32-bit number."""
    mixed = (halves[0] ^ halves[1]) & 0xFFFFFFFFFFFFFFFF
    return (mixed >> 32 ^ mixed) & MASK


def set_order(partitions: Sequence[int], capacity: int = 16) -> list[int]:
    """Partitions in the order of a HashSet<Integer> to which they were added one by one."""
    return hash_order(partitions, partitions, capacity=capacity)


def copied_set_order(partitions: Sequence[int]) -> list[int]:
    """Partitions in the order of a HashSet made of a collection."""
    return set_order(partitions, copied_set_capacity(len(partitions)))


def _filled_capacity(size: int) -> int:
    """Table size of `new HashMap<>(size)` after that many puts."""
    capacity = table_capacity(size)
    return capacity if size <= capacity * 3 // 4 else 2 * capacity


@dataclass(slots=True)
class Change:
    """The fate of one member's previous target.

    Args:
        kept: topics and partitions of the previous target, in iteration order.
        size: number of topics of the previous target, unknown ones included; more if some of its
            partitions are gone.
        gone: topics that left it.
        steps: partitions (topic, partition, added) in the order of the changes.
        block: (topic, first, end) runs of partitions that were added after all steps.
        changed: whether the map was copied.
        capacities: per topic the first table size of a set that is new; 16 if not given.
        keeps_empty: whether a topic stays when its last partition has gone.
    """

    kept: Runs
    size: int
    gone: Sequence[int] = ()
    steps: Sequence[tuple[int, int, bool]] = ()
    block: Sequence[tuple[int, int, int]] = ()
    changed: bool = False
    capacities: Sequence[int] = ()
    keeps_empty: bool = False

    def runs(self, codes: Sequence[int]) -> Runs:
        """Topics and partitions in iteration order.

        Args:
            codes: spread hash of each topic's id.
        """
        if not self.changed:
            return self.kept
        topics: HashTable[int] = HashTable(_filled_capacity(self.size))
        sets: dict[int, HashTable[int]] = {}
        for topic, partitions in self.kept:
            topics.put(topic, codes[topic])
            copy = sets[topic] = HashTable[int](copied_set_capacity(len(partitions)))
            for partition in partitions:
                copy.put(partition, spread(partition))
        for topic in self.gone:
            topics.remove(topic, codes[topic])
        for topic, partition, added in self.steps:
            if added:
                self._add(topics, sets, codes, topic, [partition])
            else:
                sets[topic].remove(partition, spread(partition))
                if not sets[topic] and not self.keeps_empty:
                    topics.remove(topic, codes[topic])
                    del sets[topic]
        for topic, first, end in self.block:
            self._add(topics, sets, codes, topic, range(first, end))
        return [(topic, sets[topic].listed()) for topic in topics.listed()]

    def size_after(self) -> int:
        """Number of partitions after all changes."""
        left = sum(len(held) for topic, held in self.kept if topic not in self.gone)
        left += sum(1 if added else -1 for _, _, added in self.steps)
        return left + sum(end - first for _, first, end in self.block)

    def _add(
        self,
        topics: HashTable[int],
        sets: dict[int, HashTable[int]],
        codes: Sequence[int],
        topic: int,
        partitions: Sequence[int],
    ) -> None:
        """`computeIfAbsent(topic, HashSet::new).add(partition)` for each partition."""
        for partition in partitions:
            topics.compute(topic, codes[topic])
            if topic not in sets:
                sets[topic] = HashTable(self.capacities[topic] if self.capacities else 16)
            sets[topic].put(partition, spread(partition))


class TargetAssignment:
    """The target of every member of a KIP-848 group.

    Args:
        member_ids: in the order of the answer; none if nobody subscribes to a topic that exists.
        topics: what partition numbers mean.
        changes: per member of the answer what became of its previous target.
        codes: spread hash of each topic's id.
    """

    __slots__ = ("_changes", "_codes", "_position", "faults", "member_ids", "topics")
    generation = -1
    """Epochs are the coordinator's."""
    withheld: Mapping[TopicPartition, str] = MappingProxyType({})
    """The coordinator holds back, not the strategy."""

    def __init__(
        self,
        member_ids: Sequence[str],
        topics: TopicTable,
        changes: Sequence[Change],
        codes: Sequence[int],
    ) -> None:
        self.member_ids = member_ids
        self.topics = topics
        self.faults: tuple[Fault, ...] = ()
        self._changes = changes
        self._codes = codes
        self._position: dict[str, int] | None = None

    def runs_of(self, position: int) -> list[tuple[str, Sequence[int]]]:
        """Topics and partitions of the member at this position, in iteration order."""
        names = self.topics.names
        runs = self._changes[position].runs(self._codes)
        return [(names[topic], partitions) for topic, partitions in runs]

    def numbers_of(self, position: int) -> list[int]:
        """Partition numbers of the member at this position, in iteration order."""
        bases = self.topics.bases
        runs = self._changes[position].runs(self._codes)
        return [bases[topic] + partition for topic, held in runs for partition in held]

    def partitions_of(self, member_id: str) -> list[TopicPartition]:
        """(topic, partition) of one member, in iteration order; empty if it gets nothing."""
        if self._position is None:
            self._position = {name: index for index, name in enumerate(self.member_ids)}
        position = self._position.get(member_id)
        if position is None:
            return []
        return [(topic, part) for topic, held in self.runs_of(position) for part in held]

    def counts(self) -> list[int]:
        """Number of partitions of each member, in `member_ids` order."""
        return [change.size_after() for change in self._changes]

    def items(self) -> Iterator[tuple[str, dict[str, list[int]]]]:
        """Member id and its partitions by topic, in `member_ids` order; built on demand."""
        for position, member_id in enumerate(self.member_ids):
            yield member_id, {topic: list(held) for topic, held in self.runs_of(position)}
