"""The rows of undo files: commits that were to be replaced, in columns: there may be millions."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from operator import itemgetter
from typing import Any, Final, NamedTuple

from kgroups.core.input_files.row_lines import (
    MAX_INT32,
    MAX_ROWS,
    WrongFile,
    is_count,
    is_name,
    shown,
)
from kgroups.core.offsets.targets import MAX_OFFSET
from kgroups.core.snapshot import CommittedOffset

_FIELDS: Final = (
    "group",
    "topic",
    "partition",
    "offset",
    "leader_epoch",
    "metadata",
    "new_offset",
)
_KEYS: Final = frozenset(_FIELDS)
_COLUMNS: Final = frozenset(
    {
        "partition",
        "offset",
        "leader_epoch",
        "new_offset",
        "metadata",
        "new_leader_epoch",
        "new_metadata",
    }
)
_KEYS_NEEDED: Final = frozenset({"partition", "offset", "new_offset"})

_NO_COMMIT: Final = (None, None, "", None)

COMMITS_A_ROW: Final = 10_000
METADATA_A_ROW: Final = 1 << 17
"""Longer groups take several rows, as a line has a length."""

MAX_COST: Final = 320 << 20
COST_OF_A_GROUP, COST_OF_A_TOPIC, COST_OF_A_MEMO, COST_OF_A_COMMIT = 600, 450, 250, 40
"""Bytes of memory that a file takes when it is read, at most. What takes more is not written."""


class Replaced(NamedTuple):
    """One commit that was to be replaced.

    Args:
        old: what stood there; None if nothing did.
        new: what was to stand there; None if the commit was to be deleted.
    """

    group: str
    topic: str
    partition: int
    old: CommittedOffset | None
    new: CommittedOffset | None


class _Part(NamedTuple):
    """Commits of one topic, with numbers for objects: there may be millions.

    Args:
        numbers: partitions, offsets, epochs and new offsets, as columns; -1 for None.
        memos: the metadata; None where all are empty.
        new_epochs: of the new commits, which an undo or a copy makes whole; None where none has
            any.
        new_memos: their metadata, likewise.
    """

    topic: str
    numbers: "array[int]"
    memos: Sequence[str] | None
    new_epochs: "array[int] | None" = None
    new_memos: Sequence[str] | None = None

    @property
    def sizes(self) -> tuple[int, int]:
        """How many commits, and how many metadata."""
        return len(self.numbers) // 4, len(self.memos or ()) + len(self.new_memos or ())

    def rows(self, group: str) -> Iterator[Replaced]:
        """The rows, made one by one."""
        count = len(self.numbers) // 4
        columns = [self.numbers[at : at + count] for at in range(0, 4 * count, count or 1)]
        more = (
            self.memos or repeat("", count),
            self.new_epochs or repeat(-1, count),
            self.new_memos or repeat("", count),
        )
        for row in zip(*columns, *more, strict=True):
            partition, offset, epoch, new, memo, new_epoch, new_memo = row
            old = None
            if offset >= 0:
                old = CommittedOffset(offset, None if epoch < 0 else epoch, memo)
            put = None
            if new >= 0:
                put = CommittedOffset(new, None if new_epoch < 0 else new_epoch, new_memo)
            yield Replaced(group, self.topic, partition, old, put)


@dataclass(frozen=True, slots=True)
class ReplacedRows:
    """The rows of one group in the order of the file; each partition once."""

    group: str
    parts: Sequence[_Part]

    def __iter__(self) -> Iterator[Replaced]:
        return (row for part in self.parts for row in part.rows(self.group))

    @property
    def topics(self) -> Iterator[str]:
        """The topics of the rows."""
        return (part.topic for part in self.parts)


class Bounds:
    """What a file has held so far, of what one may hold."""

    def __init__(self) -> None:
        self._rows = self._cost = 0

    def hold(self, parts: Iterable[tuple[int, int]]) -> bool:
        """Whether one more row is not too much.

        Args:
            parts: of each of its topics, how many commits, and how many of them with metadata.
        """
        self._rows += 1
        self._cost += COST_OF_A_GROUP + sum(
            COST_OF_A_TOPIC + commits * COST_OF_A_COMMIT + memos * COST_OF_A_MEMO
            for commits, memos in parts
        )
        return self._rows <= MAX_ROWS and self._cost <= MAX_COST


def sizes_of(columns: Mapping[str, Sequence[Any]]) -> tuple[int, int]:
    """How many commits, and how many metadata."""
    memos = (columns.get(name, ()) for name in ("metadata", "new_metadata"))
    return len(columns["partition"]), sum(map(len, memos))


def in_columns(rows: Iterable[Any]) -> Iterator[dict[str, dict[str, Sequence[Any]]]]:
    """The commits of a group by topic, in as many rows as lines of a bounded length need.

    Args:
        rows: `Replaced`, or changes, which begin with the same fields.
    """
    row: dict[str, dict[str, Sequence[Any]]] = {}
    held = 0
    for topic, own in groupby(rows, itemgetter(1)):
        left = [(each[2], each[3], each[4]) for each in own]
        while left:
            count = _fitting(left, COMMITS_A_ROW - held)
            if topic in row or not count:
                yield row
                row, held = {}, 0
                continue
            row[topic or ""] = _columns(left[:count])
            held += count
            left = left[count:]
    if row:
        yield row


_Place = tuple[int | None, CommittedOffset | None, CommittedOffset | None]


def _fitting(places: Sequence[_Place], most: int) -> int:
    """How many commits fit into what is left of a row; at least one into a new row."""
    size = 0
    for index, (_, *commits) in enumerate(places[:most]):
        size += sum(6 * len(each.metadata) for each in commits if each)  # `\\u0001` for a sign
        if size > METADATA_A_ROW and (index or most < COMMITS_A_ROW):
            return index
    return min(most, len(places))


def _columns(places: Sequence[_Place]) -> dict[str, Sequence[Any]]:
    """Commits as a list for each field; without those that hold the usual value only."""
    olds = [_NO_COMMIT if old is None else old for _, old, _ in places]
    news = [_NO_COMMIT if new is None else new for _, _, new in places]
    offsets, epochs, memos, _ = zip(*olds, strict=True)
    new_offsets, new_epochs, new_memos, _ = zip(*news, strict=True)
    columns: dict[str, Sequence[Any]] = {
        "partition": [partition for partition, _, _ in places],
        "offset": offsets,
        "new_offset": new_offsets,
    }
    if any(memos):
        columns["metadata"] = memos
    if set(epochs) != {None}:
        columns["leader_epoch"] = epochs
    if any(new_memos):
        columns["new_metadata"] = new_memos
    if set(new_epochs) != {None}:
        columns["new_leader_epoch"] = new_epochs
    return columns


def replaced_rows(rows: Iterable[Replaced]) -> list[ReplacedRows]:
    """The rows by group, in the order in which groups come."""
    found: dict[str, list[_Part]] = {}
    for (group, topic), own in groupby(rows, itemgetter(0, 1)):
        partitions, olds, news = zip(*((each[2], each[3], each[4]) for each in own), strict=True)
        old, new = (
            tuple(zip(*(commit or _NO_COMMIT for commit in commits), strict=True))
            for commits in (olds, news)
        )
        numbers = array("q", partitions)
        for column in (old[0], old[1], new[0]):
            numbers.extend(-1 if number is None else number for number in column)
        epochs = None
        if set(new[1]) != {None}:
            epochs = array("q", (-1 if epoch is None else epoch for epoch in new[1]))
        part = _Part(topic, numbers, _memos(old[2]), epochs, _memos(new[2]))
        found.setdefault(group, []).append(part)
    return [ReplacedRows(group, parts) for group, parts in found.items()]


def rows_by_group(rows: Iterable[Any]) -> dict[str, ReplacedRows]:
    """The rows with columns that are right, by group."""
    found: dict[str, list[_Part]] = {}
    names: dict[str, str] = {}  # one object for each name: topics are few
    bounds = Bounds()
    for number, row in enumerate(rows, 1):
        if type(row) is not dict or row.keys() != {"group", "commits"}:
            raise WrongFile(f"row {number} does not have the fields group, commits")
        group, topics = row["group"], row["commits"]
        parts = []
        try:
            if not is_name(group) or type(topics) is not dict:
                raise ValueError
            for topic, columns in topics.items():
                parts.append(_part(names.setdefault(topic, topic), columns, names))
        except (ValueError, TypeError, KeyError) as error:
            raise WrongFile(f"row {number} is {shown(row)}") from error
        if not bounds.hold(part.sizes for part in parts):
            raise WrongFile("it has more commits than any")
        found.setdefault(group, []).extend(parts)
    return _once(found)


def _part(topic: str, columns: Any, names: dict[str, str]) -> _Part:
    """The commits of a topic.

    Raises:
        ValueError, TypeError, KeyError: they are none.
    """
    if not is_name(topic) or type(columns) is not dict:
        raise ValueError
    if not _KEYS_NEEDED <= columns.keys() <= _COLUMNS:
        raise ValueError
    count = len(columns["partition"])
    numbers = array("q", _numbers(columns["partition"], count, MAX_INT32))
    for name, most in (
        ("offset", MAX_OFFSET),
        ("leader_epoch", MAX_INT32),
        ("new_offset", MAX_OFFSET),
    ):
        given = columns[name] if name in columns else [None] * count
        numbers.extend(_numbers(given, count, most, optional=True))
    epochs = None
    if "new_leader_epoch" in columns:
        given = columns["new_leader_epoch"]
        epochs = array("q", _numbers(given, count, MAX_INT32, optional=True))
    memos, new_memos = (
        _texts(columns[name], count, names) if name in columns else None
        for name in ("metadata", "new_metadata")
    )
    return _Part(topic, numbers, memos, epochs, new_memos)


def _texts(values: Any, count: int, names: dict[str, str]) -> tuple[str, ...] | None:
    """A column of so many metadata; None where all are empty.

    Raises:
        ValueError: it is none.
    """
    if type(values) is not list or len(values) != count:
        raise ValueError
    if not all(memo == "" or is_name(memo) for memo in values):
        raise ValueError
    return _memos(names.setdefault(memo, memo) for memo in values)


def _memos(texts: Iterable[str]) -> tuple[str, ...] | None:
    held = tuple(texts)
    return held if any(held) else None


def _numbers(values: Any, count: int, most: int, *, optional: bool = False) -> list[int]:
    """A column of so many whole numbers from 0 on; -1 for those that are None.

    Raises:
        ValueError: it is none.
    """
    if type(values) is not list or len(values) != count:
        raise ValueError
    known = [value for value in values if value is not None] if optional else values
    if not set(map(type, known)) <= {int} or (known and not 0 <= min(known) <= max(known) <= most):
        raise ValueError
    return values if len(known) == count else [-1 if value is None else value for value in values]


def rows_by_commit(rows: Iterable[Any]) -> dict[str, ReplacedRows]:
    """The rows with one commit each that are right, by group."""
    found: dict[str, list[_Part]] = {}
    names: dict[str, str] = {}
    read = (_row(row, number, names) for number, row in enumerate(rows, 1))
    for (group, topic), own in groupby(read, itemgetter(0, 1)):
        places = [place for _, _, *place in own]
        numbers = array("q", [number for column in range(4) for number in _column(places, column)])
        found.setdefault(group, []).append(
            _Part(topic, numbers, _memos(memo for *_, memo in places))
        )
    return _once(found)


def _column(places: Sequence[Sequence[Any]], index: int) -> Iterator[int]:
    return (-1 if place[index] is None else place[index] for place in places)


def _row(row: Any, number: int, names: dict[str, str]) -> tuple[Any, ...]:
    """Group, topic, and then the values of the columns."""
    if type(row) is not dict or row.keys() != _KEYS:
        raise WrongFile(f"row {number} does not have the fields {', '.join(_FIELDS)}")
    group, topic, partition, offset, epoch, memo, new = map(row.__getitem__, _FIELDS)
    if not (
        is_name(group)
        and is_name(topic)
        and is_count(partition, MAX_INT32)
        and (offset is None or is_count(offset, MAX_OFFSET))
        and (epoch is None or is_count(epoch, MAX_INT32))
        and (memo == "" or is_name(memo))
        and (new is None or is_count(new, MAX_OFFSET))
    ):
        raise WrongFile(f"row {number} is {shown(row)}")
    group, topic = names.setdefault(group, group), names.setdefault(topic, topic)
    return group, topic, partition, offset, epoch, new, names.setdefault(memo, memo)


def _once(found: Mapping[str, list[_Part]]) -> dict[str, ReplacedRows]:
    """The rows of each group, which hold no partition twice."""
    for group, parts in found.items():
        seen: dict[str, set[int]] = {}
        count = 0
        for topic, numbers, *_ in parts:
            own = numbers[: len(numbers) // 4]
            seen.setdefault(topic, set()).update(own)
            count += len(own)
        if sum(map(len, seen.values())) < count:
            raise WrongFile(f"it has a partition of group {shown(group)} twice")
    return {group: ReplacedRows(group, parts) for group, parts in found.items()}
