"""Captures for the benchmarks of `lag report`: made once, kept in the cache folder."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.stage import say
from kgroups.core.lag.captures.delta_table import append, dated, marks_of
from kgroups.core.lag.captures.table_columns import arrow_schema

CACHE = Path(__file__).parents[1] / ".cache" / "bench"
START_MS = 1_760_000_000_000
STEP_MS = 30_000
PARTITIONS = 24
ROWS_A_FILE = 2_000_000


def captures_of(series: int, captures: int) -> Path:
    """A folder with `captures` captures of `series` partitions; the same every time."""
    folder = CACHE / f"tables-{series}x{captures}"
    if not folder.is_dir():
        say(f"making {series * captures:,} rows of captures")
        CACHE.mkdir(parents=True, exist_ok=True)
        hidden = Path(tempfile.mkdtemp(dir=CACHE, prefix=".unfinished-"))
        _write(hidden, series, captures)
        try:
            hidden.rename(folder)
        except OSError:  # another run was faster
            shutil.rmtree(hidden)
    return folder


def _write(folder: Path, series: int, captures: int) -> None:
    """Every series at its own speed; every tenth stands still, every seventh never committed."""
    rng = np.random.default_rng(20)
    number = np.arange(series)
    speed = rng.integers(10, 1_000, series)
    reads = np.where(number % 10 == 0, 0, rng.integers(8, 1_100, series))
    group = pa.array([f"group-{n // PARTITIONS:06}" for n in number])
    topic = pa.array([f"topic-{n // PARTITIONS % 200:03}" for n in number])
    member = pa.array([f"member-{n // 4:07}" for n in number])
    partition = pa.array((number % PARTITIONS).astype(np.int32))
    together = max(ROWS_A_FILE // series, 1)
    for first in range(0, captures, together):
        steps = range(first, min(first + together, captures))
        tables = []
        for step in steps:
            end = 10_000 + speed * step + rng.integers(0, 10, series)
            committed = np.minimum(9_000 + reads * step, end)
            columns = dict.fromkeys(arrow_schema("rows").names)
            known = {
                "captured_at_ms": pa.repeat(pa.scalar(START_MS + step * STEP_MS), series),
                "cluster": pa.repeat("bench", series),
                "group": group,
                "group_type": pa.repeat("classic", series),
                "topic": topic,
                "partition": partition,
                "commits_known": pa.repeat(True, series),
                "committed_offset": pa.array(committed, mask=number % 7 == 0),
                "log_start_offset": pa.array(np.zeros(series, np.int64)),
                "log_end_offset": pa.array(end),
                "member_id": member,
            }
            schema = arrow_schema("rows")
            arrays = [
                known[name].cast(schema.field(name).type)
                if name in known
                else pa.nulls(series, schema.field(name).type)
                for name in columns
            ]
            tables.append(pa.Table.from_arrays(arrays, schema=schema))
        content = pa.concat_tables(tables)  # one commit a stretch
        append(folder, "rows", dated(content))
        times = [START_MS + step * STEP_MS for step in steps]
        append(folder, "captures", marks_of(content, "bench", times))
