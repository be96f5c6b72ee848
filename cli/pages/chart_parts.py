"""Common parts of charts: colours, axes, legends, labels of names, tips, and the table below."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import altair as alt

from kgroups.cli.pages.page import Table

Axis = Literal["time", "seconds", "step"]

# Okabe and Ito's colours, which differ for every kind of colour vision.
COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#f0e442",
    "#999999",
)
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
LEGEND_COLUMNS = 2
# Times of a chart that is longer than this are told as days.
DAYS_FROM_MS = 48 * 3_600_000
# A longer name is cut in its middle in a chart; tooltips and the table have it whole.
LABEL_SIGNS = 18
LABEL_ENDS = 8
LABEL_PX = 150
# Rows of the table under a chart; a longer one says how many it leaves out.
TABLE_ROWS = 500


def palette() -> alt.Scale:
    """The colours, from the first again where there are more names."""
    return alt.Scale(range=list(COLOURS))


def legend() -> alt.Legend:
    """Below the chart, as wide as labels are."""
    return alt.Legend(orient="bottom", columns=LEGEND_COLUMNS, labelLimit=LABEL_PX, symbolLimit=40)


def amounts() -> alt.Axis:
    """An axis of amounts: 1.5k, 2M."""
    return alt.Axis(format="~s", tickCount=5)


def time_x(field: str, axis: Axis, times: Sequence[float]) -> alt.X:
    """Time from left to right; UTC, as everything that kgroups prints."""
    if axis != "time":
        ticks = alt.Axis(labelOverlap=True, tickMinStep=1)
        return alt.X(f"{field}:Q", title=axis, axis=ticks)
    is_long = bool(times) and max(times) - min(times) > DAYS_FROM_MS
    clock = alt.Axis(labelOverlap=True, tickCount=5, format="%b %d" if is_long else "%H:%M")
    return alt.X(f"{field}:T", title="time (UTC)", scale=alt.Scale(type="utc"), axis=clock)


def lane_y(label: Mapping[str, str]) -> alt.Y:
    """Lanes in the order in which their names first come."""
    axis = alt.Axis(labelLimit=LABEL_PX)
    return alt.Y("label:N", title=None, sort=list(label.values()), axis=axis)


def labels(names: Iterable[str]) -> dict[str, str]:
    """Each name as a chart has room for it: of a long one both ends, so that members stay apart."""
    taken: set[str] = set()
    cut: dict[str, str] = {}
    for name in dict.fromkeys(names):
        short = name
        if len(name) > LABEL_SIGNS:
            short = f"{name[:LABEL_ENDS]}\N{HORIZONTAL ELLIPSIS}{name[-LABEL_ENDS:]}"
        alike = itertools.count(2)
        label = short
        while label in taken:
            label = f"{short} ({next(alike)})"
        taken.add(label)
        cut[name] = label
    return cut


def dashes(count: int) -> alt.Scale:
    """Whole lines, then broken ones: more names than there are colours."""
    rows = -(-count // len(COLOURS))
    return alt.Scale(range=[dash for dash in DASHES[:rows] for _ in COLOURS])


def tip(field: str, title: str) -> alt.Tooltip:
    """A value in a tooltip."""
    return alt.Tooltip(field=field, title=title)


def time_tip(field: str, axis: Axis) -> alt.Tooltip:
    """A time in a tooltip, to the second."""
    if axis != "time":
        return alt.Tooltip(field=field, title=axis, type="quantitative")
    shown: Any = {
        "field": field,
        "title": "time (UTC)",
        "type": "temporal",
        "timeUnit": "utcyearmonthdatehoursminutesseconds",
    }
    return alt.Tooltip(**shown)


def time_heading(axis: Axis) -> str:
    """Heading of a column of times."""
    return "time (UTC)" if axis == "time" else axis


def moments(
    rows: Sequence[tuple[Any, ...]], axis: Axis, places: tuple[int, ...]
) -> list[tuple[Any, ...]]:
    """Rows with readable times at these places."""
    if axis != "time":
        return list(rows)
    return [
        tuple(moment(value) if place in places else value for place, value in enumerate(row))
        for row in rows
    ]


def moment(time_ms: float) -> str:
    """Epoch milliseconds as a table shows them."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def chart_table(columns: Sequence[str], rows: Sequence[tuple[Any, ...]], caption: str) -> Table:
    """The rows of a chart, as many as a page has room for."""
    return Table(columns, rows[:TABLE_ROWS], caption, max(len(rows) - TABLE_ROWS, 0))
