"""The undo file: what a write replaces, as text, and back. It holds commits and no settings.

A file is made by whoever holds it, so nothing in it is believed before it was looked at.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, NamedTuple

import orjson

from kgroups.core.errors import UsageError
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.targets import MAX_OFFSET
from kgroups.core.snapshot import CommittedOffset
from kgroups.core.uuids import parse_uuid

SCHEMA: Final = "kgroups.undo/2"
SCHEMA_1: Final = "kgroups.undo/1"
"""Without topic ids; read, and not written any more."""

MAX_ROWS: Final = 400_000
MAX_BYTES: Final = 128 << 20
"""With these no file takes more than some seconds and 400 MB to read."""

WHOLE_BYTES: Final = 8 << 20
"""Up to here any layout of the JSON is read; beyond, only that of `undo_lines`: a row a line."""

MAX_LINE_BYTES: Final = 1 << 20
MAX_NAME_BYTES: Final = 32_767  # of a string in Kafka's protocol
MAX_INT32: Final = 2**31 - 1

_HEAD: Final = {"schema", "cluster_id", "created_at", "rows"}
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
_SHOWN: Final = 40


class Replaced(NamedTuple):
    """One commit that was to be replaced.

    Args:
        old: what stood there; None if nothing did.
        new_offset: what was to stand there; None if the commit was to be deleted.
    """

    group: str
    topic: str
    partition: int
    old: CommittedOffset | None
    new_offset: int | None


@dataclass(frozen=True, slots=True)
class Undo:
    """What an undo file holds.

    Args:
        cluster_id: of the cluster that was written to; None if it has none.
        rows: by group; each partition of a group once.
        topic_ids: of the topics that were written to; those that are not known are absent.
    """

    cluster_id: str | None
    rows: Mapping[str, Sequence[Replaced]]
    topic_ids: Mapping[str, str]

    @property
    def topics(self) -> set[str]:
        """Every topic of the rows."""
        return {row.topic for rows in self.rows.values() for row in rows}


def undo_lines(
    changes: Iterable[Change],
    *,
    cluster_id: str | None,
    topic_ids: Mapping[str, str | None],
    created_at: str,
) -> Iterator[str]:
    """The undo file of the planned changes, a row a line.

    Args:
        changes: those that are not planned are left out.
        cluster_id: of the cluster.
        topic_ids: of its topics, as far as they are known.
        created_at: the time, as text.
    """
    planned = [change for change in changes if change.result == "planned"]
    names = dict.fromkeys(change.topic for change in planned if change.topic is not None)
    head = {
        "schema": SCHEMA,
        "cluster_id": cluster_id,
        "created_at": created_at,
        "topic_ids": {name: topic_ids.get(name) for name in names},
    }
    yield f'{json.dumps(head, ensure_ascii=False)[:-1]}, "rows": [\n'
    start = end = ""
    last: tuple[str, str | None] | None = None
    for group, topic, partition, old, new, *_ in planned:
        if (group, topic) != last:  # tens of thousands of rows share a few names
            last = (group, topic)
            start = json.dumps({"group": group, "topic": topic}, ensure_ascii=False)[:-1]
        put = "null" if new is None else new[0]
        held = '"offset": null, "leader_epoch": null, "metadata": ""'
        if old is not None:
            offset, epoch, memo, _ = old
            said = json.dumps(memo, ensure_ascii=False) if memo else '""'
            known = "null" if epoch is None else epoch
            held = f'"offset": {offset}, "leader_epoch": {known}, "metadata": {said}'
        yield f'{end}{start}, "partition": {partition}, {held}, "new_offset": {put}}}'
        end = ",\n"
    yield "\n]}\n"


def with_outcome(text: str, outcome: Mapping[str, Any]) -> str:
    """The undo file with what became of its write, for who could not be told it otherwise.

    Args:
        text: of the file, as `undo_lines` made it.
        outcome: `at`, and how many changes had which result.
    """
    return f'{text.rstrip()[:-1]}, "outcome": {json.dumps(outcome)}}}\n'


class _Wrong(Exception):
    """What is wrong with a file, to be said after `… is not an undo file: `."""


def read_undo(file: BinaryIO, where: str) -> Undo:
    """What an undo file says.

    Args:
        file: from its start; it can be wound back.
        where: its name, for messages.
    Raises:
        UsageError: it is not an undo file, or longer than any.
    """
    try:
        return _read(file)
    except _Wrong as wrong:
        raise UsageError(
            f"`{where}` is not an undo file: {wrong}",
            hint="`reset-offsets` prints the path of the file it writes",
        ) from wrong


def _read(file: BinaryIO) -> Undo:
    start = file.read(WHOLE_BYTES + 1)
    document: Any
    rows: Iterable[Any]
    if len(start) <= WHOLE_BYTES:
        document = _json(start, "it")
        held = document.get("rows") if isinstance(document, dict) else None
        if not isinstance(held, list):
            raise _Wrong("it has no `rows`")
        rows = held
    else:
        file.seek(0)
        head = file.readline(WHOLE_BYTES)
        document = _json(head.rstrip() + b"]}", "its first line")
        rows = _rows_of_lines(file)
    if not isinstance(document, dict):
        raise _Wrong("it is not an object")
    ids = _head(document)
    return Undo(document["cluster_id"], _by_group(rows), ids)


def _json(data: bytes, what: str) -> Any:
    """JSON by the book: no half surrogates, no endless nesting."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _Wrong(f"{what} is not JSON ({error.msg})") from error


def _rows_of_lines(file: BinaryIO) -> Iterator[Any]:
    """The rows of a file that is too long to be held at once."""
    read = 0
    while line := file.readline(MAX_LINE_BYTES):
        read += len(line)
        text = line.strip()
        if text.startswith(b"]"):
            _check_outcome(_json(b'{"rows": [' + text, "its last line"))
            if file.read(1):
                raise _Wrong("there is text after its end")
            return
        if len(line) == MAX_LINE_BYTES or read > MAX_BYTES:
            raise _Wrong("it is too long")
        yield _json(text.removesuffix(b","), "one of its lines")
    raise _Wrong("its end is missing")


def _head(document: Mapping[str, Any]) -> dict[str, str]:
    """The topic ids of a head that is right."""
    schema = document.get("schema")
    if schema not in (SCHEMA, SCHEMA_1):
        raise _Wrong(f"its `schema` is {_shown(schema)}")
    keys = _HEAD | {"topic_ids"} if schema == SCHEMA else _HEAD
    odd_keys = (document.keys() - {"outcome"}) ^ keys
    if odd_keys:
        odd = min(odd_keys)
        raise _Wrong(
            f"{_shown(odd)} is {'not one of its fields' if odd in document else 'missing'}"
        )
    for name, optional in (("cluster_id", True), ("created_at", False)):
        if not (_is_name(document[name]) or (optional and document[name] is None)):
            raise _Wrong(f"its `{name}` is {_shown(document[name])}")
    _check_outcome(document)
    ids = document.get("topic_ids", {})
    if not isinstance(ids, dict):
        raise _Wrong(f"its `topic_ids` are {_shown(ids)}")
    return {topic: _uuid(text) for topic, text in ids.items() if text is not None}


def _check_outcome(document: Mapping[str, Any]) -> None:
    if not isinstance(document.get("outcome", {}), dict):
        raise _Wrong(f"its `outcome` is {_shown(document['outcome'])}")


def _uuid(text: Any) -> str:
    try:
        return parse_uuid(text)
    except (ValueError, TypeError) as error:
        raise _Wrong(f"{_shown(text)} is not a topic id") from error


def _by_group(rows: Iterable[Any]) -> dict[str, list[Replaced]]:
    """The rows that are right, by group, each partition once."""
    names: dict[str, str] = {}  # one object for each name: rows are many, names are few
    found: dict[str, list[Replaced]] = {}
    for number, row in enumerate(rows, 1):
        if number > MAX_ROWS:
            raise _Wrong(f"it has more than {MAX_ROWS:,} rows")
        one = _replaced(row, number, names)
        found.setdefault(one.group, []).append(one)
    for group, own in found.items():
        if len({(row.topic, row.partition) for row in own}) < len(own):
            raise _Wrong(f"it has a partition of group {_shown(group)} twice")
    return found


def _replaced(row: Any, number: int, names: dict[str, str]) -> Replaced:
    if type(row) is not dict or row.keys() != _KEYS:
        raise _Wrong(f"row {number} does not have the fields {', '.join(_FIELDS)}")
    group, topic, partition, offset, epoch, memo, new = map(row.__getitem__, _FIELDS)
    if not (
        _is_name(group)
        and _is_name(topic)
        and _is_count(partition, MAX_INT32)
        and (offset is None or _is_count(offset, MAX_OFFSET))
        and (epoch is None or _is_count(epoch, MAX_INT32))
        and (memo == "" or _is_name(memo))
        and (new is None or _is_count(new, MAX_OFFSET))
    ):
        raise _Wrong(f"row {number} is {_shown(row)}")
    old = None if offset is None else CommittedOffset(offset, epoch, names.setdefault(memo, memo))
    group, topic = names.setdefault(group, group), names.setdefault(topic, topic)
    return Replaced(group, topic, partition, old, new)


def _is_count(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_name(value: Any) -> bool:
    """Whether it is text that fits into a string of Kafka's protocol, and not empty."""
    if type(value) is not str or not value:
        return False
    return len(value) * 4 <= MAX_NAME_BYTES or len(value.encode()) <= MAX_NAME_BYTES


def _shown(value: Any) -> str:
    text = repr(value)[1:-1] if isinstance(value, str) else repr(value)
    return f"`{text[:_SHOWN]}{'…' * (len(text) > _SHOWN)}`"
