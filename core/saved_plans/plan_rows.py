"""The rows of saved plans: what each command would do, and what stood there then."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from kgroups.core.deletion import Deletion
from kgroups.core.input_files.row_lines import (
    MAX_INT32,
    WrongFile,
    is_count,
    is_name,
    shown,
)
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.record_deletions import RecordDeletion
from kgroups.core.offsets.targets import MAX_OFFSET
from kgroups.core.offsets.undo_rows import (
    Bounds,
    Replaced,
    ReplacedRows,
    in_columns,
    replaced_rows,
    rows_by_group,
    sizes_of,
)
from kgroups.core.snapshot import CommittedOffset, Group, Member, TopicPartition

COMMITS_A_ROW: Final = 1_000
"""Commits of a group in one row; more of them go into further rows, as lines have a length."""

Fields = dict[str, Any]
_Check = Callable[[Any], bool]


class PlannedDeletion(NamedTuple):
    """A group that is to be deleted.

    Args:
        state: it had then; None if the broker did not tell.
        commits: it had then, without their metadata.
    """

    group: str
    state: str | None
    commits: Mapping[TopicPartition, CommittedOffset]


class PlannedRecords(NamedTuple):
    """The oldest records of a partition, which are to go: those below `new_start`."""

    topic: str
    partition: int
    old_start: int
    new_start: int
    log_end_offset: int


class PlannedRemoval(NamedTuple):
    """A member that is to be removed, as it was then."""

    group: str
    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    reason: str


Row = ReplacedRows | PlannedDeletion | PlannedRecords | PlannedRemoval


def _is_offset(value: Any) -> bool:
    return is_count(value, MAX_OFFSET)


def _is_number(value: Any) -> bool:
    return is_count(value, MAX_INT32)


def _is_text(value: Any) -> bool:
    return value == "" or is_name(value)


def _or_none(check: _Check) -> _Check:
    return lambda value: value is None or check(value)


def _are_commits(value: Any) -> bool:
    return type(value) is list and all(map(_is_commit, value))


def _is_commit(value: Any) -> bool:
    if type(value) is not list or len(value) != 4:
        return False
    topic, partition, offset, epoch = value
    known = epoch is None or _is_number(epoch)
    return is_name(topic) and _is_number(partition) and _is_offset(offset) and known


_GROUP: Final[Mapping[str, _Check]] = {
    "group": is_name,
    "state": _or_none(is_name),
    "commits": _are_commits,
}
_RECORDS: Final[Mapping[str, _Check]] = {
    "topic": is_name,
    "partition": _is_number,
    "old_start": _is_offset,
    "new_start": _is_offset,
    "log_end_offset": _is_offset,
}
_MEMBER: Final[Mapping[str, _Check]] = {
    "group": is_name,
    "member_id": is_name,
    "instance_id": _or_none(is_name),
    "client_id": _is_text,
    "host": _is_text,
    "reason": _is_text,
}

_FIELDS: Final[Mapping[str, Mapping[str, _Check]]] = {
    "delete": _GROUP,
    "delete-records": _RECORDS,
    "remove-members": _MEMBER,
}
COMMANDS: Final = frozenset({"reset-offsets", "copy-offsets", "delete-offsets", *_FIELDS})
"""The commands whose plans can be saved; the first three change commits: theirs are in columns."""


def rows_of_changes(changes: Iterable[Change]) -> list[Row]:
    """What is planned of a change of commits."""
    rows: list[Row] = []
    rows += replaced_rows(
        Replaced(change.group, change.topic, change.partition, change.old, change.new)
        for change in changes
        if change.result == "planned" and change.topic is not None and change.partition is not None
    )
    return rows


def rows_of_deletions(deletions: Iterable[Deletion], groups: Mapping[str, Group]) -> list[Row]:
    """What is planned of a deletion of groups.

    Args:
        groups: with what they committed.
    """
    return [
        PlannedDeletion(each.group, each.state, commits_of(groups.get(each.group)))
        for each in deletions
        if each.result == "planned"
    ]


def commits_of(group: Group | None) -> dict[TopicPartition, CommittedOffset]:
    """Every commit of a group, by partition."""
    held = (group.offsets if group is not None else None) or {}
    return {
        (topic, number): commit
        for topic, commits in held.items()
        for number, commit in commits.items()
    }


def rows_of_records(deletions: Iterable[RecordDeletion]) -> list[Row]:
    """What is planned of a deletion of records."""
    return [
        PlannedRecords(each.topic, each.partition, each.old_start, each.new_start, each.end)
        for each in deletions
        if each.result == "planned"
        and each.old_start is not None
        and each.new_start is not None
        and each.end is not None
    ]


def row_of_member(group: str, member: Member, reason: str) -> Row:
    """One member that is to be removed."""
    own = (member.member_id, member.instance_id, member.client_id, member.host)
    return PlannedRemoval(group, *own, reason)


def written(row: Row) -> Iterator[Fields]:
    """A row as one object of JSON, or more where it is long."""
    match row:
        case ReplacedRows(group):
            for columns in in_columns(row):
                yield {"group": group, "commits": columns}
        case PlannedDeletion(group, state, commits):
            held = [[*at, commit.offset, commit.leader_epoch] for at, commit in commits.items()]
            for start in range(0, len(held) or 1, COMMITS_A_ROW):
                part = held[start : start + COMMITS_A_ROW]
                yield {"group": group, "state": state, "commits": part}
        case _:
            yield row._asdict()


def held_in(fields: Fields) -> Iterator[tuple[int, int]]:
    """What `Bounds` count of a row as it was written."""
    commits = fields.get("commits", ())
    if isinstance(commits, dict):
        yield from map(sizes_of, commits.values())
    elif commits:  # each is an object of its own, which takes as much as one with metadata
        yield len(commits), len(commits)


def read_rows(command: str, objects: Iterable[Any]) -> list[Row]:
    """The rows that these objects are.

    Raises:
        WrongFile: one is none of this command, or what it is about is there twice.
    """
    if command not in _FIELDS:
        return [*rows_by_group(objects).values()]
    checks = _FIELDS[command]
    found: dict[tuple[Any, ...], Row] = {}
    bounds = Bounds()
    for number, fields in enumerate(objects, 1):
        if type(fields) is not dict or fields.keys() != checks.keys():
            raise WrongFile(f"row {number} does not have the fields {', '.join(checks)}")
        if not all(check(fields[name]) for name, check in checks.items()):
            raise WrongFile(f"row {number} is {shown(fields)}")
        if not bounds.hold(held_in(fields)):
            raise WrongFile("it has more rows or commits than any")
        row, key = _row(command, fields)
        known = found.get(key)
        if isinstance(known, PlannedDeletion) and isinstance(row, PlannedDeletion):
            if known.state != row.state or known.commits.keys() & row.commits.keys():
                raise WrongFile(f"row {number} is there twice")
            row = known._replace(commits={**known.commits, **row.commits})
        elif known is not None:
            raise WrongFile(f"row {number} is there twice")
        found[key] = row
    return list(found.values())


def _row(command: str, fields: Fields) -> tuple[Row, tuple[Any, ...]]:
    """The row, and what it is about."""
    checks = _FIELDS[command]
    values = tuple(fields[name] for name in checks)
    if checks is _GROUP:
        commits = {
            (topic, partition): CommittedOffset(offset, epoch)
            for topic, partition, offset, epoch in values[2]
        }
        return PlannedDeletion(values[0], values[1], commits), values[:1]
    if checks is _RECORDS:
        return PlannedRecords(*values), values[:2]
    return PlannedRemoval(*values), values[:2]
