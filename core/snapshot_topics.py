"""Topics of a snapshot file, and what all its objects have in common: bounds of values."""

import datetime
from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct

from kgroups.core.errors import shorten
from kgroups.core.snapshot import PartitionLog, Topic
from kgroups.core.uuids import parse_uuid

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Offset = Annotated[int, Meta(ge=0, le=2**63 - 1)]
PartitionNumber = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Moment = Annotated[datetime.datetime, Meta(tz=True)]
Assignment = dict[str, tuple[PartitionNumber, ...]]


class Record(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An object of a file; writing leaves out what has its usual value."""


def check_once(kind: str, names: Iterable[object]) -> None:
    """See that no name comes twice.

    Raises:
        ValueError: one does.
    """
    seen: set[object] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"the {kind} `{shorten(str(name))}` appears twice")
        seen.add(name)


class LogRecord(Record):
    """A partition of a topic with the bounds of its log."""

    partition: PartitionNumber
    log_start_offset: Offset | None = None
    log_end_offset: Offset | None = None
    last_stable_offset: Offset | None = None
    leader: Int64 | None = None
    racks: tuple[str | None, ...] | None = None
    error: str | None = None
    current_leader_epoch: Int64 | None = None
    in_sync_replicas: tuple[Int64, ...] | None = None


class TopicRecord(Record):
    """A topic with its partitions."""

    topic: str
    partitions: list[LogRecord]
    topic_id: str | None = None

    def __post_init__(self) -> None:
        """See that the id is one, and that no partition stands twice.

        Raises:
            ValueError: otherwise.
        """
        if self.topic_id is not None:
            parse_uuid(self.topic_id)
        check_once("partition", (log.partition for log in self.partitions))


def topic_of(record: TopicRecord) -> Topic:
    """The topic that a record describes."""
    logs = {
        log.partition: PartitionLog(
            log.log_start_offset,
            log.log_end_offset,
            log.last_stable_offset,
            log.leader,
            log.racks or (),
            log.error,
            log.current_leader_epoch,
            log.in_sync_replicas or (),
        )
        for log in record.partitions
    }
    return Topic(record.topic, logs, record.topic_id)


def topic_record(topic: Topic) -> TopicRecord:
    """The record of a topic."""
    logs = [
        LogRecord(
            number,
            log.log_start_offset,
            log.log_end_offset,
            log.last_stable_offset,
            log.leader,
            log.racks or None,
            log.error,
            log.current_leader_epoch,
            log.in_sync_replicas or None,
        )
        for number, log in topic.partitions.items()
    ]
    return TopicRecord(topic.topic, logs, topic.topic_id)
