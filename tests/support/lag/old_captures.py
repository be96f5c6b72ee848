"""Captures as kgroups wrote them before it had tables: Parquet files by cluster and date."""

import secrets
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgroups.core.lag.captures.capture_tables import (
    CaptureTables,
    capture_tables,
    cluster_name,
)
from kgroups.core.lag.captures.delta_table import marks_of, utc_date
from kgroups.core.lag.captures.old_layout import STABLE_KEY, TIMES_KEY, VERSION_KEY, find_captures
from kgroups.core.lag.captures.table_columns import SCHEMA_VERSION
from kgroups.core.snapshot import ClusterSnapshot


def write_old_capture(folder: Path, snapshot: ClusterSnapshot) -> Path:
    """Appends a snapshot; gives the file of its rows."""
    tables, at_ms = capture_tables([snapshot]), snapshot.captured_at_ms
    for name in CaptureTables._fields[::-1]:
        path = write_old(folder, name, getattr(tables, name), cluster_name(snapshot), [at_ms])
    return path


def write_old(
    folder: Path, table: str, content: pa.Table, cluster: str, times: Sequence[int]
) -> Path:
    """Writes captures of one cluster and day, taken at `times`, as one file."""
    place = folder / table / f"cluster={quote(cluster, safe='')}" / f"date={utc_date(times[0])}"
    place.mkdir(parents=True, exist_ok=True)
    gaps = (after - before for before, after in pairwise(times))
    metadata = {
        VERSION_KEY: str(SCHEMA_VERSION).encode(),
        TIMES_KEY: ",".join(map(str, (times[0], *gaps))).encode(),
    }
    if table == "rows" and not pc.sum(marks_of(content, cluster, times)["unstable_rows"]).as_py():
        metadata[STABLE_KEY] = b"known"
    path = place / f"{times[0]}-{times[-1]}-{secrets.token_hex(6)}.parquet"
    kept = content.drop_columns(["cluster"]).replace_schema_metadata(metadata)
    pq.write_table(kept, path, compression="zstd")
    return path


def merge_old(folder: Path, *, remove: bool = True) -> None:
    """Merges the files of each day, as `lag compact` did; without `remove` it died before that."""
    for table in CaptureTables._fields:
        days: dict[Path, list[Path]] = {}
        for file in find_captures(folder, table):
            days.setdefault(file.path.parent, []).append(file.path)
        for place, paths in days.items():
            contents = [pq.ParquetFile(path).read() for path in paths]
            times = sorted({int(at_ms) for path in paths for at_ms in _times(path)})
            content = pa.concat_tables(contents, promote_options="default")
            cluster = find_captures(folder, table)[0].cluster
            for file in find_captures(folder, table):
                if file.path.parent == place:
                    cluster = file.cluster
            if remove:
                for path in paths:
                    path.unlink()
            whole = content.append_column("cluster", pa.repeat(pa.scalar(cluster), len(content)))
            write_old(folder, table, whole, cluster, times)


def _times(path: Path) -> list[int]:
    """The times of the captures in a file."""
    at_ms, total = [], 0
    for gap in (pq.read_metadata(path).metadata or {})[TIMES_KEY].split(b","):
        total += int(gap)
        at_ms.append(total)
    return at_ms
