"""Durations and instants: the one grammar of every option and file.

    duration  500ms, 10s, 1.5m, 1h30m, 7d, 2w, 250us, PT1H30M
    instant   2026-11-21T06:00:00Z, 2026-11-21T08:00+02:00; 06:00 or 08:00+02:00, the last time
              it was that late; or a duration, counted back from now

A bare number has no unit and is refused, except where its one unit is documented (`bare`). A time
of day is in UTC unless it says otherwise, as all times are shown; a date without a zone is refused,
since whoever wrote it may have meant another. Pure: the time of day is an argument. Kafka's own
tools have a grammar of their own (`cli/official`).
"""

import datetime
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

from kgroups.core.errors import UsageError

_Zoned = TypeVar("_Zoned", datetime.datetime, datetime.time)

UNITS_MS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "us": 0.001,
        "ms": 1,
        "s": 1_000,
        "m": 60_000,
        "h": 3_600_000,
        "d": 86_400_000,
        "w": 604_800_000,
    }
)
# A hundred years: more is a slip of the pen, and a float would begin to lose milliseconds.
MAX_MS: Final = 100 * 366 * 86_400_000

_NUMBER: Final = r"\d{1,18}(?:\.\d{1,9})?"
# Compiled when first used, which re remembers: it takes longer than all else that is in here.
_PART: Final = rf"(?a)({_NUMBER})\s*(us|ms|[smhdw])"
_PARTS: Final = rf"(?a)(?:{_NUMBER}\s*(?:us|ms|[smhdw])\s*)+"
_BARE: Final = rf"(?a){_NUMBER}"
_ISO: Final = (
    r"(?a)P(?=.)(?:(\d{1,9})D)?"
    r"(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?"
)
_ISO_UNITS: Final = ("d", "h", "m", "s")
_CLOCK: Final = r"(?a)\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?"
_INSTANT: Final = rf"(?a)\d{{4}}-\d\d-\d\d(?:[T ].*)?|{_CLOCK[4:]}"


def duration_ms(text: str, *, bare: str | None = None) -> float | None:
    """Milliseconds of a duration; None for any other text, and beyond a hundred years.

    Args:
        bare: unit of a number without one; None refuses it.
    """
    word = text.strip()
    if re.fullmatch(_PARTS, word):
        total = sum(float(size) * UNITS_MS[unit] for size, unit in re.findall(_PART, word))
    elif bare is not None and re.fullmatch(_BARE, word):
        total = float(word) * UNITS_MS[bare]
    elif match := re.fullmatch(_ISO, word.upper()):
        sizes = zip(match.groups(), _ISO_UNITS, strict=True)
        total = sum(float(size or 0) * UNITS_MS[unit] for size, unit in sizes)
    else:
        return None
    return total if total <= MAX_MS else None


def parse_duration_ms(
    text: str, *, bare: str = "s", least_ms: float = 0, most_ms: float = MAX_MS
) -> float:
    """Milliseconds of a duration, fractions included.

    Args:
        bare: unit of a number without one, one of `UNITS_MS`.
        least_ms, most_ms: both ends are allowed.
    Raises:
        UsageError: not a duration, or out of these bounds.
    """
    duration = duration_ms(text, bare=bare)
    if duration is None:
        raise UsageError(f"`{text}` is not a duration", hint=duration_hint(bare))
    if not least_ms <= duration <= most_ms:
        unit = (re.findall(r"(?a)us|ms|[smhdw]", text.lower()) or [bare])[-1]
        ends = " to ".join(_in_unit(ms, unit) for ms in (least_ms, most_ms))
        raise UsageError(f"`{text}` is out of range", hint=f"allowed: {ends}")
    return duration


def _in_unit(ms: float, unit: str) -> str:
    """A bound in the unit of whoever exceeds it, as far as that is readable."""
    size = ms / UNITS_MS[unit]
    return f"{size:,.10g}{unit}" if ms == 0 or size >= 0.01 else show_ms(ms)


def duration_hint(bare: str = "s") -> str:
    """How a duration is written, for messages."""
    of = "seconds" if bare == "s" else "milliseconds"
    return f"write it like `500ms`, `10s` or `1h30m`; a bare number means {of}"


def parse_instant_ms(text: str, now_ms: int) -> int:
    """Epoch milliseconds of an ISO 8601 time with its zone, of the clock, or a duration ago.

    Raises:
        UsageError: neither, a date without a zone, that never was, or before 1970.
    """
    word = text.strip()
    if re.fullmatch(_INSTANT, word):
        instant = _clock_ms(word, now_ms) if re.fullmatch(_CLOCK, word) else _iso_ms(word)
    else:
        ago = duration_ms(word)
        if ago is None:
            raise UsageError(
                f"`{text}` is not a time",
                hint="write it like `2026-11-21T06:00Z`, `06:00` (UTC), or `2h` for two hours ago",
            )
        instant = now_ms - round(ago)
    if instant < 0:  # ListOffsets takes negative times for codes of its own
        raise UsageError(f"`{text}` is before 1970")
    return instant


def parse_moment_ms(text: str, now_ms: int) -> int:
    """As `parse_instant_ms`, of a time that has come.

    Raises:
        UsageError: it has not; or as of `parse_instant_ms`.
    """
    instant = parse_instant_ms(text, now_ms)
    if instant > now_ms:
        raise UsageError(f"`{text}` is in the future")
    return instant


def is_instant(text: str) -> bool:
    """Whether a text looks like a time of the calendar, valid or not."""
    return re.fullmatch(_INSTANT, text.strip()) is not None


def _iso_ms(text: str) -> int:
    return epoch_ms(_zoned(datetime.datetime, text))


def _clock_ms(text: str, now_ms: int) -> int:
    """The last time that clocks of a zone showed this; without a zone those of UTC."""
    clock = _zoned(datetime.time, text if re.search("[Z+-]", text) else f"{text}Z")
    now = instant_of(now_ms).astimezone(clock.tzinfo)
    instant = datetime.datetime.combine(now.date(), clock)
    return epoch_ms(instant if instant <= now else instant - datetime.timedelta(days=1))


def _zoned(kind: type[_Zoned], text: str) -> _Zoned:
    try:
        found = kind.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"`{text}` is not a time", hint="write it like `2026-11-21T06:00:00Z`"
        ) from error
    if found.tzinfo is None:
        raise UsageError(
            f"`{text}` has no zone", hint="add `Z` for UTC, or an offset like `+02:00`"
        )
    return found


def epoch_ms(instant: datetime.datetime) -> int:
    """Epoch milliseconds of a time that has a zone."""
    return (instant - instant_of(0)) // datetime.timedelta(milliseconds=1)


def instant_of(time_ms: int) -> datetime.datetime:
    """The time of epoch milliseconds, in UTC."""
    return datetime.datetime.fromtimestamp(0, datetime.UTC) + datetime.timedelta(
        milliseconds=time_ms
    )


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


def in_seconds(value: Any) -> Any:
    """An item of a document: durations that code keeps in `…_ms` are `…_seconds` there."""
    if isinstance(value, Mapping):
        return dict(_field_in_seconds(name, field) for name, field in value.items())
    return [in_seconds(entry) for entry in value] if isinstance(value, list | tuple) else value


def _field_in_seconds(name: str, value: Any) -> tuple[str, Any]:
    if name.endswith("_ms"):
        return name.removesuffix("_ms") + "_seconds", _seconds(value)
    return name, in_seconds(value)


def _seconds(value: Any) -> Any:
    if isinstance(value, int | float):
        return value / 1_000
    return [_seconds(e) for e in value] if isinstance(value, list | tuple) else in_seconds(value)


def timestamp(time_ms: int) -> str:
    """`2026-11-21T01:02:03.456Z` for epoch milliseconds."""
    return instant_of(time_ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")
