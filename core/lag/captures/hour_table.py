"""Captures rolled up by the hour or day: what the table `hours` holds, how it is read and replaced.

    DIR/hours/cluster=<id>/date=2026-11-21/kind=marks    one row an hour: which captures it was
                                           kind=series   one row a series and hour
                                           kind=peaks    one row an hour and key of a report

A day is written in one commit, and then its captures go: who reads `captures` and `rows` first
and `hours` last, and takes nothing of an hour that is in `hours`, sees each hour once. What has
captures of more than one hour stands for all of its day; months are beside (`month_table`).
"""

from calendar import monthrange
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kgroups.core.lag.captures.capture_files import whole_files
from kgroups.core.lag.captures.delta_log import opened
from kgroups.core.lag.captures.delta_table import (
    DATE,
    EVER,
    SETTINGS,
    TIME,
    ActiveFile,
    Days,
    append,
    files_of,
    replace_day,
    rows_in,
)
from kgroups.core.lag.captures.table_columns import CAPTURE, arrow_schema
from kgroups.core.lag.rules import END_OF, Isolation, Uncommitted
from kgroups.core.lag.stores.places import Place, failures_told

HOURS: Final = "hours"
HOUR_MS: Final = 3_600_000
HOURS_A_DAY: Final = 24
DAY_MS: Final = HOURS_A_DAY * HOUR_MS
LENGTHS: Final = ("hours", "days", "months")
"""The keys that captures are rolled up by."""
MARKS, SERIES, PEAKS = "marks", "series", "peaks"
PARTITIONS: Final = ("cluster", "date", "kind")
HourKey = tuple[str, int]
"""A cluster, and hours since the epoch."""

# What moves on within an hour, and the column of `rows` that says where it is.
MOVING: Mapping[str, str] = MappingProxyType(
    {
        "end": END_OF["read_uncommitted"],
        "stable": END_OF["read_committed"],
        "start": "log_start_offset",
        "committed": "committed_offset",
    }
)
# What goes back only where a topic is made anew or a log truncated.
ENDS: Final = ("end", "stable")


class Reading(NamedTuple):
    """How lag is read: to which end, and from where without a commit."""

    isolation: Isolation
    uncommitted: Uncommitted | None


LAGS: Mapping[str, Reading] = MappingProxyType(
    {
        "lag": Reading("read_uncommitted", None),
        "stable_lag": Reading("read_committed", None),
        "start_lag": Reading("read_uncommitted", "start"),
        "stable_start_lag": Reading("read_committed", "start"),
    }
)
"""Lag as each question reads it; from the end there is none where there is no commit."""


def lag_of(reading: Reading) -> str:
    """The name in `LAGS` of what is read from commits or, without them, from log start."""
    return next(name for name, how in LAGS.items() if how == reading)


@cache
def hours_schema() -> pa.Schema:
    """All columns but `date`; those that a kind of row does not have are null.

    Of marks: `times` of the captures, of which `rows` of `unstable_rows` and `schema_version` are
    as in `captures`. Of a series: its newest row of the hour (in `table_columns.ROWS`) and of how
    many `captures` it was part; of each of `MOVING` the first and last that was known, when that
    was, and by how much it went ahead between them; when an end last went back; least, most and
    sum of lag, and how often it was known. Of peaks: the grouping (`by`), its key, and the most
    lag of the key and of one of its partitions in any capture. `by` of a month's mark: the files
    that it was made of (`month_table`).
    """
    long = pa.int64()
    numbers = [
        *("hour_first_ms", "hour_last_ms", "rows", "unstable_rows", "schema_version", "captures"),
        *(f"{name}_{what}" for name in MOVING for what in WITHIN),
        *(f"{name}_reset_ms" for name in ENDS),
        *(f"{name}_{what}" for name in ("lag", "stable_lag") for what in ("least", "sum", "known")),
        *(f"{name}_most" for name in LAGS),
        *(f"{name}_most_ms" for name in LAGS),
        *(f"partition_{name}_most" for name in LAGS),
    ]
    facts = [field for field in arrow_schema("rows") if field.name not in {c.name for c in CAPTURE}]
    return pa.schema(
        [
            pa.field(TIME, long, False),
            pa.field("cluster", pa.string(), False),
            pa.field("kind", pa.string(), False),
            pa.field("times", pa.list_(pa.field("element", long, False))),
            *(pa.field(name, long) for name in numbers),
            pa.field("by", pa.string()),
            *(field.with_nullable(True) for field in facts),
        ]
    )


WITHIN: Final = ("first", "first_ms", "last", "last_ms", "added")
# Of an hour: its captures, and what is asked of them before a row is read.
MARK_COLUMNS: Final = (
    *(TIME, "cluster", "hour_first_ms", "times"),
    *("rows", "unstable_rows", "schema_version", "by"),
)


HourFiles = Mapping[str, Sequence[ActiveFile]]
"""The files of each kind."""
NO_FILES: Final[HourFiles] = MappingProxyType({MARKS: (), SERIES: (), PEAKS: ()})


class RolledHours(NamedTuple):
    """Hours of some days that are rolled up.

    Args:
        marks: in `MARK_COLUMNS`, with `date`.
    """

    marks: pa.Table
    files: HourFiles

    @property
    def keys(self) -> set[HourKey]:
        """Cluster and number of each hour; of days and months all of their hours."""
        keys = set(hour_keys(self.marks))
        for (cluster, last), length in zip(hour_keys(self.marks), self._lengths(), strict=True):
            if length == "days":
                midnight = last - last % HOURS_A_DAY
                keys |= {(cluster, midnight + hour) for hour in range(HOURS_A_DAY)}
            elif length == "months":
                keys |= {(cluster, hour) for hour in hours_of_month(last)}
        return keys

    def _lengths(self) -> list[str]:
        first, last = (self.marks[name].to_pylist() for name in ("hour_first_ms", TIME))
        return [length_of(*pair) for pair in zip(first, last, strict=True)]

    def by_length(self) -> dict[str, list[int]]:
        """The last captures of each of `LENGTHS`."""
        times: dict[str, list[int]] = {length: [] for length in LENGTHS}
        for last_ms, length in zip(self.marks[TIME].to_pylist(), self._lengths(), strict=True):
            times[length].append(last_ms)
        return times

    @property
    def times(self) -> pa.Array:
        """When the captures were taken that are rolled up."""
        return pc.list_flatten(self.marks["times"].combine_chunks())

    def inside(self, since_ms: int | None, until_ms: int | None) -> "RolledHours":
        """Those of which every capture is in a window, both ends included."""
        marks = self.marks
        if since_ms is not None:
            marks = marks.filter(pc.greater_equal(marks["hour_first_ms"], since_ms))
        if until_ms is not None:
            marks = marks.filter(pc.less_equal(marks[TIME], until_ms))
        days = set(zip(marks["cluster"].to_pylist(), marks["date"].to_pylist(), strict=True))
        return RolledHours(marks, self.files).only(days)

    def only(self, dates: Collection[tuple[str, str]]) -> "RolledHours":
        """Those of some clusters and dates."""
        pairs = zip(self.marks["cluster"].to_pylist(), self.marks["date"].to_pylist(), strict=True)
        files = {
            kind: [file for file in own if (file.cluster, file.date) in dates]
            for kind, own in self.files.items()
        }
        kept = pa.array([pair in dates for pair in pairs], pa.bool_())
        return RolledHours(self.marks.filter(kept), files)

    def together(self, other: "RolledHours") -> "RolledHours":
        """Those of both."""
        files = {kind: [*own, *other.files[kind]] for kind, own in self.files.items()}
        return RolledHours(pa.concat_tables([self.marks, other.marks]), files)


def length_of(first_ms: int, last_ms: int) -> str:
    """The length of the roll-up between two captures, as `LENGTHS` calls it."""
    if first_ms // HOUR_MS == last_ms // HOUR_MS:
        return "hours"
    return "days" if first_ms // DAY_MS == last_ms // DAY_MS else "months"


def hours_of_month(hour: int) -> range:
    """The numbers of the hours of the month (UTC) that has this one."""
    first = datetime.fromtimestamp(hour * HOUR_MS / 1000, UTC).replace(day=1, hour=0)
    begin = round(first.timestamp() * 1000) // HOUR_MS
    return range(begin, begin + monthrange(first.year, first.month)[1] * HOURS_A_DAY)


def hour_keys(captures: pa.Table) -> Iterator[HourKey]:
    """Cluster and number of the hour of each capture."""
    for cluster, at_ms in zip(*(captures[n].to_pylist() for n in ("cluster", TIME)), strict=True):
        yield cluster, at_ms // HOUR_MS


def hour_files(folder: Place, days: Days = EVER) -> HourFiles:
    """The files of some days.

    Raises:
        KgroupsError: the log of the table cannot be read.
    """
    delta = opened(folder, HOURS)
    return NO_FILES if delta is None else by_kind(files_of(delta, folder / HOURS, days))


def by_kind(files: Sequence[ActiveFile], prefix: str = "") -> HourFiles:
    """Files by their kinds, which may have names that begin with a prefix."""
    return {
        kind: [file for file in files if f"/kind={prefix}{kind}/" in file.path] for kind in NO_FILES
    }


def read_hours(files: HourFiles) -> RolledHours:
    """Which hours these files have."""
    schema = pa.schema([hours_schema().field(name) for name in MARK_COLUMNS]).append(DATE)
    marks = files[MARKS]
    with failures_told(marks[0].place if marks else None):
        return RolledHours(pa.Table.from_batches(rows_in(marks, schema), schema=schema), files)


def hours_of_day(folder: Place, cluster: str, date: str) -> RolledHours:
    """The hours of a cluster and date.

    Raises:
        KgroupsError: the log of the table cannot be read.
    """
    files = hour_files(folder, Days(date, date))
    return read_hours(
        {kind: [file for file in own if file.cluster == cluster] for kind, own in files.items()}
    )


def merge_hours(
    folder: Place, cluster: str, date: str, merged: Callable[[pa.Table], pa.Table]
) -> tuple[int, int]:
    """One commit with what a function makes of the rows of a cluster and date.

    Args:
        merged: rows in `hours_schema` with `date`, of rows in the same.
    Returns:
        How many files and rows were merged; none where a file cannot be read, or another commit
        has changed that day since: the table is as it was then.
    Raises:
        KgroupsError: it cannot be written.
    """
    delta = opened(folder, HOURS)
    assert delta is not None, "it has hours"
    all_files = files_of(delta, folder / HOURS, Days(date, date))
    files = [file for file in all_files if file.cluster == cluster]
    if whole_files(files)[1]:
        return 0, 0
    schema = hours_schema().append(DATE)
    rows = pa.Table.from_batches(rows_in(files, schema), schema=schema)
    batches = merged(rows).select(schema.names).to_batches()
    is_done = replace_day(folder / HOURS, delta, cluster, date, batches)
    return (len(files), rows.num_rows) if is_done else (0, 0)


def replace_hours(
    folder: Place, cluster: str, date: str, content: Iterable[pa.RecordBatch]
) -> bool:
    """One commit with the hours of a cluster and date, those that were there before included.

    Args:
        content: in `hours_schema` with `date`.
    Returns:
        False where another commit has changed that day since; the table is as it left it.
    Raises:
        KgroupsError: it cannot be written.
    """
    delta = opened(folder, HOURS)
    assert delta is not None, "made before"
    return replace_day(folder / HOURS, delta, cluster, date, content)


def make_hours(folder: Place) -> None:
    """Makes the table if it is not there.

    Raises:
        KgroupsError: it cannot be written.
    """
    if opened(folder, HOURS) is None:
        # Statistics of the first column alone: of the other sixty nobody asks for any.
        settings = {**SETTINGS, "delta.dataSkippingNumIndexedCols": "1"}
        empty = hours_schema().append(DATE).empty_table()
        append(folder, HOURS, empty, partitions=PARTITIONS, settings=settings)
