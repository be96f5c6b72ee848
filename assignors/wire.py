"""The bytes that members and leaders exchange: `ConsumerProtocol` and the assignors' user data.

The one exact codec: it reads and writes every field, and refuses what Kafka's clients refuse.
(A coordinator that has to know no more than topics reads any bytes forgivingly, as if they were of
version 0: `core.coordinator.classic.members`.)

Pure: bytes in, values out, and back. Big endian; a string is int16 length and UTF-8, an array
int32 count, bytes int32 length with -1 for null. A higher version than ours is read with the
newest layout we know and what is left over is ignored, as Kafka does.

Source: ConsumerProtocolSubscription.json and ConsumerProtocolAssignment.json of Kafka (KIP-54,
KIP-429, KIP-792, KIP-881); StickyAssignor and CooperativeStickyAssignor for the user data.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from kgroups.assignors.order.java_order import java_sorted, string_hash
from kgroups.assignors.order.java_table import HashTable

NEWEST_VERSION = 3
OWNED_SINCE, GENERATION_SINCE, RACK_SINCE = 1, 2, 3

TopicRuns = Sequence[tuple[str, Sequence[int]]]


_SHORT, _INT = struct.Struct(">h").unpack_from, struct.Struct(">i").unpack_from


class WireError(ValueError):
    """Bytes that are not what they should be."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """The subscription that a member sends with JoinGroup.

    Args:
        version: layout; fields that it does not have are left at their defaults.
        topics: in the order of the wire (Java sends them sorted).
        user_data: the assignor's own bytes; None is null.
        owned: partitions that the member brings along, since version 1.
        generation: when it got them, since version 2; -1 if unknown.
        rack: since version 3; None is null.
    """

    version: int
    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned: tuple[tuple[str, tuple[int, ...]], ...] = ()
    generation: int = -1
    rack: str | None = None

    def in_order(self) -> "Subscription":
        """The same, with topics and owned partitions sorted, as Java members send them."""
        owned = sorted((topic, number) for topic, numbers in self.owned for number in numbers)
        return replace(self, topics=tuple(java_sorted(self.topics)), owned=runs_of(owned))


@dataclass(frozen=True, slots=True)
class WireAssignment:
    """The assignment that a member gets with SyncGroup.

    Args:
        version: layout; all of them are alike.
        partitions: topics in the order of their first partition, partitions in list order.
        user_data: the leader's own bytes; None is null.
    """

    version: int
    partitions: TopicRuns
    user_data: bytes | None = None


class Reader:
    """A cursor over bytes; every read beyond the end raises `WireError`."""

    __slots__ = ("data", "place")

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data = data
        self.place = place

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        end = self.place + size
        if size < 0 or end > len(self.data):
            raise WireError(f"expected {size} bytes at {self.place} of {len(self.data)}")
        self.place, start = end, self.place
        return self.data[start:end]

    def number(self, size: int) -> int:
        """A signed number of `size` bytes."""
        return int.from_bytes(self.take(size), "big", signed=True)

    def text(self) -> str:
        """A string that is not null."""
        return self.take(self.number(2)).decode("utf-8", "replace")

    def nullable_text(self) -> str | None:
        """A string, or None."""
        size = self.number(2)
        return None if size < 0 else self.take(size).decode("utf-8", "replace")

    def nullable_bytes(self) -> bytes | None:
        """Bytes, or None."""
        size = self.number(4)
        return None if size < 0 else self.take(size)

    def count(self) -> int:
        """Length of an array that is not null."""
        size = self.number(4)
        if size < 0 or size > len(self.data) - self.place:
            raise WireError(f"an array of {size} entries at {self.place} of {len(self.data)}")
        return size

    def runs(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """An array of topics with their partitions."""
        runs = []
        data, place = self.data, self.place + 4
        try:
            for _ in range(self.count()):
                named = place + 2
                counted = named + _SHORT(data, place)[0]
                size = _INT(data, counted)[0]
                place = counted + 4 + 4 * size
                if counted < named or size < 0:
                    raise WireError(f"a topic's partitions end at {place} of {len(data)}")
                numbers = unpack_numbers(size)(data, counted + 4)
                runs.append((data[named:counted].decode("utf-8", "replace"), numbers))
        except struct.error as error:
            raise WireError(f"a topic's partitions end beyond {len(data)}") from error
        self.place = place
        return tuple(runs)


@cache
def unpack_numbers(size: int) -> Callable[[bytes, int], tuple[int, ...]]:
    """Reader of `size` int32 at a position."""
    return struct.Struct(f">{size}i").unpack_from


def _text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack(">h", len(encoded)) + encoded


def _bytes(value: bytes | None) -> bytes:
    return struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value


def _runs(runs: TopicRuns) -> bytes:
    parts = [struct.pack(">i", len(runs))]
    for topic, partitions in runs:
        parts.append(_text(topic))
        parts.append(struct.pack(f">i{len(partitions)}i", len(partitions), *partitions))
    return b"".join(parts)


def encode_subscription(subscription: Subscription) -> bytes:
    """Bytes of a subscription in its version; fields that the version lacks are dropped."""
    version = subscription.version
    parts = [struct.pack(">hi", version, len(subscription.topics))]
    parts += [_text(topic) for topic in subscription.topics]
    parts.append(_bytes(subscription.user_data))
    if version >= OWNED_SINCE:
        parts.append(_runs(subscription.owned))
    if version >= GENERATION_SINCE:
        parts.append(struct.pack(">i", subscription.generation))
    if version >= RACK_SINCE:
        rack = subscription.rack
        parts.append(struct.pack(">h", -1) if rack is None else _text(rack))
    return b"".join(parts)


def _version(reader: Reader) -> tuple[int, int]:
    """The version on the wire and the newest layout that we know up to it."""
    version = reader.number(2)
    if version < 0:
        raise WireError(f"version {version}")
    return version, min(version, NEWEST_VERSION)


def decode_subscription(data: bytes) -> Subscription:
    """A subscription out of its bytes.

    Raises:
        WireError: they are too short, or a count is impossible.
    """
    reader = Reader(data)
    version, layout = _version(reader)
    topics = tuple([reader.text() for _ in range(reader.count())])
    user_data = reader.nullable_bytes()
    owned = reader.runs() if layout >= OWNED_SINCE else ()
    generation = reader.number(4) if layout >= GENERATION_SINCE else -1
    rack = reader.nullable_text() if layout >= RACK_SINCE else None
    return Subscription(version, topics, user_data, owned, generation, rack)


def runs_of(partitions: Iterable[tuple[str, int]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Partitions by topic, topics in the order of their first partition."""
    grouped: dict[str, list[int]] = {}
    for topic, partition in partitions:
        grouped.setdefault(topic, []).append(partition)
    return tuple((topic, tuple(numbers)) for topic, numbers in grouped.items())


def encode_assignment(assignment: WireAssignment) -> bytes:
    """Bytes of one member's assignment."""
    version = struct.pack(">h", assignment.version)
    return version + _runs(assignment.partitions) + _bytes(assignment.user_data)


def encode_assignment_like(subscription: bytes, partitions: Mapping[str, Sequence[int]]) -> bytes:
    """Bytes of an assignment without user data, in the newest version that a member reads.

    Args:
        subscription: the member's bytes, which name the version.
        partitions: by topic, in the order of the bytes.
    Raises:
        WireError: the subscription names no version.
    """
    _, layout = _version(Reader(subscription))
    return encode_assignment(WireAssignment(layout, tuple(partitions.items())))


def decode_assignment(data: bytes) -> WireAssignment:
    """One member's assignment out of its bytes.

    Raises:
        WireError: they are too short, or a count is impossible.
    """
    reader = Reader(data)
    version, _ = _version(reader)
    return WireAssignment(version, reader.runs(), reader.nullable_bytes())


def sticky_topic_order(partitions: Iterable[tuple[str, int]]) -> TopicRuns:
    """Partitions by topic in the order in which a Java member writes them into its user data.

    Java groups them with `computeIfAbsent`, which puts a new topic at the head of its chain and
    grows the table one call later than `put` does.
    """
    table: HashTable[str] = HashTable()
    numbers: dict[str, list[int]] = {}
    spreads: dict[str, int] = {}
    for topic, partition in partitions:
        code = spreads.get(topic)
        if code is None:
            code = string_hash(topic)
            spreads[topic] = code = code ^ (code >> 16)
        table.compute(topic, code)
        numbers.setdefault(topic, []).append(partition)
    return [(topic, numbers[topic]) for topic in table.listed()]


def encode_sticky_data(runs: TopicRuns, generation: int | None) -> bytes:
    """User data of `sticky`; without a generation the old layout."""
    return _runs(runs) + (b"" if generation is None else struct.pack(">i", generation))


def decode_sticky_data(data: bytes | None) -> tuple[TopicRuns, int | None]:
    """(previous partitions, generation) out of the user data of `sticky`.

    Nothing and None if there is none; nothing and -1 if it cannot be read. Bytes that follow are
    ignored.
    """
    if not data:
        return (), None
    reader = Reader(data)
    try:
        runs = reader.runs()
    except WireError:
        return (), -1
    try:
        return runs, reader.number(4)
    except WireError:
        return runs, None


def encode_cooperative_data(generation: int) -> bytes:
    """User data of `cooperative-sticky`."""
    return struct.pack(">i", generation)


def decode_cooperative_data(data: bytes | None) -> int | None:
    """Generation in the user data of `cooperative-sticky`; None if absent, -1 if unreadable."""
    if data is None:
        return None
    try:
        return Reader(data).number(4)
    except WireError:
        return -1
