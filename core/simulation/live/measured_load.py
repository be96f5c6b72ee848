"""The load of a group and the time its records take, from two or more looks at its offsets. Pure.

The rate of a partition is what its log grew by, over the time between the looks. A member that is
behind at two looks was busy in between, so the time divided by the records that it committed is
what one record took, fetching included. A member that keeps up waits for records: of it no more is
known than that a record takes no longer than that.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.lag.group_times import rate_between
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition

# Commits are as old as `auto.commit.interval.ms`: lag of less than twice what comes in meanwhile
# does not say that a member is behind.
COMMIT_AGE_S: Final = 5.0
BEHIND: Final = 2.0


class Place(NamedTuple):
    """One partition at one look; None is unknown.

    Args:
        owner: id of the member that it is assigned to.
    """

    end: int | None
    committed: int | None
    owner: str | None

    @property
    def lag(self) -> int | None:
        """Records that are not committed."""
        if self.end is None or self.committed is None:
            return None
        return max(0, self.end - self.committed)


class Look(NamedTuple):
    """A group's offsets at one time."""

    at_ms: int
    places: Mapping[TopicPartition, Place]


class MeasuredLoad(NamedTuple):
    """The result of the looks.

    Args:
        over_ms: from the first look to the last.
        rates: records a second that came to each partition that both knew.
        record_ms: time of one record; None where no member was behind.
        most_record_ms: a record takes no longer on average; None where nothing was read.
        busy: members that were behind between two looks.
    """

    over_ms: int
    rates: Mapping[TopicPartition, float]
    record_ms: float | None
    most_record_ms: float | None
    busy: int


def looks_in(snapshots: Iterable[ClusterSnapshot], name: str) -> list[Look]:
    """Looks at a group, from the snapshots with offsets that have it."""
    found = ((snapshot, snapshot.group(name)) for snapshot in snapshots)
    return [_look(snapshot, group) for snapshot, group in found if group is not None]


def _look(snapshot: ClusterSnapshot, group: Group) -> Look:
    return Look(
        snapshot.captured_at_ms,
        {
            (row.topic, row.partition): Place(
                row.log_end_offset, row.committed_offset, row.member_id
            )
            for row in offset_rows(snapshot, group)
        },
    )


def measured_load(looks: Sequence[Look]) -> MeasuredLoad:
    """Rates between the first and the last look, and the time of a record from those in between.

    Args:
        looks: two at least, in the order of time.
    """
    first, last = looks[0], looks[-1]
    seconds = (last.at_ms - first.at_ms) / 1_000
    rates: dict[TopicPartition, float] = {}
    for key, place in last.places.items():
        before = first.places.get(key)
        rate = None if before is None else rate_between(before.end, place.end, seconds)
        if rate is not None:
            rates[key] = rate
    busy_ms, busy_read, busy = 0, 0, set[str]()
    most_ms: float | None = None
    for before_look, look in pairwise(looks):
        passed_ms = look.at_ms - before_look.at_ms
        for member, keys in _kept(before_look, look).items():
            read = _read(before_look, look, keys)
            if not read:
                continue
            most_ms = min(passed_ms / read, most_ms or passed_ms / read)
            if _is_behind(before_look, look, keys, passed_ms):
                busy_ms, busy_read = busy_ms + passed_ms, busy_read + read
                busy.add(member)
    record_ms = busy_ms / busy_read if busy_read else None
    return MeasuredLoad(last.at_ms - first.at_ms, rates, record_ms, most_ms, len(busy))


def _kept(before: Look, now: Look) -> dict[str, list[TopicPartition]]:
    """The partitions of members that had the same ones at both looks, all of them known."""
    had, has = _owned(before), _owned(now)
    return {
        member: keys
        for member, keys in has.items()
        if had.get(member) == keys
        and all(look.places[key].lag is not None for look in (before, now) for key in keys)
    }


def _owned(look: Look) -> dict[str, list[TopicPartition]]:
    owned: dict[str, list[TopicPartition]] = {}
    for key in sorted(look.places):
        owner = look.places[key].owner
        if owner is not None:
            owned.setdefault(owner, []).append(key)
    return owned


def _read(before: Look, now: Look, keys: Iterable[TopicPartition]) -> int:
    """Records that were committed meanwhile; 0 if a commit went back."""
    steps = [(now.places[key].committed or 0) - (before.places[key].committed or 0) for key in keys]
    return sum(steps) if min(steps) >= 0 else 0


def _is_behind(before: Look, now: Look, keys: Sequence[TopicPartition], passed_ms: int) -> bool:
    """Whether its lag at both looks is more than commits that are some seconds old explain."""
    came = sum((now.places[key].end or 0) - (before.places[key].end or 0) for key in keys)
    passing = BEHIND * COMMIT_AGE_S * 1_000 * came / passed_ms if passed_ms else 0.0
    lags = [sum(look.places[key].lag or 0 for key in keys) for look in (before, now)]
    return min(lags) > passing
