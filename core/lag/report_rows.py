"""The rows of a report that come home: those that are shown, and those that fail a condition."""

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any, Final

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kgroups.core.conditions.condition import OPERATORS, Comparison, Condition, Node, Not
from kgroups.core.errors import CheckFailed, ItemError, UsageError
from kgroups.core.lag.lag_query import LagQuery
from kgroups.core.lag.sql_condition import EXAMPLE
from kgroups.core.lag.transforms import top_rows
from kgroups.core.spark.session import first_line

UNNAMED: Final = "the report"
"""What fails where a report has no keys, or knows none of them."""


def answer_rows(
    report: DataFrame, query: LagQuery, sort: str, keys: Sequence[str]
) -> list[dict[str, Any]]:
    """The rows that the query asks for, `top` at most.

    Raises:
        UsageError: Spark cannot evaluate the condition.
    """
    return collect_rows(top_rows(_wanted(report, query), sort, keys, query.top))


def _wanted(report: DataFrame, query: LagQuery) -> DataFrame:
    """The rows for which the query's SQL is true.

    Raises:
        UsageError: a function or a type in it is wrong; all else `check_columns` has found.
    """
    if query.where is None:
        return report
    try:
        wanted = report.where(query.where)
        wanted.schema  # noqa: B018  Connect looks at the condition only when it must
    except (AnalysisException, ParseException) as exc:
        raise UsageError(
            f"`--where {query.where}` is not valid: {first_line(exc)}",
            hint=f"{EXAMPLE}, on " + ", ".join(report.columns),
        ) from exc
    return wanted


def failed_rows(
    report: DataFrame, query: LagQuery, sort: str, keys: Sequence[str]
) -> tuple[ItemError, ...]:
    """The rows that meet a condition, or of which that is not known; `top` of each at most."""
    wanted = _wanted(report, query) if query.fail_on else report
    return tuple(
        error
        for condition in query.fail_on
        for error in _rows_that_meet(condition, wanted, sort, keys, query.top)
    )


def _rows_that_meet(
    condition: Condition, report: DataFrame, sort: str, keys: Sequence[str], top: int
) -> Iterator[ItemError]:
    """An error for each row for which it holds or is unknown, the most of `sort` first."""
    holds = _column_of(condition.root)
    for row in collect_rows(top_rows(report.where(holds | holds.isNull()), sort, keys, top)):
        target = " ".join(
            str(row[key]) for key in keys if key != "cluster" and row[key] is not None
        )
        told = ", ".join(condition.told(row))
        if condition.holds(row):
            code, text = "CHECK_FAILED", f"`{condition.text}` holds: {told}"
        else:
            code, text = "CHECK_UNDETERMINED", f"`{condition.text}` cannot be evaluated: {told}"
        yield ItemError(target or UNNAMED, code, text, None, CheckFailed.exit_code)


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
    return [row.asDict() for row in bounded.collect()]
