"""Points read out of captures: of each series in each stretch of a window, its last row.

What `window.points` makes of a DataFrame by aggregation, taken while files are read. Captures say
the same names over and over, a row of each series in each; aggregating them, row by row in one
big hash map, was half of the work of a report. Here a task reads the names of its stretches in
Arrow, finds the last row of each series with a few operations on whole columns, and reads the
other columns only of row groups where such a row is. A point is made by one task alone, so points
need no aggregation afterwards.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType

from kgroups.core.lag.captures.capture_files import CapturedFile
from kgroups.core.lag.captures.capture_tables import ROWS
from kgroups.core.lag.captures.series_id import series_ids
from kgroups.core.lag.rules import END_OF, Isolation

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    import pyarrow.parquet as pq

    Integers = npt.NDArray[np.int64]

# What tells series of one cluster apart, with the time; what a point says of it.
NAMES = ("captured_at_ms", "group", "topic", "partition")

# Rows that a task should have at least, that are looked at together (some 40 bytes each), and of
# a capture that is compared as a whole.
TASK_ROWS = 2_000_000
CHUNK_ROWS = 2_000_000
FEW_ROWS = 1_000
# An odd number without a pattern (2^64 over the golden ratio): its products tell stretches apart.
SCATTER = -7_046_029_254_386_353_131


def facts_of(isolation: Isolation) -> tuple[str, ...]:
    """The columns that a point is made of, besides its series and time."""
    return "committed_offset", "log_start_offset", END_OF[isolation]


def last_rows_schema(isolation: Isolation = "read_uncommitted") -> StructType:
    """The columns of `last_rows`."""
    series = StructField("series", LongType(), False)
    facts = (ROWS[name] for name in facts_of(isolation))
    return StructType([series, ROWS["captured_at_ms"], *facts])


class Stretches(NamedTuple):
    """One task: neighbouring stretches of a window in the captures of one cluster.

    Args:
        since_ms, until_ms: both ends included; the first stretch begins at `since_ms`.
        width_ms: of a stretch.
        paths: files that may have rows of them.
        isolation: which end of a log is wanted.
    """

    cluster: str
    since_ms: int
    until_ms: int
    width_ms: int
    paths: tuple[str, ...]
    isolation: Isolation = "read_uncommitted"


def last_rows(
    spark: Any,
    files: Sequence[CapturedFile],
    since_ms: int,
    until_ms: int,
    width_ms: int,
    isolation: Isolation = "read_uncommitted",
) -> DataFrame:
    """The last row of each series in each stretch of a window, in `last_rows_schema`.

    Args:
        files: with their number of rows.
        since_ms, until_ms: the window, both ends included.
        width_ms: of a stretch; the first begins at `since_ms`.
        isolation: which end of a log is wanted.
    """
    tasks = share_out(files, since_ms, until_ms, width_ms, isolation)
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    schema = last_rows_schema(isolation)
    return cast("DataFrame", numbers.mapInArrow(_reader(tasks), schema=schema))


def share_out(
    files: Sequence[CapturedFile],
    since_ms: int,
    until_ms: int,
    width_ms: int,
    isolation: Isolation = "read_uncommitted",
) -> tuple[Stretches, ...]:
    """Tasks that cover every stretch of every cluster once, of `TASK_ROWS` rows or more."""
    tasks = []
    stretches = (until_ms - since_ms) // width_ms + 1
    for cluster in sorted({file.cluster for file in files}):
        own = [file for file in files if file.cluster == cluster]
        rows = sum(file.rows for file in own)
        together = -(-stretches // max(rows // TASK_ROWS, 1))
        for number in range(0, stretches, together):
            first = since_ms + number * width_ms
            last = min(first + together * width_ms - 1, until_ms)
            paths = tuple(str(f.path) for f in own if f.first_ms <= last and f.last_ms >= first)
            if paths:
                tasks.append(Stretches(cluster, first, last, width_ms, paths, isolation))
    return tuple(tasks)


def _reader(
    tasks: Sequence[Stretches],
) -> "Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]":
    """A function from numbers of tasks to what they read, for workers."""

    def read(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from read_last_rows(tasks[number])

    return read


# --- on a worker -------------------------------------------------------------------------------


@dataclass(slots=True)
class _Piece:
    """A row group, and the first and last time in it."""

    path: str
    footer: "pq.FileMetaData"
    number: int
    first_ms: int
    last_ms: int

    def read(self, names: Sequence[str]) -> "pa.RecordBatch":
        """Some columns of it, names as dictionaries.

        Raises:
            FileNotFoundError: the file was merged into another.
            OSError: it is broken inside; the message names it.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        strings = [name for name in names if name in ("group", "topic")]
        try:
            with pq.ParquetFile(self.path, metadata=self.footer, read_dictionary=strings) as file:
                # Threads are Spark's to give: a task has one core.
                table = file.read_row_group(self.number, columns=list(names), use_threads=False)
        except FileNotFoundError:
            raise
        except (OSError, pa.ArrowException) as exc:
            why = str(exc).splitlines()[-1]
            raise OSError(f"capture `{self.path}` cannot be read: {why}") from None
        (batch,) = table.combine_chunks().to_batches()
        return batch.select(list(names))


def read_last_rows(task: Stretches) -> "Iterator[pa.RecordBatch]":
    """The last row of each series in each of the task's stretches, in `last_rows_schema`.

    Rows of one time count as one; of several, any is taken.
    """
    import numpy as np

    seen: Integers = np.empty(0, np.int64)
    # The newest first: what is seen there hides older rows, of which no more need be read.
    for pieces in reversed(_chunks(_pieces(task))):
        names = [piece.read(NAMES) for piece in pieces]
        times = np.concatenate([batch.column("captured_at_ms").to_numpy() for batch in names])
        series = np.concatenate([_series(batch, task) for batch in names])
        keys = series ^ (times - task.since_ms) // task.width_ms * np.int64(SCATTER)
        rows = _last_of_each(keys, times, seen, task)
        seen = np.concatenate([seen, keys[rows]])
        first = 0
        for piece, batch in zip(pieces, names, strict=True):
            inside = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + len(batch))]
            if len(inside):
                # By series, because that is how Spark will sort them.
                inside = inside[np.argsort(series[inside])]
                yield _rows(piece, series[inside], times[inside], inside - first, task.isolation)
            first += len(batch)


def _series(batch: "pa.RecordBatch", task: Stretches) -> "Integers":
    """The number of each row's series."""
    group, topic, partition = (batch.column(name) for name in ("group", "topic", "partition"))
    return series_ids(task.cluster, group, topic, partition.to_numpy())


def _pieces(task: Stretches) -> list[_Piece]:
    """The row groups that may have rows of a task, by time."""
    import pyarrow.parquet as pq

    pieces = []
    for path in task.paths:
        footer = pq.read_metadata(path)
        times = footer.schema.names.index("captured_at_ms")
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            said = group.column(times).statistics
            is_told = said is not None and said.has_min_max
            first, last = (said.min, said.max) if is_told else (task.since_ms, task.until_ms)
            if group.num_rows and first <= task.until_ms and last >= task.since_ms:
                pieces.append(_Piece(path, footer, number, first, last))
    return sorted(pieces, key=lambda piece: (piece.first_ms, piece.last_ms))


def _chunks(pieces: Sequence[_Piece]) -> list[list[_Piece]]:
    """Pieces that are looked at together: up to `CHUNK_ROWS`, more where their times overlap."""
    chunks: list[list[_Piece]] = []
    rows = last_ms = 0
    for piece in pieces:
        if not chunks or (rows >= CHUNK_ROWS and piece.first_ms >= last_ms):
            chunks.append([])
            rows = 0
        chunks[-1].append(piece)
        rows += piece.footer.row_group(piece.number).num_rows
        last_ms = max(last_ms, piece.last_ms)
    return chunks


def _last_of_each(
    keys: "Integers", times: "Integers", seen: "Integers", task: Stretches
) -> "Integers":
    """The places of the last row of each key in the task's time, in order, but for keys seen."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if np.all(times[1:] >= times[:-1]):
        first, end = np.searchsorted(times, (task.since_ms, task.until_ms + 1))
        places = first + _not_repeated(keys[first:end], times[first:end])
    else:  # two files of the same captures, or of several collectors
        places = np.flatnonzero((times >= task.since_ms) & (times <= task.until_ms))
        places = places[np.argsort(times[places], kind="stable")]
    coded = pa.array(keys[places]).dictionary_encode()
    last = np.zeros(len(coded.dictionary), np.int64)
    np.maximum.at(last, coded.indices.to_numpy(), np.arange(len(places)))
    if len(seen):
        is_new = pc.invert(pc.is_in(coded.dictionary, value_set=pa.array(seen)))
        last = last[is_new.to_numpy(zero_copy_only=False)]
    return cast("Integers", np.sort(places[last]))


def _not_repeated(keys: "Integers", times: "Integers") -> "Integers":
    """The places of rows, ordered by time, but for captures that the next one repeats key by key.

    A fleet's captures mostly have the same series in the same order, and to see that is much
    less work than to look every key up.
    """
    import numpy as np

    edges = np.flatnonzero(times[1:] != times[:-1]) + 1
    is_kept = np.ones(len(keys), np.bool_)
    if len(edges) * FEW_ROWS <= len(keys):
        starts = [0, *edges.tolist(), len(keys)]
        for start, end, next_end in zip(starts, starts[1:], starts[2:], strict=False):
            is_kept[start:end] = not np.array_equal(keys[start:end], keys[end:next_end])
    return np.flatnonzero(is_kept)


def _rows(
    piece: _Piece,
    series: "Integers",
    times: "Integers",
    places: "Integers",
    isolation: Isolation,
) -> "pa.RecordBatch":
    """Rows of a piece in `last_rows_schema`."""
    import pyarrow as pa

    facts = piece.read(facts_of(isolation)).take(pa.array(places)).columns
    columns = [pa.array(series), pa.array(times), *facts]
    schema = to_arrow_schema(last_rows_schema(isolation))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
