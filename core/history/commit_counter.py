"""Commits between two changes of a group, counted as they come."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from kgroups.core.coordinator.log.records import OffsetCommitKey, OffsetCommitValue
from kgroups.core.history.assigned import Partitions
from kgroups.core.history.changes import Change, Commits, FirstCommit, Setback
from kgroups.core.history.rivals import NO_PRODUCER, Commit, Rivalry, Turns, rivalry_of
from kgroups.core.history.roster import Roster, Seat

MOST_SETBACKS = 20


class CommitCounter:
    """Holds the last commit of each partition, and counts since the last change.

    Args:
        since_ms: commits before are remembered, not counted.
    """

    def __init__(self, since_ms: int) -> None:
        self._since_ms = since_ms
        self._last: dict[
            tuple[str | UUID, int], tuple[int, int, int]
        ] = {}  # time, offset, producer
        self._seen: dict[tuple[str, int], int] | None = None  # offsets in captures so far
        self._stood: dict[tuple[str, int], int] = {}  # since when at that offset
        self._added: dict[tuple[str | UUID, int], int] = {}  # when first assigned
        self._begin()

    def _begin(self) -> None:
        self._count = self._backwards = self._unowned = self._deleted = 0
        self._first_ms: int | None = None
        self._until_ms = 0
        self._setbacks: list[Setback] = []
        self._partitions: set[tuple[str, int]] = set()
        self._first: list[FirstCommit] = []
        self._turns: dict[tuple[str, int], Turns] = {}
        self._ids: dict[tuple[str, int], tuple[UUID, int]] = {}
        self._is_torn = False
        self._within_ms: int | None = None

    def see(self, offsets: Mapping[tuple[str, int], int], at_ms: int, within_ms: int) -> None:
        """Count commits up to a capture: one of each partition that has moved.

        Args:
            within_ms: since the capture before.
        """
        is_first, before = self._seen is None, self._seen or {}
        self._seen = {**before, **offsets}
        for place, offset in offsets.items():
            seen, last = before.get(place), self._last.get(place)
            if last is not None and last[1] == offset:
                continue
            self._last[place] = at_ms, offset, NO_PRODUCER
            self._stood[place] = at_ms
            if is_first or at_ms < self._since_ms:
                continue
            self._first_ms = at_ms if self._first_ms is None else self._first_ms
            self._until_ms, self._within_ms = at_ms, max(within_ms, self._within_ms or 0)
            self._count += 1
            self._partitions.add(place)
            if last is not None and last[1] == seen and offset < seen:
                self._step_back(Setback(at_ms, *place, seen, offset))

    def _step_back(self, setback: Setback) -> None:
        self._backwards += 1
        if len(self._setbacks) < MOST_SETBACKS:
            self._setbacks.append(setback)

    def expect(self, added: Iterable[tuple[str | UUID, int]], at_ms: int) -> None:
        """Partitions that have their first owner: the first commit of each is told."""
        self._added |= {place: at_ms for place in added if place not in self._last}

    @property
    def standing(self) -> Mapping[tuple[str, int], tuple[int, int]]:
        """The commit of each partition, and since when it has stood there."""
        return {place: (self._last[place][1], at_ms) for place, at_ms in self._stood.items()}

    def take(
        self,
        key: OffsetCommitKey,
        value: OffsetCommitValue | None,
        at_ms: int,
        owned: Partitions | None,
        *,
        is_torn: bool,
        producer_id: int = NO_PRODUCER,
    ) -> None:
        """One commit, or the deletion of one.

        Args:
            owned: partitions that members have; None where nobody could know.
        """
        place = (key.topic, key.partition)
        before = self._last.pop(place, None)
        self._learn_first(key, value, at_ms)
        if value is None:
            self._stood.pop(place, None)
        else:
            if before is None or before[1] != value.offset:
                self._stood[place] = at_ms
            self._last[place] = last = at_ms, value.offset, producer_id
            if value.topic_id is not None:
                self._last[value.topic_id, key.partition] = last
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
            self._step_back(Setback(at_ms, *place, before[1], value.offset))
            self._turns.setdefault(place, Turns(Commit(*before[1:])))
            if value.topic_id is not None:
                self._ids[place] = value.topic_id, key.partition
        if place in self._turns:
            self._turns[place].take(Commit(value.offset, producer_id))
        self._unowned += owned is not None and _has_no_owner(key, value, owned)

    def _learn_first(
        self, key: OffsetCommitKey, value: OffsetCommitValue | None, at_ms: int
    ) -> None:
        names = (key.topic, None if value is None else value.topic_id)
        times = [self._added.pop((name, key.partition), None) for name in names if name]
        for assigned_ms in filter(None, times):
            if value is not None and at_ms >= self._since_ms:
                place = key.topic, key.partition
                self._first.append(FirstCommit(at_ms, *place, value.offset, assigned_ms))

    def last_ms(self, seat: Seat) -> int | None:
        """When one of the member's partitions was committed last; None: never."""
        times = (self._last[place][0] for place in seat.partitions if place in self._last)
        return max(times, default=None)

    def counted(self, roster: Roster) -> Change | None:
        """Counts since the last time; None for nothing.

        Args:
            roster: who was in the group meanwhile.
        """
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
            tuple(self._first),
            tuple(filter(None, (self._rivalry(place, roster) for place in self._turns))),
        )
        change = Change(
            self._first_ms,
            "commits",
            commits=commits,
            is_torn=self._is_torn,
            within_ms=self._within_ms,
        )
        self._begin()
        return change

    def _rivalry(self, place: tuple[str, int], roster: Roster) -> Rivalry | None:
        by_id = [self._ids[place]] if place in self._ids else []
        return rivalry_of(self._turns[place], (place, *by_id), roster)


def _has_no_owner(key: OffsetCommitKey, value: OffsetCommitValue, owned: Partitions) -> bool:
    """Whether no member has the partition; False where the record does not tell."""
    if (key.topic, key.partition) in owned or not owned:
        return False
    by_id = isinstance(next(iter(owned))[0], UUID)
    if by_id:
        return value.topic_id is not None and (value.topic_id, key.partition) not in owned
    return True
