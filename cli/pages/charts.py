"""Figures from rows: Altair makes the chart, the rows stand below it as a table.

Each function takes rows as tuples, a heading and a summary, and gives a `Figure`. Charts are as
wide as their place, so that one page fits a phone and a screen; colours are told apart by the
colour-blind too (Okabe and Ito), and light and dark are the page's business (`render.py`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import altair as alt

from kgroups.cli.pages.chart_parts import (
    COLOURS,
    Axis,
    amounts,
    chart_table,
    dashes,
    labels,
    lane_y,
    legend,
    moments,
    palette,
    time_heading,
    time_tip,
    time_x,
    tip,
)
from kgroups.cli.pages.page import Figure

UNKNOWN_COLOUR = "#8888"
MARK_COLOUR = "#888c"
# What the colours do not suffice for, in a legend.
OTHERS = "others"
# A bar is as wide as this at least.
LEAST_PX = 3
GRADIENT_PX = 140
LINE_HEIGHT_PX = 260
LANE_HEIGHT_PX = 26
# The longest bar leaves room for its amount.
BAR_ROOM = 1.15

NO_COLOURS: Mapping[str, str] = MappingProxyType({})


def lines(
    heading: str,
    summary: str,
    rows: Sequence[tuple[float, str, float | None]],
    *,
    unit: str,
    axis: Axis = "time",
    kind: str = "series",
    marks: Sequence[tuple[float, str]] = (),
) -> Figure:
    """Values over time, one line a name.

    Args:
        rows: (time, name, value); a value of None breaks its line. Time is in epoch
            milliseconds for the axis `time`, else a number of `seconds` or `step`s.
        unit: of the values, for the axis.
        kind: what a name is, for the legend: `group`.
        marks: times of events, each with its name.
    """
    label = labels(name for _, name, _ in rows)
    values = [{"t": t, "name": n, "label": label[n], "value": value} for t, n, value in rows]
    chart = (
        alt.Chart(_data(values))
        .mark_line(point=alt.OverlayMarkDef(size=18), interpolate="linear", strokeWidth=2)
        .encode(
            x=time_x("t", axis, [t for t, _, _ in rows]),
            y=alt.Y("value:Q", title=unit, axis=amounts()),
            color=alt.Color("label:N", title=kind, scale=palette(), legend=legend()),
            strokeDash=alt.StrokeDash("label:N", title=kind, scale=dashes(len(label))),
            tooltip=[time_tip("t", axis), tip("name", kind), tip("value", unit)],
        )
    )
    table = chart_table((time_heading(axis), kind, unit), moments(rows, axis, (0,)), heading)
    return Figure(heading, summary, _spec(_marked(chart, marks, axis), LINE_HEIGHT_PX), table)


def descent(
    heading: str,
    summary: str,
    rows: Sequence[tuple[int, str, float | None, float | None]],
    *,
    unit: str,
) -> Figure:
    """Chart of each trial's value as a point, and the least of all until then as a line.

    Args:
        rows: (trial, its settings, value, least until then); None where there is none.
    """
    values = [{"trial": n, "settings": s, "value": v, "least": least} for n, s, v, least in rows]
    ticks = alt.Axis(labelOverlap=True, tickMinStep=1, format="d")
    base = alt.Chart(_data(values)).encode(
        x=alt.X("trial:Q", title="trial", axis=ticks),
        tooltip=[tip("trial", "trial"), tip("settings", "settings"), tip("value", unit)],
    )
    points = base.mark_circle(size=60, color=COLOURS[1]).encode(
        y=alt.Y("value:Q", title=unit, axis=amounts())
    )
    least = base.mark_line(interpolate="step-after", strokeWidth=2, color=COLOURS[0]).encode(
        y=alt.Y("least:Q", title=unit)
    )
    table = chart_table(("trial", "settings", unit, f"least {unit} so far"), rows, heading)
    return Figure(heading, summary, _spec(least + points, LINE_HEIGHT_PX), table)


def heat_map(
    heading: str,
    summary: str,
    rows: Sequence[tuple[str, int, float | None]],
    *,
    unit: str,
    lane: str,
    column: str,
) -> Figure:
    """Values as colours in lanes; what is not known is grey.

    Args:
        rows: (lane, column number, value).
        lane, column: what they stand for: `group and topic`, `partition`.
    """
    label = labels(name for name, _, _ in rows)
    values = [{"lane": n, "label": label[n], "column": c, "value": v} for n, c, v in rows]
    colour = alt.Color(
        "value:Q",
        title=unit,
        # Lag spans powers of ten, and 0 must have a colour too.
        scale=alt.Scale(type="symlog", scheme="viridis", domainMin=0),
        legend=alt.Legend(orient="bottom", gradientLength=GRADIENT_PX, format=",.0f", tickCount=3),
    )
    chart = (
        alt.Chart(_data(values))
        .mark_rect()
        .encode(
            x=alt.X("column:O", title=column, axis=alt.Axis(labelOverlap=True, labelAngle=0)),
            y=lane_y(label),
            color=alt.condition("isValid(datum.value)", colour, alt.value(UNKNOWN_COLOUR)),
            tooltip=[tip("lane", lane), tip("column", column), tip("value", unit)],
        )
    )
    lanes = len({name for name, _, _ in rows})
    table = chart_table((lane, column, unit), rows, heading)
    return Figure(heading, summary, _spec(chart, lanes * LANE_HEIGHT_PX), table)


def shares(
    heading: str,
    summary: str,
    rows: Sequence[tuple[str, str, float]],
    *,
    unit: str,
    lane: str,
    part: str,
) -> Figure:
    """Who has how much of each lane's whole, as parts of a bar, the largest part first.

    Args:
        rows: (lane, part, amount).
        lane, part: what they stand for: `group`, `member`.
    """
    label = labels(name for name, _, _ in rows)
    place: dict[str, int] = {}
    values = []
    for name, who, amount in sorted(rows, key=lambda row: -row[2]):
        place[name] = place.get(name, 0) + 1
        share = {"part": who, "amount": amount, "place": place[name]}
        values.append({"lane": name, "label": label[name], **share})
    chart = (
        alt.Chart(_data(values))
        .mark_bar(stroke="#fff8", strokeWidth=1)
        .encode(
            x=alt.X(
                "amount:Q", stack="normalize", title=f"share of {unit}", axis=alt.Axis(format="%")
            ),
            y=lane_y(label),
            color=alt.Color("place:O", scale=palette(), legend=None),
            order=alt.Order("place:Q"),
            tooltip=[tip("lane", lane), tip("part", part), tip("amount", unit)],
        )
    )
    lanes = len({name for name, _, _ in rows})
    table = chart_table((lane, part, unit), rows, heading)
    return Figure(heading, summary, _spec(chart, lanes * LANE_HEIGHT_PX), table)


def bars(
    heading: str,
    summary: str,
    rows: Sequence[tuple[str, float]],
    *,
    unit: str,
    lane: str,
    colours: Mapping[str, str] = NO_COLOURS,
) -> Figure:
    """One bar a name, with its amount written beside it.

    Args:
        rows: (name, amount), in the order shown.
        lane: what a name is: `verdict`.
        colours: of names that have one of their own.
    """
    label = labels(name for name, _ in rows)
    values = [
        {"lane": n, "label": label[n], "amount": amount, "colour": colours.get(n, COLOURS[0])}
        for n, amount in rows
    ]
    y = lane_y(label)
    base = alt.Chart(_data(values)).encode(y=y, tooltip=[tip("lane", lane), tip("amount", unit)])
    most = max([amount for _, amount in rows], default=0)
    scale = alt.Scale(domain=[0, most * BAR_ROOM or 1])
    x = alt.X("amount:Q", title=unit, axis=amounts(), scale=scale)
    bar = base.mark_bar().encode(x=x, color=alt.Color("colour:N", scale=None))
    text = base.mark_text(align="left", dx=4).encode(x=x, text=alt.Text("amount:Q", format=",~f"))
    table = chart_table((lane, unit), rows, heading)
    return Figure(heading, summary, _spec(bar + text, len(rows) * LANE_HEIGHT_PX), table)


def spans(
    heading: str,
    summary: str,
    rows: Sequence[tuple[str, float, float, str]],
    *,
    lane: str,
    kind: str,
    axis: Axis = "seconds",
    marks: Sequence[tuple[float, str]] = (),
) -> Figure:
    """Chart of spans of time, one lane a name: who owned a partition, a state.

    Args:
        rows: (lane, from, to, what), times as in `lines`.
        lane, kind: what a lane and a colour stand for: `partition`, `member`; where there are
            more of a kind than colours, those that are rarest share the last one, as `others`.
        marks: times of events, each with its name.
    """
    label = labels(name for name, _, _, _ in rows)
    named = _named_colours([what for _, _, _, what in rows])
    values = [
        {
            **{"lane": name, "label": label[name], "t": t, "end": end},
            **{"what": what, "colour": named.get(what, OTHERS)},
        }
        for name, t, end, what in rows
    ]
    domain = [*named.values()]
    domain += [] if len(named) == len({row[3] for row in rows}) else [OTHERS]
    scale = alt.Scale(domain=domain, range=list(COLOURS[: len(domain)]))
    base = alt.Chart(_data(values)).encode(
        x=time_x("t", axis, [t for _, t, _, _ in rows]),
        y=lane_y(label),
        color=alt.Color("colour:N", title=kind, scale=scale, legend=legend()),
        tooltip=[
            tip("lane", lane),
            tip("what", kind),
            time_tip("t", axis),
            time_tip("end", axis),
        ],
    )
    # What is over within a pixel is still to be seen.
    begins = base.mark_tick(thickness=LEAST_PX, size=LANE_HEIGHT_PX // 2)
    bars = base.mark_bar(stroke="#fff8", strokeWidth=1).encode(x2="end:Q")
    chart = _marked(bars + begins, marks, axis)
    headings = (lane, f"from ({time_heading(axis)})", f"to ({time_heading(axis)})", kind)
    table = chart_table(headings, moments(rows, axis, (1, 2)), heading)
    lanes = len({name for name, _, _, _ in rows})
    return Figure(heading, summary, _spec(chart, lanes * LANE_HEIGHT_PX), table)


def _named_colours(whats: Sequence[str]) -> dict[str, str]:
    """Labels of those that have a colour of their own: what comes most often if not all can."""
    order = list(dict.fromkeys(whats))
    if len(order) > len(COLOURS):
        often = Counter(whats)
        kept = {what for what, _ in often.most_common(len(COLOURS) - 1)}
        order = [what for what in order if what in kept]
    return labels(order)


def _marked(
    chart: alt.Chart | alt.LayerChart, marks: Sequence[tuple[float, str]], axis: Axis
) -> alt.Chart | alt.LayerChart:
    """The chart with a line across it at the time of each event."""
    if not marks:
        return chart
    values = [{"t": t, "event": name} for t, name in marks]
    rule = (
        alt.Chart(_data(values))
        .mark_rule(color=MARK_COLOUR, strokeDash=[4, 3])
        .encode(
            x=time_x("t", axis, [t for t, _ in marks]),
            tooltip=[tip("event", "event"), time_tip("t", axis)],
        )
    )
    layered = alt.layer(chart, rule)
    assert isinstance(layered, alt.LayerChart), "layers of charts are one"
    return layered


def _data(values: list[dict[str, Any]]) -> alt.InlineData:
    return alt.InlineData(values=values)


def _spec(chart: alt.Chart | alt.LayerChart, height_px: int) -> dict[str, Any]:
    """The chart in Vega-Lite, as wide as its place. A chart of few lanes keeps its axis."""
    placed = chart.properties(
        width="container",
        height=height_px,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
    spec: dict[str, Any] = placed.to_dict(validate=False)
    # The page says which version it brings and how charts look.
    spec.pop("$schema", None)
    spec.pop("config", None)
    return spec
