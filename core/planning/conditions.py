"""What `--fail-on` says: comparisons of a plan's figures, as a tree, and whether they hold.

    condition = all-of { "or" all-of }        all-of = comparison { "and" comparison }
    comparison = FIGURE ( > | >= | < | <= | == | != ) NUMBER [ "%" ]

A percentage is of what the figure counts: partitions, or members for `idle_members`.
"""

import dataclasses
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, NoReturn

from kgroups.core.errors import UsageError
from kgroups.core.planning.metrics import Metrics

FIGURES: Final = tuple(field.name for field in dataclasses.fields(Metrics))

OPERATORS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}

# Figure -> the one that it is a part of.
WHOLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            "kept",
            "moved",
            "forced",
            "newly_assigned",
            "lost",
            "unassigned",
            "unknown_lag_partitions",
            "partitions_min",
            "partitions_max",
        ),
        "partitions",
    ),
    "idle_members": "members",
}

# What follows from the sizes of shares, whichever partitions are in them.
BY_SIZE: Final = frozenset(
    {
        "partitions",
        "members",
        "newly_assigned",
        "lost",
        "partitions_min",
        "partitions_max",
        "stddev",
        "idle_members",
        "unassigned",
    }
)

_TOKEN = re.compile(
    r"\s*(?:(?P<sign>>=|<=|==|!=|>|<)|(?P<word>[A-Za-z_][\w-]*)|(?P<number>\d+(?:\.\d+)?%?))"
)
FORM: Final = (
    "METRIC OP NUMBER[%], joined by `and` and `or`, as in `moved > 10% or idle_members > 0`"
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure against a number; `text` is how it was written."""

    figure: str
    sign: str
    number: float
    percent: bool
    text: str

    def holds(self, metrics: Metrics, *, sizes_only: bool = False) -> bool | None:
        """Whether it is so; None if the figure is not known."""
        value = getattr(metrics, self.figure)
        if value is None or (sizes_only and self.figure not in BY_SIZE):
            return None
        if self.percent:
            whole = getattr(metrics, WHOLES[self.figure])
            value = 100 * value / whole if whole else 0.0
        return OPERATORS[self.sign](value, self.number)


@dataclass(frozen=True, slots=True)
class Condition:
    """Alternatives, each of comparisons that must hold together; `text` is how it was written."""

    any_of: tuple[tuple[Comparison, ...], ...]
    text: str

    def holds(self, metrics: Metrics, *, sizes_only: bool = False) -> bool | None:
        """Whether it is so; None if that depends on a figure that is not known.

        Args:
            sizes_only: whether only figures that follow from the sizes of shares are known: a
                plan whose confidence is `counts`.
        """
        answers = [
            _all([each.holds(metrics, sizes_only=sizes_only) for each in part])
            for part in self.any_of
        ]
        return True if True in answers else None if None in answers else False


def _all(answers: list[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


def parse_condition(text: str) -> Condition:
    """The condition that a text spells.

    Raises:
        UsageError: it cannot be understood; names the place.
    """
    tokens = _tokens(text)
    any_of: list[tuple[Comparison, ...]] = []
    together: list[Comparison] = []
    place = 0
    while True:
        together.append(_comparison(tokens, place, text))
        place += 3
        if place == len(tokens):
            break
        word = tokens[place]
        if word not in ("and", "or"):
            _refuse(text, f"expected `and` or `or`, found `{word}`")
        if word == "or":
            any_of.append(tuple(together))
            together = []
        place += 1
    return Condition((*any_of, tuple(together)), text.strip())


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    rest = text.rstrip()
    place = 0
    while place < len(rest):
        found = _TOKEN.match(rest, place)
        if found is None:
            _refuse(text, f"`{rest[place:].strip()}` is not valid")
        tokens.append(found[0].strip())
        place = found.end()
    return tokens


def _comparison(tokens: list[str], place: int, text: str) -> Comparison:
    expected = ("a metric", "one of " + " ".join(OPERATORS), "a number")
    for offset, what in enumerate(expected):
        if place + offset >= len(tokens):
            _refuse(text, f"expected {what} at the end")
    figure, sign, number = tokens[place : place + 3]
    known = figure.replace("-", "_").lower()
    if known not in FIGURES:
        close = get_close_matches(known, FIGURES, 1)
        guess = f"; did you mean `{close[0]}`?" if close else ""
        _refuse(text, f"unknown metric `{figure}`{guess}", "figures: " + ", ".join(FIGURES))
    if sign not in OPERATORS:
        _refuse(text, f"expected {expected[1]}, found `{sign}`")
    percent = number.endswith("%")
    digits = number.removesuffix("%")
    if not digits[:1].isdigit():
        _refuse(text, f"`{number}` is not a number")
    if percent and known not in WHOLES:
        _refuse(text, f"`{figure}` has no percentage")
    return Comparison(known, sign, float(digits), percent, f"{figure} {sign} {number}")


def _refuse(text: str, why: str, hint: str = f"expected {FORM}") -> NoReturn:
    raise UsageError(f"`--fail-on {text}`: {why}", hint=hint)
