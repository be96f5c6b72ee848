"""The hours of a day put together: each series, and each key that a report may have, one row.

Pure: a day in the columns of `hour_table`, as exact as an hour. Only what follows captures one by
one sees less of it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgroups.core.lag.captures.delta_table import TIME, dated
from kgroups.core.lag.captures.hour_roll_up import (
    LEAST,
    MOST,
    Known,
    Longs,
    codes,
    differs,
    longs,
    part,
    reduced,
)
from kgroups.core.lag.captures.hour_table import (
    ENDS,
    LAGS,
    MARKS,
    MOVING,
    PEAKS,
    SERIES,
)
from kgroups.core.lag.captures.table_columns import SCHEMA_VERSION, arrow_schema
from kgroups.core.lag.lag_query import KEYS


def day_of(hours: pa.Table) -> pa.Table:
    """A day of one cluster in `hour_table.hours_schema`, with `date`.

    Args:
        hours: all rows of its hours, in the same columns; one mark at least.
    """
    marks = _of_kind(hours, MARKS)
    last_ms = pc.max(marks[TIME]).as_py()
    of_day = {
        "cluster": marks["cluster"][0].as_py(),
        "hour_first_ms": pc.min(marks["hour_first_ms"]).as_py(),
        "hour_last_ms": last_ms,
    }
    parts = []
    series = _of_kind(hours, SERIES)
    if series.num_rows:
        parts.append(part(SERIES, of_day, _series(series)))
    peaks = _of_kind(hours, PEAKS)
    for by in pc.unique(peaks["by"]).to_pylist():
        own = peaks.filter(pc.equal(peaks["by"], by)).combine_chunks()
        parts.append(part(PEAKS, of_day, {"by": by, TIME: last_ms} | _peaks(own, by)))
    counts = {
        TIME: [last_ms],
        "times": [pc.list_flatten(marks["times"].combine_chunks()).to_pylist()],
        "captures": pc.sum(marks["captures"]).as_py(),
        "rows": sum(each.num_rows for each in parts[:1]),
        "unstable_rows": pc.sum(marks["unstable_rows"]).as_py(),
        "schema_version": SCHEMA_VERSION,
    }
    return dated(pa.concat_tables([part(MARKS, of_day, counts), *parts]))


def _of_kind(hours: pa.Table, kind: str) -> pa.Table:
    """Rows of one kind, by time."""
    return hours.filter(pc.equal(hours["kind"], kind)).sort_by(TIME).combine_chunks()


def _series(hours: pa.Table) -> dict[str, Any]:
    """The columns of the series."""
    own = codes(hours, KEYS["partition"][1:])
    order = np.argsort(own, kind="stable")  # by time within
    hours, own = hours.take(pa.array(order)), own[order]
    is_last = np.concatenate((differs(own)[1:], [True]))
    count = int(is_last.sum())
    newest = hours.filter(pa.array(is_last)).combine_chunks()
    columns: dict[str, Any] = {
        name: newest[name].combine_chunks()
        for name in arrow_schema("rows").names
        if name != "cluster"
    }

    def by_day(operation: Any, start: int, name: str) -> pa.Array:
        return reduced(operation, start, longs(hours, name), own, count).array()

    columns["captures"] = by_day(np.add, 0, "captures")
    for name in MOVING:
        columns |= _moves(name, hours, own, count)
    for name in LAGS:
        columns[f"{name}_most"] = by_day(np.maximum, LEAST, f"{name}_most")
        if f"{name}_least" in hours.column_names:
            columns[f"{name}_least"] = by_day(np.minimum, MOST, f"{name}_least")
            columns[f"{name}_sum"] = by_day(np.add, 0, f"{name}_sum")
            columns[f"{name}_known"] = by_day(np.add, 0, f"{name}_known")
    return columns


def _moves(name: str, hours: pa.Table, own: Longs, count: int) -> dict[str, pa.Array]:
    """From where to where something went in a day: within its hours, and from one to the next."""
    first = longs(hours, f"{name}_first")
    has_first = first.is_known
    has = np.zeros(count, bool)
    has[own[has_first]] = True
    series = own[has_first]
    facts = {
        what: longs(hours, f"{name}_{what}").values[has_first]
        for what in ("first", "first_ms", "last", "last_ms", "added")
    }
    is_first = differs(series) if len(series) else np.zeros(0, bool)
    is_last = np.concatenate((is_first[1:], is_first[:1]))
    before = np.concatenate((facts["last"][:1], facts["last"][:-1]))
    steps = np.where(is_first, 0, facts["first"] - before)
    ahead = Known(np.maximum(steps, 0) + facts["added"], np.ones(len(steps), bool))
    columns = {f"{name}_added": reduced(np.add, 0, ahead, series, count)}
    for what, chosen in (("first", is_first), ("last", is_last)):
        for column in (what, f"{what}_ms"):
            picked = np.zeros(count, np.int64)
            picked[series[chosen]] = facts[column][chosen]
            columns[f"{name}_{column}"] = Known(picked, has)
    if name in ENDS:
        within = longs(hours, f"{name}_reset_ms")
        between = Known(facts["first_ms"], steps < 0)
        columns[f"{name}_reset_ms"] = reduced(
            np.maximum,
            LEAST,
            Known(
                np.concatenate((within.values, between.values)),
                np.concatenate((within.is_known, between.is_known)),
            ),
            np.concatenate((own, series)),
            count,
        )
    return {column: value.array() for column, value in columns.items()}


def _peaks(hours: pa.Table, by: str) -> dict[str, Any]:
    """The keys but the cluster, and the most lag of each in any capture of the day."""
    names = [key for key in KEYS[by] if key != "cluster"]
    own = codes(hours, names)
    _, places = np.unique(own, return_index=True)
    shown = hours.select(names).take(pa.array(places)).combine_chunks()
    columns: dict[str, Any] = {name: shown[name].combine_chunks() for name in names}
    return columns | dict(_most(hours, own, len(places)))


def _most(hours: pa.Table, own: Longs, count: int) -> Iterator[tuple[str, pa.Array]]:
    for name in LAGS:
        lag, at_ms = longs(hours, f"{name}_most"), longs(hours, f"{name}_most_ms")
        # The last of each key in this order is its most, the first time that it was.
        order = np.lexsort((-at_ms.values, lag.values, lag.is_known, own))
        ends = order[np.concatenate((differs(own[order])[1:], [True]))]
        yield f"{name}_most", Known(lag.values[ends], lag.is_known[ends]).array()
        yield f"{name}_most_ms", Known(at_ms.values[ends], at_ms.is_known[ends]).array()
        most = longs(hours, f"partition_{name}_most")
        yield f"partition_{name}_most", reduced(np.maximum, LEAST, most, own, count).array()
