"""Captures kept as Parquet: written whole or not at all, found again by their times.

    DIR/rows/cluster=<id>/date=2026-11-21/<first ms>-<last ms>-<unique>.parquet
    DIR/members/...    DIR/topics/...

A file's name says which captures it holds, so that a window of time is found without opening
anything; `cluster` and `date` (UTC) are directories, as Spark and others prune them. Files are
written under a hidden name and renamed, so a run that dies leaves nothing that a reader sees, and
two at once never meet. No Spark is needed to collect.
"""

import contextlib
import os
import secrets
import stat
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from kgroups.core.errors import ItemError, KgroupsError, NotFoundError, UsageError, shorten
from kgroups.core.input_files.files import lies_at
from kgroups.core.lag.captures.capture_tables import CaptureTables
from kgroups.core.lag.captures.table_columns import SCHEMA_VERSION, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = CaptureTables._fields
VERSION_KEY = b"kgroups.schema"
# Of a file in which the last stable offset is known of every log that was measured.
STABLE_KEY = b"kgroups.last_stable_offset"
# The times of a file's captures, also of those without a row: the first, then the differences.
TIMES_KEY = b"kgroups.captured_at_ms"
# Rows that one task reads at least; a merged file is shared out by these.
ROW_GROUP = 131_072
# A file whose row groups are longer was made to fill the memory of whoever reads it.
LONGEST_GROUP = 8 * ROW_GROUP
# Hidden from Spark, DuckDB and our own reader.
UNFINISHED = ".unfinished-"
# How often a window is looked up again when files of it go away at that moment, and the pauses
# between: a compaction removes the files of a day one by one, for longer than five looks take.
LOOKS = 12
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.01, 1.0


class CapturedFile(NamedTuple):
    """A file of captures: its cluster, and the times of its first and last capture.

    Args:
        rows: how many it has; 0 until `readable` has looked into it.
        has_stable: whether it holds last stable offsets; False until then.
        times: of its captures, ascending; empty until then.
    """

    path: Path
    cluster: str
    date: str
    first_ms: int
    last_ms: int
    rows: int = 0
    has_stable: bool = False
    times: tuple[int, ...] = ()


class Span(NamedTuple):
    """The first and the last capture of a cluster in a window."""

    first_ms: int
    last_ms: int


@dataclass(frozen=True, slots=True)
class Window:
    """The files that have captures in a window of time, and those that cannot be read.

    Args:
        files: by cluster, then time; none whose captures are all in others.
        broken: files that are cut off, no Parquet, or of a newer kgroups.
        spans: cluster to its first and last capture in the window.
        has_twins: whether a capture may be in two of the files.
    """

    files: tuple[CapturedFile, ...]
    broken: tuple[ItemError, ...]
    spans: Mapping[str, Span]
    has_twins: bool = False

    @property
    def rows(self) -> int:
        """How many rows its files have, those outside the window included."""
        return sum(file.rows for file in self.files)


def utc_date(ms: int) -> str:
    """The UTC date of a time, as the directories spell it."""
    return datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()


def utc_time(ms: int) -> str:
    """A time as options take it, to the millisecond."""
    moment = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


# --- writing -----------------------------------------------------------------------------------


def write_file(
    folder: Path, table: str, content: "pa.Table", cluster: str, first_ms: int, last_ms: int
) -> Path:
    """Writes captures of one cluster and one day as one new file, atomically."""
    import pyarrow.compute as pc

    has_stable = _has_stable(content)
    times = pc.unique(content["captured_at_ms"]).to_pylist()
    return write_tables(
        folder,
        table,
        content.schema,
        [content],
        cluster,
        tuple(sorted({first_ms, *times, last_ms})),
        has_stable=has_stable,
    )


def _has_stable(content: "pa.Table") -> bool:
    """Whether the last stable offset is known of every log that was measured."""
    import pyarrow.compute as pc

    if "last_stable_offset" not in content.column_names:
        return False
    end, stable, error = (
        pc.is_valid(content[name]) for name in ("log_end_offset", "last_stable_offset", "error")
    )
    is_unknown = pc.and_(end, pc.invert(pc.or_(stable, error)))
    return not pc.any(is_unknown, min_count=0).as_py()


def write_tables(
    folder: Path,
    table: str,
    schema: "pa.Schema",
    contents: "Iterable[pa.Table]",
    cluster: str,
    times: Sequence[int],
    *,
    has_stable: bool,
) -> Path:
    """`write_file` of tables that need not be in memory together; all have `schema`.

    Args:
        times: of the captures, ascending.
    """
    import pyarrow.parquet as pq

    first_ms, last_ms = times[0], times[-1]
    place = folder / table / f"cluster={quote(cluster, safe='')}" / f"date={utc_date(first_ms)}"
    name = f"{first_ms}-{last_ms}-{secrets.token_hex(6)}.parquet"
    hidden = place / f"{UNFINISHED}{name}"
    if "cluster" in schema.names:
        schema = schema.remove(schema.get_field_index("cluster"))
    metadata = {VERSION_KEY: str(SCHEMA_VERSION).encode(), TIMES_KEY: _packed(times)}
    schema = schema.with_metadata(metadata | ({STABLE_KEY: b"known"} if has_stable else {}))
    try:
        place.mkdir(parents=True, exist_ok=True)
        with hidden.open("wb") as file:
            with pq.ParquetWriter(file, schema, compression="zstd") as writer:
                for content in contents:
                    rows = content.select(schema.names).replace_schema_metadata(schema.metadata)
                    writer.write_table(rows, row_group_size=ROW_GROUP)
            file.flush()
            os.fsync(file.fileno())
        return hidden.rename(place / name)
    except FileNotFoundError:
        raise  # one of `contents` is gone
    except OSError as exc:
        raise KgroupsError(
            f"capture `{place / name}` was not written: {exc.strerror}",
            hint="no partial file is left; free some space or choose another folder",
            code="NOT_WRITTEN",
        ) from exc
    finally:
        hidden.unlink(missing_ok=True)


# --- finding -----------------------------------------------------------------------------------


def find_captures(
    folder: Path, table: str = "rows", *, since_ms: int | None = None, until_ms: int | None = None
) -> list[CapturedFile]:
    """Files that may hold captures from `since_ms` to `until_ms`, both included.

    Raises:
        NotFoundError: there is no such folder.
    """
    if lies_at(folder) != "folder":
        raise NotFoundError(
            f"the folder `{shorten(str(folder))}` does not exist",
            hint="collect captures with `kgroups lag collect`",
        )
    found = []
    for path in (folder / table).glob("cluster=*/date=*/*.parquet"):
        file = _parse(path)
        if file is None:
            continue
        if (since_ms is None or file.last_ms >= since_ms) and (
            until_ms is None or file.first_ms <= until_ms
        ):
            found.append(file)
    return sorted(found, key=lambda file: (file.cluster, file.first_ms, file.path.name))


def _parse(path: Path) -> CapturedFile | None:
    """What a file's path says; None for a file that is not ours."""
    try:
        first, last, _unique = path.name.removesuffix(".parquet").split("-")
        day = date.fromisoformat(path.parent.name.removeprefix("date=")).isoformat()
        cluster = unquote(path.parents[1].name.removeprefix("cluster="))
        return CapturedFile(path, cluster, day, int(first), int(last))
    except ValueError:
        return None


def open_window(
    folder: Path, *, since_ms: int | None = None, until_ms: int | None = None, strict: bool = False
) -> Window:
    """The captures of a window of time, every file checked.

    Args:
        strict: a file that cannot be read is a failure, not left out.
    Raises:
        NotFoundError: no captures in the window.
        UsageError: `strict`, and a file cannot be read.
    """
    good, errors = _examined(folder, since_ms, until_ms, strict=strict)
    inside: dict[CapturedFile, frozenset[int]] = {}
    for file in good:
        low = 0 if since_ms is None else bisect_left(file.times, since_ms)
        high = len(file.times) if until_ms is None else bisect_right(file.times, until_ms)
        if low < high:
            inside[file] = frozenset(file.times[low:high])
    if not inside:
        every = find_captures(folder)
        hint = "collect some with `kgroups lag collect`"
        if every:
            first = min(file.first_ms for file in every)
            last = max(file.last_ms for file in every)
            hint = f"there are captures from {utc_time(first)} to {utc_time(last)}"
        raise NotFoundError(f"no captures in the window in `{folder}`", hint=hint)
    return _window(inside, errors)


def _window(inside: Mapping[CapturedFile, frozenset[int]], errors: tuple[ItemError, ...]) -> Window:
    """A window of files with these captures: of a merge that died, either what was merged or it."""
    seen: dict[str, set[int]] = {}
    used: set[CapturedFile] = set()
    has_twins = False
    for file, times in sorted(inside.items(), key=lambda pair: -len(pair[1])):
        known = seen.setdefault(file.cluster, set())
        if not times <= known:
            used.add(file)
            has_twins |= not known.isdisjoint(times)
            known |= times
    spans = {cluster: Span(min(times), max(times)) for cluster, times in seen.items()}
    return Window(tuple(file for file in inside if file in used), errors, spans, has_twins)


def readable(
    files: Sequence[CapturedFile], *, strict: bool = False
) -> tuple[tuple[CapturedFile, ...], tuple[ItemError, ...]]:
    """The files that can be read, and what is wrong with the others.

    Raises:
        UsageError: `strict`, and there are others.
        FileNotFoundError: one went away meanwhile.
    """
    looked_into = [(file, *_look_into(file)) for file in files]
    errors = tuple(
        ItemError(str(file.path), "BROKEN_CAPTURE", why, hint="delete it, or report without it")
        for file, why, _ in looked_into
        if why is not None
    )
    if errors and strict:
        raise UsageError(
            f"capture `{errors[0].target}` cannot be read: {errors[0].message}",
            hint="delete it, or leave out --strict to report without it",
        )
    return tuple(opened for _, why, opened in looked_into if why is None), errors


def looks() -> Iterator[None]:
    """As often as files that go away are looked up again, with growing pauses between."""
    for look in range(LOOKS):
        if look:
            time.sleep(min(FIRST_PAUSE_S * 2**look, LONGEST_PAUSE_S))
        yield


def _examined(
    folder: Path, since_ms: int | None, until_ms: int | None, *, strict: bool
) -> tuple[tuple[CapturedFile, ...], tuple[ItemError, ...]]:
    """The files of a window, `readable`; looked up again where one went away meanwhile."""
    for _ in looks():
        with contextlib.suppress(FileNotFoundError):  # merged into another file just now
            files = find_captures(folder, since_ms=since_ms, until_ms=until_ms)
            return readable(files, strict=strict)
    raise KgroupsError(
        f"the files in `{folder}` keep changing", hint="try again when `lag compact` has finished"
    )


def _look_into(file: CapturedFile) -> tuple[str | None, CapturedFile]:
    """Why a file cannot be read, None if it can as far as its footer tells; what that says of it.

    Raises:
        FileNotFoundError: it is gone.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if not stat.S_ISREG(file.path.stat().st_mode):
            return "it is not a regular file", file
        footer = pq.read_metadata(file.path)
    except FileNotFoundError:
        if file.path.is_symlink():
            return "it is a link to nothing", file
        raise
    except (pa.ArrowInvalid, pa.ArrowException, OSError) as exc:
        return f"truncated, or not a Parquet file ({str(exc).splitlines()[0]})", file
    said = footer.metadata or {}
    version = said.get(VERSION_KEY)
    if version is None or not version.isdigit():
        return "it was not written by kgroups", file
    if int(version) > SCHEMA_VERSION:
        return f"it was written by a newer kgroups (schema {int(version)})", file
    if any(footer.row_group(at).num_rows > LONGEST_GROUP for at in range(footer.num_row_groups)):
        return "its rows cannot be read a part at a time", file
    odd = _odd_column(footer.schema.to_arrow_schema(), file.path.parents[2].name)
    if odd is not None:
        return f"its column `{shorten(odd)}` is not as kgroups writes it", file
    has_stable = STABLE_KEY in said or not footer.num_rows
    try:
        times = _unpacked(said[TIMES_KEY]) if TIMES_KEY in said else _times_in(file)
    except (ValueError, pa.ArrowException, OSError) as exc:
        return f"the times of its captures cannot be read ({str(exc).splitlines()[0]})", file
    is_ascending = all(before < after for before, after in pairwise(times))
    if not is_ascending or (times[0], times[-1]) != (file.first_ms, file.last_ms):
        return "the times of its captures are not those of its name", file
    return None, file._replace(rows=footer.num_rows, has_stable=has_stable, times=times)


def _packed(times: Sequence[int]) -> bytes:
    """Ascending times as text: the first, then the differences."""
    gaps = (after - before for before, after in pairwise(times))
    return ",".join(map(str, (times[0], *gaps))).encode()


def _unpacked(text: bytes) -> tuple[int, ...]:
    return tuple(accumulate(map(int, text.split(b","))))


def _times_in(file: CapturedFile) -> tuple[int, ...]:
    """The times of the captures of a file that does not list them."""
    if file.first_ms == file.last_ms:
        return (file.first_ms,)
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    column = pq.read_table(file.path, columns=["captured_at_ms"])["captured_at_ms"]
    return tuple(sorted({file.first_ms, *pc.unique(column).to_pylist(), file.last_ms}))


def _odd_column(schema: "pa.Schema", table: str) -> str | None:
    """A column that is missing, or not of the type that it should have; None if there is none."""
    for column in arrow_schema(table):
        at = schema.get_field_index(column.name)
        is_missing = at < 0 and not column.nullable  # else a file from before it was added
        is_other = at >= 0 and schema.field(at).type != column.type
        if (is_missing or is_other) and column.name != "cluster":  # that, the directory says
            return str(column.name)
    return None
