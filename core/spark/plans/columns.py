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


class Column:
    """An expression.

    Args:
        text: in Spark's SQL, to be put anywhere between operators.
        name: what the column is called; None: it has to be given one.
        is_steady: whether Spark knows that it is the same every time. Of `first` it does not.
    """

    __slots__ = ("is_steady", "name", "text")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str, name: str | None = None, *, is_steady: bool = True) -> None:
        self.text, self.name, self.is_steady = text, name, is_steady

    def __bool__(self) -> bool:
        raise TypeError("a column is neither true nor false: use `&`, `|` and `~`")

    def alias(self, name: str) -> "Column":
        """The same under a name."""
        return Column(self.text, name, is_steady=self.is_steady)

    def _with(self, form: str, *others: object) -> "Column":
        """This and other operands, put into a form."""
        columns = [literal(other) for other in others]
        text = form.format(self.text, *(column.text for column in columns))
        return Column(text, is_steady=all(column.is_steady for column in (self, *columns)))

    def __add__(self, other: object) -> "Column":
        return self._with("({} + {})", other)

    def __sub__(self, other: object) -> "Column":
        return self._with("({} - {})", other)

    def __mul__(self, other: object) -> "Column":
        return self._with("({} * {})", other)

    def __truediv__(self, other: object) -> "Column":
        return self._with("({} / {})", other)

    def __neg__(self) -> "Column":
        return self._with("(- {})")

    def __and__(self, other: object) -> "Column":
        return self._with("({} AND {})", other)

    def __or__(self, other: object) -> "Column":
        return self._with("({} OR {})", other)

    def __invert__(self) -> "Column":
        return self._with("(NOT {})")

    def __eq__(self, other: object) -> "Column":  # type: ignore[override]
        return self._with("({} = {})", other)

    def __ne__(self, other: object) -> "Column":  # type: ignore[override]
        return self._with("(NOT ({} = {}))", other)

    def __lt__(self, other: object) -> "Column":
        return self._with("({} < {})", other)

    def __le__(self, other: object) -> "Column":
        return self._with("({} <= {})", other)

    def __gt__(self, other: object) -> "Column":
        return self._with("({} > {})", other)

    def __ge__(self, other: object) -> "Column":
        return self._with("({} >= {})", other)

    def __getitem__(self, key: object) -> "Column":
        return self._with("{}[{}]", key)

    def eqNullSafe(self, other: object) -> "Column":
        """Equal, or both null."""
        return self._with("({} <=> {})", other)

    def bitwiseXOR(self, other: object) -> "Column":
        """Bits that differ."""
        return self._with("({} ^ {})", other)

    def between(self, least: object, most: object) -> "Column":
        """Not less and not more."""
        return self._with("({0} >= {1} AND {0} <= {2})", least, most)

    def isin(self, *values: object) -> "Column":
        """One of some values."""
        places = ", ".join(["{}"] * len(values))
        return self._with(f"({{}} IN ({places}))", *values) if values else literal(False)

    def rlike(self, pattern: str) -> "Column":
        """Has a match of a regular expression."""
        return self._with("({} RLIKE {})", pattern)

    def isNull(self) -> "Column":
        """Not known."""
        return self._with("({} IS NULL)")

    def isNotNull(self) -> "Column":
        """Known."""
        return self._with("({} IS NOT NULL)")

    def cast(self, kind: Any) -> "Column":
        """As another type: its name in SQL, or PySpark's."""
        name = kind if isinstance(kind, str) else kind.simpleString()
        return self._with("CAST({} AS " + name + ")")

    def over(self, window: "WindowSpec") -> "Column":
        """Of the rows of a window."""
        return self._with("{} OVER (" + window.text.replace("{", "{{").replace("}", "}}") + ")")


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
        super().__init__(f"(CASE{text} END)", is_steady=all(column.is_steady for column in columns))

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
