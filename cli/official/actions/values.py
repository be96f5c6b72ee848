"""Values of options: moments, spans of time, and what `--topic` names."""

import datetime
import re
from collections.abc import Iterable
from typing import Final

from kgroups.cli.official.arguments import LateError
from kgroups.cli.official.validation import Misuse
from kgroups.core.offsets.scope import Scope
from kgroups.core.snapshot import TopicPartition

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_WHOLE_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)
_SPAN = re.compile(
    r"(?P<sign>[+-]?)P(?:(?P<days>[+-]?\d+)D)?"
    r"(?:T(?=[+-]?\d)(?:(?P<hours>[+-]?\d+)H)?(?:(?P<minutes>[+-]?\d+)M)?"
    r"(?:(?P<seconds>[+-]?\d+(?:\.\d{0,9})?)S)?)?",
    re.ASCII | re.IGNORECASE,
)
_UNITS_MS: Final = {"days": 86_400_000, "hours": 3_600_000, "minutes": 60_000}


def moment_ms(text: str) -> int:
    """Epoch milliseconds of a moment; without a zone it is in UTC, its fraction is a fraction.

    Raises:
        LateError: the text is none.
    """
    if "T" not in text:
        raise LateError(
            "java.text.ParseException: Error parsing timestamp. It does not contain a 'T' "
            "according to ISO8601 format"
        )
    match = _MOMENT.fullmatch(text)
    try:
        if match is None:
            raise ValueError(text)
        fraction_ms = int((match[2] or "0").ljust(3, "0")[:3])
        zone = match[3] or "Z"
        moment = datetime.datetime.fromisoformat(match[1] + ("+00:00" if zone == "Z" else zone))
    except ValueError as error:
        raise LateError(f'java.text.ParseException: Unparseable date: "{_zoned(text)}"') from error
    return round(moment.timestamp()) * 1_000 + fraction_ms


def span_ms(text: str) -> int:
    """Milliseconds of an ISO-8601 duration of days, hours, minutes, seconds.

    Raises:
        LateError: the text is none.
    """
    match = _SPAN.fullmatch(text)
    if match is None or not any(match[unit] for unit in (*_UNITS_MS, "seconds")):
        raise LateError("Text cannot be parsed to a Duration")
    total_ms = sum(int(match[unit] or 0) * size for unit, size in _UNITS_MS.items())
    total_ms += int(float(match["seconds"] or 0) * 1_000)
    return -total_ms if match["sign"] == "-" else total_ms


def _zoned(text: str) -> str:
    """The text as Kafka's tool reads it: with a zone."""
    time = text.partition("T")[2]
    return text if any(sign in time for sign in "Z+-") else text + "Z"


def scope_of(values: Iterable[str]) -> Scope:
    """The scope of these values, `t` or `t:0,1`.

    Raises:
        Misuse: a value with more than one colon, or with a partition that is no number.
    """
    topics: dict[str, None] = {}
    partitions: dict[TopicPartition, None] = {}
    for text in values:
        if ":" not in text:
            topics[text] = None
            continue
        topic, *rest = _split(text, ":")
        if len(rest) != 1:
            raise Misuse(f"Invalid topic arg '{text}', expected topic name and partitions")
        for number in _split(rest[0], ","):
            if not _WHOLE_NUMBER.fullmatch(number):
                raise Misuse(f"Invalid partition '{number}' specified in topic arg '{text}''")
            partitions[topic, int(number)] = None
    return Scope(tuple(topics), tuple(partitions))


def _split(text: str, separator: str) -> list[str]:
    """Parts as Java splits: empty ones at the end do not count."""
    parts = text.split(separator)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts
