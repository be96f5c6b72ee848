"""Durations and rates as a scenario spells them: `250`, `10s`, `1.5m`; `100`, `20/s`, `5/m`."""

import re
from collections.abc import Mapping
from typing import Final

from kgroups.core.document import Cursor
from kgroups.core.errors import UsageError

UNITS_MS: Final[Mapping[str, float]] = {
    "us": 0.001,
    "ms": 1,
    "s": 1_000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
}
# A hundred years: more is a slip of the pen, and a float would begin to lose milliseconds.
MAX_MS: Final = 100 * 366 * 86_400_000

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s|m|h|d)?")
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:/\s*(ms|s|m|h|d))?")
_HINT: Final = "write 500ms, 10s, 5m, 2h or 1d; a bare number is milliseconds"


def parse_ms(text: str) -> float:
    """Milliseconds of `10s`, `500ms`, `250us` or a bare number of milliseconds.

    Raises:
        UsageError: not of that form, or longer than a hundred years.
    """
    match = _DURATION.fullmatch(text.strip())
    value = float(match[1]) * UNITS_MS[match[2] or "ms"] if match else -1.0
    if not 0 <= value <= MAX_MS:
        raise UsageError(f"`{text}` is not a duration", hint=_HINT)
    return value


def read_duration(cursor: Cursor) -> float:
    """A duration in ms, fractions allowed."""
    value = cursor.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not 0 <= value <= MAX_MS:
            cursor.fail(f"`{value}` is not a duration", hint=_HINT)
        return float(value)
    try:
        return parse_ms(cursor.text())
    except UsageError as error:
        cursor.fail(error.message, hint=error.hint)


def read_ms(cursor: Cursor) -> int:
    """A duration in whole ms."""
    value = read_duration(cursor)
    if value != int(value):
        cursor.fail(f"`{cursor.value}` is not a whole number of milliseconds", hint=_HINT)
    return int(value)


def read_rate(cursor: Cursor) -> float:
    """Records a second: a number, or a text as `20/s`, `5/m`."""
    value = cursor.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        rate = float(value)
    else:
        match = _RATE.fullmatch(cursor.text().strip())
        rate = float(match[1]) * 1_000 / UNITS_MS[match[2] or "s"] if match else -1.0
    if not 0 <= rate <= 1e9:
        cursor.fail(f"`{value}` is not a rate", hint="write records a second: 100, or 20/s, 5/m")
    return rate


def show_ms(value_ms: float) -> str:
    """`1h02m`, `3m20s`, `4.5s`, `12ms`: a duration for people."""
    if value_ms < 1_000:
        return f"{value_ms:.0f}ms"
    if value_ms < 60_000:
        return f"{value_ms / 1_000:.1f}s"
    seconds = round(value_ms / 1_000)
    if seconds < 3_600:
        return f"{seconds // 60}m{seconds % 60:02}s"
    return f"{seconds // 3_600}h{seconds % 3_600 // 60:02}m"
