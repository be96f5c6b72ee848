"""Where a search looks: `session.timeout.ms=6s..60s`, `members=3..12`, `static=true,false`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from kgroups.core.errors import UsageError
from kgroups.core.simulation.scenario.variation import check_name
from kgroups.core.times import UNITS_MS, duration_ms

_BOUND: Final = re.compile(r"(\d{1,15})\s*([^\d\s.:]*)")
_HINT: Final = "write NAME=LOW..HIGH, NAME=LOW..HIGH:STEP or NAME=VALUE,VALUE"
# A range whose ends are further apart than this is searched by magnitude.
WIDE: Final = 10


@dataclass(frozen=True, slots=True)
class Dimension:
    """One setting and its values.

    Args:
        choices: its values, where they are listed; else every `step` from `low` to `high`.
    """

    name: str
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    step: int = 1
    unit: str = ""

    @property
    def size(self) -> int:
        """How many values it has."""
        return len(self.choices) or (self.high - self.low) // self.step + 1

    @property
    def wide(self) -> bool:
        """Whether magnitudes count, and not differences."""
        return self.step == 1 and self.low > 0 and self.high >= WIDE * self.low

    def text(self, value: int | str) -> str:
        """A value as it is given to a variation."""
        return value if isinstance(value, str) else f"{value}{self.unit}"

    def texts(self) -> list[str]:
        """Every value."""
        numbers = range(self.low, self.high + 1, self.step)
        return list(self.choices) or [self.text(number) for number in numbers]


def size_of(space: Sequence[Dimension]) -> int:
    """How many combinations there are."""
    return prod(dimension.size for dimension in space)


def parse_space(texts: Iterable[str]) -> tuple[Dimension, ...]:
    """The dimensions that these texts spell.

    Raises:
        UsageError: one cannot be understood, names nothing that varies, or is given twice.
    """
    dimensions: dict[str, Dimension] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values.strip():
            raise UsageError(f"`--search {text}` is not NAME=LOW..HIGH", hint=_HINT)
        check_name(name)
        if name in dimensions:
            raise UsageError(f"`--search {name}` is given twice")
        dimensions[name] = _dimension(name, values, text)
    return tuple(dimensions.values())


def _dimension(name: str, values: str, text: str) -> Dimension:
    low_text, dots, rest = values.partition("..")
    if not dots:
        listed = tuple(dict.fromkeys(value.strip() for value in values.split(",") if value.strip()))
        if not listed:
            raise UsageError(f"`--search {text}` has no values", hint=_HINT)
        return Dimension(name, listed)
    high_text, colon, step_text = rest.partition(":")
    numbers = [_number(p, text) for p in (low_text, high_text, *([step_text] if colon else []))]
    units = {unit for _, unit in numbers}
    if len(units) > 1:
        if not units <= UNITS_MS.keys():
            raise UsageError(f"`--search {text}` mixes units", hint=_HINT)
        whole = [duration_ms(f"{number}{unit}") or 0.0 for number, unit in numbers]
        numbers = [(int(number), "ms") for number in whole]
    (low, unit), (high, _), *more = numbers
    step = more[0][0] if more else 1
    if low > high or step < 1:
        raise UsageError(f"`--search {text}` is an empty range", hint=_HINT)
    return Dimension(name, (), low, high, step, unit)


def _number(text: str, whole: str) -> tuple[int, str]:
    match = _BOUND.fullmatch(text.strip())
    if match is None:
        hint = "write whole numbers with one unit: 6s..60s, 500ms..2s, 100/s..400/s"
        raise UsageError(f"`{text}` in `--search {whole}` is not a whole number", hint=hint)
    return int(match[1]), match[2]
