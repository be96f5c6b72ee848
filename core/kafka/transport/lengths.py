"""The lengths within an answer, walked before kio reads it.

kio's reader reserves memory for as many elements as an array says it has, and the process ends
where that memory is not to be had: four bytes of a broken broker are enough. So each length is held
against the bytes that are there, and the memory that the whole message will take is estimated, from
kio's own field tables, without making a single object.
"""

import struct
from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Union, get_args, get_origin

if TYPE_CHECKING:
    from dataclasses import Field

NUMBERS: Final[Mapping[str, int]] = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "error_code": 2,
    "int32": 4,
    "uint32": 4,
    "timedelta_i32": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
    "timedelta_i64": 8,
    "datetime_i64": 8,
    "uuid": 16,
}
"""Bytes of each of Kafka's types that has a fixed size."""

_TEXT_COST: Final = 60
_NUMBER_COST: Final = 32
_STRUCT_COST: Final = 56
_TAG_COST: Final = 192
_WIDE: Final = 4  # bytes that a character of a Python string may take

_INT16: Final = struct.Struct(">h").unpack_from
_INT32: Final = struct.Struct(">i").unpack_from


class LengthError(Exception):
    """A length that the bytes cannot hold."""


class MemoryLimitError(Exception):
    """The message would take more memory than it may."""


class Room:
    """Memory that the answers to one question share, whichever brokers they are from.

    Args:
        total: bytes.
    """

    __slots__ = ("left", "total")

    def __init__(self, total: int) -> None:
        self.total = self.left = total

    @property
    def spent(self) -> int:
        """Bytes that the answers have taken so far."""
        return self.total - self.left

    def clear(self) -> None:
        """The next question begins: what the last one was told is not kept here."""
        self.left = self.total


class Budget:
    """What is left to one message: where its bytes end, and memory in bytes.

    Args:
        end: index.
        left: bytes of memory.
        room: that it shares with other messages.
    Attributes:
        cuts: what `without_unknown_tags` takes out: from, to, what stands there instead.
    """

    __slots__ = ("cuts", "end", "left", "room", "spent")

    def __init__(self, end: int, left: int, room: Room | None = None) -> None:
        self.end = end
        self.left = left if room is None else min(left, room.left)
        self.room = room
        self.spent = 0
        self.cuts: list[tuple[int, int, bytes]] = []

    def spend(self, cost: int) -> None:
        """Take this much.

        Raises:
            MemoryLimitError: there is less.
        """
        self.left -= cost
        if self.left < 0:
            raise MemoryLimitError
        self.spent += cost

    def keep(self) -> None:
        """The message is read: what it costs is taken from the room that is shared."""
        if self.room is not None:
            self.room.left -= self.spent


Skip = Callable[[bytes, int, Budget], int]
"""Where the value that starts at an index ends. That may be beyond the data: whatever is read there
next raises IndexError or struct.error, and the last value is compared with the end."""


class Shape(NamedTuple):
    """How values of one type lie in the bytes.

    Args:
        skip: goes over one.
        least: bytes that one takes at least.
        cost: bytes of memory that one takes, at least and without its parts.
        fixed: bytes of one, where all are alike.
        numbers: bytes of the numbers of a flexible struct that holds nothing else: each is as long
            and a zero (no tagged fields), unless one has tags.
    """

    skip: Skip
    least: int
    cost: int
    fixed: int | None = None
    numbers: int | None = None


def check(kind: type, data: bytes, start: int, budget: Budget) -> int:
    """Where the message of kio's class `kind` that begins at `start` ends.

    Raises:
        LengthError: the bytes are no such message.
        MemoryLimitError: it would take more memory than the budget has left.
    """
    try:
        end = shape_of(kind).skip(data, start, budget)
    except (IndexError, struct.error) as error:
        raise LengthError("it ends too early") from error
    if end > budget.end:
        raise LengthError("it ends too early")
    return end


@cache
def shape_of(kind: type) -> Shape:
    """The shape of a message or nested struct of kio's."""
    from dataclasses import fields  # with kio, which is imported before

    flexible: bool = kind.__flexible__  # type: ignore[attr-defined]
    shapes: list[Shape] = []
    tagged: dict[int, Shape] = {}
    for field in fields(kind):
        shape = _field_shape(field, flexible)
        if "tag" in field.metadata:
            tagged[field.metadata["tag"]] = shape
        else:
            shapes.append(shape)
    cost = _STRUCT_COST + sum(8 + shape.cost for shape in (*shapes, *tagged.values()))
    sizes = [shape.fixed for shape in shapes if shape.fixed is not None]
    size = sum(sizes) if len(sizes) == len(shapes) else None
    least = sum(shape.least for shape in shapes) + flexible
    steps = _merged(shapes)
    if size is not None and not flexible:
        return Shape(_fixed(size), least, cost, fixed=size)

    def skip(data: bytes, at: int, budget: Budget) -> int:
        for step in steps:
            at = at + step if step.__class__ is int else step(data, at, budget)  # type: ignore[operator]
        if flexible:
            at = _skip_tags(data, at, budget, tagged) if data[at] else at + 1
        return at

    return Shape(skip, max(least, 1), cost, numbers=size if flexible else None)


def _merged(shapes: list[Shape]) -> tuple[int | Skip, ...]:
    """How to go over fields one after the other; neighbours of fixed size at once."""
    steps: list[int | Skip] = []
    for shape in shapes:
        if shape.fixed is None:
            steps.append(shape.skip)
        elif steps and isinstance(steps[-1], int):
            steps[-1] += shape.fixed
        else:
            steps.append(shape.fixed)
    return tuple(steps)


def _field_shape(field: "Field[Any]", flexible: bool) -> Shape:
    kind, nullable = _without_none(field.type)
    if get_origin(kind) is tuple:
        inner, _ = _without_none(get_args(kind)[0])
        return _array(_kind_shape(inner, field, flexible), flexible, nullable)
    shape = _kind_shape(kind, field, flexible)
    return _nullable(shape) if nullable and _is_struct(kind) else shape


def _is_struct(kind: Any) -> bool:
    return hasattr(kind, "__dataclass_fields__")


def _kind_shape(kind: Any, field: "Field[Any]", flexible: bool) -> Shape:
    if _is_struct(kind):
        return shape_of(kind)
    kafka_type = field.metadata["kafka_type"]
    size = NUMBERS.get(kafka_type)
    if size is not None:
        return Shape(_fixed(size), size, _NUMBER_COST, fixed=size)
    if flexible:
        return Shape(_skip_compact, 1, _TEXT_COST)
    if kafka_type == "string":
        return Shape(_skip_text, 2, _TEXT_COST)
    return Shape(_skip_bytes, 4, _TEXT_COST)


def _without_none(kind: Any) -> tuple[Any, bool]:
    if get_origin(kind) not in (UnionType, Union):
        return kind, False
    args = get_args(kind)
    return next(arg for arg in args if arg is not NoneType), NoneType in args


def _fixed(size: int) -> Skip:
    return lambda data, at, budget: at + size


def read_uvarint(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned varint of at most 31 bits, which no length exceeds, and where it ends.

    Raises:
        LengthError: it is longer.
        IndexError: the data ends within it.
    """
    value = data[at] & 0x7F
    shift = 0
    while data[at] >= 0x80:
        at += 1
        shift += 7
        value |= (data[at] & 0x7F) << shift
        if shift > 28 or value >> 31:
            raise LengthError("a length has no end")
    return value, at + 1


def _skip_compact(data: bytes, at: int, budget: Budget) -> int:
    """Text or bytes of a flexible version: the length and one, or 0 for null."""
    size = data[at]
    if size < 0x80:
        return at + (size or 1)
    size, at = read_uvarint(data, at)
    return at + _length(size - 1, at, budget)


def _skip_text(data: bytes, at: int, budget: Budget) -> int:
    (size,) = _INT16(data, at)
    return at + 2 + _length(size, at, budget)


def _skip_bytes(data: bytes, at: int, budget: Budget) -> int:
    (size,) = _INT32(data, at)
    return at + 4 + _length(size, at, budget)


def _length(size: int, at: int, budget: Budget) -> int:
    if size < -1:
        raise LengthError("a length is negative")
    if size > budget.end - at:
        raise LengthError("a text is longer than the message")
    if size > 127:
        budget.spend(_WIDE * size)
    return max(size, 0)


def _nullable(item: Shape) -> Shape:
    """A struct that may be missing: a byte says whether it is there."""

    def skip(data: bytes, at: int, budget: Budget) -> int:
        mark = data[at]
        if mark == 1:
            return item.skip(data, at + 1, budget)
        if mark != 0xFF:
            raise LengthError("a struct is neither there nor missing")
        return at + 1

    return Shape(skip, 1, item.cost)


def _array(item: Shape, flexible: bool, nullable: bool) -> Shape:
    """An array: no longer than the bytes left can hold, nor its elements than the budget."""
    skip_item, least, cost, fixed, numbers = item

    def skip(data: bytes, at: int, budget: Budget) -> int:
        if flexible:
            count = data[at] - 1
            if count < 0x7F:
                at += 1
            else:
                count, at = read_uvarint(data, at)
                count -= 1
        else:
            (count,) = _INT32(data, at)
            at += 4
            if count < -1:
                raise LengthError("an array has a negative length")
        if count < 0 and not nullable:  # kio lets it pass
            raise LengthError("an array is missing")
        if count <= 0:
            return at
        if count * least > budget.end - at:
            raise LengthError("an array is longer than the message")
        budget.spend(count * (8 + cost))
        if fixed is not None:
            return at + count * fixed
        if numbers is not None:
            end = at + count * (numbers + 1)
            if data[at + numbers : end : numbers + 1].count(0) == count:
                return end
        for _ in range(count):
            at = skip_item(data, at, budget)
        return at

    return Shape(skip, 1 if flexible else 4, _STRUCT_COST)


def _skip_tags(data: bytes, at: int, budget: Budget, tagged: Mapping[int, Shape]) -> int:
    """Tagged fields: kio reads those that it knows, and fails at others, so these are noted."""
    begin = at
    count, at = read_uvarint(data, at)
    if 2 * count > budget.end - at:
        raise LengthError("there are more tagged fields than bytes")
    budget.spend(count * _TAG_COST)
    first, known = at, 0
    for _ in range(count):
        start = at
        tag, size_at = read_uvarint(data, at)
        size, at = read_uvarint(data, size_at)
        end = at + size
        if tag in tagged:
            known += 1
            many = len(budget.cuts)
            if tagged[tag].skip(data, at, budget) != end:
                raise LengthError("a tagged field is not as long as it says")
            less = sum(_saved(cut) for cut in budget.cuts[many:])
            if less:
                budget.cuts.append((size_at, at, uvarint(size - less)))
        elif end > budget.end:
            raise LengthError("a tagged field is longer than the message")
        else:
            budget.cuts.append((start, end, b""))
        at = end
    if known < count:
        budget.cuts.append((begin, first, uvarint(known)))
    return at


def _saved(cut: tuple[int, int, bytes]) -> int:
    start, end, instead = cut
    return end - start - len(instead)


def without_unknown_tags(data: bytes, budget: Budget) -> bytes:
    """The message that was checked, as a reader sees it who passes over what it does not know.

    Source: KIP-482, "Tagged Fields": a newer broker may add some to any version of an answer.
    """
    parts: list[bytes] = []
    at = 0
    for start, end, instead in sorted(budget.cuts):
        parts += (data[at:start], instead)
        at = end
    return b"".join((*parts, data[at:]))


def uvarint(number: int) -> bytes:
    """An unsigned varint."""
    if number < 0x80:
        return number.to_bytes(1, "big")
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)
