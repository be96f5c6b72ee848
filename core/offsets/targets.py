"""The small language of offsets: where a partition is to be put. Pure: the time of day is given."""

import datetime
import re
from dataclasses import dataclass
from typing import Final, Literal

from kgroups.core.errors import UsageError

TargetKind = Literal["earliest", "latest", "current", "offset", "shift", "time", "file", "group"]

FORMS: Final = (
    "earliest, latest, current, an offset (`1500`), a shift (`+10`, `-10`), a time with its zone "
    "(`2026-11-21T06:00:00Z`), a span of time (`1h30m`), `file:PATH` or `group:NAME`"
)

_WORDS: Final[dict[str, TargetKind]] = {
    "earliest": "earliest",
    "latest": "latest",
    "current": "current",
}
_UNITS_MS: Final = {
    "w": 604_800_000,
    "d": 86_400_000,
    "h": 3_600_000,
    "m": 60_000,
    "s": 1_000,
    "ms": 1,
}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|[wdhms])", re.ASCII)
_SPAN: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[wdhms]))+", re.ASCII)
_ISO_SPAN: Final = re.compile(
    r"P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.ASCII
)
_ISO_SIZES_MS: Final = (86_400_000, 3_600_000, 60_000, 1_000)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?", re.ASCII)
MAX_OFFSET: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Target:
    """Where partitions are to be put.

    Args:
        kind: which of the forms.
        number: the offset, the shift, or the time in epoch milliseconds; 0 for the other forms.
        name: the path of `file`, the group of `group`; empty for the other forms.
    """

    kind: TargetKind
    number: int = 0
    name: str = ""


def parse_target(text: str, now_ms: int) -> Target:
    """The target that a text names.

    Args:
        text: one of the forms of `FORMS`.
        now_ms: epoch milliseconds, from which a span of time counts back.
    Raises:
        UsageError: the text is none, or a time without zone, before 1970 or that never was.
    """
    word = text.strip()
    kind = _WORDS.get(word.lower())
    if kind is not None:
        return Target(kind)
    prefix, colon, name = word.partition(":")
    if colon and name and prefix in ("file", "group"):
        return Target("file" if prefix == "file" else "group", name=name)
    digits = word[1:] if word[:1] in "+-" and word else word
    if digits.isascii() and digits.isdecimal():
        if int(digits) > MAX_OFFSET:
            raise UsageError(f"`{text}` is larger than any offset")
        return Target("offset" if digits == word else "shift", int(word))
    if _MOMENT.fullmatch(word):
        return Target("time", _not_before_1970(_moment_ms(word), text))
    span_ms = span_of(word)
    if span_ms is not None:
        return Target("time", _not_before_1970(now_ms - span_ms, text))
    raise UsageError(f"`{text}` is no target", hint=f"one of {FORMS}")


def span_of(text: str) -> int | None:
    """Milliseconds of `90m`, `1h30m`, `2d` or ISO 8601's `PT1H30M`; None for any other text."""
    if _SPAN.fullmatch(text):
        return round(sum(float(size) * _UNITS_MS[unit] for size, unit in _PART.findall(text)))
    match = _ISO_SPAN.fullmatch(text.upper())
    if match is None:
        return None
    return round(
        sum(
            float(part or 0) * size
            for part, size in zip(match.groups(), _ISO_SIZES_MS, strict=True)
        )
    )


def _moment_ms(text: str) -> int:
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"`{text}` is no time", hint="write it like `2026-11-21T06:00:00Z`"
        ) from error
    if moment.tzinfo is None:
        raise UsageError(
            f"`{text}` has no zone", hint="add `Z` for UTC, or an offset like `+02:00`"
        )
    since = moment - datetime.datetime.fromtimestamp(0, datetime.UTC)
    return since // datetime.timedelta(milliseconds=1)


def _not_before_1970(time_ms: int, text: str) -> int:
    if time_ms < 0:  # ListOffsets takes negative times for codes of its own
        raise UsageError(f"`{text}` is before 1970")
    return time_ms
