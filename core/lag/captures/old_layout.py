"""Captures as kgroups kept them before it had tables: found, checked and read, not written.

    DIR/rows/cluster=<id>/date=2026-11-21/<first ms>-<last ms>-<unique>.parquet
    DIR/members/...    DIR/topics/...

A file's name says which captures it holds, `cluster` and `date` (UTC) are directories, as in the
tables that are written today (`delta_table`), and a folder may have both.
"""

import stat
from collections.abc import Sequence
from datetime import date
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from kgroups.core.errors import ItemError, shorten
from kgroups.core.lag.captures.table_columns import SCHEMA_VERSION, arrow_schema
from kgroups.core.lag.stores.places import Place

VERSION_KEY = b"kgroups.schema"
# Of a file in which the last stable offset is known of every log that was measured.
STABLE_KEY = b"kgroups.last_stable_offset"
# The times of a file's captures, also of those without a row: the first, then the differences.
TIMES_KEY = b"kgroups.captured_at_ms"
# A file whose row groups are longer was made to fill the memory of whoever reads it.
LONGEST_GROUP = 1_048_576


class CapturedFile(NamedTuple):
    """A file of captures: its cluster, and the times of its first and last capture.

    Args:
        rows: how many it has; 0 until `readable` has looked into it.
        has_stable: whether it holds last stable offsets; False until then.
        times: of its captures, ascending; empty until then.
        size: bytes; 0 until then.
    """

    path: Path
    cluster: str
    date: str
    first_ms: int
    last_ms: int
    rows: int = 0
    has_stable: bool = False
    times: tuple[int, ...] = ()
    size: int = 0


def find_captures(
    folder: Place, table: str = "rows", *, since_ms: int | None = None, until_ms: int | None = None
) -> list[CapturedFile]:
    """Files that may hold captures from `since_ms` to `until_ms`, both included.

    None in a store: there were tables before captures could be kept there.
    """
    if not isinstance(folder, Path):
        return []
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
    """What a file's path says; None for a file of a table, or that is not ours."""
    try:
        first, last, _unique = path.name.removesuffix(".parquet").split("-")
        day = date.fromisoformat(path.parent.name.removeprefix("date=")).isoformat()
        cluster = unquote(path.parents[1].name.removeprefix("cluster="))
        return CapturedFile(path, cluster, day, int(first), int(last))
    except ValueError:
        return None


def readable(
    files: Sequence[CapturedFile],
) -> tuple[tuple[CapturedFile, ...], tuple[ItemError, ...]]:
    """The files that can be read, and what is wrong with the others.

    One that went away meanwhile is neither: what it had is in the table by now.
    """
    good, errors = [], []
    for file in files:
        try:
            why, opened = _look_into(file)
        except FileNotFoundError:
            continue
        if why is None:
            good.append(opened)
        else:
            errors.append(broken(file.path, why))
    return tuple(good), tuple(errors)


def broken(path: Place | str, why: str) -> ItemError:
    """A file of captures that is left out."""
    hint = "delete it, or report without it"
    return ItemError(str(path), "BROKEN_CAPTURE", why, hint=hint)


def _look_into(file: CapturedFile) -> tuple[str | None, CapturedFile]:
    """Why a file cannot be read, None if it can as far as its footer tells; what that says of it.

    Raises:
        FileNotFoundError: it is gone.
    """
    try:
        status = file.path.stat()
        if not stat.S_ISREG(status.st_mode):
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
    facts = {"rows": footer.num_rows, "has_stable": has_stable, "times": times}
    return None, file._replace(**facts, size=status.st_size)


def _unpacked(text: bytes) -> tuple[int, ...]:
    return tuple(accumulate(map(int, text.split(b","))))


def _times_in(file: CapturedFile) -> tuple[int, ...]:
    """The times of the captures of a file that does not list them."""
    if file.first_ms == file.last_ms:
        return (file.first_ms,)
    column = pq.read_table(file.path, columns=["captured_at_ms"])["captured_at_ms"]
    return tuple(sorted({file.first_ms, *column.unique().to_pylist(), file.last_ms}))


def _odd_column(schema: pa.Schema, table: str) -> str | None:
    """A column that is missing, or not of the type that it should have; None if there is none."""
    for column in arrow_schema(table):
        at = schema.get_field_index(column.name)
        is_missing = at < 0 and not column.nullable  # else a file from before it was added
        is_other = at >= 0 and schema.field(at).type != column.type
        if (is_missing or is_other) and column.name != "cluster":  # that, the directory says
            return str(column.name)
    return None
