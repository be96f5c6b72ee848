"""OffsetCommit as bytes, versions 8 and 9: tens of thousands of rows, a tenth of kio's time.

Other versions, and answers that hold what is not expected here, are left to kio.
"""

import struct
from collections.abc import Mapping
from typing import Final

from kgroups.core.kafka.messages import Encoded, decode_response, error_name
from kgroups.core.snapshot import CommittedOffset

Partition = tuple[str, int]
Errors = dict[Partition, str | None]

VERSIONS: Final = (8, 9)

_ROW: Final = struct.Struct(">iqi")
_ANSWER: Final = struct.Struct(">ihB")
_NOBODY: Final = struct.pack(">i", -1) + b"\1\0"  # no generation, no member, no instance


def commit_request(group: str, commits: Mapping[str, Mapping[int, CommittedOffset]]) -> Encoded:
    """A commit of nobody, in version 8 or 9.

    Args:
        group: its name.
        commits: topic to partition to the commit to make.
    """
    parts = [_text(group), _NOBODY, _varint(len(commits) + 1)]
    for topic, rows in commits.items():
        parts += (_text(topic), _varint(len(rows) + 1))
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


def read_commit_answer(api: str, version: int, frame: bytes) -> Errors:
    """The error name of each partition, or None, in an answer to OffsetCommit.

    Raises:
        BrokerFailure: the bytes are not an answer of this version.
    """
    found = _read_done(frame) if version in VERSIONS else None
    if found is not None:
        return found
    answer = decode_response(api, version, frame)
    return {
        (topic.name, row.partition_index): error_name(row.error_code)
        for topic in answer.topics or ()
        for row in topic.partitions or ()
    }


def _read_done(frame: bytes) -> Errors | None:
    """The answer in which every partition was taken; None for any other."""
    found: Errors = {}
    try:
        at = 9  # correlation id, tags, throttle time
        if frame[4]:
            return None
        topics, at = _read_varint(frame, at)
        for _ in range(topics - 1):
            size, at = _read_varint(frame, at)
            topic = frame[at : at + size - 1].decode()
            at += size - 1
            rows, at = _read_varint(frame, at)
            end = at + (rows - 1) * _ANSWER.size
            for number, error, tags in _ANSWER.iter_unpack(frame[at:end]):
                if error or tags:
                    return None
                found[topic, number] = None
            if frame[end]:
                return None
            at = end + 1
    except (IndexError, ValueError, struct.error):
        return None
    return found if frame[at:] == b"\0" else None


def _text(text: str) -> bytes:
    data = text.encode()
    return _varint(len(data) + 1) + data


def _varint(number: int) -> bytes:
    if number < 0x80:
        return number.to_bytes(1, "big")
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _read_varint(frame: bytes, at: int) -> tuple[int, int]:
    """The number and where it ends."""
    number = shift = 0
    while True:
        byte = frame[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
