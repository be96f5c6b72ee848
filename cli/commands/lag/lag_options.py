"""Options that reports on lag share: `lag report`, `lag history`, and what they mean."""

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Annotated, Any

from kgroups.cli.captures import place_of
from kgroups.cli.usage import Text, Texts, option
from kgroups.core.conditions.condition import Condition
from kgroups.core.conditions.fields import SECONDS, Field, Fields
from kgroups.core.conditions.grammar import parse_conditions
from kgroups.core.errors import UsageError
from kgroups.core.times import parse_duration_ms, parse_instant_ms

DEFAULT_TOP = 100


Top = Annotated[int, option("--top N", "Show only the first N rows.", min=1)]
Sort = Annotated[Text, option("--sort COLUMN", "Sort by this column, highest first.")]
Sql = Annotated[Text, option("--sql SQL", "Show only rows for which this is true.")]
FailOn = Annotated[Texts, option("--fail-on EXPR", "Exit with 6 if a row meets this.")]
Over = Annotated[Text, option("--over TIME", "Length of the window: 24h (default), 7d.")]
Compare = Annotated[Text, option("--compare TIME", "Also report the window this long before: 7d.")]
Since = Annotated[Text, option("--since TIME", "Start of the window.")]
Until = Annotated[Text, option("--until TIME", "End of the window (default: now).")]
Master = Annotated[Text, option("--master URL", "Spark master.")]
Remote = Annotated[Text, option("--remote URL", "Spark Connect server.")]
SparkConf = Annotated[Texts, option("--conf KEY=VALUE", "A setting of Spark; repeatable.")]
RecordTimesToo = Annotated[
    bool, option("--record-times", "Fetch the next record of each lagging partition.")
]
# `Any` is a `Place`: typer takes no union of classes.
ParquetFile = Annotated[
    Any,
    option("--parquet FILE", "Also write the rows as Parquet, to a file or URI.", parser=place_of),
]


def conditions_on_rows(texts: Sequence[str]) -> tuple[Condition, ...]:
    """Conditions on the columns of lag reports, as the document's schema declares them.

    Raises:
        UsageError: one cannot be understood, or names a column that no report has.
    """
    return parse_conditions(texts, row_fields()) if texts else ()


def row_fields() -> Fields:
    """The columns of lag reports as fields of conditions."""
    columns = _columns("lag.report")
    return Fields("a lag report", (_field(name, column) for name, column in columns.items()))


def _field(name: str, column: dict[str, Any]) -> Field:
    is_number = not {"integer", "number"}.isdisjoint(column.get("type", ()))
    unit = SECONDS if "_seconds" in name and is_number else None
    meaning = column.get("description", name).removesuffix(".")
    meaning = meaning[:1].lower() + meaning[1:] if meaning[1:2].islower() else meaning
    return Field(name, "number" if is_number else "text", unit, meaning)


def _columns(document: str) -> dict[str, Any]:
    """Every column that rows of a document may have, as its schema declares it."""
    schema = json.loads(files("kgroups.cli.schemas").joinpath(f"{document}.json").read_bytes())
    columns: dict[str, Any] = schema["properties"]["items"]["items"]["properties"]
    return columns


def column_name(text: str | None, document: str) -> str | None:
    """A column as the report calls it, however the user spelled it.

    Raises:
        UsageError: no such report has it, whatever it is by: told before Spark is started.
    """
    if not text:
        return None
    name, columns = text.replace("-", "_").lower(), _columns(document)
    if name not in columns:
        raise UsageError(
            f"no lag report has a column `{text}` to sort by", hint="one of " + ", ".join(columns)
        )
    return name


def window_of(
    over: str | None, since: str | None, until: str | None, now_ms: int
) -> tuple[int, int]:
    """First and last millisecond of the window that the options name; 24 hours until now.

    Raises:
        UsageError: a time that cannot be read, or `--over` beside `--since`.
    """
    if over and since:
        raise UsageError(
            "`--over` and `--since` cannot be used together", hint="--over counts back from --until"
        )
    end_ms = parse_instant_ms(until, now_ms) if until else now_ms
    if since:
        return parse_instant_ms(since, now_ms), end_ms
    return end_ms - round(parse_duration_ms(over or "24h", least_ms=1_000)), end_ms
