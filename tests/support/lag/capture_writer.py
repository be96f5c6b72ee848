"""Rows of captures put into the tables, as collectors leave them."""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from kgroups.core.lag.captures.delta_table import append, dated, marks_of
from kgroups.core.lag.captures.table_columns import arrow_schema
from kgroups.core.lag.stores.places import Place

Row = Mapping[str, Any]
NOTHING = dict.fromkeys(arrow_schema("rows").names)


def captured_row(at_ms: int = 1, **facts: Any) -> dict[str, Any]:
    """A capture's row of partition t-0 and group g, unless told; what is not given is null."""
    usual = {
        "captured_at_ms": at_ms,
        "cluster": "c",
        "group": "g",
        "group_type": "classic",
        "topic": "t",
        "partition": 0,
        "commits_known": True,
    }
    return NOTHING | usual | facts


def table_of(name: str, rows: Iterable[Row]) -> pa.Table:
    """Rows of `rows`, `members` or `topics`."""
    return pa.Table.from_pylist(list(rows), schema=arrow_schema(name))


def write_finished(folder: Place, cluster: str, rows: Iterable[Row], times: Iterable[int]) -> None:
    """Captures of a cluster with these rows, taken at `times`, in one commit a table."""
    content = table_of("rows", rows)
    if content.num_rows:
        append(folder, "rows", dated(content))
    append(folder, "captures", marks_of(content, cluster, times))
