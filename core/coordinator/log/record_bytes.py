"""Kafka's primitive types as bytes: fixed and compact strings, arrays, ids and tagged fields.

Big-endian; compact lengths are unsigned varints of length + 1, 0 for null.
Source: the Kafka protocol guide, KIP-482.
"""

from collections.abc import Callable, Iterable
from struct import Struct
from struct import error as StructError
from typing import TypeVar
from uuid import UUID

T = TypeVar("T")

_INT8, _INT16, _INT32, _INT64 = Struct(">b"), Struct(">h"), Struct(">i"), Struct(">q")
ZERO_ID = UUID(int=0)


class RecordError(ValueError):
    """Bytes that are no record of the kind they claim to be."""


class Writer:
    """Bytes in the making; `flexible` chooses compact lengths for strings, bytes and arrays."""

    def __init__(self, *, flexible: bool) -> None:
        self.flexible = flexible
        self.out = bytearray()

    def int8(self, value: int) -> None:
        """Append a signed byte."""
        self.out += _INT8.pack(value)

    def int16(self, value: int) -> None:
        """Append two bytes."""
        self.out += _INT16.pack(value)

    def int32(self, value: int) -> None:
        """Append four bytes."""
        self.out += _INT32.pack(value)

    def int64(self, value: int) -> None:
        """Append eight bytes."""
        self.out += _INT64.pack(value)

    def varint(self, value: int) -> None:
        """Append an unsigned varint."""
        while value > 0x7F:
            self.out.append(value & 0x7F | 0x80)
            value >>= 7
        self.out.append(value)

    def uuid(self, value: UUID | None) -> None:
        """Append sixteen bytes; None is the zero id."""
        self.out += (value or ZERO_ID).bytes

    def string(self, value: str | None) -> None:
        """Append a string with its length."""
        raw = None if value is None else value.encode()
        if self.flexible:
            self.varint(0 if raw is None else len(raw) + 1)
        else:
            self.int16(-1 if raw is None else len(raw))
        self.out += raw or b""

    def blob(self, value: bytes) -> None:
        """Append bytes with their length."""
        if self.flexible:
            self.varint(len(value) + 1)
        else:
            self.int32(len(value))
        self.out += value

    def array(self, items: Iterable[T], write: Callable[[T], None]) -> None:
        """Append a length and each item by `write`."""
        values = list(items)
        if self.flexible:
            self.varint(len(values) + 1)
        else:
            self.int32(len(values))
        for item in values:
            write(item)

    def tags(self, fields: Iterable[tuple[int, bytes]] = ()) -> None:
        """Append tagged fields, in a flexible version; nothing in another."""
        if self.flexible:
            values = list(fields)
            self.varint(len(values))
            for tag, raw in values:
                self.varint(tag)
                self.varint(len(raw))
                self.out += raw


class Reader:
    """Bytes taken apart from the front; every method raises RecordError at their end."""

    def __init__(self, raw: bytes, *, flexible: bool = False, at: int = 0) -> None:
        self.raw = raw
        self.flexible = flexible
        self.at = at

    def _fixed(self, kind: Struct) -> int:
        try:
            (value,) = kind.unpack_from(self.raw, self.at)
        except StructError as broken:
            raise RecordError("the bytes end within a number") from broken
        self.at += kind.size
        return int(value)

    def int8(self) -> int:
        """A signed byte."""
        return self._fixed(_INT8)

    def int16(self) -> int:
        """Two bytes."""
        return self._fixed(_INT16)

    def int32(self) -> int:
        """Four bytes."""
        return self._fixed(_INT32)

    def int64(self) -> int:
        """Eight bytes."""
        return self._fixed(_INT64)

    def varint(self) -> int:
        """An unsigned varint."""
        value = shift = 0
        while True:
            if self.at >= len(self.raw) or shift > 28:
                raise RecordError("the bytes end within a varint, or it is too long")
            byte = self.raw[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def take(self, size: int) -> bytes:
        """That many bytes."""
        if size < 0 or self.at + size > len(self.raw):
            raise RecordError(f"{size} bytes are announced and fewer are there")
        self.at += size
        return self.raw[self.at - size : self.at]

    def uuid(self) -> UUID:
        """Sixteen bytes."""
        return UUID(bytes=self.take(16))

    def optional_string(self) -> str | None:
        """A string, or None."""
        size = self.varint() - 1 if self.flexible else self.int16()
        if size == -1:
            return None
        try:
            return self.take(size).decode()
        except UnicodeDecodeError as broken:
            raise RecordError("a string is not UTF-8") from broken

    def string(self) -> str:
        """A string that may not be null."""
        value = self.optional_string()
        if value is None:
            raise RecordError("a string is null that may not be")
        return value

    def blob(self) -> bytes:
        """Bytes with their length; null counts as empty."""
        size = self.varint() - 1 if self.flexible else self.int32()
        return b"" if size == -1 else self.take(size)

    def array(self, read: Callable[[], T]) -> tuple[T, ...]:
        """An array; null counts as empty."""
        size = self.varint() - 1 if self.flexible else self.int32()
        if size > len(self.raw) - self.at:
            raise RecordError(f"{size} items are announced in fewer bytes")
        return tuple(read() for _ in range(max(size, 0)))

    def tags(self) -> dict[int, bytes]:
        """Tagged fields by number, of a flexible version; none of another."""
        fields: dict[int, bytes] = {}
        if self.flexible:
            for _ in range(self.varint()):
                tag = self.varint()
                fields[tag] = self.take(self.varint())
        return fields
