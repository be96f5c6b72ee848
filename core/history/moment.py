"""The commits of a group at a moment, out of its records and of captures; nothing is guessed.

The newest record of a key stays, so of two that stand in a clean log no third between them is
missing; but a replica that has caught up with a cleaned one may hold an old record whose successor
is gone. So a commit before the moment is exact where it is the last one (coordinators load it, too)
or where no record of the partition is missing from it up to the first one after the moment. Without
any, nothing was committed only if no record is missing from the beginning of the log. All else is
known up to a time: that of a record, or that of a capture, after which others may have come.

A commit that was written later counts, whichever transaction ends later, as for coordinators.
Source: OffsetMetadataManager.replayEndTransactionMarker; Cleaner, CleanedTransactionMetadata.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple, get_args

from kgroups.core.coordinator.log.records import OffsetCommitKey, OffsetCommitValue
from kgroups.core.history.log_entry import WHOLE, LogEntry
from kgroups.core.snapshot import ClusterSnapshot, Topic, TopicPartition

Exactness = Literal["exact", "at_the_latest", "unknown"]
Source = Literal["records", "captures"]
EXACTNESSES: Final[tuple[Exactness, ...]] = get_args(Exactness)


class Standing(NamedTuple):
    """Commit of a group for a partition at a moment.

    Args:
        offset: None: no commit, or not known.
        exactness: `at_the_latest`: so it stood at `known_ms`; later commits may be missing.
        known_ms: epoch milliseconds, up to when it is known to have stood.
    """

    offset: int | None
    exactness: Exactness
    source: Source | None
    known_ms: int | None


UNKNOWN: Final = Standing(None, "unknown", None, None)


class LastLook(NamedTuple):
    """The last capture before a moment that knows the commits of a group."""

    at_ms: int
    offsets: Mapping[TopicPartition, int]
    topics: Mapping[str, Topic]


def last_look(name: str, captures: Iterable[ClusterSnapshot], at_ms: int) -> LastLook | None:
    """The look at a group that came last before a moment; None: there is none.

    Args:
        captures: the oldest first.
    """
    found = None
    for capture in captures:
        group = capture.group(name)
        if group is None or group.offsets is None or capture.captured_at_ms > at_ms:
            continue
        commits = {at: commit.offset for at, commit in group.commits()}
        found = LastLook(capture.captured_at_ms, commits, capture.topics)
    return found


class MomentReader:
    """Takes a group's records in their order; `standings` are those at the moment.

    Args:
        at_ms: the moment, epoch milliseconds; a record of this millisecond was there.
        look: the last one before it.
    Attributes:
        records, captures: how many there were of the group.
    """

    def __init__(self, at_ms: int, look: LastLook | None = None) -> None:
        self.records = 0
        self.captures = int(look is not None)
        self.look = look
        self._at_ms = at_ms
        self._stood: dict[TopicPartition, LogEntry] = {}
        self._later: set[TopicPartition] = set()
        self._doubted: set[TopicPartition] = set()
        self._whole_from: int | None = None  # offset, at the first record after the moment

    def take(self, entry: LogEntry) -> None:
        """The next record."""
        self.records += 1
        is_later = entry.counts_ms is not None and entry.counts_ms > self._at_ms
        if is_later and self._whole_from is None:
            self._whole_from = entry.whole_from
        key = entry.record.key
        if not isinstance(key, OffsetCommitKey):
            return
        at = key.topic, key.partition
        if is_later:
            self._later.add(at)
        elif entry.counts_ms is None or self._whole_from is not None:  # clocks differ
            self._doubted.add(at)
        else:
            self._stand(at, entry)

    def _stand(self, at: TopicPartition, entry: LogEntry) -> None:
        before = self._stood.get(at)
        if before is None or before.offset < entry.offset:
            self._stood[at] = entry
            self._doubted.discard(at)
        elif before.record.value is None:  # releases differ in what becomes of it
            self._doubted.add(at)

    def standings(self, *, doubted: bool = False) -> dict[TopicPartition, Standing]:
        """Every partition that the group has committed, by topic and number.

        Args:
            doubted: records of the group could not be understood, so that nothing is exact.
        """
        seen = () if self.look is None else self.look.offsets
        keys = {*self._stood, *self._later, *self._doubted, *seen}
        return {at: self._standing(at, doubted or at in self._doubted) for at in sorted(keys)}

    def _standing(self, at: TopicPartition, is_doubted: bool) -> Standing:
        entry, look = self._stood.get(at), self.look
        offset = None if entry is None else _offset(entry)
        seen = None if look is None else look.offsets.get(at)
        if entry is None:
            is_whole = self._whole_from == WHOLE and seen is None
        else:
            is_whole = at not in self._later or (self._whole_from or 0) <= entry.offset
        if is_whole and not is_doubted:
            return Standing(offset, "exact", "records", self._at_ms)
        known_ms = entry.counts_ms if entry is not None and _stood(entry) else None
        if look is not None and (known_ms is None or look.at_ms >= known_ms):
            return Standing(seen, "at_the_latest", "captures", look.at_ms)
        if known_ms is None:
            return UNKNOWN
        return Standing(offset, "at_the_latest", "records", known_ms)


def _stood(entry: LogEntry) -> bool:
    """Whether it was the commit when it counted: none that was written after it is missing."""
    return entry.whole_from <= entry.offset


def _offset(entry: LogEntry) -> int | None:
    value = entry.record.value
    return value.offset if isinstance(value, OffsetCommitValue) else None
