"""OffsetCommit and OffsetFetch of many rows: what the codec does, several times as fast.

Commits are tens of thousands of rows, nearly all alike: no metadata, no error, no tagged fields.
Whatever is not as expected here is left to the codec, which knows what to say of it.
"""

import struct
from collections.abc import Mapping
from typing import Final

from kgroups.core.protocol.budget import Budget, MemoryLimitError
from kgroups.core.protocol.frames import Encoded
from kgroups.core.protocol.varints import read_uvarint, uvarint
from kgroups.core.snapshot import CommittedOffset

Offsets = dict[str, dict[int, CommittedOffset]]

BY_NAME: Final = (8, 9)
"""Versions of OffsetCommit and OffsetFetch that name topics by their names."""

BY_ID: Final = 10
"""The version of OffsetCommit that names topics by their ids."""

_ROW: Final = struct.Struct(">iqi")
_PLAIN_ROW: Final = struct.Struct(">iqi4x")
_ERROR_AND_TAGS: Final = (17, 18, 19)
_ROW_COST: Final = 200  # bytes of memory of a commit
_LEAST: Final = 3  # bytes of a group or topic: a name, an array, tagged fields
_NO_MEMBER: Final = struct.pack(">i", -1) + b"\1\0"  # generation, member, instance


def encode_commits(
    group: str,
    commits: Mapping[str, Mapping[int, CommittedOffset]],
    ids: Mapping[str, bytes] | None = None,
) -> Encoded:
    """A request to OffsetCommit of nobody, in version 8 or 9, or by ids in version 10.

    Args:
        commits: topic to partition to the commit to make.
        ids: of all these topics, 16 bytes each; a topic that has another id now is not written to.
    """
    parts = [_text(group), _NO_MEMBER, uvarint(len(commits) + 1)]
    for topic, rows in commits.items():
        parts += (_text(topic) if ids is None else ids[topic], uvarint(len(rows) + 1))
        for partition, commit in rows.items():
            epoch = -1 if commit.leader_epoch is None else commit.leader_epoch
            metadata = _text(commit.metadata) if commit.metadata else b"\1"
            parts += (_ROW.pack(partition, commit.offset, epoch), metadata, b"\0")
        parts.append(b"\0")
    parts.append(b"\0")
    return Encoded(b"".join(parts))


def decode_commits(frame: bytes, budget: Budget) -> dict[str, Offsets] | None:
    """Group to topic to partition to commit, ascending, in an answer to OffsetFetch 8 or 9.

    Returns:
        None for an answer that holds an error, or takes more memory than there is, or is not as it
        should be: the codec's to read, or to refuse.
    """
    try:
        commits = _read_groups(frame, budget)
    except (IndexError, ValueError, struct.error, MemoryLimitError):
        return None
    if commits is not None:
        budget.keep()
    return commits


def _read_groups(frame: bytes, budget: Budget) -> dict[str, Offsets] | None:
    if frame[4]:  # tagged fields behind the correlation id
        return None
    result: dict[str, Offsets] = {}
    names: dict[str, str] = {}  # each topic's once, however many groups read it
    groups, at = _read_count(frame, 9, _LEAST)  # after the throttle time
    for _ in range(groups):
        group, at = _read_text(frame, at)
        topics, at = _read_count(frame, at, _LEAST)
        offsets: Offsets = {}
        for _ in range(topics):
            topic, at = _read_text(frame, at)
            topic = names.setdefault(topic, topic)
            rows, at = _read_count(frame, at, _PLAIN_ROW.size)
            budget.spend(rows * _ROW_COST)
            commits, at = _read_rows(frame, at, rows)
            if frame[at]:
                return None
            at += 1
            if commits:
                offsets[topic] = commits
        if frame[at : at + 3] != b"\0\0\0":  # no error, no tagged fields
            return None
        at += 3
        result[group] = dict(sorted(offsets.items())) if len(offsets) > 1 else offsets
    return result if frame[at:] == b"\0" else None


def _read_rows(frame: bytes, at: int, count: int) -> tuple[dict[int, CommittedOffset], int]:
    """The commits of one topic and where they end.

    Raises:
        ValueError: one of them is an error, or has tagged fields.
    """
    end = at + count * _PLAIN_ROW.size
    if frame[at + _ROW.size : end : _PLAIN_ROW.size] == b"\1" * count:  # no metadata anywhere
        if any(frame[at + skip : end : _PLAIN_ROW.size].strip(b"\0") for skip in _ERROR_AND_TAGS):
            raise ValueError("a partition with an error")
        commit = tuple.__new__  # twice as fast as the class call
        return _ascending(
            {
                partition: commit(
                    CommittedOffset, (offset, None if epoch < 0 else epoch, "", None, None)
                )
                for partition, offset, epoch in _PLAIN_ROW.iter_unpack(frame[at:end])
                if offset >= 0  # -1: nothing is committed
            }
        ), end
    commits: dict[int, CommittedOffset] = {}
    for _ in range(count):
        partition, offset, epoch = _ROW.unpack_from(frame, at)
        metadata, at = _read_text(frame, at + _ROW.size)
        if frame[at : at + 3] != b"\0\0\0":
            raise ValueError("a partition with an error")
        at += 3
        if offset >= 0:
            commits[partition] = CommittedOffset(offset, None if epoch < 0 else epoch, metadata)
    return _ascending(commits), at


def _ascending(commits: dict[int, CommittedOffset]) -> dict[int, CommittedOffset]:
    partitions = list(commits)
    return commits if partitions == sorted(partitions) else dict(sorted(commits.items()))


def _text(text: str) -> bytes:
    data = text.encode()
    return uvarint(len(data) + 1) + data


def _read_count(frame: bytes, at: int, least: int) -> tuple[int, int]:
    """How many elements an array has, each of at least so many bytes, and where they begin.

    Raises:
        ValueError: it is null, or longer than the frame.
    """
    length, at = read_uvarint(frame, at)
    if not 0 < length <= (len(frame) - at) // least + 1:
        raise ValueError("the answer ends within an array")
    return length - 1, at


def _read_text(frame: bytes, at: int) -> tuple[str, int]:
    """The text, empty for null, and where it ends."""
    length, at = read_uvarint(frame, at)
    end = at + max(length - 1, 0)
    if end > len(frame):
        raise ValueError("the answer ends within a text")
    return frame[at:end].decode(), end
