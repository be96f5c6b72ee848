"""One table of a partition's life in a window: points in, what is said of it out.

The same cases go through plain Python (`plain_truth`) and through SQL in each engine. Captures
are a minute apart unless a case says otherwise; None is what a capture did not know.
"""

from typing import Any, NamedTuple

from tests.support.lag.capture_writer import captured_row

MINUTE_MS = 60_000
NOBODY = ""


class Point(NamedTuple):
    """One capture of the partition: minutes from the window's start, and three offsets."""

    minute: float
    committed: int | None
    start: int | None
    end: int | None


class Said(NamedTuple):
    """What a report says: records a second, seconds, trend and verdict."""

    lag: int | None
    rate_in: float | None
    rate_out: float | None
    lag_seconds: float | None
    method: str | None
    trend: str | None
    verdict: str | None
    rule: str


class WindowCase(NamedTuple):
    """A life and what follows from it.

    Args:
        error: Kafka's error name at the last capture.
        owner: who is assigned the partition; empty: nobody.
        others: whether the group has members beside the owner.
    """

    id: str
    points: list[Point]
    said: Said
    error: str | None = None
    owner: str = "m"
    others: bool = False

    @property
    def state(self) -> str:
        """Of the group."""
        return "Stable" if self.owner or self.others else "Empty"


def life(
    minutes: int, committed: int | None, reads: int, end: int, writes: int, start: int = 0
) -> list[Point]:
    """A capture each minute of a partition that is written and read at steady rates."""
    return [
        Point(m, None if committed is None else committed + reads * m, start, end + writes * m)
        for m in range(minutes)
    ]


MISSING = "UNKNOWN_TOPIC_OR_PARTITION"
GONE = Point(11, 500, None, None)

WINDOW_CASES = [
    WindowCase(
        "keeps up",
        life(12, 600, 60, 600, 60),
        Said(0, 1.0, 1.0, 0.0, "at_head", "steady", "OK", "no_lag"),
    ),
    WindowCase(
        "falls behind",
        life(12, 600, 30, 600, 60),
        Said(330, 1.0, 0.5, 330.0, "interpolated", "growing", "WARN", "lag_never_falls"),
    ),
    WindowCase(
        "catches up, from before the window",
        life(12, 0, 90, 1_800, 60),
        Said(1_470, 1.0, 1.5, 660.0, "at_least", "draining", "OK", "progresses"),
    ),
    WindowCase(
        "stands still while it is assigned",
        life(12, 600, 0, 600, 60),
        Said(660, 1.0, 0.0, 660.0, "interpolated", "growing", "STALL", "offset_stands_still"),
    ),
    WindowCase(
        "stopped: nobody is assigned it",
        life(12, 600, 0, 660, 60),
        Said(720, 1.0, 0.0, 660.0, "at_least", "growing", "STOP", "commits_stopped"),
        owner=NOBODY,
    ),
    WindowCase(
        "a topic without a record for the whole window",
        life(12, 0, 0, 50, 0),
        Said(50, 0.0, 0.0, 660.0, "at_least", "steady", "STALL", "offset_stands_still"),
    ),
    WindowCase(
        "was at the head a moment ago",
        [*life(11, 600, 0, 600, 0), Point(11, 600, 0, 660)],
        Said(60, 60 / 660, 0.0, 60.0, "interpolated", "growing", "OK", "was_at_head"),
    ),
    WindowCase(
        "never committed",
        life(12, None, 0, 600, 60),
        Said(None, 1.0, None, None, None, None, None, "lag_unknown"),
    ),
    WindowCase(
        "topic deleted",
        [*life(11, 500, 0, 600, 60), GONE],
        Said(None, 1.0, 0.0, None, None, "growing", None, "lag_unknown"),
        error=MISSING,
    ),
    WindowCase(
        "commit below log start",
        [p._replace(start=300) for p in life(12, 100, 0, 600, 60)],
        Said(960, 1.0, 0.0, None, None, "growing", "STALL", "offset_stands_still"),
    ),
    WindowCase(
        "commit beyond the end of a truncated log",
        [*life(11, 600, 60, 600, 60), Point(11, 1_200, 0, 900)],
        Said(
            *(0, 600 / 660, 600 / 660, 0.0, "at_head", "steady"),
            *("BEYOND_END", "beyond_log_end"),
        ),
    ),
    WindowCase(
        "a new partition that nobody owns or has committed",
        life(12, None, 0, 0, 60),
        Said(None, 1.0, None, None, None, None, "STOP", "nobody_reads"),
        owner=NOBODY,
        others=True,
    ),
    WindowCase(
        "a new partition without records",
        life(12, None, 0, 0, 0),
        Said(None, 0.0, None, None, None, None, None, "lag_unknown"),
        owner=NOBODY,
        others=True,
    ),
    WindowCase(
        "nobody reads: the group has no members",
        life(12, None, 0, 0, 60),
        Said(None, 1.0, None, None, None, None, None, "lag_unknown"),
        owner=NOBODY,
    ),
    WindowCase(
        "group recreated: it commits from 0 again",
        [
            *life(8, 600, 60, 600, 60),
            *(Point(m, 60 * (m - 8), 0, 600 + 60 * m) for m in range(8, 12)),
        ],
        Said(1_080, 1.0, 600 / 660, 660.0, "at_least", "growing", "REWIND", "offset_went_back"),
    ),
    WindowCase(
        "topic recreated with smaller offsets",
        [
            *life(6, 6_000, 60, 6_000, 60),
            *(Point(m, 60 * (m - 6), 0, 60 * (m - 5)) for m in range(6, 12)),
        ],
        Said(60, 600 / 660, 600 / 660, 60.0, "interpolated", "growing", "REWIND",
             "offset_went_back"),
    ),
    WindowCase(
        "the collector's clock jumps back: captures are told in the order of their times",
        [p._replace(minute=(p.minute * 7) % 12) for p in life(12, 600, 0, 600, 0)],
        Said(0, 0.0, 0.0, 0.0, "at_head", "steady", "OK", "no_lag"),
    ),
    # The end passed the commit in the jump: half of its 31 minutes and five more.
    WindowCase(
        "the collector's clock jumps ahead and the window is longer than it was",
        [p._replace(minute=p.minute + 30 * (p.minute > 5)) for p in life(12, 600, 30, 600, 60)],
        Said(330, 660 / 2_460, 330 / 2_460, 1_230.0, "interpolated", "growing",
             "WARN", "lag_never_falls"),
    ),
    WindowCase(
        "ends unknown in between",
        [p if p.minute % 3 == 0 else p._replace(end=None) for p in life(13, 600, 30, 600, 60)],
        Said(360, 1.0, 0.5, 360.0, "interpolated", "growing", "WARN", "lag_never_falls"),
    ),
    WindowCase(
        "the end known in the last capture only: lag once is no trend",
        [p if p.minute == 11 else p._replace(end=None) for p in life(12, 600, 30, 600, 60)],
        Said(330, None, 0.5, None, None, None, "OK", "progresses"),
    ),
    WindowCase(
        "one capture only",
        life(1, 600, 0, 700, 0),
        Said(100, None, None, None, None, None, None, "too_few_captures"),
    ),
]  # fmt: skip


def rows_of(case: WindowCase, start_ms: int) -> list[dict[str, Any]]:
    """The case as rows of captures, of a group of its name."""
    last = max(point.minute for point in case.points)
    return [
        captured_row(
            start_ms + round(point.minute * MINUTE_MS),
            group=case.id,
            group_state=case.state,
            committed_offset=point.committed,
            log_start_offset=point.start,
            log_end_offset=point.end,
            member_id=case.owner or None,
            error=case.error if point.minute == last else None,
        )
        for point in case.points
    ]
