"""MirrorMaker 2's checkpoints: where groups of another cluster stand in the mirrored topics. Pure.

Source: KIP-382, org.apache.kafka.connect.mirror.Checkpoint and DefaultReplicationPolicy.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kgroups.core.errors import ItemError, NotFoundError
from kgroups.core.offsets.change import Change, Key
from kgroups.core.protocol.reader import Cursor, DecodeError, decode, reader
from kgroups.core.protocol.table import Table, parse_table
from kgroups.core.snapshot import CommittedOffset, Group, TopicPartition

VERSION: Final = 0

_VERSION_BYTES: Final = 2
_KEY: Final = parse_table(
    """
CheckpointKey 0-0
    group string
    topic string
    partition int32
"""
)
_VALUE: Final = parse_table(
    """
CheckpointValue 0-0
    upstream_offset int64
    offset int64
    metadata string
"""
)
_TOPIC: Final = re.compile(r"(?P<alias>.+)(?P<separator>[._-])checkpoints(?P=separator)internal")
_SEPARATORS: Final = (".", "_", "-")


class CheckpointKey(NamedTuple):
    """A group of the source cluster, and a partition as it is named in the target cluster."""

    group: str
    topic: str
    partition: int


class Checkpoint(NamedTuple):
    """A commit in both clusters.

    Args:
        upstream_offset: what the group had committed in the source cluster.
        offset: the same place in the target cluster, or one before it: MirrorMaker 2 rounds down.
    """

    upstream_offset: int
    offset: int
    metadata: str = ""


GroupCheckpoints = Mapping[TopicPartition, Checkpoint]


class Checkpoints(NamedTuple):
    """The newest checkpoints of a topic.

    Args:
        groups: by group and partition.
        prefix: that topics have in the target cluster only; empty if they keep their names.
    """

    groups: Mapping[str, GroupCheckpoints]
    prefix: str

    def as_group(self, name: str) -> Group:
        """The group as it would stand in the target cluster."""
        offsets: dict[str, dict[int, CommittedOffset]] = {}
        for (topic, number), checkpoint in self.groups.get(name, {}).items():
            commit = CommittedOffset(checkpoint.offset, None, checkpoint.metadata)
            offsets.setdefault(topic, {})[number] = commit
        return Group(name, "classic", "Empty", offsets=offsets)


class Translation(NamedTuple):
    """Facts about one partition of a group.

    Args:
        at: as it is named in the target cluster.
        source_offset: what the group has committed in the source cluster; None if not known.
    """

    at: TopicPartition
    checkpoint: Checkpoint | None
    source_offset: int | None

    @property
    def read_again(self) -> int | None:
        """Records between checkpoint and commit in the source cluster; None if not known."""
        if self.checkpoint is None or self.source_offset is None:
            return None
        return max(0, self.source_offset - self.checkpoint.upstream_offset)

    @property
    def note(self) -> str | None:
        """In words, for the row."""
        if self.checkpoint is None:
            return None
        text = f"checkpoint at {self.checkpoint.upstream_offset}"
        if self.source_offset is None:
            return text
        text += f", source at {self.source_offset}"
        if self.source_offset < self.checkpoint.upstream_offset:
            return f"{text}: the source group was set back"
        return f"{text}: {self.read_again} read twice"


def decode_checkpoint(
    key: bytes | None, value: bytes | None
) -> tuple[CheckpointKey, Checkpoint | None]:
    """A record of a checkpoint topic; no checkpoint for a tombstone. Only values have a version.

    Raises:
        DecodeError: the bytes are no checkpoint, or one of a version that we do not know.
    """
    name = CheckpointKey(*_whole(_KEY, key or b"", 0))
    if name.partition < 0 or not name.topic:
        raise DecodeError("the key names no partition")
    if value is None:
        return name, None
    version = int.from_bytes(value[:_VERSION_BYTES], "big", signed=True)
    if version != VERSION:
        raise DecodeError(f"version {version} of checkpoints is not known")
    checkpoint = Checkpoint(*_whole(_VALUE, value, _VERSION_BYTES))
    if checkpoint.upstream_offset < 0 or checkpoint.offset < 0:
        raise DecodeError("an offset is negative")
    return name, checkpoint


def _whole(table: Table, raw: bytes, start: int) -> tuple[Any, ...]:
    """The values of a message that ends with the bytes."""
    cursor = Cursor(raw, start)
    values: tuple[Any, ...] = decode(reader(table, VERSION), cursor)
    if cursor.pos != len(raw):
        raise DecodeError(f"{len(raw) - cursor.pos} bytes are left over")
    return values


def topic_prefix(checkpoint_topic: str, topics: Collection[str]) -> str:
    """Prefix of topics in the target cluster only, as `us-west.`; empty if nothing does.

    Args:
        checkpoint_topic: `us-west.checkpoints.internal`.
        topics: every topic that has checkpoints: one policy has named them all.
    """
    named = _TOPIC.fullmatch(checkpoint_topic)
    if named is None:
        return ""
    for separator in (named["separator"], *_SEPARATORS):
        prefix = named["alias"] + separator
        if all(topic.startswith(prefix) for topic in topics):
            return prefix
    return ""


def translations(points: GroupCheckpoints, prefix: str, source: Group | None) -> list[Translation]:
    """Each partition that has a checkpoint, or a commit in the source cluster, in order.

    Args:
        source: the group there; None if not known.
    """
    commits = {
        (prefix + topic, number): commit.offset
        for topic, numbers in ((source and source.offsets) or {}).items()
        for number, commit in numbers.items()
    }
    return [Translation(at, points.get(at), commits.get(at)) for at in sorted({*points, *commits})]


def missing_checkpoint(target: str, missing: Translation) -> Change:
    """The row of a commit that cannot be translated."""
    change = Change(target, *missing.at)
    text = f"the source group committed {missing.source_offset}, but there is no checkpoint of it"
    hint = "wait for MirrorMaker 2 to write one, or use --keep-going"
    code = NotFoundError.exit_code
    return change.failed(ItemError(change.target, "NO_CHECKPOINT", text, hint, code))


def with_notes(
    changes: Iterable[Change], told: Mapping[str, Iterable[Translation]]
) -> list[Change]:
    """The changes, and in their notes how far the checkpoints are behind.

    Args:
        told: by target group.
    """
    notes: dict[Key, str | None] = {
        (target, *row.at): row.note for target, rows in told.items() for row in rows
    }
    return [
        change._replace(note="; ".join(filter(None, (change.note, notes.get(change.key)))) or None)
        for change in changes
    ]


def translated_group(
    target: str, rows: Sequence[Translation], *, source_known: bool
) -> dict[str, object]:
    """Counts of a group for the summary.

    Args:
        source_known: whether the source cluster was asked; else nothing can be found missing.
    """
    twice = [row.read_again for row in rows if row.checkpoint is not None]
    return {
        "group": target,
        "translated": len(twice),
        "missing": len(rows) - len(twice) if source_known else None,
        "read_again": None if None in twice else sum(n for n in twice if n is not None),
        "partitions": [
            {
                "topic": row.at[0],
                "partition": row.at[1],
                "checkpoint_offset": row.checkpoint and row.checkpoint.upstream_offset,
                "source_offset": row.source_offset,
                "new_offset": row.checkpoint and row.checkpoint.offset,
                "read_again": row.read_again,
            }
            for row in rows
        ],
    }
