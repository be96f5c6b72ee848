"""Commits between two changes of a group, counted as they come."""

from uuid import UUID

from kgroups.core.coordinator.log.records import OffsetCommitKey, OffsetCommitValue
from kgroups.core.history.assigned import Partitions
from kgroups.core.history.changes import Change, Commits, Setback
from kgroups.core.history.roster import Seat

MOST_SETBACKS = 20


class CommitCounter:
    """Holds the last commit of each partition, and counts since the last change.

    Args:
        since_ms: commits before are remembered, not counted.
    """

    def __init__(self, since_ms: int) -> None:
        self._since_ms = since_ms
        self._last: dict[tuple[str | UUID, int], tuple[int, int]] = {}  # time and offset
        self._begin()

    def _begin(self) -> None:
        self._count = self._backwards = self._unowned = self._deleted = 0
        self._first_ms: int | None = None
        self._until_ms = 0
        self._setbacks: list[Setback] = []
        self._partitions: set[tuple[str, int]] = set()
        self._is_torn = False

    def take(
        self,
        key: OffsetCommitKey,
        value: OffsetCommitValue | None,
        at_ms: int,
        owned: Partitions | None,
        *,
        is_torn: bool,
    ) -> None:
        """One commit, or the deletion of one.

        Args:
            owned: partitions that members have; None where nobody could know.
        """
        place = (key.topic, key.partition)
        before = self._last.pop(place, None)
        if value is not None:
            self._last[place] = at_ms, value.offset
            if value.topic_id is not None:
                self._last[value.topic_id, key.partition] = at_ms, value.offset
        if at_ms < self._since_ms:
            return
        self._first_ms = at_ms if self._first_ms is None else self._first_ms
        self._until_ms = at_ms
        self._is_torn |= is_torn
        if value is None:
            self._deleted += 1
            return
        self._count += 1
        self._partitions.add(place)
        if before is not None and value.offset < before[1]:
            self._backwards += 1
            if len(self._setbacks) < MOST_SETBACKS:
                self._setbacks.append(Setback(at_ms, *place, before[1], value.offset))
        self._unowned += owned is not None and _has_no_owner(key, value, owned)

    def last_ms(self, seat: Seat) -> int | None:
        """When one of the member's partitions was committed last; None: never."""
        times = (self._last[place][0] for place in seat.partitions if place in self._last)
        return max(times, default=None)

    def counted(self) -> Change | None:
        """What was counted since the last time; None for nothing."""
        if self._first_ms is None:
            return None
        commits = Commits(
            self._count,
            self._until_ms,
            len(self._partitions),
            self._backwards,
            tuple(self._setbacks),
            self._unowned,
            self._deleted,
        )
        change = Change(self._first_ms, "commits", commits=commits, is_torn=self._is_torn)
        self._begin()
        return change


def _has_no_owner(key: OffsetCommitKey, value: OffsetCommitValue, owned: Partitions) -> bool:
    """Whether no member has the partition; False where the record does not tell."""
    if (key.topic, key.partition) in owned or not owned:
        return False
    by_id = isinstance(next(iter(owned))[0], UUID)
    if by_id:
        return value.topic_id is not None and (value.topic_id, key.partition) not in owned
    return True
