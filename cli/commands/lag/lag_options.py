"""Options that reports on lag share: `lag report`, `lag history`, and what they mean."""

import re
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from kgroups.core.errors import UsageError

DEFAULT_TOP = 100
SPAN_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}

Top = Annotated[int, typer.Option("--top", metavar="N", min=1, help="Show only the first N rows.")]
Sort = Annotated[
    str | None, typer.Option("--sort", metavar="COLUMN", help="Sort by this column, highest first.")
]
Where = Annotated[
    str | None,
    typer.Option("--where", metavar="SQL", help="Show only rows for which this is true."),
]
Over = Annotated[
    str | None,
    typer.Option("--over", metavar="TIME", help="Length of the window: 24h (default), 7d."),
]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Start of the window.")]
Until = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="End of the window: now.")
]
Master = Annotated[str | None, typer.Option("--master", metavar="URL", help="Spark master.")]
Remote = Annotated[
    str | None, typer.Option("--remote", metavar="URL", help="Spark Connect server.")
]
RecordTimesToo = Annotated[
    bool,
    typer.Option("--record-times", help="Fetch the next record of each lagging partition."),
]
HtmlFile = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Also write an HTML page with charts.")
]
ParquetFile = Annotated[
    Path | None, typer.Option("--parquet", metavar="FILE", help="Also write the rows as Parquet.")
]


def column_name(text: str | None) -> str | None:
    """A column as the report calls it, however the user spelled it."""
    return text.replace("-", "_").lower() if text else None


def window_of(
    over: str | None, since: str | None, until: str | None, now_ms: int
) -> tuple[int, int]:
    """First and last millisecond of the window that the options name; 24 hours until now.

    Raises:
        UsageError: a time that cannot be read, or `--over` beside `--since`.
    """
    if over and since:
        raise UsageError(
            "`--over` and `--since` exclude each other", hint="--over counts back from --until"
        )
    end_ms = parse_time_ms(until) if until else now_ms
    if since:
        return parse_time_ms(since), end_ms
    return end_ms - parse_span_ms(over or "24h"), end_ms


def parse_time_ms(text: str) -> int:
    """Epoch milliseconds of an ISO 8601 time; local time where it names no offset.

    Raises:
        UsageError: it is none.
    """
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError as exc:
        raise UsageError(f"`{text}` is not a time", hint="write it like 2026-11-20T22:00Z") from exc


def parse_span_ms(text: str) -> int:
    """Milliseconds of `90m`, `24h` or `7d`.

    Raises:
        UsageError: it is no length of time, or none that is more than nothing.
    """
    match = re.fullmatch(r"(\d+)([smhdw])", text.strip())
    span_ms = int(match[1]) * SPAN_UNITS_MS[match[2]] if match else 0
    if span_ms == 0:
        raise UsageError(f"`{text}` is not a length of time", hint="write it like 90m, 24h or 7d")
    return span_ms
