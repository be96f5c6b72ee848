"""The plan of a reset: for each partition the offset now, the offset to be, and the lag of both."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from kgroups.core.errors import ItemError, NotFoundError, RefusedError
from kgroups.core.lag.rules import commit_lag, greater, records_between
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.scope import not_there, unmeasured
from kgroups.core.offsets.targets import Target
from kgroups.core.snapshot import CommittedOffset, Group, PartitionLog, Topic, TopicPartition


@dataclass(frozen=True, slots=True)
class Known:
    """Facts that a plan is made from.

    Args:
        topics: with the bounds of their logs.
        at_time: for a time, the first offset that is not older; None where there is none.
        given: for a file, another group, a moment or a search for records, the offsets asked for.
    """

    topics: Mapping[str, Topic]
    at_time: Mapping[TopicPartition, int | None] = field(default_factory=dict)
    given: Mapping[TopicPartition, int] = field(default_factory=dict)
    _spots: "dict[Target, dict[TopicPartition, _Spot]]" = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def spots(self, target: Target) -> "dict[TopicPartition, _Spot]":
        """Where a target puts each partition, as far as it was worked out for a group before."""
        return self._spots.setdefault(target, {})

    def offset(
        self, target: Target, at: TopicPartition, log: PartitionLog, base: int | None
    ) -> int | None:
        """The offset that a target names, wherever it lies; None where there is nothing to go by.

        Args:
            base: what `current` stands for, and a shift counts from.
        """
        match target.kind:
            case "earliest":
                return log.log_start_offset
            case "latest":
                return log.log_end_offset
            case "offset":
                return target.number
            case "current":
                return base
            case "shift":
                return None if base is None else base + target.number
            case "time":
                found = self.at_time.get(at)
                return log.log_end_offset if found is None else found
            case "file" | "group" | "committed" | "next" | "first":
                return self.given.get(at)


class _Spot(NamedTuple):
    """Where a target puts a partition, whatever stands there now; and the log's bounds."""

    start: int
    end: int
    commit: CommittedOffset
    lag: int
    asked: int
    clamped: bool
    note: str | None


_OF_THE_COMMIT: Final = frozenset({"current", "shift"})
"""Kinds of targets that depend on what a group has committed."""

_NOTHING: Mapping[int, CommittedOffset] = {}


def plan_reset(
    group: Group,
    partitions: Iterable[TopicPartition],
    target: Target,
    known: Known,
    *,
    only_lagging: bool = False,
    clamp: bool = True,
) -> list[Change]:
    """A change for each partition: planned, skipped as it stands there already, or failed.

    Args:
        group: without members, its commits known.
        known: the logs, and what the target needs.
        only_lagging: leave out partitions whose lag is 0 or not known.
        clamp: an offset outside the log is moved to its edge, not refused.
    """
    changes = []
    offsets = group.offsets or {}
    spots = known.spots(target)
    for at in partitions:
        topic, number = at
        old = offsets.get(topic, _NOTHING).get(number)
        spot = spots.get(at)  # the same for thousands of groups
        if spot is None:
            log = known.topics[topic].partitions.get(number) if topic in known.topics else None
            start, end = (None, None) if log is None or log.error is not None else log[:2]
            if log is None or start is None or end is None:
                change = _unmeasured(group.group, at, old, log)
            else:
                asked = known.offset(target, at, log, old and old.offset)
                if asked is None:
                    change = _without_commit(group.group, at, old, log)
                else:
                    is_late = target.kind == "time" and known.at_time.get(at) is None
                    note = "no record is that recent; set to the log end" if is_late else None
                    spot = _spot(asked, note, start, end)
                    if target.kind not in _OF_THE_COMMIT:
                        spots[at] = spot
        if spot is not None:
            change = _change(group.group, at, old, spot)
            if spot.clamped and not clamp:
                change = _outside(change)
        if not only_lagging or change.lag_before:
            changes.append(change)
    return changes


def _outside(change: Change) -> Change:
    return change.failed(
        ItemError(
            change.target,
            "OFFSET_OUT_OF_RANGE",
            change.note or "the offset lies outside the log",
            "`--clamp` takes the edge of the log",
            RefusedError.exit_code,
        )
    )


def _unmeasured(
    group: str, at: TopicPartition, old: CommittedOffset | None, log: PartitionLog | None
) -> Change:
    if log is None:
        change = Change(group, *at, old)
        return change.failed(replace(not_there(""), target=change.target))
    before = commit_lag(old, log)
    change = Change(group, *at, old, None, before)
    return change.failed(unmeasured(change.target, log.error or "LEADER_NOT_AVAILABLE"))


def _spot(asked: int, note: str | None, start: int, end: int) -> _Spot:
    offset = asked
    clamped = not start <= asked <= end
    if clamped:
        offset = min(max(asked, start), end)
        note = f"{asked} requested, the log {'ends' if asked > offset else 'starts'} at {offset}"
    lag = records_between(offset, start, end, greater)
    return _Spot(start, end, CommittedOffset(offset), lag, asked, clamped, note)


def _without_commit(
    group: str, at: TopicPartition, old: CommittedOffset | None, log: PartitionLog
) -> Change:
    change = Change(group, *at, old, None, commit_lag(old, log))
    return change.failed(
        ItemError(
            change.target,
            "NO_COMMITTED_OFFSET",
            "there is no committed offset to start from",
            "use an offset, `earliest` or `latest`, or leave it out",
            NotFoundError.exit_code,
        )
    )


def _change(group: str, at: TopicPartition, old: CommittedOffset | None, spot: _Spot) -> Change:
    start, end, new, after, asked, clamped, note = spot
    before = None if old is None else records_between(old.offset, start, end, greater)
    result = "planned"
    if old is not None and old.lag is not None and before is not None:  # of a share group
        before = min(before, old.lag)
    if old is not None and old.offset == new.offset and before == after:
        new, result = old, "skipped"
    topic, number = at
    row = (group, topic, number, old, new, before, after, asked, clamped, None, note, result, None)
    return tuple.__new__(Change, row)  # twice as fast as the class call, for 100,000s of rows


def committed(group: Group, at: TopicPartition) -> CommittedOffset | None:
    """Commit of the group for a partition."""
    return (group.offsets or {}).get(at[0], {}).get(at[1])


def committed_partitions(group: Group) -> list[TopicPartition]:
    """Every partition that a group committed, in order."""
    return sorted(at for at, _ in group.commits())
