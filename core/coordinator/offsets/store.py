"""Committed offsets of all groups, and those of open transactions. `apply` is the sole writer."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from kgroups.core.coordinator.effects import NO_PRODUCER_ID
from kgroups.core.coordinator.log.records import OffsetCommitKey, OffsetCommitValue, Record

Undo = Callable[[], None]


class Stored(NamedTuple):
    """A commit and its place among all commits, which decides between two of a partition."""

    place: int
    value: OffsetCommitValue


# A `Record` of a commit.
CommitRecord = tuple[OffsetCommitKey, OffsetCommitValue]
Partitions = dict[int, Stored]
Pending = dict[OffsetCommitKey, Stored]


class OffsetStore:
    """Offsets by group, topic and partition; pending ones by producer."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, Partitions]] = {}
        self._pending: dict[int, Pending] = {}
        self._place = 0

    def get(self, group_id: str, topic: str, partition: int) -> OffsetCommitValue | None:
        """The commit of one partition; None if there is none."""
        stored = self._groups.get(group_id, {}).get(topic, {}).get(partition)
        return None if stored is None else stored.value

    def topics(self, group_id: str) -> Mapping[str, Mapping[int, Stored]]:
        """All commits of a group: topic -> partition -> commit."""
        return self._groups.get(group_id, {})

    def values(self, group_id: str) -> dict[str, dict[int, OffsetCommitValue]]:
        """All commits of a group, without their places; topics and partitions ascending."""
        return {
            topic: {partition: stored.value for partition, stored in sorted(partitions.items())}
            for topic, partitions in sorted(self.topics(group_id).items())
        }

    def groups(self) -> Iterable[str]:
        """Groups that have offsets."""
        return self._groups

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        """Whether an open transaction commits this partition."""
        if not self._pending:
            return False
        key = OffsetCommitKey(group_id, topic, partition)
        return any(key in pending for pending in self._pending.values())

    def has_pending(self, group_id: str) -> bool:
        """Whether an open transaction commits anything for the group."""
        return any(key.group_id == group_id for keys in self._pending.values() for key in keys)

    def pending_keys(self, group_id: str) -> list[OffsetCommitKey]:
        """Partitions that open transactions commit for the group."""
        keys = (key for pending in self._pending.values() for key in pending)
        return list(dict.fromkeys(key for key in keys if key.group_id == group_id))

    def apply(
        self,
        key: OffsetCommitKey,
        value: OffsetCommitValue | None,
        producer_id: int = NO_PRODUCER_ID,
    ) -> Undo:
        """Store or delete one commit; gives back what undoes it."""
        self._place += 1
        if value is None:
            return self._delete(key)
        stored = Stored(self._place, value)
        if producer_id == NO_PRODUCER_ID:
            return partial(self._restore, key, self._put(key, stored))
        pending = self._pending.setdefault(producer_id, {})
        pending_before = pending.get(key)
        pending[key] = stored
        return lambda: self._restore_pending(producer_id, key, pending_before)

    def put_all(self, group_id: str, records: Iterable[CommitRecord]) -> None:
        """Store commits of one group that nobody takes back; as `apply` does, one by one."""
        topics, place = self._groups.setdefault(group_id, {}), self._place
        for (_, topic, partition), value in records:
            place += 1
            if topic not in topics:
                topics[topic] = {}
            # As its class makes it, but twice as fast.
            topics[topic][partition] = tuple.__new__(Stored, (place, value))
        self._place = place

    def end_transaction(self, producer_id: int, *, committed: bool) -> tuple[OffsetCommitKey, ...]:
        """Let the pending commits of a producer count, or drop them; gives back those it had.

        A commit that was written after the pending one stays.
        """
        pending = self._pending.pop(producer_id, {})
        if committed:
            for key, stored in pending.items():
                partitions = self._groups.get(key.group_id, {}).get(key.topic, {})
                standing = partitions.get(key.partition)
                if standing is None or standing.place < stored.place:
                    self._put(key, stored)
        return tuple(pending)

    def records(self, group_id: str) -> list[Record]:
        """Commits of a group as records, topics and partitions ascending."""
        return [
            Record(OffsetCommitKey(group_id, topic, partition), value)
            for topic, partitions in self.values(group_id).items()
            for partition, value in partitions.items()
        ]

    def forget_groups(self, is_gone: Callable[[str], bool]) -> None:
        """Drop every commit, pending ones too, of groups for which `is_gone` holds."""
        for group_id in [group_id for group_id in self._groups if is_gone(group_id)]:
            del self._groups[group_id]
        for pending in self._pending.values():
            for key in [key for key in pending if is_gone(key.group_id)]:
                del pending[key]
        self._pending = {producer: keys for producer, keys in self._pending.items() if keys}

    def _put(self, key: OffsetCommitKey, stored: Stored) -> Stored | None:
        group_id, topic, partition = key
        try:
            partitions = self._groups[group_id][topic]
        except KeyError:
            partitions = self._groups.setdefault(group_id, {}).setdefault(topic, {})
        before = partitions.get(partition)
        partitions[partition] = stored
        return before

    def _restore(self, key: OffsetCommitKey, before: Stored | None) -> None:
        if before is None:
            self._remove(key)
        else:
            self._put(key, before)

    def _restore_pending(
        self, producer_id: int, key: OffsetCommitKey, before: Stored | None
    ) -> None:
        pending = self._pending.setdefault(producer_id, {})
        if before is not None:
            pending[key] = before
            return
        pending.pop(key, None)
        if not pending:
            del self._pending[producer_id]

    def _remove(self, key: OffsetCommitKey) -> Stored | None:
        topics = self._groups.get(key.group_id, {})
        partitions = topics.get(key.topic, {})
        before = partitions.pop(key.partition, None)
        if before is not None and not partitions:
            del topics[key.topic]
            if not topics:
                del self._groups[key.group_id]
        return before

    def _delete(self, key: OffsetCommitKey) -> Undo:
        """A deletion takes pending commits of the partition along."""
        before = self._remove(key)
        dropped = {
            producer_id: pending.pop(key)
            for producer_id, pending in self._pending.items()
            if key in pending
        }
        for producer_id in dropped:
            if not self._pending[producer_id]:
                del self._pending[producer_id]

        def undo() -> None:
            if before is not None:
                self._put(key, before)
            for producer_id, stored in dropped.items():
                self._restore_pending(producer_id, key, stored)

        return undo
