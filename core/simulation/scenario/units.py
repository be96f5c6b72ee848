"""Durations and rates as a scenario spells them: `250`, `10s`, `1.5m`; `100`, `20/s`, `5/m`."""

import re
from dataclasses import replace
from typing import Final

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import Cursor
from kgroups.core.times import MAX_MS, UNITS_MS, duration_hint, parse_duration_ms

_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:/\s*(ms|s|m|h|d))?")
_HINT: Final = duration_hint("ms")


def parse_ms(text: str) -> float:
    """Milliseconds of a duration or of a bare number of milliseconds.

    Raises:
        UsageError: not of that form, or longer than a hundred years.
    """
    return parse_duration_ms(text, bare="ms")


def read_duration(cursor: Cursor) -> float:
    """A duration in ms, fractions allowed."""
    number = cursor.number
    if number is not None:
        if not 0 <= number <= MAX_MS:
            cursor.fail(f"`{number}` is not a duration", hint=_HINT)
        return float(number)
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


def read_positive_ms(cursor: Cursor) -> int:
    """A duration in whole ms that is not nothing."""
    duration = read_ms(cursor)
    if duration == 0:
        cursor.fail("expected more than 0")
    return duration


def read_seconds(cursor: Cursor) -> int:
    """Milliseconds of a duration whose bare number is seconds, as in a manifest of Kubernetes."""
    number = cursor.number
    return read_ms(cursor if number is None else replace(cursor, value=f"{number}s"))


def read_rate(cursor: Cursor) -> float:
    """Records a second: a number, or a text as `20/s`, `5/m`."""
    value = cursor.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        rate = float(value)
    else:
        match = _RATE.fullmatch(cursor.text().strip())
        rate = float(match[1]) * 1_000 / UNITS_MS[match[2] or "s"] if match else -1.0
    if not 0 <= rate <= 1e9:
        cursor.fail(f"`{value}` is not a rate", hint="write records per second: 100, or 20/s, 5/m")
    return rate


def value_text(value: object) -> str:
    """A value as the command line spells it: `true`, `app-1+app-2`, `0.5`."""
    if isinstance(value, tuple):
        return "+".join(value_text(part) for part in value)
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
