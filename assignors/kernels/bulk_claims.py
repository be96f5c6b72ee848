"""The user data of many sticky members read side by side: one topic of every member at a time.

Reading them one after the other in Python costs more than the assignment itself. Anything out of
the ordinary (damaged bytes, a partition that does not exist) is left to the plain reader.

Source: layout of StickyAssignor's user data, see `wire`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgroups.assignors.compact import TopicTable

Numbers = npt.NDArray[np.int64]

MULTIPLIER = 0x9E3779B97F4A7C15  # odd, bits well mixed: Fibonacci hashing
PADDING = 8


class BulkClaims(NamedTuple):
    """Claims of all members in arrays.

    Args:
        numbers: claimed partition numbers, member after member.
        generations: generation of each member's claim; None if it names none.
    """

    numbers: npt.NDArray[np.int32]
    sizes: Numbers
    generations: list[int | None]


class _Records(NamedTuple):
    """Where each topic of each member's data lies: a position and a length of the name, the
    number of partitions and the position of the first one."""

    member: Numbers
    name: Numbers
    length: Numbers
    held: Numbers
    first: Numbers


def read_bulk(table: TopicTable, data: Sequence[bytes | None]) -> BulkClaims | None:
    """Claims out of the user data of every member; None if they are not plain."""
    if not any(data) or not table.names:
        return None
    padding = max(len(name.encode()) for name in table.names) + PADDING
    joined = b"".join(part or b"" for part in data) + bytes(padding)
    sizes = np.array([len(part or b"") for part in data], dtype=np.int64)
    walked = _walk(joined, sizes)
    if walked is None:
        return None
    records, generations = walked
    narrow = records.member.astype(np.uint16) if len(data) <= 1 << 16 else records.member
    order = np.argsort(narrow, kind="stable")
    records = _Records(*(column[order] for column in records))
    topics = _topics_of(table, joined, records)
    held = np.where(topics >= 0, records.held, 0)
    topic = np.repeat(topics, held)
    first = np.repeat(records.first - 4 * (np.cumsum(held) - held), held)
    parts = _big_endian(joined, first + np.arange(0, 4 * len(first), 4))
    if ((parts < 0) | (parts >= np.array(table.counts, dtype=np.int32)[topic])).any():
        return None
    numbers = np.array(table.bases, dtype=np.int32)[topic] + parts
    claimed = np.bincount(records.member, held, minlength=len(data)).astype(np.int64)
    return BulkClaims(numbers, claimed, generations)


def _big_endian(joined: bytes, places: Numbers) -> npt.NDArray[np.int32]:
    """Signed 32-bit numbers at these positions."""
    view = np.ndarray((len(joined) - 3,), dtype=">i4", buffer=joined, strides=(1,))
    words: npt.NDArray[np.int32] = view[places].astype(np.int32)
    return words


def _walk(joined: bytes, sizes: Numbers) -> "tuple[_Records, list[int | None]] | None":
    """Every topic record, found one record of every member at a time; None if bytes run out."""
    octets = np.frombuffer(joined, dtype=np.uint8)
    ends = np.cumsum(sizes)
    member = np.flatnonzero(sizes)
    place = (ends - sizes)[member]
    if (sizes[member] < 4).any():
        return None
    left = _big_endian(joined, place).astype(np.int64)
    place = place + 4
    after = np.zeros(len(sizes), dtype=np.int64)
    after[member] = place
    rows: list[tuple[Numbers, ...]] = []
    member, place, left = member[left != 0], place[left != 0], left[left != 0]
    while len(member):
        if (left < 0).any() or (place + 2 > ends[member]).any():
            return None
        length = octets[place].astype(np.int64) << 8 | octets[place + 1]
        counted = place + 2 + length
        if (counted + 4 > ends[member]).any() or (length >= 1 << 15).any():
            return None
        count = _big_endian(joined, counted).astype(np.int64)
        following = counted + 4 + 4 * count
        if (count < 0).any() or (following > ends[member]).any():
            return None
        rows.append((member, place + 2, length, count, counted + 4))
        after[member] = following
        left = left - 1
        going = left > 0
        member, place, left = member[going], following[going], left[going]
    columns = [np.concatenate(column) for column in zip(*rows, strict=True)] if rows else []
    if not columns:
        return None
    return _Records(*columns), _generations(joined, sizes, ends, after)


def _generations(joined: bytes, sizes: Numbers, ends: Numbers, after: Numbers) -> list[int | None]:
    """Generation behind the topics of each member; None where no data or the old layout is."""
    named = (sizes > 0) & (after + 4 <= ends)
    values = _big_endian(joined, np.where(named, after, 0)).tolist()
    return [value if has else None for value, has in zip(values, named.tolist(), strict=True)]


def _topics_of(table: TopicTable, joined: bytes, records: _Records) -> Numbers:
    """Topic number of each record; -1 where the topic does not exist."""
    names = [name.encode() for name in table.names]
    lengths = np.array([len(name) for name in names], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    pool = b"".join(names) + bytes(max(map(len, names)) + PADDING)
    widest = int(max(lengths.max(), 1))
    pooled = _words(pool, starts, lengths, widest)
    asked = _words(joined, records.name, np.minimum(records.length, widest), widest)
    hashes = _mixed(pooled, lengths)
    order = np.argsort(hashes)
    place = np.searchsorted(hashes[order], _mixed(asked, records.length))
    topic = order[np.minimum(place, len(order) - 1)]
    same = lengths[topic] == records.length
    for mine, theirs in zip(asked, pooled, strict=True):
        same &= mine == theirs[topic]
    return np.where(same, topic, -1)


def _words(
    octets: bytes, starts: Numbers, lengths: Numbers, widest: int
) -> list[npt.NDArray[np.uint64]]:
    """Texts as columns of eight bytes; what lies behind a text is zero.

    Args:
        octets: with at least `widest` and eight bytes behind the last text.
        starts, lengths: where the texts are.
        widest: length up to which texts are read.
    """
    view = np.ndarray((len(octets) - 7,), dtype="<u8", buffer=octets, strides=(1,))
    columns = []
    for offset in range(0, widest, 8):
        bits = np.clip(lengths - offset, 0, 8).astype(np.uint64) * np.uint64(8)
        mask = np.where(
            bits >= 64,
            np.uint64(2**64 - 1),
            (np.uint64(1) << (bits % np.uint64(64))) - np.uint64(1),
        )
        column = np.bitwise_and(view[starts + offset], mask, dtype=np.uint64)
        columns.append(column)
    return columns


def _mixed(columns: list[npt.NDArray[np.uint64]], lengths: Numbers) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each row of columns."""
    value = lengths.astype(np.uint64)
    for column in columns:
        value = (value ^ column) * np.uint64(MULTIPLIER)
        value ^= value >> np.uint64(29)
    return value
