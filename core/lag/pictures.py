"""The data of a report's charts: few rows, whatever the size of the data.

Each chart is a query that ends in a bounded number of rows: the groups with most lag, over at most
so many stretches of time, so many partitions, so many members.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import pyarrow as pa

from kgroups.core.lag.engines import Frame
from kgroups.core.lag.questions import Questions

# How much a person takes in: groups as lines, lanes of a heat map, groups with members' shares.
LINE_GROUPS = 8
LINE_POINTS = 60
HEAT_LANES = 20
HEAT_PARTITIONS = 100
SHARE_GROUPS = 12
SHARE_MEMBERS = 30

HOUR_PEAKS: Final = """
  UNION ALL
  SELECT cluster, `group`, most_lag_ms, rolled.most_lag
  FROM {hours}
  WHERE `by` = 'group' AND most_lag_ms < rolled.hour_last_ms"""


@dataclass(frozen=True, slots=True)
class Pictures:
    """Rows of each chart; an empty list is a chart that there is nothing for.

    Args:
        over_time: `group`, `at_ms`, `lag`: of the groups with most lag at any time.
        partitions: `group`, `topic`, `partition`, `lag`: of the topics of groups with most lag.
        members: `group`, `member_id`, `client_id`, `partitions`, `lag`: of the groups with most.
        verdicts: `verdict` or, without a window of time, `lag_status`; `partitions` and `groups`
            that have it.
    """

    over_time: list[dict[str, Any]] = field(default_factory=list)
    partitions: list[dict[str, Any]] = field(default_factory=list)
    members: list[dict[str, Any]] = field(default_factory=list)
    verdicts: list[dict[str, Any]] = field(default_factory=list)


PICTURES: Final = tuple(chart.name for chart in fields(Pictures))


def picture_frames(
    questions: Questions,
    series: Frame,
    moments: Frame | None = None,
    hours: Frame | None = None,
    *,
    verdict: str = "verdict",
) -> dict[str, Frame]:
    """The frames that pictures are drawn from, by their names in `Pictures`.

    Args:
        series: one row a partition of a group, from series.sql or snapshot.sql.
        moments: the rows of a window, from lagged.sql; None: there is but one capture.
        hours: peaks of roll-ups, from hours.sql; None: there are none.
        verdict: the column that is counted: of one capture there is none but `lag_status`.
    """
    bounds = {
        **{"lines": LINE_GROUPS, "points": LINE_POINTS},
        **{"lanes": HEAT_LANES, "partitions": HEAT_PARTITIONS},
        **{"groups": SHARE_GROUPS, "members": SHARE_MEMBERS},
    }
    asking = replace(questions, parameters={**questions.parameters, **bounds})
    frames: dict[str, Frame] = {}
    if moments is not None:
        sources = {"lagged": moments} | ({} if hours is None else {"hours": hours})
        peaks = {"peaks": "" if hours is None else HOUR_PEAKS}
        frames["over_time"] = asking.ask("lag_over_time", peaks, **sources)
    frames["partitions"] = asking.ask("lag_of_partitions", series=series)
    frames["members"] = asking.ask("lag_of_members", series=series)
    frames["verdicts"] = asking.ask("verdicts", {"verdict": verdict}, series=series)
    return frames


def pictures_of(rows: Mapping[str, pa.Table]) -> Pictures:
    """The pictures of these rows."""
    return Pictures(**{name: rows[name].to_pylist() for name in PICTURES if name in rows})
