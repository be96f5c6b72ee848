"""The plan of deleting the oldest records of partitions, and what is lost by it: pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from kgroups.core.errors import ItemError
from kgroups.core.offsets.reset import Known
from kgroups.core.offsets.result import Result, result_of, seen
from kgroups.core.offsets.scope import log_of, not_there, unmeasured
from kgroups.core.offsets.targets import Target
from kgroups.core.snapshot import Group, Topic, TopicPartition

NAMED_READERS: Final = 3


class RecordDeletion(NamedTuple):
    """The oldest records of one partition, which are to go.

    Args:
        old_start: first offset of the log now; None if not known.
        new_start: first offset that is to stay; None if it cannot be told.
        end: offset after the last record.
        clamped: whether the offset asked for lies beyond the log and was moved to its end.
        result: `skipped` where there is nothing to delete, or others could not be done.
    """

    topic: str
    partition: int
    old_start: int | None = None
    new_start: int | None = None
    end: int | None = None
    clamped: bool = False
    note: str | None = None
    result: Result = "planned"
    error: ItemError | None = None

    @property
    def key(self) -> TopicPartition:
        """Topic and partition."""
        return self.topic, self.partition

    @property
    def target(self) -> str:
        """The partition's name in messages."""
        return f"{self.topic}-{self.partition}"

    @property
    def deleted_records(self) -> int | None:
        """Offsets between the old and the new start; None if not known."""
        if self.old_start is None or self.new_start is None:
            return None
        return max(0, self.new_start - self.old_start)

    def failed(self, error: ItemError) -> "RecordDeletion":
        """The same that came to nothing, or of which it is not known."""
        return self._replace(result=result_of(error), error=error)


def plan_deletions(
    partitions: Iterable[TopicPartition],
    target: Target,
    known: Known,
    readers: Iterable[Group] = (),
) -> list[RecordDeletion]:
    """An entry for each partition: planned, skipped as nothing is older, or failed.

    Args:
        target: the first record that stays. A shift counts from the start of the log, a negative
            one from its end.
        known: the logs, and what the target needs.
        readers: groups with their commits, for the note on who has not read what goes.
    """
    readers = tuple(readers)
    return [_plan(at, target, known, readers) for at in partitions]


def _plan(
    at: TopicPartition, target: Target, known: Known, readers: tuple[Group, ...]
) -> RecordDeletion:
    log = log_of(known.topics, at)
    if log is None:
        bare = RecordDeletion(*at)
        return bare.failed(replace(not_there(""), target=bare.target))
    start, end = log.log_start_offset, log.log_end_offset
    deletion = RecordDeletion(*at, start, None, end)
    if log.error is not None or start is None or end is None:
        code = log.error or "LEADER_NOT_AVAILABLE"
        return deletion.failed(unmeasured(deletion.target, code))
    asked = known.offset(target, at, log, end if target.number < 0 else start)
    if asked is None:
        return deletion._replace(new_start=start, result="skipped", note="not in the file")
    stays = min(max(asked, start), end)
    note = (
        f"{asked} requested, the log ends at {end}"
        if asked > end
        else _unread(at, start, stays, readers)
    )
    return deletion._replace(
        new_start=stays,
        clamped=asked > end,
        note=note,
        result="skipped" if stays == start else "planned",
    )


def _unread(at: TopicPartition, start: int, stays: int, readers: tuple[Group, ...]) -> str | None:
    """`unread by billing (30)`: groups that committed less than what goes."""
    behind = [
        (stays - max(commit.offset, start), group.group)
        for group in readers
        if (commit := (group.offsets or {}).get(at[0], {}).get(at[1])) is not None
        and commit.offset < stays
    ]
    if not behind:
        return None
    behind.sort(key=lambda row: (-row[0], row[1]))
    named = [f"{name} ({count})" for count, name in behind[:NAMED_READERS]]
    more = len(behind) - NAMED_READERS
    return "unread by " + ", ".join(named + ([f"{more} more groups"] if more > 0 else []))


def verify_deletions(
    deletions: Iterable[RecordDeletion], topics: Mapping[str, Topic] | None
) -> list[RecordDeletion]:
    """The entries after a look at the logs: what is done must be seen there, and what is seen
    there is done, whatever the answer was.

    Args:
        deletions: with results.
        topics: read afterwards; None if that failed.
    """
    return [
        _verified(deletion, topics) if deletion.result in ("done", "unknown") else deletion
        for deletion in deletions
    ]


def _verified(deletion: RecordDeletion, topics: Mapping[str, Topic] | None) -> RecordDeletion:
    log = None if topics is None else log_of(topics, deletion.key)
    start = None if log is None else log.log_start_offset
    if start is None or deletion.new_start is None:
        if deletion.result == "unknown":
            return deletion
        return deletion._replace(note="deleted, but could not be read back")
    text = f"deleted, but the log still starts at {start}"
    return seen(deletion, is_done=start >= deletion.new_start, text=text)
