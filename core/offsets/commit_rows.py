"""Commits as rows of undo files and saved plans: a group a row, in columns, as they are many."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final, NamedTuple

from msgspec import Raw, field

from kgroups.core.offsets.change import Change
from kgroups.core.offsets.row_file import (
    Name,
    Number,
    Offset,
    Row,
    Text,
    WrongFile,
    check_texts,
    read_rows,
)
from kgroups.core.snapshot import CommittedOffset, TopicPartition

ROW_BYTES: Final = 512 << 10
"""Groups with more than fits take several rows, as a line has a length."""

_COMMIT_BYTES, _TOPIC_BYTES, _SIGN_BYTES = 100, 200, 6
"""The most bytes of a commit and of a topic in a row, and of a character of a text (`\\u0001`)."""

_Commit = tuple[int | None, int | None, str, int | None, int | None] | CommittedOffset
_Place = tuple[int, _Commit, _Commit]
_NO_COMMIT: Final = (None, None, "", None, None)


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


class TopicCommits(Row):
    """Commits of one topic, old and new; a column that would hold the usual value only is empty."""

    partition: list[Number]
    offset: list[Offset | None]
    new_offset: list[Offset | None]
    metadata: list[Text] = field(default_factory=list)
    leader_epoch: list[Number | None] = field(default_factory=list)
    new_metadata: list[Text] = field(default_factory=list)
    new_leader_epoch: list[Number | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        needed = {len(self.offset), len(self.new_offset)}
        optional = {len(self.metadata), len(self.leader_epoch)}
        optional |= {len(self.new_metadata), len(self.new_leader_epoch)}
        count = len(self.partition)
        if needed != {count} or not optional <= {0, count}:
            raise ValueError("columns differ in length")
        if len(set(self.partition)) < count:
            raise ValueError("a partition is there twice")
        check_texts(chain(self.metadata, self.new_metadata))

    def rows(self, group: str, topic: str) -> Iterator[Replaced]:
        """The commits, made one by one."""
        old = _commits(self.offset, self.leader_epoch, self.metadata)
        new = _commits(self.new_offset, self.new_leader_epoch, self.new_metadata)
        for partition, was, to_be in zip(self.partition, old, new, strict=True):
            yield Replaced(group, topic, partition, was, to_be)


class GroupCommits(Row):
    """Commits of one group, by topic.

    Args:
        state: of a group that is to be deleted.
    """

    group: Name
    commits: dict[Name, TopicCommits]
    state: str | None = None

    def __post_init__(self) -> None:
        check_texts([self.group, *self.commits])

    def rows(self) -> Iterator[Replaced]:
        """The commits, made one by one."""
        return chain.from_iterable(
            columns.rows(self.group, topic) for topic, columns in self.commits.items()
        )


def _commits(
    offsets: Sequence[int | None], epochs: Sequence[int | None], metadata: Sequence[str]
) -> Iterator[CommittedOffset | None]:
    count = len(offsets)
    rows = zip(offsets, epochs or repeat(None, count), metadata or repeat("", count), strict=True)
    return (None if row[0] is None else CommittedOffset(row[0], row[1], row[2]) for row in rows)


@dataclass(frozen=True, slots=True)
class CommitRows:
    """The commits of one group in the order of the file; each partition once.

    They stay encoded until they are asked for: a commit takes some 20 bytes so, and ten times as
    much as an object.
    """

    group: str
    lines: Sequence[Raw]

    def __iter__(self) -> Iterator[Replaced]:
        return chain.from_iterable(row.rows() for row in read_rows(self.lines, GroupCommits))


def read_commits(
    raws: Iterable[Raw], rows: Iterable[GroupCommits]
) -> tuple[dict[str, CommitRows], set[str]]:
    """The commits of a file by group, and their topics.

    Args:
        raws: its rows.
        rows: the same, decoded one after the other.
    Raises:
        WrongFile: a partition is there twice.
    """
    lines: dict[str, list[Raw]] = {}
    topics: set[str] = set()
    for raw, row in zip(raws, rows, strict=True):
        lines.setdefault(row.group, []).append(raw)
        topics.update(row.commits)
    by_group = {group: CommitRows(group, own) for group, own in lines.items()}
    for own in by_group.values():
        if len(own.lines) > 1:
            places = [row[1:3] for row in own]
            if len(set(places)) < len(places):
                raise WrongFile("it has a partition of a group twice")
    return by_group, topics


def commit_rows(changes: Iterable[Replaced | Change]) -> Iterator[GroupCommits]:
    """Commits as rows, each of a bounded length.

    Args:
        changes: of partitions; those of a group stand together.
    """
    name, size = "", 0
    held: dict[str, list[_Place]] = {}
    for group, topic, partition, old, new, *_ in changes:
        assert topic is not None, "whole groups are not written"
        assert partition is not None, "whole groups are not written"
        place: _Place = (partition, old or _NO_COMMIT, new or _NO_COMMIT)
        cost = _COMMIT_BYTES + _SIGN_BYTES * (len(place[1][2]) + len(place[2][2]))
        if group != name or size + cost > ROW_BYTES:
            if held:
                yield _row(name, held)
            name, held, size = group, {}, _SIGN_BYTES * len(group)
        own = held.get(topic)
        if own is None:
            own = held[topic] = []
            size += _TOPIC_BYTES + _SIGN_BYTES * len(topic)
        own.append(place)
        size += cost
    if held:
        yield _row(name, held)


def deleted_rows(
    group: str, state: str | None, commits: Mapping[TopicPartition, CommittedOffset]
) -> Iterator[GroupCommits]:
    """A group that is to be deleted, with what it has committed; metadata are left out."""
    rows = [
        Replaced(group, *at, CommittedOffset(commit.offset, commit.leader_epoch), None)
        for at, commit in commits.items()
    ]
    for row in commit_rows(rows) if rows else [GroupCommits(group, {})]:
        row.state = state
        yield row


def _row(group: str, held: Mapping[str, Sequence[_Place]]) -> GroupCommits:
    return GroupCommits(group, {topic: _columns(places) for topic, places in held.items()})


def _columns(places: Sequence[_Place]) -> TopicCommits:
    partitions, olds, news = zip(*places, strict=True)
    offsets, epochs, metadata, *_ = map(list, zip(*olds, strict=True))
    new_offsets, new_epochs, new_metadata, *_ = map(list, zip(*news, strict=True))
    return TopicCommits(
        list(partitions),
        offsets,
        new_offsets,
        metadata if any(metadata) else [],
        epochs if set(epochs) != {None} else [],
        new_metadata if any(new_metadata) else [],
        new_epochs if set(new_epochs) != {None} else [],
    )
