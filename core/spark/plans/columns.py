"""Columns of queries as SQL text, with the operators of PySpark's columns.

A column of PySpark is an object in the JVM: each operator is some calls to it, and a report has a
thousand operators. Text costs nothing until the query is there.
"""

from collections.abc import Iterable
from typing import Any, Final

# Braces name frames in queries, `$` variables: neither is meant by a value.
_ESCAPES: Final = str.maketrans(
    {
        "\\": "\\\\",
        "'": "\\'",
        "{": "\\u007B",
        "}": "\\u007D",
        "$": "\\u0024",
        "\n": "\\n",
        "\r": "\\r",
        "\0": "\\0",
    }
)


# What binds how tightly: names, calls and literals; arithmetic; comparisons; NOT, AND and OR.
WHOLE, VALUE, TEST, NOT, AND, OR = "whole", "value", "test", "not", "and", "or"
# What needs no parentheses as an operand, besides what is whole.
_OPEN_TO: Final = {TEST: (VALUE,), NOT: (), AND: (TEST, AND), OR: (TEST, AND, OR)}


class Column:
    """An expression.

    Args:
        text: in Spark's SQL.
        name: what the column is called; None: it has to be given one.
        is_steady: whether Spark knows that it is the same every time. Of `first` it does not.
        binds: how it stands between operators: `WHOLE` as it is, others in parentheses where they
            bind no tighter. Spark's parser looks through what is in parentheses several times.
    """

    __slots__ = ("binds", "is_steady", "name", "text")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, text: str, name: str | None = None, *, is_steady: bool = True, binds: str = WHOLE
    ) -> None:
        self.text, self.name, self.is_steady, self.binds = text, name, is_steady, binds

    def __bool__(self) -> bool:
        raise TypeError("a column is neither true nor false: use `&`, `|` and `~`")

    def alias(self, name: str) -> "Column":
        """The same under a name."""
        return Column(self.text, name, is_steady=self.is_steady, binds=self.binds)

    def _with(self, form: str, *others: object, binds: str = TEST) -> "Column":
        """This and other operands, put into a form."""
        columns = [self, *map(literal, others)]
        open_to = _OPEN_TO.get(binds, ())
        texts = (
            column.text if column.binds in (WHOLE, *open_to) else f"({column.text})"
            for column in columns
        )
        is_steady = all(column.is_steady for column in columns)
        return Column(form.format(*texts), is_steady=is_steady, binds=binds)

    def __add__(self, other: object) -> "Column":
        return self._with("{} + {}", other, binds=VALUE)

    def __sub__(self, other: object) -> "Column":
        return self._with("{} - {}", other, binds=VALUE)

    def __mul__(self, other: object) -> "Column":
        return self._with("{} * {}", other, binds=VALUE)

    def __truediv__(self, other: object) -> "Column":
        return self._with("{} / {}", other, binds=VALUE)

    def __neg__(self) -> "Column":
        return self._with("- {}", binds=VALUE)

    def __and__(self, other: object) -> "Column":
        return self._with("{} AND {}", other, binds=AND)

    def __or__(self, other: object) -> "Column":
        return self._with("{} OR {}", other, binds=OR)

    def __invert__(self) -> "Column":
        return self._with("NOT {}", binds=NOT)

    def __eq__(self, other: object) -> "Column":  # type: ignore[override]
        return self._with("{} = {}", other)

    def __ne__(self, other: object) -> "Column":  # type: ignore[override]
        return ~(self == other)

    def __lt__(self, other: object) -> "Column":
        return self._with("{} < {}", other)

    def __le__(self, other: object) -> "Column":
        return self._with("{} <= {}", other)

    def __gt__(self, other: object) -> "Column":
        return self._with("{} > {}", other)

    def __ge__(self, other: object) -> "Column":
        return self._with("{} >= {}", other)

    def __getitem__(self, key: object) -> "Column":
        return self._with("{}[{}]", key, binds=WHOLE)

    def eqNullSafe(self, other: object) -> "Column":
        """Equal, or both null."""
        return self._with("{} <=> {}", other)

    def bitwiseXOR(self, other: object) -> "Column":
        """Bits that differ."""
        return self._with("{} ^ {}", other, binds=VALUE)

    def between(self, least: object, most: object) -> "Column":
        """Not less and not more."""
        return self._with("{0} >= {1} AND {0} <= {2}", least, most, binds=AND)

    def isin(self, *values: object) -> "Column":
        """One of some values."""
        places = ", ".join(["{}"] * len(values))
        return self._with(f"{{}} IN ({places})", *values) if values else literal(False)

    def rlike(self, pattern: str) -> "Column":
        """Has a match of a regular expression."""
        return self._with("{} RLIKE {}", pattern)

    def isNull(self) -> "Column":
        """Not known."""
        return self._with("{} IS NULL")

    def isNotNull(self) -> "Column":
        """Known."""
        return self._with("{} IS NOT NULL")

    def cast(self, kind: Any) -> "Column":
        """As another type: its name in SQL, or PySpark's."""
        name = kind if isinstance(kind, str) else kind.simpleString()
        return Column(f"CAST({self.text} AS {name})", is_steady=self.is_steady)

    def over(self, window: "WindowSpec") -> "Column":
        """Of the rows of a window."""
        return Column(f"{self.text} OVER ({window.text})", is_steady=self.is_steady)


class Cases(Column):
    """`CASE WHEN ... THEN ...`: more cases may follow."""

    __slots__ = ("_parts",)

    def __init__(self, parts: Iterable[tuple[Column | None, Column]]) -> None:
        self._parts = tuple(parts)
        text = "".join(
            f" ELSE {value.text}" if test is None else f" WHEN {test.text} THEN {value.text}"
            for test, value in self._parts
        )
        columns = [column for part in self._parts for column in part if column is not None]
        super().__init__(f"CASE{text} END", is_steady=all(column.is_steady for column in columns))

    def when(self, test: Column, value: object) -> "Cases":
        """Another case, where none before it holds."""
        return Cases((*self._parts, (test, literal(value))))

    def otherwise(self, value: object) -> Column:
        """Where none holds; null without it."""
        return Cases((*self._parts, (None, literal(value))))


def literal(value: object) -> Column:
    """A value as a column; a column as it is."""
    if isinstance(value, Column):
        return value
    if value is None or isinstance(value, bool):
        return Column({None: "NULL", True: "TRUE", False: "FALSE"}[value])
    if isinstance(value, float):  # without its letter it would be a decimal number
        return Column(f"{value!r}D" if value >= 0 else f"(- {-value!r}D)")
    if isinstance(value, int):
        return Column(str(value) if value >= 0 else f"(- {-value})")
    return Column(f"'{str(value).translate(_ESCAPES)}'")


def named(name: str) -> Column:
    """The column of a frame that is called so."""
    text = name.replace("`", "``").replace("{", "{{").replace("}", "}}")
    return Column(f"`{text}`", name)


def as_column(column: Column | str) -> Column:
    """A column, or the one that is called so."""
    return named(column) if isinstance(column, str) else column


def listed(columns: Iterable[Column | str]) -> str:
    """Columns with commas between them."""
    return ", ".join(as_column(column).text for column in columns)


class WindowSpec:
    """The rows that a function looks at, beside the one it is of."""

    def __init__(self, by: str = "", order: str = "", rows: str = "") -> None:
        self._by, self._order, self._rows = by, order, rows

    @property
    def text(self) -> str:
        """What stands after `OVER`."""
        return " ".join(part for part in (self._by, self._order, self._rows) if part)

    def orderBy(self, *columns: Column | str) -> "WindowSpec":
        """In an order."""
        return WindowSpec(self._by, "ORDER BY " + listed(columns), self._rows)

    def rowsBetween(self, first: int, last: int) -> "WindowSpec":
        """From one row to another, as `Window` calls them."""
        return WindowSpec(
            self._by, self._order, f"ROWS BETWEEN {_BOUNDS[first]} AND {_BOUNDS[last]}"
        )


class Window:
    """How windows begin."""

    unboundedPreceding: Final = -(1 << 63)
    unboundedFollowing: Final = (1 << 63) - 1
    currentRow: Final = 0

    @staticmethod
    def partitionBy(*columns: Column | str) -> WindowSpec:
        """Rows in which these are equal."""
        return WindowSpec("PARTITION BY " + listed(columns))


_BOUNDS: Final = {
    Window.unboundedPreceding: "UNBOUNDED PRECEDING",
    Window.unboundedFollowing: "UNBOUNDED FOLLOWING",
    Window.currentRow: "CURRENT ROW",
}
