"""Functions on columns that are text (`columns`): those of Spark that reports need.

As in PySpark a string names a column where an argument is one, and is itself where a value is
meant.
"""

from collections.abc import Sequence

from kgroups.core.spark.plans.columns import OR, Cases, Column, as_column, listed, literal, named


def col(name: str) -> Column:
    """The column of a frame that is called so."""
    return named(name)


def lit(value: object) -> Column:
    """A value."""
    return literal(value)


def expr(text: str) -> Column:
    """What Spark's SQL says it is."""
    return Column(text.replace("{", "{{").replace("}", "}}"), binds=OR)


def when(test: Column, value: object) -> Cases:
    """A value where something holds."""
    return Cases([(test, literal(value))])


def _call(name: str, *columns: Column | str, is_steady: bool = True) -> Column:
    steady = all(as_column(column).is_steady for column in columns)
    return Column(f"{name}({listed(columns)})", is_steady=steady and is_steady)


# --- of a row ----------------------------------------------------------------------------------


def coalesce(*columns: Column | str) -> Column:
    """The first that is known."""
    return _call("coalesce", *columns)


def greatest(*columns: Column | str) -> Column:
    """The greatest of those that are known."""
    return _call("greatest", *columns)


def floor(column: Column | str) -> Column:
    """The next whole number below."""
    return _call("floor", column)


def xxhash64(*columns: Column | str) -> Column:
    """64 bits of a hash."""
    return _call("xxhash64", *columns)


def create_map(*columns: Column | str) -> Column:
    """Keys and values by turns."""
    return _call("map", *columns)


def concat_ws(separator: str, *columns: Column | str) -> Column:
    """Texts that are known, with a separator between them."""
    return _call("concat_ws", literal(separator), *columns)


def nullif(column: Column | str, value: Column) -> Column:
    """Null where it is a value."""
    return _call("nullif", column, value)


def struct(*columns: Column | str) -> Column:
    """Some columns as one."""
    return _call("struct", *columns)


# --- of many rows ------------------------------------------------------------------------------


def count(column: Column | str) -> Column:
    """Rows in which it is known."""
    return _call("count", column)


def countDistinct(*columns: Column | str) -> Column:
    """Different values that are known."""
    return Column(f"count(DISTINCT {listed(columns)})")


def count_if(test: Column | str) -> Column:
    """Rows in which it holds."""
    return _call("count_if", test)


def sum(column: Column | str) -> Column:
    """The sum of those that are known."""
    return _call("sum", column)


def avg(column: Column | str) -> Column:
    """The mean of those that are known."""
    return _call("avg", column)


def min(column: Column | str) -> Column:
    """The least that is known."""
    return _call("min", column)


def max(column: Column | str) -> Column:
    """The most that is known."""
    return _call("max", column)


def min_by(column: Column | str, order: Column | str) -> Column:
    """Of the row in which another is least."""
    return _call("min_by", column, order)


def max_by(column: Column | str, order: Column | str) -> Column:
    """Of the row in which another is most."""
    return _call("max_by", column, order)


def percentile_approx(column: Column | str, shares: Sequence[float], accuracy: int) -> Column:
    """The values below which shares of the rows are."""
    array = Column(f"array({', '.join(literal(share).text for share in shares)})")
    return _call("percentile_approx", column, array, literal(accuracy))


def first(column: Column | str) -> Column:
    """Of the first row."""
    return _call("first", column, is_steady=False)


def lag(column: Column | str) -> Column:
    """Of the row before."""
    return _call("lag", column)


def row_number() -> Column:
    """1 for the first row."""
    return _call("row_number")


# --- orders ------------------------------------------------------------------------------------


def desc(column: Column | str) -> Column:
    """The most first, and unknown last."""
    return Column(as_column(column).text + " DESC")


def desc_nulls_last(column: Column | str) -> Column:
    """The most first, and unknown last."""
    return Column(as_column(column).text + " DESC NULLS LAST")


def asc_nulls_last(column: Column | str) -> Column:
    """The least first, and unknown last."""
    return Column(as_column(column).text + " ASC NULLS LAST")
