"""The answer of a report: rows that are shown, those that fail, totals and charts, by one query."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa

from kgroups.core.conditions.condition import Comparison, Condition, Node, Not
from kgroups.core.conditions.fields import AtLeast
from kgroups.core.errors import CheckFailed, ItemError, UsageError, counted
from kgroups.core.lag.engines import Asked, Frame, WrongSql, listed, quoted
from kgroups.core.lag.lag_query import LagQuery
from kgroups.core.lag.pictures import Pictures, pictures_of
from kgroups.core.lag.questions import Questions
from kgroups.core.lag.report_columns import (
    OF_MEMBERS,
    Source,
    compared_columns,
    compared_figures,
    report_columns,
)
from kgroups.core.lag.sql_condition import EXAMPLE

ITEMS: Final = "items"
METHOD: Final = "lag_seconds_method"
MATCHING: Final = "matching"
COUNTED: Final = f"count(*) OVER (PARTITION BY 1) AS {MATCHING}"
"""How many rows meet a condition, beside each of those that are listed."""
UNNAMED: Final = "the report"
"""The target of a failure where a report has no keys, or knows none of them."""


@dataclass(frozen=True, slots=True)
class LagReport:
    """The answer.

    Args:
        items: rows, columns as in `schema`; the most first.
        schema: names and types of the columns in their order.
        summary: `groups`, `member_count`, `partitions`, `lag`, `lag_max`, `lost`,
            `unknown_partitions`, `unowned_partitions` and `beyond_end_partitions` over everything,
            shown or not; with assignors also
            `failed_plans` and `plans_not_applicable` (group and assignor of different protocols).
        errors: groups that could not be planned, and rows that meet a condition that they may
            not, at most `top` of each and then how many more there are.
        pictures: rows for charts, if they were asked for.
    """

    items: list[dict[str, Any]]
    schema: pa.Schema
    summary: dict[str, Any]
    errors: tuple[ItemError, ...] = field(default=())
    pictures: Pictures | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns in their order."""
        return tuple(self.schema.names)


def answered(
    questions: Questions,
    report: Frame,
    query: LagQuery,
    source: Source,
    sort: str,
    others: Mapping[str, Frame],
) -> LagReport:
    """A report by one query.

    Args:
        report: by the keys of the questions.
        sort: the column that rows are sorted by, the most first.
        others: from `totals_of`, and what pictures are drawn from.
    Raises:
        UsageError: the engine does not understand the query's SQL.
    """
    columns = report_columns(query, source)
    wanted: Frame = report
    if query.sql is not None:
        wanted = Asked(f"SELECT * FROM {{report}} WHERE {query.sql}", {}, {"report": report})
    order = [f"{quoted(sort)} DESC NULLS LAST"]
    order += [f"{quoted(key)} NULLS LAST" for key in questions.keys if key != sort]
    top = f"ORDER BY {', '.join(order)} LIMIT {query.top}"
    text = f"SELECT {listed(columns)} FROM {{wanted}}"
    frames = {ITEMS: questions.put(f"{text} {top}", wanted=wanted)}
    for condition in query.fail_on:
        literals: dict[str, object] = {}
        fails = text_of(condition.root, literals, has_bounds=METHOD in columns)
        asking = replace(questions, parameters=literals)
        which = f"WHERE {fails} OR ({fails}) IS NULL"
        counted = f"SELECT {listed(columns)}, {COUNTED} FROM {{wanted}} {which} {top}"
        frames[condition.text] = asking.put(counted, wanted=wanted)
    try:
        tables = questions.together({**frames, **others})
    except WrongSql as exc:  # all else is ours
        raise UsageError(
            f"`--sql {query.sql}` is not valid: {exc}",
            hint=f"{EXAMPLE}, on " + ", ".join(columns),
        ) from exc
    (totals,), (members,) = (tables[name].to_pylist() for name in ("totals", "members_counted"))
    summary = {"groups": totals.pop("groups"), **members, **totals}
    return LagReport(
        tables[ITEMS].to_pylist(),
        tables[ITEMS].schema,
        summary,
        tuple(
            error
            for condition in query.fail_on
            for error in _errors(condition, tables[condition.text].to_pylist(), questions.keys)
        ),
        pictures_of(tables) if query.pictures else None,
    )


def _errors(
    condition: Condition, rows: Sequence[dict[str, Any]], keys: Sequence[str]
) -> Iterator[ItemError]:
    """The first rows that meet a condition, or may, and how many more there are."""
    yield from (_error(condition, row, keys) for row in rows)
    more = rows[0][MATCHING] - len(rows) if rows else 0
    if more:
        count = counted(more, "more row")
        text = f"`{condition.text}` holds, or cannot be evaluated, for {count}"
        hint = "`--top` says how many are listed"
        yield ItemError(UNNAMED, "CHECK_FAILED", text, hint, CheckFailed.exit_code)


def _error(condition: Condition, row: dict[str, Any], keys: Sequence[str]) -> ItemError:
    """Says that a condition holds for a row, or that this is not known."""
    target = " ".join(str(row[key]) for key in keys if key != "cluster" and row[key] is not None)
    if row.get(METHOD) == "at_least":
        row = row | {"lag_seconds": AtLeast(row["lag_seconds"])}
    figures = ", ".join(condition.told(row))
    if condition.holds(row):
        code, text = "CHECK_FAILED", f"`{condition.text}` holds: {figures}"
    else:
        code, text = "CHECK_UNDETERMINED", f"`{condition.text}` cannot be evaluated: {figures}"
    return ItemError(target or UNNAMED, code, text, None, CheckFailed.exit_code)


def text_of(node: Node, literals: dict[str, object], *, has_bounds: bool = False) -> str:
    """A condition in SQL, whose null is our unknown.

    Args:
        literals: what it compares with comes here, by the names of parameters.
        has_bounds: whether rows say that their lag in seconds is a lower bound.
    """
    if isinstance(node, Comparison):
        return _compared_text(node, literals, has_bounds=has_bounds)
    if isinstance(node, Not):
        return f"NOT {text_of(node.node, literals, has_bounds=has_bounds)}"
    word = " OR " if node.decisive else " AND "
    parts = (text_of(part, literals, has_bounds=has_bounds) for part in node.nodes)
    return f"({word.join(parts)})"


def _compared_text(comparison: Comparison, literals: dict[str, object], *, has_bounds: bool) -> str:
    name = f"literal_{len(literals)}"
    column = quoted(comparison.field.name)
    if comparison.matches is not None:
        literals[name] = f"^(?:{comparison.operand})$"
        return f"{column} RLIKE :{name}"
    literals[name] = comparison.operand
    sign = "<>" if comparison.sign == "!=" else comparison.sign
    text = f"{column} {sign} :{name}"
    if comparison.field.name != "lag_seconds" or not has_bounds:
        return text
    below = "<" if comparison.sign in ("<", ">=") else "<="
    is_open = f"coalesce({METHOD} = 'at_least', false) AND {column} {below} :{name}"
    return f"CASE WHEN {is_open} THEN NULL ELSE {text} END"


def totals_of(questions: Questions, lagged: Frame, loads: Frame) -> dict[str, Frame]:
    """The totals of a report: a row of groups and partitions, and one of members."""
    counts = "SELECT count(*) AS member_count, count_if(held = 0) AS idle_members FROM {loads}"
    return {
        "totals": questions.ask("totals", lagged=lagged),
        "members_counted": questions.put(counts, loads=loads),
    }


def with_members(questions: Questions, report: Frame, by: str, loads: Frame) -> Frame:
    """A report with what the table of members adds; a grouping that has no members stays as it is.

    By group, client, host and assignor `member_count`, `idle_members` and `skew`; by member a row
    of each idle member.
    """
    if by not in OF_MEMBERS:
        return report
    name = "with_idle_members" if by == "member" else "with_members"
    return questions.ask(name, report=report, loads=loads)


def compared(questions: Questions, now: Frame, before: Frame, query: LagQuery) -> Frame:
    """Rows of both reports, each key once.

    Args:
        now, before: by the same keys.
    Returns:
        The keys; `compared`: both, new (not there before) or gone; each figure as it is,
        `..._before` and, of numbers, `..._change`: null where one of the two is not known.
    """
    figures = compared_figures(query)
    columns = []
    for name, is_number in figures.items():
        columns += [f"now.{quoted(name)}", f"was.{quoted(name)} AS {quoted(name + '_before')}"]
        if is_number:
            columns.append(f"now.{quoted(name)} - was.{quoted(name)} AS {quoted(name + '_change')}")
    keys = ", ".join(f"key.{quoted(key)}" for key in questions.keys)
    shown = listed([*compared_columns(figures)])
    text = f"""
        WITH beside AS (
          SELECT
            coalesce(now.now_key, was.was_key) AS key,
            CASE WHEN now_key IS NOT NULL AND was_key IS NOT NULL THEN 'both'
              WHEN now_key IS NOT NULL THEN 'new' ELSE 'gone' END AS compared,
            {", ".join(columns)}
          FROM (SELECT *, {{key}} AS now_key FROM {{now}}) AS now
          FULL OUTER JOIN (SELECT *, {{key}} AS was_key FROM {{before}}) AS was
            ON now_key <=> was_key
        )
        SELECT {keys}, {shown} FROM beside
    """
    return questions.put(text, now=now, before=before)
