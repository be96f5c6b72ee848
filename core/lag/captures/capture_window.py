"""The captures of a window of time: which there are, and the files that hold their rows.

Old captures may be rolled up by the hour (`hour_table`). An hour counts where all of it is inside
the window.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kgroups.core.errors import EmptyWindowError, ItemError, NotFoundError, UsageError, shorten
from kgroups.core.input_files.files import lies_at
from kgroups.core.lag.captures.capture_files import broken, rows_of_files, whole_files
from kgroups.core.lag.captures.delta_table import (
    CAPTURES,
    ActiveFile,
    Days,
    active_files,
    marks_in,
    utc_date,
)
from kgroups.core.lag.captures.hour_table import (
    MARKS,
    SERIES,
    HourKey,
    RolledHours,
    hour_files,
    hour_keys,
)
from kgroups.core.lag.captures.month_table import read_rolled
from kgroups.core.lag.captures.pending import move
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


@dataclass(frozen=True, slots=True)
class Window:
    """The captures in a window of time, and those that cannot be read.

    Args:
        files: that hold their rows.
        captures: in `delta_table.CAPTURES`.
        spans: cluster to its first and last capture in the window.
        hours: what is rolled up; its last captures are among `captures`. None: nothing is.
        facts: the files that have members and topics, by table.
        is_clean: whether the files hold every row once, and of these captures and times outside
            of the window only. Else a collector died, or two had the same time.
        broken: what is left out.
    """

    files: tuple[ActiveFile, ...]
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
    def _read(self) -> Iterator[ActiveFile]:
        yield from self.files
        if self.hours is not None:
            yield from self.hours.files[SERIES]


def open_window(
    folder: Place, *, since_ms: int | None = None, until_ms: int | None = None, strict: bool = False
) -> Window:
    """The captures of a window of time; what cannot be read is found before anybody reads it.

    Args:
        since_ms, until_ms: both included.
        strict: captures that cannot be read are a failure, not left out.
    Raises:
        EmptyWindowError: no captures in the window.
        NotFoundError: no such folder.
        UsageError: `strict`, and some captures cannot be read.
        KgroupsError: the log of a table cannot be read.
    """
    must_be_folder(folder)
    move(folder)
    look = _look(folder, since_ms, until_ms)
    if look.errors and strict:
        raise UsageError(
            f"capture `{look.errors[0].target}` cannot be read: {look.errors[0].message}",
            hint="delete it, or leave out --strict to report without it",
        )
    marks = _inside(look.marks, since_ms, until_ms)
    kept = marks.filter(pa.array(_are_kept(marks, look.left_out), pa.bool_()))
    hours = look.hours.inside(since_ms, until_ms)
    rolled = hours.marks.select(CAPTURES.names).cast(CAPTURES)
    captures = pa.concat_tables([kept.select(CAPTURES.names), rolled])
    if not captures.num_rows:
        hint = _what_there_is(folder)
        if look.hours.marks.num_rows:
            hint = "captures there are rolled up by the hour: choose a window of whole hours"
        raise EmptyWindowError(f"no captures in the window in `{folder}`", hint=hint)
    spans = {
        row["cluster"]: Span(row["captured_at_ms_min"], row["captured_at_ms_max"])
        for row in captures.group_by("cluster")
        .aggregate([("captured_at_ms", "min"), ("captured_at_ms", "max")])
        .to_pylist()
    }
    return Window(
        files=tuple(file for file in look.files if _overlaps(file, since_ms, until_ms)),
        captures=captures,
        spans=spans,
        is_clean=look.is_clean and _are_different(kept) and kept.num_rows == marks.num_rows,
        broken=look.errors,
        hours=hours if hours.marks.num_rows else None,
        facts=look.facts,
    )


def groups_in(windows: Iterable[Window]) -> set[str]:
    """The groups that there is anything of in some windows.

    Raises:
        KgroupsError: a file cannot be read.
    """
    schema = pa.schema([pa.field("group", pa.string())])
    names: set[str] = set()
    for window in windows:
        rolled = window.hours.files[SERIES] if window.hours is not None else ()
        members = whole_files(window.facts["members"])[0]
        for file in (*window.files, *rolled, *members):
            groups = rows_of_files(file.place, [file], schema)["group"]
            names.update(pc.unique(groups).to_pylist())
    return names


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
    spans = [(file.first_ms, file.last_ms) for file in active_files(folder, "captures")]
    spans += [(file.first_ms, file.last_ms) for file in hour_files(folder)[MARKS]]
    if not spans:
        return "collect some with `kgroups lag collect`"
    first, last = min(first for first, _ in spans), max(last for _, last in spans)
    return f"there are captures from {utc_time(first)} to {utc_time(last)}"


# --- the tables --------------------------------------------------------------------------------


class _Look(NamedTuple):
    """The contents of the tables for the days of a window.

    Args:
        marks: of captures that are not rolled up.
        files: with their rows, those that can be read.
        left_out: clusters and times of which nothing is read.
        is_clean: whether the files hold the rows of these captures and no other.
    """

    marks: pa.Table
    files: tuple[ActiveFile, ...]
    facts: Mapping[str, Sequence[ActiveFile]]
    hours: RolledHours
    left_out: Sequence[tuple[str, int, int]]
    is_clean: bool
    errors: tuple[ItemError, ...]


def _look(folder: Place, since_ms: int | None, until_ms: int | None) -> _Look:
    """Captures first, and then rows, which are there before them.

    Hours come last: who rolls up a day removes its captures after that. What they hold counts, and
    nothing else of them.
    """
    days = Days(
        None if since_ms is None else utc_date(since_ms),
        None if until_ms is None else utc_date(until_ms),
    )
    for _ in range(LOOKS):
        every = marks_in(active_files(folder, "captures", days))
        files = active_files(folder, "rows", days)
        facts = {table: active_files(folder, table, days) for table in ("members", "topics")}
        hours, errors = read_rolled(folder, days, set(hour_keys(every)), since_ms, until_ms)
        marks = every.filter(_are_outside(every, hours.keys))
        said, held = _rows_by_day(marks), _held_by_day(files)
        lacking = {day for day, rows in said.items() if held.get(day, 0) < rows}
        if not lacking:
            break
    files = [file for file in files if (file.cluster, file.date) in said]
    good, lost = whole_files(files)
    errors = (*lost, *errors)
    left_out = [(f.cluster, f.first_ms, f.last_ms) for f in files if f not in good]
    for day in sorted(lacking):
        rows = said[day] - held.get(day, 0)
        errors += (broken(f"{folder}: {day[0]}, {day[1]}", f"{rows} rows are missing"),)
        left_out.append((day[0], *_bounds(day[1])))
    inside = _inside(marks, since_ms, until_ms)
    newer = pc.sum(pc.greater(inside["schema_version"], SCHEMA_VERSION)).as_py()
    if newer:
        errors += (broken(folder, f"{newer} captures were written by a newer kgroups"),)
    is_clean = all(held.get(day, 0) == rows for day, rows in said.items())
    return _Look(marks, good, facts, hours, left_out, is_clean, errors)


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
