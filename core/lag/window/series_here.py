"""Figures of series over a window by numpy: what `points` and `trends.series_figures` do in Spark.

Spark takes seconds to plan a window's steps and to compile them; numpy goes through a million rows
in one. The same rows in, the same figures out: tests hold both to one truth. Pure.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgroups.core.lag.captures.hour_roll_up import LEAST, MOST, Flags, Known, Longs
from kgroups.core.lag.window.points import BUCKETS, VERDICT_POINTS
from kgroups.core.lag.window.trends import MOVED

FIGURES: Final = pa.schema(
    {
        name: {"caught_at": pa.float64(), "is_rewound": pa.bool_()}.get(name, pa.int64())
        for name in (
            *("captures", "lag_peak", "reset_t", *MOVED.values()),
            *(f"{name}_ms" for name in MOVED),
            *("points", "last_t", "lag_first", "lag_last", "caught_at", "passed_t"),
            *("commits", "committed_min", "committed_max", "end_min", "lag_min", "lag_drops"),
            *("is_rewound", "first_commit_at", "last_commit_at", "lags"),
            *("trend_level", "verdict_level", "age_level"),
        )
    }
)
"""What `trends.series_figures` says of a series with hours."""


class Lives(NamedTuple):
    """Captures and roll-ups of all series: those of a series together, its newest first.

    Args:
        starts: the place of each series' newest; one row at least.
        t, stretch, level, held: as in `points.lives` and `hourly.WITHIN`, known of every row.
        facts: the other columns of the two by their names.
    """

    starts: Longs
    t: Longs
    stretch: Longs
    level: Longs
    held: Longs
    facts: Mapping[str, Known]


class Ranks(NamedTuple):
    """Rows of each series.

    Args:
        starts, ends: the place of the first of each series, and that after its last.
        series: the number of each row's series.
    """

    starts: Longs
    ends: Longs
    series: Longs

    def reduced(self, operation: Any, start: int, known: Known) -> Known:
        """What is known of each series, reduced to one."""
        values = np.where(known.is_known, known.values, start)
        has = np.logical_or.reduceat(known.is_known, self.starts)
        return Known(np.where(has, operation.reduceat(values, self.starts), 0), has)

    def least(self, known: Known) -> Known:
        return self.reduced(np.minimum, MOST, known)

    def most(self, known: Known) -> Known:
        return self.reduced(np.maximum, LEAST, known)

    def summed(self, values: Longs | Flags) -> Known:
        """The sum of what is known of every row."""
        sums = np.add.reduceat(values.astype(np.int64), self.starts)
        return Known(sums, np.ones(len(sums), bool))

    def newest(self, chosen: Flags) -> Known:
        """The place of each series' newest row among those."""
        places = np.arange(len(chosen))
        return self.reduced(np.minimum, MOST, Known(places, chosen))

    def oldest(self, chosen: Flags) -> Known:
        """The place of each series' oldest row among those."""
        places = np.arange(len(chosen))
        return self.reduced(np.maximum, LEAST, Known(places, chosen))

    def before(self, known: Known) -> Known:
        """Of each row what was last known before it."""
        count = len(known.values)
        places = np.where(known.is_known, np.arange(count), count)
        from_here = np.minimum.accumulate(places[::-1])[::-1]
        earlier = np.append(from_here[1:], count)
        has = earlier < self.ends[self.series]
        return Known(known.values[np.where(has, earlier, 0)], has)


def figures_of(lives: Lives) -> pa.Table:
    """`FIGURES`, a row a series."""
    starts = lives.starts
    count = len(lives.t)
    ends = np.append(starts[1:], count)
    ranks = Ranks(starts, ends, np.repeat(np.arange(len(starts)), ends - starts))
    is_point = np.ones(count, bool)
    is_point[1:] = lives.stretch[1:] != lives.stretch[:-1]
    is_point[starts] = True
    found = dict(_sums(lives, ranks))
    found |= _lags_of_points(lives, ranks, is_point)
    found |= _ages(lives, ranks)
    passed = np.cumsum(is_point)
    place = passed - passed[starts][ranks.series]
    is_recent = is_point & (place < VERDICT_POINTS)
    found |= _recent(lives, ranks, is_recent, place)
    return pa.table({name: found[name] for name in FIGURES.names}, schema=FIGURES)


def stretches(at_ms: Longs, first_ms: Longs, last_ms: Longs) -> Longs:
    """The number of the stretch that each time lies in: `points.lives`.

    Args:
        first_ms, last_ms: what is captured of each one's cluster.
    """
    width = np.maximum((last_ms - first_ms) // BUCKETS, 1)
    found: Longs = np.floor((at_ms - first_ms) / width).astype(np.int64)
    return found


def _sums(lives: Lives, ranks: Ranks) -> Iterator[tuple[str, pa.Array]]:
    """What went on in the window: `trends._sums_of_hours`."""
    facts = lives.facts
    yield "captures", ranks.summed(lives.held).array()
    yield "lag_peak", ranks.most(facts["most_lag"]).array()
    first, before = facts["end_first"], ranks.before(facts["end_last"])
    went_back = first.is_known & before.is_known & (first.values < before.values)
    resets = [facts["end_reset_t"], Known(facts["end_first_t"].values, went_back)]
    yield "reset_t", _greatest(*map(ranks.most, resets)).array()
    for name, moved in MOVED.items():
        first, before = facts[f"{name}_first"], ranks.before(facts[f"{name}_last"])
        ahead = np.where(first.is_known & before.is_known, first.values - before.values, 0)
        added = facts[f"{name}_added"]
        within = np.where(added.is_known, added.values, 0)
        yield moved, ranks.summed(np.maximum(ahead, 0) + within).array()
        begin, end = ranks.least(facts[f"{name}_first_t"]), ranks.most(facts[f"{name}_last_t"])
        known_ms = Known(end.values - begin.values, begin.is_known & end.is_known)
        yield f"{name}_ms", known_ms.array()
    yield "last_t", pa.array(lives.t[lives.starts])
    yield "last_commit_at", ranks.most(facts["committed_at"]).array()


def _greatest(one: Known, other: Known) -> Known:
    """The greater of two, the one that is known where one is."""
    values = (np.where(each.is_known, each.values, LEAST) for each in (one, other))
    is_known = one.is_known | other.is_known
    return Known(np.where(is_known, np.maximum(*values), 0), is_known)


def _lags_of_points(lives: Lives, ranks: Ranks, is_point: Flags) -> dict[str, pa.Array]:
    """How many points there are, and the lag of the first and last of which it is known."""
    lag = lives.facts["lag"]
    is_known = is_point & lag.is_known
    return {
        "points": ranks.summed(is_point).array(),
        "lag_first": _picked(lag.values, ranks.oldest(is_known)).array(),
        "lag_last": _picked(lag.values, ranks.newest(is_known)).array(),
        "trend_level": pa.array(np.maximum.reduceat(lives.level, ranks.starts)),
    }


def _picked(values: npt.NDArray[Any], places: Known) -> Known:
    return Known(values[places.values], places.is_known)


def _ages(lives: Lives, ranks: Ranks) -> dict[str, pa.Array]:
    """When the log's end was where the commit is now."""
    facts, starts = lives.facts, lives.starts
    end, committed = facts["end"], facts["committed"]
    now = Known(committed.values[starts][ranks.series], committed.is_known[starts][ranks.series])
    prev_end, prev_t = ranks.before(facts["end_last"]), ranks.before(facts["end_last_t"])
    passes = prev_end.is_known & now.is_known & end.is_known
    passes &= (prev_end.values <= now.values) & (now.values < end.values)
    newest = ranks.newest(passes)
    at = newest.values
    ahead, wide = now.values[at] - prev_end.values[at], end.values[at] - prev_end.values[at]
    elapsed = lives.t[at] - prev_t.values[at]
    share = np.divide(ahead * elapsed, wide, where=newest.is_known, out=np.zeros(len(at)))
    caught_at = prev_t.values[at] + share
    return {
        "caught_at": pa.array(caught_at, pa.float64(), mask=~newest.is_known),
        "passed_t": ranks.most(Known(prev_t.values, passes)).array(),
        "age_level": _picked(lives.level, newest).array(),
    }


def _recent(lives: Lives, ranks: Ranks, is_recent: Flags, place: Longs) -> dict[str, pa.Array]:
    """What Burrow's rules ask of the newest points."""
    facts, shape = lives.facts, (len(ranks.starts), VERDICT_POINTS)
    rows = np.flatnonzero(is_recent)
    where = (ranks.series[rows], place[rows])

    def of_points(known: Known) -> Known:
        """A row a series, a column a point, the newest first."""
        values, is_known = np.zeros(shape, np.int64), np.zeros(shape, bool)
        values[where], is_known[where] = known.values[rows], known.is_known[rows]
        return Known(values, is_known)

    commits, lags, ends = (of_points(facts[name]) for name in ("committed", "lag", "end"))
    every = np.ones(len(is_recent), bool)
    return {
        "commits": _counted(commits.is_known),
        "committed_min": _reduced(np.minimum, MOST, commits),
        "committed_max": _reduced(np.maximum, LEAST, commits),
        "end_min": _reduced(np.minimum, MOST, ends),
        "lag_min": _reduced(np.minimum, MOST, lags),
        "lags": _counted(lags.is_known),
        "lag_drops": _counted(_less_than_before(lags)[0]),
        "is_rewound": _rewound(commits),
        "first_commit_at": _reduced(np.minimum, MOST, of_points(facts["committed_at"])),
        "verdict_level": _reduced(np.maximum, LEAST, of_points(Known(lives.level, every))),
    }


def _counted(flags: Flags) -> pa.Array:
    return pa.array(flags.sum(axis=1))


def _reduced(operation: Any, start: int, points: Known) -> pa.Array:
    has: Flags = np.any(points.is_known, axis=1)
    values = operation.reduce(np.where(points.is_known, points.values, start), axis=1)
    return Known(np.where(has, values, 0), has).array()


def _less_than_before(points: Known) -> tuple[Flags, Longs]:
    """Of each point whether it is less than the last known before it; and what that was."""
    less, befores = np.zeros(points.values.shape, bool), np.zeros(points.values.shape, np.int64)
    before = np.zeros(len(less), np.int64)
    has = np.zeros(len(less), bool)
    for column in reversed(range(VERDICT_POINTS)):
        values, is_known = points.values[:, column], points.is_known[:, column]
        less[:, column] = has & is_known & (values < before)
        befores[:, column] = before
        before, has = np.where(is_known, values, before), has | is_known
    return less, befores


def _rewound(commits: Known) -> pa.Array:
    """Whether the first commit that went back was not made good since; null where none did."""
    went_back, befores = _less_than_before(commits)
    known = np.where(commits.is_known, commits.values, LEAST)
    best_from_here = np.maximum.accumulate(known, axis=1)
    # The oldest is the last in this order.
    oldest = VERDICT_POINTS - 1 - np.argmax(went_back[:, ::-1], axis=1)
    rows = np.arange(len(oldest))
    is_rewound = best_from_here[rows, oldest] < befores[rows, oldest]
    return pa.array(is_rewound, mask=~went_back.any(axis=1))
