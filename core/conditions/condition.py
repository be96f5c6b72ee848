"""Conditions as trees, and whether they hold: true, false, or unknown (None).

`and` is false as soon as one side is, `or` true as soon as one side is, whatever the other is; so
an unknown figure leaves open only what depends on it.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from kgroups.core.conditions.fields import AtLeast, Field, Value, Values, known

OPERATORS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
}
MATCHES: Final = "~"
HUNDRED: Final = 100


@dataclass(frozen=True, slots=True)
class Comparison:
    """A field against a number or a text.

    Args:
        sign: one of `OPERATORS`, or `~`; `==` is `=` here.
        operand: a number, of durations in seconds; a text; of `~` the pattern's text.
        percent: whether the number is a percentage of the field's whole.
        matches: of `~`, whether a whole text fits.
    """

    field: Field
    sign: str
    operand: float | str
    percent: bool
    text: str
    matches: Callable[[str], bool] | None = None

    def holds(self, values: Values) -> bool | None:
        """Whether it is so; None if the field, or what it is a part of, is not known."""
        value = values.get(self.field.name)
        if self.percent and self.field.whole is not None:
            value = _share(value, known(values.get(self.field.whole)))
        if value is None:
            return None
        if isinstance(value, AtLeast):
            return _of_a_part(self.sign, value.number, self.operand)
        if self.matches is not None:
            return self.matches(str(value))
        if isinstance(value, str) or isinstance(self.operand, str):
            return (value == self.operand) is (self.sign == "=")
        return OPERATORS[self.sign](value, self.operand)

    def comparisons(self) -> Iterator["Comparison"]:
        """Itself."""
        yield self


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition; of an unknown one unknown."""

    node: "Node"

    def holds(self, values: Values) -> bool | None:
        """Whether it is so."""
        answer = self.node.holds(values)
        return None if answer is None else not answer

    def comparisons(self) -> Iterator[Comparison]:
        """The comparisons in it, in the order of writing."""
        return self.node.comparisons()


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions of which all must hold, or any.

    Args:
        decisive: the answer of one that decides: False for `and`, True for `or`.
    """

    nodes: tuple["Node", ...]
    decisive: bool

    def holds(self, values: Values) -> bool | None:
        """Whether it is so."""
        answers = [node.holds(values) for node in self.nodes]
        if self.decisive in answers:
            return self.decisive
        return None if None in answers else not self.decisive

    def comparisons(self) -> Iterator[Comparison]:
        """The comparisons in it, in the order of writing."""
        for node in self.nodes:
            yield from node.comparisons()


Node = Comparison | Not | Joined


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as it was written (`text`) and as a tree."""

    root: Node
    text: str

    def holds(self, values: Values) -> bool | None:
        """Whether it is so; None if that depends on a figure that is not known."""
        return self.root.holds(values)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields that it looks at, wholes of percentages included."""
        names: dict[str, None] = {}
        for comparison in self.root.comparisons():
            names[comparison.field.name] = None
            if comparison.percent and comparison.field.whole is not None:
                names[comparison.field.whole] = None
        return tuple(names)

    def told(self, values: Values) -> Iterator[str]:
        """`moved is 3 of 9`: the figures that it names, with their values."""
        wholes: dict[str, str | None] = {}
        for comparison in self.root.comparisons():
            whole = comparison.field.whole if comparison.percent else None
            wholes[comparison.field.name] = whole or wholes.get(comparison.field.name)
        for name, whole in wholes.items():
            of = f" of {shown(values.get(whole))}" if whole else ""
            yield f"{name} is {shown(values.get(name))}{of}"


def shown(value: Value) -> str:
    """A value for people: two decimals, `unknown`, `at least 5`."""
    if value is None:
        return "unknown"
    if isinstance(value, AtLeast):
        return f"at least {shown(value.number)}"
    return str(round(value, 2) if isinstance(value, float) else value)


def _share(value: Value, whole: int | float | str | None) -> Value:
    """The value in hundredths of its whole; of nothing 0."""
    if value is None or whole is None or isinstance(value, str) or isinstance(whole, str):
        return None
    if isinstance(value, AtLeast):
        return AtLeast(HUNDRED * value.number / whole) if whole else None
    return HUNDRED * value / whole if whole else 0.0


def _of_a_part(sign: str, least: float, operand: float | str) -> bool | None:
    """Verdict of a lower bound; None where the part that is not known could decide otherwise."""
    if isinstance(operand, str):
        return None
    if sign in (">", ">="):
        return True if OPERATORS[sign](least, operand) else None
    if sign in ("<", "<="):
        return None if OPERATORS[sign](least, operand) else False
    return None if least <= operand else sign == "!="
