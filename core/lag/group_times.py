"""Lag in time and time to catch up, of partitions and groups, without Spark. Pure.

Lag in seconds is the age of the oldest unread record; a partition that is read to its end has
none. Rates are between two looks, and the time to catch up is what the lag takes at them.

A partition is stalled whose commit stands where it stood at the look before, while records waited
at both and the same member owned it. What a rebalance interrupted is not, nor what only just
arrived, nor a gap: records that no reader gets, such as those of aborted transactions.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from kgroups.core.lag.group_lag import NO_COMMITS, NO_LOG, OffsetRow, owners_known
from kgroups.core.lag.window.unread import Place
from kgroups.core.offsets.scope import log_of
from kgroups.core.rounds import rebalances_seen
from kgroups.core.snapshot import ClusterSnapshot, Group, PartitionLog, TopicPartition

Method = Literal["at_head", "record", "bisected"]

# `sql/by_key.sql` has the same floors.
USUAL_S: Final = 10.0
"""Two intervals of auto-commit: so much of what comes in is unread in any healthy group."""
USUAL_RECORDS: Final = 10
"""And so many records, where so few come in that a rate over seconds says little."""
LEAST_GAIN: Final = 0.01
"""Of what comes in: a smaller gain is noise between two looks."""


class TimeFigures(NamedTuple):
    """How far behind in time; None is unknown, or never.

    Args:
        lag_seconds: age of the oldest unread record.
        lag_seconds_method: `at_head`, all is read; `record`, the record's time; `bisected`, by
            asking the log for offsets at times.
        rate_in, rate_out: records a second that came, and that were read.
        catch_up_seconds: until the lag is gone at these rates; None if it never is. Of a reader
            that keeps up it is the time in which what is unread came in, at the most.
    """

    lag_seconds: float | None = None
    lag_seconds_method: Method | None = None
    rate_in: float | None = None
    rate_out: float | None = None
    catch_up_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """The times known beside a snapshot.

    Args:
        ages_s: of the records that commits stand at.
        method: how they were found.
        before: the look before, for rates.
        between: rounds of groups at looks in between, as `settled_rounds` gives them.
        gaps: commits with no record to read after them.
    """

    ages_s: Mapping[Place, float] = field(default_factory=dict)
    method: Method | None = None
    before: ClusterSnapshot | None = None
    between: Sequence[Mapping[str, Hashable]] = ()
    gaps: Set[Place] = frozenset()


class GroupTimes(NamedTuple):
    """A group's figures of time.

    Args:
        rows: topic and partition, and their figures.
        total: of the group: the largest lag in seconds, sums of rates. It has no lag in seconds
            while that of a lagging partition is not known.
        oldest_s: the largest lag in seconds that is known, so the group's is at least this.
        unknown: partitions whose lag in seconds is not known.
        rebalances: seen since the look before; None if that is not known.
        stalled: partitions that are; None if a rebalance leaves it open.
    """

    rows: Sequence[tuple[TopicPartition, TimeFigures]]
    total: TimeFigures
    oldest_s: float | None
    unknown: int
    rebalances: int | None = None
    stalled: Collection[TopicPartition] | None = None

    @property
    def stalled_partitions(self) -> int | None:
        """How many they are."""
        return None if self.stalled is None else len(self.stalled)


def group_times(
    snapshot: ClusterSnapshot, group: Group, rows: Sequence[OffsetRow], times: Times
) -> GroupTimes:
    """The figures of a group's partitions, and of the group.

    Args:
        rows: the group's, from this snapshot.
    """
    ends = _rates(snapshot, group, rows, times.before)
    figures = [_of_row(row, times, *rates) for row, rates in zip(rows, ends, strict=True)]
    lags = [row.lag for row in rows]
    rates_in = [figure.rate_in for figure in figures]
    rates_out = [figure.rate_out for figure in figures]
    lag, rate_in, rate_out = _sum(lags), _sum(rates_in), _sum(rates_out)
    dated = [figure for figure in figures if figure.lag_seconds is not None]
    worst = max(dated, key=lambda figure: figure.lag_seconds or 0.0, default=TimeFigures())
    keeps_up = all(is_usual(row.lag, rate) for row, rate in zip(rows, rates_in, strict=True))
    catch_up = catch_up_seconds(lag, rate_in, rate_out, keeps_up=keeps_up) if times.before else None
    hidden = any(row.lag and f.lag_seconds is None for row, f in zip(rows, figures, strict=True))
    age = (None, None) if hidden else (worst.lag_seconds, worst.lag_seconds_method)
    total = TimeFigures(*age, rate_in, rate_out, catch_up)
    named = [
        ((row.topic, row.partition), figure) for row, figure in zip(rows, figures, strict=True)
    ]
    then = None if times.before is None else times.before.group(group.group)
    between = (rounds[group.group] for rounds in times.between if group.group in rounds)
    rebalances = rebalances_seen(then, between, group)
    stalled = None
    if times.before is not None and rebalances is not None:
        standing = [row for row in rows if _stands_still(row, times.before, then, times.gaps)]
        if not standing or (rebalances == 0 and owners_known(group)):
            stalled = {(row.topic, row.partition) for row in standing if row.member_id is not None}
    unknown = len(figures) - len(dated)
    return GroupTimes(named, total, worst.lag_seconds, unknown, rebalances, stalled)


def _stands_still(
    row: OffsetRow, before: ClusterSnapshot, then: Group | None, gaps: Set[Place]
) -> bool:
    """Whether a commit stands where it stood, though records waited then, too, and wait now."""
    place = (row.topic, row.partition, row.committed_offset)
    if not row.lag or row.committed_offset is None or place in gaps:
        return False
    log, stood = _at_the_look_before(row, before, then)
    end = log.log_end_offset if row.last_stable_offset is None else log.last_stable_offset
    return stood == row.committed_offset and end is not None and stood < end


def _at_the_look_before(
    row: OffsetRow, before: ClusterSnapshot, then: Group | None
) -> tuple[PartitionLog, int | None]:
    """The log of a partition and the group's commit, as they were."""
    at = row.topic, row.partition
    commits = (then and then.offsets) or {}
    commit = commits.get(row.topic, NO_COMMITS).get(row.partition)
    return log_of(before.topics, at) or NO_LOG, None if commit is None else commit.offset


def is_usual(lag: int | None, rate_in: float | None) -> bool:
    """Whether what is unread is no more than a reader that keeps up has between two commits."""
    if not lag or not rate_in:
        return lag == 0
    return lag <= max(USUAL_RECORDS, USUAL_S * rate_in)


def catch_up_seconds(
    lag: float | None, rate_in: float | None, rate_out: float | None, *, keeps_up: bool
) -> float | None:
    """Seconds until the lag is gone at these rates; None if it never is, or is not known.

    Args:
        keeps_up: the lag of every partition is usual. It says nothing then whether it grew or fell
            between two looks: a reader that keeps up reads at least as fast as records come in.
    """
    if lag == 0:
        return 0.0
    if lag is None or rate_in is None or rate_out is None:
        return None
    gain = max(rate_out - rate_in, rate_in if keeps_up else 0.0)
    return lag / gain if gain > LEAST_GAIN * rate_in else None


def _of_row(
    row: OffsetRow, times: Times, rate_in: float | None, rate_out: float | None
) -> TimeFigures:
    seconds: float | None = None
    method: Method | None = None
    if times.method is not None and row.lag == 0:
        seconds, method = 0.0, "at_head"
    elif times.method is not None and row.committed_offset is not None:
        seconds = times.ages_s.get((row.topic, row.partition, row.committed_offset))
        method = None if seconds is None else times.method
    catch_up = None
    if times.before is not None:
        keeps_up = is_usual(row.lag, rate_in)
        catch_up = catch_up_seconds(row.lag, rate_in, rate_out, keeps_up=keeps_up)
    return TimeFigures(seconds, method, rate_in, rate_out, catch_up)


def _rates(
    snapshot: ClusterSnapshot,
    group: Group,
    rows: Sequence[OffsetRow],
    before: ClusterSnapshot | None,
) -> list[tuple[float | None, float | None]]:
    """Records a second in and out of each partition; a commit or a log that went back has none."""
    then = None if before is None else before.group(group.group)
    if before is None or then is None or then.offsets is None:
        return [(None, None)] * len(rows)
    seconds = (snapshot.captured_at_ms - before.captured_at_ms) / 1_000
    rates = []
    for row in rows:
        log, stood = _at_the_look_before(row, before, then)
        rates.append(
            (
                rate_between(log.log_end_offset, row.log_end_offset, seconds),
                rate_between(stood, row.committed_offset, seconds),
            )
        )
    return rates


def rate_between(before: int | None, now: int | None, seconds: float) -> float | None:
    """How much an offset grew in a second; None if it is not known, or went back."""
    if before is None or now is None or now < before or seconds <= 0:
        return None
    return (now - before) / seconds


def _sum(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if len(numbers) == len(values) else None
