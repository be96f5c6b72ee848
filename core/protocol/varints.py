"""Numbers of variable length: seven bits a byte, the lowest first."""

_MOST_SHIFT = 28
_MOST_SIGNED_SHIFT = 63


class VarintError(ValueError):
    """A number has no end, or is larger than any can be."""


def read_uvarint(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned number of at most 31 bits, which no length exceeds, and where it ends.

    Raises:
        VarintError: it is longer.
        IndexError: the data ends within it.
    """
    value, shift = data[at] & 0x7F, 0
    while data[at] >= 0x80:
        at, shift = at + 1, shift + 7
        value |= (data[at] & 0x7F) << shift
        if shift > _MOST_SHIFT or value >> 31:
            raise VarintError(f"a length has no end before byte {at}")
    return value, at + 1


def write_uvarint(out: bytearray, value: int) -> None:
    """Append an unsigned number."""
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def uvarint(value: int) -> bytes:
    """An unsigned number as bytes."""
    out = bytearray()
    write_uvarint(out, value)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A signed (zig-zag) number of up to 64 bits, and where it ends.

    Raises:
        VarintError: it is longer.
        IndexError: the data ends within it.
    """
    value, shift = data[at] & 0x7F, 0
    while data[at] >= 0x80:
        at, shift = at + 1, shift + 7
        if shift > _MOST_SIGNED_SHIFT:
            raise VarintError(f"a number has no end before byte {at}")
        value |= (data[at] & 0x7F) << shift
    return (value >> 1) ^ -(value & 1), at + 1


def write_varint(out: bytearray, value: int) -> None:
    """Append a signed (zig-zag) number."""
    write_uvarint(out, value << 1 if value >= 0 else (-value << 1) - 1)
