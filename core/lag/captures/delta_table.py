"""Delta tables of captures (delta-rs): appended to, read by their active files, merged by the day.

    DIR/captures    one row a capture: it is there as a whole once this row is
    DIR/rows        DIR/members    DIR/topics
    DIR/hours       captures that are rolled up by the hour (`hour_table`)
    DIR/_delta_logs the logs of these tables, each linked from its table; not in stores

Each is partitioned by `cluster` and `date` (UTC). A commit is atomic, and any number of processes
may append at once. No Spark and no Java.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import chain, compress, islice
from operator import not_
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgroups.core.errors import KgroupsError
from kgroups.core.lag.captures.delta_log import check_path, opened, set_log_aside
from kgroups.core.lag.captures.table_columns import SCHEMA_VERSION, table_of
from kgroups.core.lag.stores.held_tables import CHECKPOINT_EVERY, HeldTables
from kgroups.core.lag.stores.places import (
    Place,
    Store,
    failures_told,
    key_in,
    parquet_source,
    storage_options,
    store_failure,
)

if TYPE_CHECKING:
    from deltalake import DeltaTable

# A capture: how many rows it has, and of how many of these logs the last stable offset is unknown.
CAPTURES: Final = pa.schema(
    [
        pa.field("captured_at_ms", pa.int64(), False),
        pa.field("cluster", pa.string(), False),
        pa.field("rows", pa.int64(), False),
        pa.field("unstable_rows", pa.int64(), False),
        pa.field("schema_version", pa.int64(), False),
    ]
)
DATE: Final = pa.field("date", pa.string(), False)
FACTS: Final = ("rows", "members", "topics")
TABLES: Final = (*FACTS, "captures")
PARTITIONS: Final = ("cluster", "date")
# How often a commit is tried again that met another one: several first commits make one table.
ATTEMPTS: Final = 20
# Rows of a merged file that are read, and written, together.
BATCH_ROWS: Final = 131_072
# Versions are kept no longer than their files.
SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "delta.logRetentionDuration": "interval 7 days",
        "delta.checkpointInterval": str(CHECKPOINT_EVERY),
    }
)
TIME: Final = "captured_at_ms"
MARKED: Final = frozenset(CAPTURES.names) - {"cluster"}


class ActiveFile(NamedTuple):
    """A file of the newest version of a table.

    Args:
        place: of the table.
        first_ms, last_ms: of the captures in it.
        values: of each column that has the same in all rows.
    """

    place: Place
    path: str
    cluster: str
    date: str
    rows: int
    size: int
    first_ms: int
    last_ms: int
    values: Mapping[str, int]


class FileOfDay(Protocol):
    """A Parquet file of a table; cluster and date are those of its folder."""

    @property
    def place(self) -> Place: ...
    @property
    def path(self) -> str: ...
    @property
    def cluster(self) -> str: ...
    @property
    def date(self) -> str: ...


class Days(NamedTuple):
    """The first and the last date (UTC) that are asked for; None: without end."""

    first: str | None = None
    last: str | None = None

    def have(self, date: str) -> bool:
        """Whether a date is among them."""
        is_early = self.first is not None and date < self.first
        return not is_early and (self.last is None or date <= self.last)


EVER: Final = Days()


def utc_date(ms: int) -> str:
    """The UTC date of a time, as the directories spell it."""
    return datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()


def append(
    folder: Place,
    table: str,
    content: pa.Table,
    held: HeldTables | None = None,
    *,
    partitions: Sequence[str] = PARTITIONS,
    settings: Mapping[str, str] = SETTINGS,
) -> None:
    """One commit with these rows; the table is made if it is not there.

    Args:
        content: in `TABLES`, with `date`.
        held: keeps the table open for the next commit.
        partitions, settings: of a table that is made.
    Raises:
        UsageError: the path of the folder is one that tables cannot have.
        KgroupsError: it cannot be written; nothing of it is in the table.
    """
    from deltalake import WriterProperties, write_deltalake
    from deltalake.exceptions import CommitFailedError, DeltaError

    check_path(folder)
    if isinstance(folder, Path):
        set_log_aside(folder, table)
    place, held = folder / table, HeldTables() if held is None else held
    for attempt in range(1, ATTEMPTS + 1):
        delta = None
        try:
            delta = held.find(place)
            write_deltalake(
                str(place) if delta is None else delta,
                content,
                mode="append",
                partition_by=list(partitions),
                schema_mode="merge",
                configuration=dict(settings),
                writer_properties=WriterProperties(compression="ZSTD"),
                storage_options=storage_options(place) if delta is None else None,
            )
        except (CommitFailedError, DeltaError, OSError) as exc:
            held.drop(place)
            # A table that stayed open may be behind others who changed it, in any way.
            is_behind = delta is not None or isinstance(exc, CommitFailedError)
            if not is_behind or attempt == ATTEMPTS:
                raise _not_written(place, exc) from exc
        else:
            held.keep(place, delta)
            return


def replace_day(
    place: Place,
    delta: "DeltaTable",
    cluster: str,
    date: str,
    batches: Iterable[pa.RecordBatch],
) -> bool:
    """One commit in which these rows take the place of those of a cluster and date.

    Whoever reads the version before goes on reading it: its files stay until they are vacuumed.

    Args:
        place: of the table.
        delta: the version that the rows were read from.
        batches: in its schema, or with columns that are new.
    Returns:
        False where another commit has changed that day since; the table is as it left it.
    Raises:
        KgroupsError: it cannot be written.
    """
    from deltalake import WriterProperties, write_deltalake
    from deltalake.exceptions import CommitFailedError, DeltaError

    name = cluster.replace("'", "''")
    rows = _read_aside(batches)
    first = list(islice(rows, 1))
    schema = first[0].schema if first else schema_of(delta)
    try:
        write_deltalake(
            delta,
            pa.RecordBatchReader.from_batches(schema, chain(first, rows)),
            mode="overwrite",
            schema_mode="merge",
            predicate=f"cluster = '{name}' AND date = '{date}'",
            writer_properties=WriterProperties(compression="ZSTD"),
        )
    except CommitFailedError:
        return False
    except (DeltaError, OSError) as exc:
        raise _not_written(place, exc) from exc
    return True


def _read_aside(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, read in a thread of ours.

    delta-rs asks for them in one of its own, where it cannot wait for what it reads from a store.
    """
    left = iter(batches)
    with ThreadPoolExecutor(1) as aside:
        while (batch := aside.submit(next, left, None).result()) is not None:
            yield batch


def _not_written(place: Place, exc: Exception) -> KgroupsError:
    if isinstance(place, Store):
        return store_failure(place, exc)
    why = str(exc).splitlines()[0].rstrip(".")
    return KgroupsError(
        f"captures were not written to `{place}`: {why}",
        hint="nothing is left of this capture; free some space or choose another folder",
        code="NOT_WRITTEN",
    )


def dated(content: pa.Table) -> pa.Table:
    """Rows with the `date` of their captures."""
    moments = content[TIME].cast(pa.timestamp("ms"))
    dates = pc.strftime(moments, format="%Y-%m-%d")
    return content.append_column(DATE, dates)


def active_files(folder: Place, table: str, days: Days = EVER) -> list[ActiveFile]:
    """The files of the newest version, by cluster and time.

    Raises:
        KgroupsError: the log cannot be read.
    """
    delta = opened(folder, table)
    if delta is None:
        return []
    return files_of(delta, folder / table, days)


def files_of(delta: "DeltaTable", place: Place, days: Days = EVER) -> list[ActiveFile]:
    """The files of one version of a table, by cluster and time."""
    # `pa.table` would import pandas to see that this is none of its.
    actions = pa.RecordBatchReader.from_stream(delta.get_add_actions(flatten=True)).read_all()
    files = [
        _file(place, fact)
        for fact in actions.to_pylist()
        if days.have(fact["partition.date"]) and fact["num_records"] != 0
    ]
    return sorted(files, key=lambda file: (file.cluster, file.first_ms, file.path))


def schema_of(delta: "DeltaTable") -> pa.Schema:
    """The columns of a table: ours, `date`, and those that a newer kgroups has added."""
    return pa.schema(delta.schema().to_arrow())


def _file(place: Place, fact: Mapping[str, Any]) -> ActiveFile:
    """A file as the log tells of it."""
    path = str(place / unquote(fact["path"]))
    least, most, rows = _of("min.", fact), _of("max.", fact), fact["num_records"]
    if TIME not in least or TIME not in most or rows is None:  # written by others
        source = parquet_source(place)
        times = pq.read_table(key_in(place, path), columns=[TIME], partitioning=None, **source)[
            TIME
        ]
        rows, bounds = len(times), pc.min_max(times).as_py()
        least, most = {TIME: bounds["min"]}, {TIME: bounds["max"]}
    values = {name: low for name, low in least.items() if most.get(name) == low}
    cluster, date = fact["partition.cluster"], fact["partition.date"]
    return ActiveFile(
        place, path, cluster, date, rows, fact["size_bytes"], least[TIME], most[TIME], values
    )


def _of(kind: str, fact: Mapping[str, Any]) -> dict[str, int]:
    """The least or the most of each column of integers."""
    return {
        name.removeprefix(kind): value
        for name, value in fact.items()
        if name.startswith(kind) and isinstance(value, int)
    }


def rows_in(
    files: Iterable[FileOfDay], schema: pa.Schema, at_ms: int | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of files in a schema with `date`; null what a file does not have.

    Args:
        at_ms: only those of this time; None: of any.
    """
    sources: dict[str, dict[str, Any]] = {}
    for file in files:
        if str(file.place) not in sources:
            sources[str(file.place)] = parquet_source(file.place)
        source = sources[str(file.place)]
        with pq.ParquetFile(key_in(file.place, file.path), **source) as opened_file:
            constants = {"cluster": file.cluster, "date": file.date}
            kind = re.search("/kind=([a-z]+)/", file.path)
            constants |= {"kind": kind[1]} if kind else {}
            names = [name for name in schema.names if name in opened_file.schema_arrow.names]
            groups = _groups_at(opened_file, at_ms)
            for batch in opened_file.iter_batches(BATCH_ROWS, groups, columns=names):
                rows = pa.RecordBatch.from_arrays(
                    [_column(batch, field, constants) for field in schema], schema=schema
                )
                yield rows if at_ms is None else rows.filter(pc.equal(rows[TIME], at_ms))


def _groups_at(opened_file: pq.ParquetFile, at_ms: int | None) -> list[int]:
    """The groups of a file's rows that may have some of a time, as their statistics tell."""
    metadata = opened_file.metadata
    every = range(metadata.num_row_groups)
    if at_ms is None or TIME not in opened_file.schema.names:
        return list(every)
    place = opened_file.schema.names.index(TIME)
    bounds = {number: metadata.row_group(number).column(place).statistics for number in every}
    return [
        number
        for number, s in bounds.items()
        if s is None or not s.has_min_max or s.min <= at_ms <= s.max
    ]


def _column(batch: pa.RecordBatch, field: pa.Field, constants: Mapping[str, str]) -> pa.Array:
    if field.name in constants:
        return pa.repeat(pa.scalar(constants[field.name]), len(batch))
    if field.name not in batch.schema.names:
        return pa.nulls(len(batch), field.type)
    return batch.column(field.name).cast(field.type)


def marks_in(files: Sequence[ActiveFile]) -> pa.Table:
    """The rows of `captures` in these files; those of one row are told by the log itself.

    Raises:
        ClusterError: the store cannot be reached or entered.
    """
    is_told = [file.rows == 1 and file.values.keys() >= MARKED for file in files]
    schema = CAPTURES.append(DATE)
    rows = [
        {**file.values, "cluster": file.cluster, "date": file.date}
        for file in compress(files, is_told)
    ]
    with failures_told(files[0].place if files else None):
        read = rows_in(compress(files, map(not_, is_told)), schema)
        return pa.concat_tables(
            [pa.Table.from_pylist(rows, schema=schema), pa.Table.from_batches(read, schema=schema)]
        )


def marks_of(rows: pa.Table, cluster: str, times: Iterable[int]) -> pa.Table:
    """The rows of `captures` for captures with these rows, those without a row too."""
    end, stable, error = (
        pc.is_valid(rows[name]) for name in ("log_end_offset", "last_stable_offset", "error")
    )
    is_unknown = pc.and_(end, pc.invert(pc.or_(stable, error)))
    counted = pa.table({TIME: rows[TIME], "n": is_unknown.cast(pa.int64())}).group_by(TIME)
    of_time = {
        row[TIME]: (row["n_count"], row["n_sum"])
        for row in counted.aggregate([("n", "count"), ("n", "sum")]).to_pylist()
    }
    facts = [
        (at_ms, cluster, *of_time.get(at_ms, (0, 0)), SCHEMA_VERSION) for at_ms in sorted(times)
    ]
    return dated(table_of(facts, CAPTURES))
