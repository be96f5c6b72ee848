"""Figures of each series of a window, and the most lag of each key: SQL put together."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from kgroups.core.lag.captures.capture_window import Span, Window
from kgroups.core.lag.captures.delta_table import DATE, utc_date
from kgroups.core.lag.captures.hour_table import HOURS, PEAKS, SERIES, hours_schema
from kgroups.core.lag.captures.month_table import utc_month
from kgroups.core.lag.captures.table_columns import arrow_schema
from kgroups.core.lag.engines import Engine, Frame, listed, question
from kgroups.core.lag.lag_query import KEYS, LagQuery
from kgroups.core.lag.questions import NO_LEVELS, Questions
from kgroups.core.lag.report import NOT_ROLLED, lagged_of
from kgroups.core.lag.report_columns import LEVELS
from kgroups.core.lag.stores.places import Place

FACTS: Final = tuple(arrow_schema("rows").names)
STRETCHES: Final = 60
"""Into how many the time captured is cut: each has a point of a series at most."""
TOLD_LEVELS: Final = ", ".join(
    "nullif(concat_ws(',', "
    f"CASE WHEN age_level = {level} THEN 'lag_seconds' END, "
    f"CASE WHEN trend_level = {level} THEN 'trend' END, "
    f"CASE WHEN verdict_level = {level} THEN 'verdict' END), '') AS {name}"
    for level, name in enumerate(LEVELS, 1)
)
"""The figures that are made of the ends of hours, days and months, and what these cannot tell."""


class Figures(NamedTuple):
    """The frames made of the rows of a window.

    Args:
        lagged: every row, from lagged.sql.
        newest: of these each cluster's newest capture.
        series: from series.sql.
        peaks: from peaks.sql, by the keys of the report; None: they are not known.
        hours: peaks of roll-ups, from hours.sql; None: there are none.
    """

    lagged: Frame
    newest: Frame
    series: Frame
    peaks: Frame | None
    hours: Frame | None


def figures_over(
    engine: Engine,
    query: LagQuery,
    folder: Place,
    window: Window,
    span_ms: tuple[int, int],
    *,
    few: bool,
) -> Figures:
    """Figures of the files of a window.

    Args:
        span_ms: the window, both ends included.
        few: as in `Engine.files`.
    """
    since_ms, until_ms = span_ms
    questions = asking(engine, query, until_ms, since_ms=since_ms)
    captures = once(questions, folder, window, few=few, query=query)
    names = (*FACTS, DATE.name)
    facts = {"facts": listed(names)}
    hours: tuple[Frame, Frame] | None = None
    if window.hours is not None:
        schema = hours_schema().append(DATE)
        series, peaks = (
            questions.ask(
                "hours",
                facts,
                hours=_of_groups(
                    questions,
                    query,
                    engine.files(folder / HOURS, window.hours.files[kind], schema, few=few),
                ),
            )
            for kind in (SERIES, PEAKS)
        )
        hours = series, peaks
        captures = questions.put(
            f"SELECT {listed(names)}, {NOT_ROLLED} AS rolled FROM {{captures}}"
            f" UNION ALL SELECT {listed(names)}, rolled FROM {{hours}}",
            captures=captures,
            hours=series,
        )
    figures = figures_of(questions, captures, window.spans, hours, names=names)
    if hours is not None and query.groups is not None and "group" not in questions.keys:
        # Peaks of a topic, client or host are rolled up over all groups: those of some are unknown.
        return figures._replace(peaks=None)
    return figures


def _of_groups(questions: Questions, query: LagQuery, rows: Frame) -> Frame:
    """The rows of the groups that are asked for."""
    if query.groups is None:
        return rows
    names = {f"group_{number}": name for number, name in enumerate(query.groups)}
    among = f"`group` IN ({', '.join(f':{name}' for name in names)})" if names else "false"
    asks = replace(questions, parameters=names)
    return asks.put(f"SELECT * FROM {{rows}} WHERE {among}", rows=rows)


def once(
    questions: Questions, folder: Place, window: Window, *, few: bool, query: LagQuery | None = None
) -> Frame:
    """The captures of a window and others of the same files; those that are there as a whole.

    Args:
        query: only of its groups; None: of all.
    """
    engine, schema = questions.engine, arrow_schema("rows").append(DATE)
    read = engine.files(folder / "rows", window.files, schema, few=few)
    captures = _of_groups(questions, query or LagQuery(), read)
    if window.is_clean:
        return captures
    marks = engine.rows(window.captures.select(["cluster", "captured_at_ms"]), few=few)
    return questions.ask("once", {"facts": listed(schema.names)}, captures=captures, marks=marks)


def asking(engine: Engine, query: LagQuery, until_ms: int, **more: object) -> Questions:
    """The questions of a report over a window; of planned assignments there are other keys."""
    keys = KEYS.get(query.by, KEYS["group"])
    usual = {"stretches": STRETCHES, "age_method": "record"}
    return Questions.of(engine, query, keys, until_ms=until_ms, **{**usual, **more})


def figures_of(
    questions: Questions,
    moments: Frame,
    spans: Mapping[str, Span],
    hours: tuple[Frame, Frame] | None = None,
    *,
    names: Sequence[str] = FACTS,
    rated_from: str = "0",
) -> Figures:
    """Figures of rows.

    Args:
        moments: captures, with roll-ups (`rolled`) if there are any.
        spans: the time captured of each cluster.
        hours: roll-ups of series and of keys, from hours.sql; None: nothing is rolled up.
        names: the columns of the rows that are facts; `date` says in which directories files are.
        rated_from: as in series.sql.
    """
    facts = {"facts": listed(names)}
    lagged = lagged_of(questions, moments, names, is_rolled=hours is not None)
    newest = _newest(questions, lagged, spans, is_dated="date" in names)
    ends, clusters = _ends_of(spans)
    asks = replace(questions, parameters={**questions.parameters, **clusters})
    texts = facts | ends | {"rated_from": rated_from}
    text = question("series")
    if hours is None:
        text = of_captures_alone(text)
    series = asks.put(text, texts, lagged=lagged, newest=newest)
    peaks = questions.ask("peaks", lagged=lagged)
    if hours is not None:
        own = hours[questions.parameters["by"] != "partition"]
        peaks = questions.ask("peaks_with_hours", peaks=peaks, hours=own)
    return Figures(lagged, newest, series, peaks, hours and hours[1])


def of_captures_alone(text: str) -> str:
    """A question where nothing is rolled up: without the terms of roll-ups, which are null there.

    With them Spark takes a third longer to analyse a report.
    """
    return re.sub(r"\brolled\.\w+", "NULL", re.sub(r"coalesce\(\s*rolled\.\w+,", "(", text))


def _ends_of(spans: Mapping[str, Span]) -> tuple[dict[str, str], dict[str, object]]:
    """The ends of the time captured of a row's cluster as expressions, with their parameters."""
    ends = {"first_ms": "", "last_ms": ""}
    parameters: dict[str, object] = {}
    for number, (cluster, span) in enumerate(spans.items()):
        own = {"first_ms": span.first_ms, "last_ms": span.last_ms}
        parameters |= {f"{end}_{number}": at_ms for end, at_ms in own.items()}
        parameters[f"cluster_{number}"] = cluster
        for end in ends:
            ends[end] += f" WHEN :cluster_{number} THEN :{end}_{number}"
    return (
        {end: f"CASE rows.cluster{cases} END" if cases else "0" for end, cases in ends.items()},
        parameters,
    )


def _newest(
    questions: Questions, lagged: Frame, spans: Mapping[str, Span], *, is_dated: bool
) -> Frame:
    """The rows of each cluster's newest capture; the files' directories are asked first."""
    literals: dict[str, object] = {}
    tests = []
    for number, (cluster, span) in enumerate(spans.items()):
        literals |= {f"cluster_{number}": cluster, f"last_{number}": span.last_ms}
        test = f"cluster = :cluster_{number} AND captured_at_ms = :last_{number}"
        if is_dated:
            literals |= {f"day_{number}": utc_date(span.last_ms)}
            literals |= {f"month_{number}": utc_month(span.last_ms)}
            test += f" AND date IN (:day_{number}, :month_{number})"
        tests.append(test)
    text = f"SELECT * FROM {{lagged}} WHERE {' OR '.join(f'({test})' for test in tests) or 'false'}"
    return replace(questions, parameters=literals).put(text, lagged=lagged)


def by_key(questions: Questions, figures: Figures) -> Frame:
    """The figures of a window by the keys of the questions."""
    levels = NO_LEVELS if figures.hours is None else TOLD_LEVELS
    return questions.by_key(figures.series, figures.peaks, levels)
