"""The captures of a window of time: which there are, and the files that hold their rows.

Captures are in the tables (`delta_table`), in files of the old layout (`old_layout`), or in both;
old ones may be rolled up by the hour (`hour_table`). An hour counts where all of it is inside the
window.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kgroups.core.errors import ItemError, NotFoundError, UsageError, shorten
from kgroups.core.input_files.files import lies_at
from kgroups.core.lag.captures.delta_table import (
    CAPTURES,
    ActiveFile,
    Days,
    active_files,
    marks_in,
    utc_date,
)
from kgroups.core.lag.captures.file_checks import whole_files
from kgroups.core.lag.captures.hour_table import (
    HOUR_MS,
    MARKS,
    SERIES,
    HourKey,
    RolledHours,
    hour_files,
    hour_keys,
)
from kgroups.core.lag.captures.month_table import read_rolled
from kgroups.core.lag.captures.old_layout import CapturedFile, broken, find_captures, readable
from kgroups.core.lag.captures.table_columns import SCHEMA_VERSION
from kgroups.core.lag.stores.places import Place, Store, has_tables

# A capture has its row a moment after its facts: a reader between the two looks again.
LOOKS = 3
DAY_MS = 86_400_000
Day = tuple[str, str]


class Span(NamedTuple):
    """The first and the last capture of a cluster in a window."""

    first_ms: int
    last_ms: int


class RowFile(NamedTuple):
    """A Parquet file with rows of captures, those outside the window included."""

    place: Place
    path: str
    cluster: str
    date: str
    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class Window:
    """The captures in a window of time, and those that cannot be read.

    Args:
        files: that hold their rows.
        captures: in `delta_table.CAPTURES`; of the old layout the number of rows is not known.
        spans: cluster to its first and last capture in the window.
        hours: what is rolled up; its last captures are among `captures`. None: nothing is.
        facts: the files that have members and topics, by table.
        is_clean: whether the files hold every row once, and of these captures and times outside
            of the window only. Else a collector or a conversion died, or two had the same time.
        broken: what is left out.
    """

    files: tuple[RowFile, ...]
    captures: pa.Table
    spans: Mapping[str, Span]
    is_clean: bool
    broken: tuple[ItemError, ...]
    hours: RolledHours | None
    facts: Mapping[str, Sequence[ActiveFile]]

    @property
    def rows(self) -> int:
        """How many rows its files have, those outside the window included."""
        return sum(file.rows for file in self._read)

    @property
    def size(self) -> int:
        """How many bytes its files have."""
        return sum(file.size for file in self._read)

    @property
    def file_count(self) -> int:
        """How many files its rows are in."""
        return sum(1 for _ in self._read)

    @property
    def _read(self) -> Iterator[RowFile | ActiveFile]:
        yield from self.files
        if self.hours is not None:
            yield from self.hours.files[SERIES]


class _Part(NamedTuple):
    """What one of the layouts has in a window."""

    captures: pa.Table
    files: tuple[RowFile, ...]
    is_clean: bool
    broken: tuple[ItemError, ...]
    facts: Mapping[str, Sequence[ActiveFile]] = MappingProxyType({})
    hours: RolledHours | None = None


def open_window(
    folder: Place, *, since_ms: int | None = None, until_ms: int | None = None, strict: bool = False
) -> Window:
    """The captures of a window of time; what cannot be read is found before anybody reads it.

    Args:
        since_ms, until_ms: both included.
        strict: captures that cannot be read are a failure, not left out.
    Raises:
        NotFoundError: no captures in the window.
        UsageError: `strict`, and some captures cannot be read.
        KgroupsError: the log of a table cannot be read.
    """
    must_be_folder(folder)
    old_files = find_captures(folder, since_ms=since_ms, until_ms=until_ms)
    old_hours = {
        (file.cluster, hour)
        for file in old_files
        for hour in range(file.first_ms // HOUR_MS, file.last_ms // HOUR_MS + 1)
    }
    table = _table_part(folder, since_ms, until_ms, old_hours)
    old = _old_part(old_files, since_ms, until_ms, table)
    errors = (*old.broken, *table.broken)
    if errors and strict:
        raise UsageError(
            f"capture `{errors[0].target}` cannot be read: {errors[0].message}",
            hint="delete it, or leave out --strict to report without it",
        )
    captures = pa.concat_tables([table.captures, old.captures])
    hours = table.hours.inside(since_ms, until_ms) if table.hours is not None else None
    if not captures.num_rows:
        hint = _what_there_is(folder)
        if table.hours is not None:
            hint = "captures there are rolled up by the hour: choose a window of whole hours"
        raise NotFoundError(f"no captures in the window in `{folder}`", hint=hint)
    spans = {
        row["cluster"]: Span(row["captured_at_ms_min"], row["captured_at_ms_max"])
        for row in captures.group_by("cluster")
        .aggregate([("captured_at_ms", "min"), ("captured_at_ms", "max")])
        .to_pylist()
    }
    return Window(
        files=(*table.files, *old.files),
        captures=captures,
        spans=spans,
        is_clean=table.is_clean and old.is_clean,
        broken=errors,
        hours=hours if hours is not None and hours.marks.num_rows else None,
        facts=table.facts,
    )


def must_be_folder(folder: Place) -> None:
    """Fails where there is no such folder, or a store has no captures there.

    Raises:
        NotFoundError: there is none.
        ClusterError: the store cannot be reached or entered.
    """
    if isinstance(folder, Store):
        if not has_tables(folder):
            raise NotFoundError(
                f"there are no captures at `{shorten(str(folder))}`",
                hint="collect captures with `kgroups lag collect`",
            )
        return
    if lies_at(folder) != "folder":
        raise NotFoundError(
            f"the folder `{shorten(str(folder))}` does not exist",
            hint="collect captures with `kgroups lag collect`",
        )


def utc_time(ms: int) -> str:
    """A time as options take it, to the millisecond."""
    moment = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


def _what_there_is(folder: Place) -> str:
    """From when to when there are captures at all, as a hint."""
    spans = [(file.first_ms, file.last_ms) for file in find_captures(folder)]
    spans += [(file.first_ms, file.last_ms) for file in active_files(folder, "captures")]
    spans += [(file.first_ms, file.last_ms) for file in hour_files(folder)[MARKS]]
    if not spans:
        return "collect some with `kgroups lag collect`"
    first, last = min(first for first, _ in spans), max(last for _, last in spans)
    return f"there are captures from {utc_time(first)} to {utc_time(last)}"


# --- the tables --------------------------------------------------------------------------------


def _table_part(
    folder: Place, since_ms: int | None, until_ms: int | None, old_hours: Set[HourKey]
) -> _Part:
    """What the tables have: captures first, and then rows, which are there before them.

    Hours come last: who rolls up a day removes its captures after that. What they hold counts, and
    nothing else of them.

    Args:
        old_hours: of which there may be captures in the old layout.
    """
    days = Days(
        None if since_ms is None else utc_date(since_ms),
        None if until_ms is None else utc_date(until_ms),
    )
    for _look in range(LOOKS):
        every = marks_in(active_files(folder, "captures", days))
        files = active_files(folder, "rows", days)
        facts = {table: active_files(folder, table, days) for table in ("members", "topics")}
        open_hours = {*hour_keys(every), *old_hours}
        hours, lost = read_rolled(folder, days, open_hours, since_ms, until_ms)
        marks = every.filter(_are_outside(every, hours.keys))
        said, held = _rows_by_day(marks), _held_by_day(files)
        lacking = {day for day, rows in said.items() if held.get(day, 0) < rows}
        if not lacking:
            break
    files = [file for file in files if (file.cluster, file.date) in said]
    held = {day: rows for day, rows in held.items() if day in said}
    good, errors = whole_files(files)
    errors += lost
    left_out = [(f.cluster, f.first_ms, f.last_ms) for f in files if f not in good]
    for day in sorted(lacking):
        rows = said[day] - held.get(day, 0)
        errors += (broken(f"{folder}: {day[0]}, {day[1]}", f"{rows} rows are missing"),)
        left_out.append((day[0], *_bounds(day[1])))
    inside = _inside(marks, since_ms, until_ms)
    newer = pc.sum(pc.greater(inside["schema_version"], SCHEMA_VERSION)).as_py()
    if newer:
        errors += (broken(folder, f"{newer} captures were written by a newer kgroups"),)
    captures = inside.filter(pa.array(_are_kept(inside, left_out), pa.bool_()))
    unclean = {day for day, rows in held.items() if rows != said[day]}
    rolled = hours.inside(since_ms, until_ms).marks.select(CAPTURES.names).cast(CAPTURES)
    return _Part(
        pa.concat_tables([captures.select(CAPTURES.names), rolled]),
        tuple(
            RowFile(file.place, file.path, file.cluster, file.date, file.rows, file.size)
            for file in good
            if _overlaps(file, since_ms, until_ms)
        ),
        _are_different(captures) and not unclean and captures.num_rows == inside.num_rows,
        errors,
        facts,
        hours if hours.marks.num_rows else None,
    )


def _are_outside(captures: pa.Table, hours: Set[HourKey]) -> pa.Array:
    """Of each capture whether its hour is none of these."""
    if not hours:
        return pa.repeat(pa.scalar(True), captures.num_rows)
    return pa.array([key not in hours for key in hour_keys(captures)], pa.bool_())


def _bounds(date: str) -> tuple[int, int]:
    """The first and the last millisecond of a date (UTC)."""
    first_ms = round(datetime.fromisoformat(f"{date}T00:00Z").timestamp() * 1000)
    return first_ms, first_ms + DAY_MS - 1


def _are_kept(captures: pa.Table, left_out: Sequence[tuple[str, int, int]]) -> list[bool]:
    """Of each capture whether we can read it, and nothing of it is left out."""
    names = ("cluster", "captured_at_ms", "schema_version")
    return [
        version <= SCHEMA_VERSION
        and not any(cluster == of and first <= at_ms <= last for of, first, last in left_out)
        for cluster, at_ms, version in zip(*(captures[n].to_pylist() for n in names), strict=True)
    ]


DAY = ("cluster", "date")


def _rows_by_day(marks: pa.Table) -> dict[Day, int]:
    """How many rows the captures of each cluster and date have."""
    sums = marks.group_by(list(DAY)).aggregate([("rows", "sum")]).to_pylist()
    return {(row["cluster"], row["date"]): row["rows_sum"] for row in sums}


def _held_by_day(files: Iterable[ActiveFile]) -> dict[Day, int]:
    """How many rows the files of each cluster and date have."""
    held: dict[Day, int] = {}
    for file in files:
        day = file.cluster, file.date
        held[day] = held.get(day, 0) + file.rows
    return held


def _inside(marks: pa.Table, since_ms: int | None, until_ms: int | None) -> pa.Table:
    at_ms = marks["captured_at_ms"]
    if since_ms is not None:
        marks = marks.filter(pc.greater_equal(at_ms, since_ms))
    if until_ms is not None:
        marks = marks.filter(pc.less_equal(marks["captured_at_ms"], until_ms))
    return marks


def _overlaps(file: ActiveFile, since_ms: int | None, until_ms: int | None) -> bool:
    is_early = since_ms is not None and file.last_ms < since_ms
    return not is_early and (until_ms is None or file.first_ms <= until_ms)


def _are_different(captures: pa.Table) -> bool:
    """Whether no two captures of a cluster have the same time."""
    keys = captures.group_by(["cluster", "captured_at_ms"]).aggregate([])
    return bool(keys.num_rows == captures.num_rows)


# --- the old layout ----------------------------------------------------------------------------


def _old_part(
    files: Sequence[CapturedFile], since_ms: int | None, until_ms: int | None, table: _Part
) -> _Part:
    """What files of the old layout have that the table has not.

    Of a merge or a conversion that died, either what was merged or what it became.
    """
    good, errors = readable(files)
    seen: dict[str, set[int]] = {}
    hours = table.hours.keys if table.hours is not None else set()
    if good:
        for cluster, at_ms in zip(*(table.captures[n].to_pylist() for n in KEY), strict=True):
            seen.setdefault(cluster, set()).add(at_ms)
    marks: list[dict[str, object]] = []
    used: list[CapturedFile] = []
    is_clean = True
    for file in sorted(good, key=lambda file: -len(file.times)):
        times = {
            at_ms
            for at_ms in file.times
            if (since_ms is None or at_ms >= since_ms) and (until_ms is None or at_ms <= until_ms)
        }
        old = seen.setdefault(file.cluster, set())
        new = {at_ms for at_ms in times - old if (file.cluster, at_ms // HOUR_MS) not in hours}
        if new:
            used.append(file)
            is_clean &= new == times
            old |= new
            unstable = 0 if file.has_stable else 1
            marks += [
                {
                    "captured_at_ms": at_ms,
                    "cluster": file.cluster,
                    "rows": 0,
                    "unstable_rows": unstable,
                    "schema_version": SCHEMA_VERSION,
                }
                for at_ms in new
            ]
    rows = [
        RowFile(file.path.parent, str(file.path), file.cluster, file.date, file.rows, file.size)
        for file in used
    ]
    return _Part(pa.Table.from_pylist(marks, schema=CAPTURES), tuple(rows), is_clean, errors)


KEY = ("cluster", "captured_at_ms")
