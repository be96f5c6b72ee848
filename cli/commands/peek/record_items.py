"""Records, gaps and ends of logs as items of `kgroups.peek/1`, and their columns."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kgroups.cli.commands.peek.record_values import SHOWN_BYTES, ValueReader, as_either
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.core.errors import ItemError, shorten
from kgroups.core.kafka.lookups.record_walk import Spot
from kgroups.core.lag.group_lag import OffsetRow
from kgroups.core.protocol.batches import Record
from kgroups.core.protocol.passage import Gap
from kgroups.core.times import timestamp

COLUMNS: Final = (
    Column("topic", "TOPIC", shared=True),
    Column("partition", "PARTITION", right=True),
    Column("committed_offset", "COMMITTED", right=True, verbose=True),
    Column("offset", "OFFSET", right=True),
    Column("distance", "DISTANCE", right=True, quiet=(None, 0)),
    Column("kind", "KIND"),
    Column("reason", "REASON", quiet=(None,)),
    Column("next_offset", "NEXT-OFFSET", right=True, verbose=True),
    Column("written_at", "WRITTEN-AT"),
    Column("age_seconds", "AGE-S", right=True, decimals=1),
    Column("size", "SIZE", right=True),
    Column("key", "KEY", quiet=(None,)),
    Column("headers", "HEADERS", quiet=("",)),
    Column("value", "VALUE", quiet=(None,)),
    Column("value_as"),
    Column("value_size", "VALUE-SIZE", right=True, verbose=True),
    Column("owner", "OWNER", quiet=(None,), is_member=True),
)
FIELDS: Final = [column.field for column in COLUMNS]


def size_of(record: Record) -> int:
    """Bytes of its key, its value, and its headers' names and values."""
    parts = [record.key, record.value, *(part for header in record.headers for part in header)]
    return sum(len(part or b"") for part in parts)


def record_items(
    row: OffsetRow, spots: Sequence[Spot], reader: ValueReader, now_ms: int
) -> Iterator[tuple[Item, ItemError | None]]:
    """The items of one partition, with what went wrong in showing a value.

    Args:
        row: the group's there.
        spots: in the order of the log.
        now_ms: epoch milliseconds that ages are counted back from.
    """
    committed = row.committed_offset or 0
    facts = {"topic": row.topic, "partition": row.partition, "committed_offset": committed}
    distance = -sum(isinstance(spot, Record) and spot.offset < committed for spot in spots)
    for spot in spots:
        item = dict.fromkeys(FIELDS) | facts | {"owner": row.member_id}
        item |= {"offset": spot.offset, "next_offset": spot.next_offset}
        error = None
        if isinstance(spot, Record):
            shown = reader.show(spot.value, row.topic, f"{row.topic}-{row.partition}@{spot.offset}")
            error = shown.error
            is_dated = spot.timestamp_ms >= 0
            item |= {
                "kind": "record",
                "distance": distance,
                "written_at": timestamp(spot.timestamp_ms) if is_dated else None,
                "age_seconds": max(0, now_ms - spot.timestamp_ms) / 1_000 if is_dated else None,
                "size": size_of(spot),
                "key": as_either(spot.key),
                "headers": [
                    {"name": as_either(name), "value": as_either(value)}
                    for name, value in spot.headers
                ],
                "value": shown.value,
                "value_as": shown.form,
                "value_size": None if spot.value is None else len(spot.value),
            }
            distance += 1
        else:
            item |= {"kind": "gap" if isinstance(spot, Gap) else "end", "reason": spot.reason}
        yield item, error


def _row(item: Item) -> Row:
    """An item in the order of the columns, as text where it has structure."""
    headers = " ".join(f"{h['name']}={h['value'] or ''}" for h in item["headers"] or ())
    value = item["value"]
    if value is not None and not isinstance(value, str):
        value = shorten(msgspec.json.encode(value).decode(), SHOWN_BYTES)
    return tuple({**item, "headers": headers, "value": value}[column.field] for column in COLUMNS)


VIEW: Final = View("record", COLUMNS, lambda item: [_row(item)])
