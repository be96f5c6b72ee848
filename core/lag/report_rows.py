"""The rows of a report: of two windows side by side, those that are shown, those that fail."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any, Final, NamedTuple

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql.types import StructType

from kgroups.core.conditions.condition import OPERATORS, Comparison, Condition, Node, Not
from kgroups.core.errors import CheckFailed, ItemError, UsageError
from kgroups.core.lag.lag_query import LagQuery
from kgroups.core.lag.report_columns import COMPARED, compared_columns
from kgroups.core.lag.sql_condition import EXAMPLE
from kgroups.core.lag.transforms import join_by, top_rows
from kgroups.core.spark.plans.api import Column, DataFrame
from kgroups.core.spark.plans.api import functions as F
from kgroups.core.spark.plans.frames import as_text, asked, to_ask, together
from kgroups.core.spark.session import first_line

ITEMS: Final = "items"
UNNAMED: Final = "the report"
"""What fails where a report has no keys, or knows none of them."""


class Found(NamedTuple):
    """What one query brought home.

    Args:
        rows: by the names of the frames that were asked for.
        schemas: the columns of each.
    """

    rows: Mapping[str, list[dict[str, Any]]]
    schemas: Mapping[str, StructType]


def collect_together(frames: Mapping[str, DataFrame]) -> Found:
    """The rows of some bounded frames, by one query: each job and each plan costs some time."""
    asked = together(frames).spark_frame
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in frames}
    for row in asked.collect():
        name, own = next((name, own) for name, own in zip(frames, row, strict=True) if own)
        rows[name].append(own.asDict())
    return Found(rows, {field.name: field.dataType for field in asked.schema})


def answer_frames(
    report: DataFrame, query: LagQuery, sort: str, keys: Sequence[str]
) -> dict[str, DataFrame]:
    """The rows that the query asks for as `items`, and those that `failed_rows` tells of.

    Raises:
        UsageError: Spark cannot evaluate the condition.
    """
    wanted = to_ask(_wanted(report, query))
    frames = {ITEMS: top_rows(wanted, sort, keys, query.top)}
    for condition in query.fail_on:
        holds = _column_of(condition.root)
        failed = wanted.where(holds | holds.isNull())
        frames[condition.text] = top_rows(failed, sort, keys, query.top)
    return frames


def _wanted(report: DataFrame, query: LagQuery) -> DataFrame:
    """The rows for which the query's SQL is true.

    Raises:
        UsageError: a function or a type in it is wrong; all else `check_columns` has found.
    """
    if query.where is None:
        return report
    try:
        wanted = asked(report).where(query.where)
        wanted.schema  # noqa: B018  Connect looks at the condition only when it must
    except (AnalysisException, ParseException) as exc:
        raise UsageError(
            f"`--where {query.where}` is not valid: {first_line(exc)}",
            hint=f"{EXAMPLE}, on " + ", ".join(report.columns),
        ) from exc
    return wanted


def failed_rows(found: Found, query: LagQuery, keys: Sequence[str]) -> tuple[ItemError, ...]:
    """The rows that meet a condition, or of which that is not known; `top` of each at most."""
    return tuple(
        _error(condition, row, keys)
        for condition in query.fail_on
        for row in found.rows[condition.text]
    )


def _error(condition: Condition, row: dict[str, Any], keys: Sequence[str]) -> ItemError:
    """Says that a condition holds for a row, or that this is not known."""
    target = " ".join(str(row[key]) for key in keys if key != "cluster" and row[key] is not None)
    told = ", ".join(condition.told(row))
    if condition.holds(row):
        code, text = "CHECK_FAILED", f"`{condition.text}` holds: {told}"
    else:
        code, text = "CHECK_UNDETERMINED", f"`{condition.text}` cannot be evaluated: {told}"
    return ItemError(target or UNNAMED, code, text, None, CheckFailed.exit_code)


def _column_of(node: Node) -> Column:
    """A condition in SQL's logic, whose null is our unknown."""
    if isinstance(node, Comparison):
        return _compared(node)
    if isinstance(node, Not):
        return ~_column_of(node.node)
    return reduce(or_ if node.decisive else and_, map(_column_of, node.nodes))


def _compared(comparison: Comparison) -> Column:
    column = F.col(comparison.field.name)
    if comparison.matches is not None:
        return column.rlike(f"^(?:{comparison.operand})$")
    if isinstance(comparison.operand, str):
        same = column == F.lit(comparison.operand)
        return same if comparison.sign == "=" else ~same
    answer: Column = OPERATORS[comparison.sign](column, comparison.operand)  # type: ignore[arg-type, assignment]
    return answer


def collect_rows(bounded: DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame that is already bounded: the one place that brings rows home."""
    return [row.asDict() for row in asked(bounded).collect()]


@as_text
def compared(
    now: DataFrame,
    before: DataFrame,
    keys: Sequence[str],
    figures: Mapping[str, bool] = COMPARED,
) -> DataFrame:
    """Rows of both reports, each key once.

    Args:
        now, before: from `trends.history_by`, or with planned assignments, by the same keys.
        figures: what is compared, and whether it is a number.
    Returns:
        The keys; `compared`: both, new (not there before) or gone; each figure as it is,
        `..._before` and, of numbers, `..._change`: null where one of the two is not known.
    """
    left, right = (
        frame.select(
            *keys,
            F.lit(True).alias(f"_is{suffix}"),
            *(F.col(name).alias(f"{name}{suffix}") for name in figures),
        )
        for frame, suffix in ((now, ""), (before, "_before"))
    )
    joined = join_by(left, right, keys, "full")
    is_now, was = F.col("_is").isNotNull(), F.col("_is_before").isNotNull()
    where = F.when(is_now & was, "both").when(is_now, "new").otherwise("gone")
    changes = [
        (F.col(name) - F.col(f"{name}_before")).alias(f"{name}_change")
        for name, is_number in figures.items()
        if is_number
    ]
    told = joined.select("*", where.alias("compared"), *changes)
    return told.select(*keys, *compared_columns(figures))
