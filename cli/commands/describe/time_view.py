"""Described groups with lag in time: more columns of partitions, more fields of items."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from kgroups.cli.lag_times import TimeQuestion
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.core.group_item import offset_item
from kgroups.core.lag.group_times import GroupTimes, TimeFigures

TIMES: Final = "times"
"""Where an item has its `GroupTimes` on the way to a table or a document."""
COLUMNS: Final = {
    "lag_seconds": Column("lag_seconds", "LAG-SECONDS", right=True),
    "lag_seconds_method": Column("lag_seconds_method", "METHOD", verbose=True),
    "rate_in": Column("rate_in", "RATE-IN", right=True),
    "rate_out": Column("rate_out", "RATE-OUT", right=True),
    "catch_up_seconds": Column("catch_up_seconds", "CATCH-UP-SECONDS", right=True),
}


OF_GROUPS: Final = ("stalled_partitions", "rebalances")
"""Fields of groups beside the rates."""


def fields_shown(question: TimeQuestion) -> tuple[str, ...]:
    """The fields that a question adds to partitions and groups."""
    ages = tuple(COLUMNS)[:2] if question.ages or question.records else ()
    rates = tuple(COLUMNS)[2:] if question.over_ms else ()
    return ages + rates


def timed_view(fields: Sequence[str], view: View) -> View:
    """The view of partitions with these columns behind the others."""

    def rows(item: Item) -> Iterator[Row]:
        by_partition, unknown = _by_partition(item), _unknown()
        for row in view.rows(item):
            figures = by_partition.get((row[1], row[2]), unknown)
            yield (*row, *(_rounded(getattr(figures, name)) for name in fields))

    return replace(view, columns=(*view.columns, *(COLUMNS[name] for name in fields)), rows=rows)


def timed_document(item: Item, fields: Sequence[str]) -> Item:
    """The item as a document, with these fields of the group and of each partition."""
    by_partition, unknown = _by_partition(item), _unknown()
    times: GroupTimes | None = item.get(TIMES)
    total = unknown if times is None else times.total
    document = {name: value for name, value in item.items() if name != TIMES}
    if item.get("offsets") is not None:
        document["offsets"] = [
            offset_item(row)
            | time_fields(by_partition.get((row.topic, row.partition), unknown), fields)
            for row in item["offsets"]
        ]
    if "rate_in" in fields:
        document |= {name: getattr(times, name, None) for name in OF_GROUPS}
    return document | time_fields(total, fields)


def _unknown() -> TimeFigures:
    return TimeFigures()


def _by_partition(item: Item) -> dict[tuple[str, int], TimeFigures]:
    """The figures of an item's partitions, however its rows are sorted."""
    times: GroupTimes | None = item.get(TIMES)
    return {} if times is None else dict(times.rows)


def time_fields(figures: TimeFigures, fields: Sequence[str]) -> dict[str, float | str | None]:
    """These fields of figures, to a millisecond."""
    return {name: _rounded(getattr(figures, name)) for name in fields}


def _rounded(value: float | str | None) -> float | str | None:
    return round(value, 3) if isinstance(value, float) else value
