"""OffsetCommit and OffsetFetch as bytes, from version 8 on: their rows are tens of thousands.

Other versions, and answers that hold what is not expected here, are left to kio, which takes from
twice as long (to read commits) to ten times (to write them).
"""

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from kgroups.core.kafka.transport.framing import Encoded, decode_response, error_name, memory_budget
from kgroups.core.kafka.transport.lengths import (
    LengthError,
    MemoryLimitError,
    Room,
    read_uvarint,
    uvarint,
)
from kgroups.core.snapshot import CommittedOffset, TopicPartition

if TYPE_CHECKING:
    from uuid import UUID

Errors = dict[TopicPartition, str | None]

VERSIONS: Final = (8, 9)
"""Those that name topics by their names."""

BY_ID: Final = 10
"""The version of OffsetCommit that names topics by their ids."""

BATCHED_FROM: Final = 8
"""The version of OffsetFetch that takes several groups."""

Offsets = dict[str, dict[int, CommittedOffset]]

_ROW: Final = struct.Struct(">iqi")
_FETCHED: Final = struct.Struct(">iqi4x")  # a commit whose metadata is empty: byte 1
_ERROR_AND_TAGS: Final = (17, 18, 19)
_COMMIT_COST: Final = 200  # bytes of memory of a commit
_ID_BYTES: Final = 16
_LEAST: Final = 3  # bytes of a group or topic: a name, an array, tags
_ANSWER: Final = struct.Struct(">ihB")
_NO_MEMBER: Final = b"\0" + struct.pack(">i", -1)
_NOBODY: Final = struct.pack(">i", -1) + b"\1\0"  # no generation, no member, no instance


def commit_request(
    group: str,
    commits: Mapping[str, Mapping[int, CommittedOffset]],
    ids: Mapping[str, bytes] | None = None,
) -> Encoded:
    """A commit of nobody, in version 8 or 9, or by ids in version 10.

    Args:
        group: its name.
        commits: topic to partition to the commit to make.
        ids: of all these topics, 16 bytes each; a topic that has another id now is not written to.
    """
    parts = [_text(group), _NOBODY, uvarint(len(commits) + 1)]
    for topic, rows in commits.items():
        parts += (_text(topic) if ids is None else ids[topic], uvarint(len(rows) + 1))
        for number, commit in rows.items():
            epoch = -1 if commit.leader_epoch is None else commit.leader_epoch
            note = commit.metadata
            parts += (
                _ROW.pack(number, commit.offset, epoch),
                _text(note) if note else b"\1",
                b"\0",
            )
        parts.append(b"\0")
    parts.append(b"\0")
    return Encoded(b"".join(parts))


def read_commit_answer(
    api: str,
    version: int,
    frame: bytes,
    room: Room | None = None,
    *,
    names: Mapping[bytes, str] | None = None,
) -> Errors:
    """The error name of each partition, or None, in an answer to OffsetCommit.

    Args:
        names: of topics, by their ids; an answer by ids says nothing of others.
    Raises:
        BrokerFailure: the bytes are not an answer of this version.
    """
    known = names or {}
    found = None
    if version in (*VERSIONS, BY_ID):
        found = _read_done(frame, known if version == BY_ID else None)
    if found is not None:
        return found
    answer = decode_response(api, version, frame, room)
    named = (
        (topic.name if version < BY_ID else known.get(_id_bytes(topic.topic_id)), topic)
        for topic in answer.topics or ()
    )
    return {
        (name, row.partition_index): error_name(row.error_code)
        for name, topic in named
        if name is not None
        for row in topic.partitions or ()
    }


def _id_bytes(topic_id: "UUID | None") -> bytes:
    return b"" if topic_id is None else topic_id.bytes


def _read_done(frame: bytes, names: Mapping[bytes, str] | None) -> Errors | None:
    """The answer in which every partition was taken; None for any other.

    Args:
        names: of topics by their ids, where the answer has these.
    """
    found: Errors = {}
    try:
        at = 9  # correlation id, tags, throttle time
        if frame[4]:
            return None
        topics, at = _read_count(frame, at, _LEAST)
        for _ in range(topics):
            if names is None:
                topic, at = _read_text(frame, at)
            else:
                topic, at = names[frame[at : at + _ID_BYTES]], at + _ID_BYTES
            rows, at = _read_count(frame, at, _ANSWER.size)
            end = at + rows * _ANSWER.size
            for number, error, tags in _ANSWER.iter_unpack(frame[at:end]):
                if error or tags:
                    return None
                found[topic, number] = None
            if frame[end]:
                return None
            at = end + 1
    except (LookupError, ValueError, struct.error):
        return None
    return found if frame[at:] == b"\0" else None


def fetch_request(version: int, groups: Sequence[str], *, settle: bool = False) -> Encoded:
    """A request of nobody for all the commits of these groups, in version 8 or 9.

    Args:
        settle: ask for no commit, and to be answered when all of them are stable.
    """
    topics = b"\1" if settle else b"\0"  # none, or all
    rest = topics + b"\0" if version == 8 else _NO_MEMBER + topics + b"\0"  # no tags
    parts = [uvarint(len(groups) + 1)]
    for group in groups:
        parts += (_text(group), rest)
    parts.append(b"\1\0" if settle else b"\0\0")  # or unstable offsets too; no tags
    return Encoded(b"".join(parts))


def read_fetch_answer(api: str, version: int, frame: bytes, room: Room | None = None) -> Any:
    """Commits by group, or kio's message where there is an error or the version is another.

    Raises:
        BrokerFailure: the bytes are not an answer of this version.
    """
    found = read_fetched(frame, room) if version in VERSIONS else None
    return decode_response(api, version, frame, room) if found is None else found


def read_fetched(frame: bytes, room: Room | None = None) -> dict[str, Offsets] | None:
    """Group to topic to partition to commit, ascending, in an answer of version 8 or 9.

    Returns:
        None for an answer that holds an error, or too much, or bytes that are no such answer:
        kio's to read, or to refuse.
    """
    found: dict[str, Offsets] = {}
    budget = memory_budget(frame, room)
    try:
        if frame[4]:
            return None
        groups, at = _read_count(frame, 9, _LEAST)  # after correlation id, tags, throttle time
        for _ in range(groups):
            group, at = _read_text(frame, at)
            topics, at = _read_count(frame, at, _LEAST)
            offsets: Offsets = {}
            for _ in range(topics):
                topic, at = _read_text(frame, at)
                rows, at = _read_count(frame, at, _FETCHED.size)
                budget.spend(rows * _COMMIT_COST)
                commits, at = _read_commits(frame, at, rows)
                if frame[at]:
                    return None
                at += 1
                if commits:
                    offsets[topic] = commits
            if frame[at : at + 3] != b"\0\0\0":  # no error, no tags
                return None
            at += 3
            found[group] = dict(sorted(offsets.items())) if len(offsets) > 1 else offsets
    except (IndexError, ValueError, struct.error, MemoryLimitError):
        return None
    if frame[at:] != b"\0":
        return None
    budget.keep()
    return found


def _read_commits(frame: bytes, at: int, count: int) -> tuple[dict[int, CommittedOffset], int]:
    """The commits of one topic and where they end.

    Raises:
        ValueError: one of them is an error, or has tags.
    """
    end = at + count * _FETCHED.size
    if frame[at + _ROW.size : end : _FETCHED.size] == b"\1" * count:  # no metadata anywhere
        if any(frame[at + skip : end : _FETCHED.size].strip(b"\0") for skip in _ERROR_AND_TAGS):
            raise ValueError("a partition with an error")
        commit = tuple.__new__  # twice as fast as the class call
        return _ascending(
            {
                number: commit(CommittedOffset, (offset, None if epoch < 0 else epoch, "", None))
                for number, offset, epoch in _FETCHED.iter_unpack(frame[at:end])
                if offset >= 0  # -1: nothing is committed
            }
        ), end
    commits: dict[int, CommittedOffset] = {}
    for _ in range(count):
        number, offset, epoch = _ROW.unpack_from(frame, at)
        text, at = _read_text(frame, at + _ROW.size)
        if frame[at : at + 3] != b"\0\0\0":
            raise ValueError("a partition with an error")
        at += 3
        if offset >= 0:
            commits[number] = CommittedOffset(offset, None if epoch < 0 else epoch, text)
    return _ascending(commits), at


def _ascending(commits: dict[int, CommittedOffset]) -> dict[int, CommittedOffset]:
    numbers = list(commits)
    return commits if numbers == sorted(numbers) else dict(sorted(commits.items()))


def _text(text: str) -> bytes:
    data = text.encode()
    return uvarint(len(data) + 1) + data


def _read_count(frame: bytes, at: int, least: int) -> tuple[int, int]:
    """How many elements an array has, each of at least so many bytes, and where they begin.

    Raises:
        ValueError: it is null, or longer than the frame.
    """
    number, at = _read_length(frame, at)
    if not 0 < number <= (len(frame) - at) // least + 1:
        raise ValueError("the answer ends within an array")
    return number - 1, at


def _read_length(frame: bytes, at: int) -> tuple[int, int]:
    """The length and one, or 0 for null, and where it ends.

    Raises:
        ValueError: it has no end.
    """
    number = frame[at]
    if number < 0x80:
        return number, at + 1
    try:
        return read_uvarint(frame, at)
    except LengthError as error:
        raise ValueError(str(error)) from error


def _read_text(frame: bytes, at: int) -> tuple[str, int]:
    """The text, empty for null, and where it ends."""
    size, at = _read_length(frame, at)
    if not size:
        return "", at
    end = at + size - 1
    if end > len(frame):
        raise ValueError("the answer ends within a text")
    return frame[at:end].decode(), end
