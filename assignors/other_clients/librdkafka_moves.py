"""The moves of one reassignment as librdkafka remembers them, with what it reads after it is gone.

A move that reverses an earlier one takes the earlier one's partition, as in Java, but it is looked
for between the owner of now and the new one, where Java takes the first owner. librdkafka holds on
to it by its place in a list from which the record is then deleted: where there is another record
behind it, that one's partition moves, and its own record stays; where there is none, the memory is
gone and the process dies. A record that stayed makes it die when that partition moves again. The
name under which a list of records is kept is freed with the record that made the list.

Source: rdkafka_sticky_assignor.c (PartitionMovements) of librdkafka 2.15; runs of 2.16.
"""

from dataclasses import dataclass

from kgroups.assignors.spec import AssignorError

Pair = tuple[int, int]


def dies(why: str) -> AssignorError:
    """The error of a rebalance in which a librdkafka leader's process ends."""
    return AssignorError(
        f"a librdkafka leader crashes in this rebalance: {why}",
        hint="librdkafka's `cooperative-sticky` reads freed memory where members subscribe to "
        "different topics; subscribe all members alike",
    )


@dataclass(slots=True)
class Records:
    """Partitions that moved from one member to another.

    Args:
        numbers: the partitions, oldest first.
        named_by: the partition whose record holds the name of this list.
        nameless: whether that record is gone.
    """

    numbers: list[int]
    named_by: int
    nameless: bool = False


class LibrdkafkaMoves:
    """The moves by partition and by topic and direction."""

    def __init__(self) -> None:
        self._pairs: dict[int, Pair] = {}
        self._topics: dict[int, dict[Pair, Records]] = {}

    def actual(self, topic: int, number: int, source: int, target: int) -> int | None:
        """The recorded partition that is to move instead of this one; None if there is none.

        Raises:
            AssignorError: the process dies.
        """
        if topic not in self._topics:
            return None
        if number in self._pairs and self._pairs[number][1] != source:
            raise dies("a partition is not where its record says")
        records = self._found(topic, (target, source))
        return None if records is None else records.numbers[0]

    def behind(self, topic: int, pair: Pair, first: int) -> int:
        """Strike the record of a reversed move; the partition that moves, which is the next one.

        Raises:
            AssignorError: the process dies.
        """
        if self._pairs.get(first) != pair:
            raise dies("a partition is not where its record says")
        records = self._topics[topic][pair]
        if len(records.numbers) == 1:
            raise dies("it moves the partition of a record that it has freed")
        records.numbers.remove(first)
        return records.numbers[0]

    def record(self, topic: int, number: int, source: int, target: int) -> None:
        """Note a move.

        Raises:
            AssignorError: the process dies.
        """
        if number not in self._pairs:
            self._add(topic, number, (source, target))
            return
        pair = self._pairs[number]
        by_pair = self._topics.get(topic)
        records = None if by_pair is None else self._found(topic, pair)
        if by_pair is None or records is None or pair[1] != source:
            raise dies("a partition is not where its record says")
        if number in records.numbers:
            records.numbers.remove(number)
        if not records.numbers:
            del by_pair[pair]
            if not by_pair:
                del self._topics[topic]
        if pair[0] != target:
            for other in self._topics.get(topic, {}).values():
                other.nameless = other.nameless or other.named_by == number
            self._add(topic, number, (pair[0], target))

    def state(self) -> tuple[tuple[int, Pair], ...]:
        """Every recorded move, in an order of its own."""
        return tuple(sorted(self._pairs.items()))

    def _found(self, topic: int, pair: Pair) -> Records | None:
        """The records of a direction."""
        records = self._topics[topic].get(pair)
        if records is not None and records.nameless:
            raise dies("it compares the name of a list of records that it has freed")
        return records

    def _add(self, topic: int, number: int, pair: Pair) -> None:
        self._pairs[number] = pair
        by_pair = self._topics.setdefault(topic, {})
        records = self._found(topic, pair)
        if records is None:
            by_pair[pair] = Records([number], number)
        else:
            records.numbers.append(number)
