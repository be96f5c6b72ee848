"""A group's log for tests: records in order, each a second after the one before."""

from collections.abc import Iterable, Sequence
from typing import Self
from uuid import UUID

from kgroups.assignors.wire import (
    Subscription,
    WireAssignment,
    encode_assignment,
    encode_subscription,
)
from kgroups.core.coordinator.log import records as r
from kgroups.core.history.causes import with_causes
from kgroups.core.history.changes import Change
from kgroups.core.history.log_entry import LogEntry
from kgroups.core.history.reader import HistoryReader

TOPIC_ID = UUID(int=7)
SESSION_MS, POLL_MS = 45_000, 300_000


def member(
    name: str,
    partitions: Sequence[int] = (),
    *,
    client: str | None = None,
    instance: str | None = None,
    topics: tuple[str, ...] = ("t",),
) -> r.GroupMetadataMember:
    """A classic member; `app-1/a` is a member id of the client `app-1`."""
    runs = (("t", tuple(partitions)),) if partitions else ()
    return r.GroupMetadataMember(
        name,
        instance,
        client or name.partition("/")[0],
        "/10.0.0.1",
        POLL_MS,
        SESSION_MS,
        encode_subscription(Subscription(1, topics)),
        encode_assignment(WireAssignment(1, runs)),
    )


class GroupLog:
    """The records of the group `g`."""

    def __init__(self) -> None:
        self.now_ms = 1_000
        self.entries: list[LogEntry] = []
        self._is_torn = False

    def wait(self, ms: int) -> Self:
        """Time passes."""
        self.now_ms += ms
        return self

    def compacted(self) -> Self:
        """What was before the next record is gone."""
        self._is_torn = True
        return self

    def add(self, key: r.RecordKey, value: r.RecordValue | None) -> Self:
        """One record."""
        record = r.Record(key, value)
        self.entries.append(LogEntry(len(self.entries), self.now_ms, record, self._is_torn))
        self._is_torn = False
        return self

    def group(
        self,
        generation: int,
        *members: r.GroupMetadataMember,
        after_ms: int = 1_000,
        protocol: str = "range",
    ) -> Self:
        """A generation of a classic group."""
        self.wait(after_ms)
        leader = members[0].member_id if members else None
        value = r.GroupMetadataValue("consumer", generation, protocol, leader, 0, members)
        return self.add(r.GroupMetadataKey("g"), value)

    def gone(self) -> Self:
        """The classic group is deleted."""
        return self.add(r.GroupMetadataKey("g"), None)

    def commit(
        self, partition: int, offset: int | None, *, topic: str = "t", producer: int = -1
    ) -> Self:
        """A commit, or its deletion; in a transaction of this producer."""
        value = None if offset is None else r.OffsetCommitValue(offset)
        self.add(r.OffsetCommitKey("g", topic, partition), value)
        self.entries[-1] = self.entries[-1]._replace(producer_id=producer)
        return self

    def joins(self, name: str, *, instance: str | None = None) -> Self:
        """What a KIP-848 member said of itself."""
        client = name.partition("/")[0]
        value = r.ConsumerGroupMemberMetadataValue(
            instance, None, client, "/10.0.0.1", ("t",), None, POLL_MS, None
        )
        return self.add(r.ConsumerGroupMemberMetadataKey("g", name), value)

    def leaves(self, name: str) -> Self:
        """A KIP-848 member is removed."""
        self.add(r.ConsumerGroupCurrentMemberAssignmentKey("g", name), None)
        self.add(r.ConsumerGroupTargetAssignmentMemberKey("g", name), None)
        return self.add(r.ConsumerGroupMemberMetadataKey("g", name), None)

    def epoch(self, number: int, metadata: int = 5) -> Self:
        """A group epoch."""
        value = r.ConsumerGroupMetadataValue(number, metadata)
        return self.add(r.ConsumerGroupMetadataKey("g"), value)

    def target(self, epoch: int, **partitions: Sequence[int]) -> Self:
        """A target: partitions by the client id's last letter."""
        for name, numbers in partitions.items():
            given = r.ConsumerGroupTargetAssignmentMemberValue(_assigned(numbers))
            self.add(r.ConsumerGroupTargetAssignmentMemberKey("g", name), given)
        value = r.ConsumerGroupTargetAssignmentMetadataValue(epoch)
        return self.add(r.ConsumerGroupTargetAssignmentMetadataKey("g"), value)

    def has(self, name: str, epoch: int, partitions: Sequence[int], state: int = 0) -> Self:
        """What a KIP-848 member has in an epoch."""
        value = r.ConsumerGroupCurrentMemberAssignmentValue(
            epoch, epoch - 1, state, _assigned(partitions)
        )
        return self.add(r.ConsumerGroupCurrentMemberAssignmentKey("g", name), value)

    def read(self, since_ms: int = 0) -> tuple[Change, ...]:
        """The changes in it."""
        return with_causes(read(self.entries, since_ms).end())


def read(entries: Iterable[LogEntry], since_ms: int = 0) -> HistoryReader:
    """A reader that has taken these."""
    reader = HistoryReader(since_ms)
    for entry in entries:
        reader.take(entry)
    return reader


def _assigned(partitions: Sequence[int]) -> tuple[r.AssignedTopic, ...]:
    return (r.AssignedTopic(TOPIC_ID, tuple(partitions)),) if partitions else ()
