"""The rows of captures' files as a Spark frame.

Files of a local folder (or one that every worker has mounted) are read by Spark itself; few rows by
Arrow, here. Those of a store are read in its tasks, by Arrow through delta-rs: no Hadoop jars, and
one login for all.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from kgroups.core.errors import KgroupsError
from kgroups.core.lag.captures.capture_window import RowFile
from kgroups.core.lag.captures.delta_table import ActiveFile, rows_in
from kgroups.core.lag.captures.old_layout import CapturedFile
from kgroups.core.lag.stores.places import Place, Store
from kgroups.core.spark.late_session import LateSession
from kgroups.core.spark.plans.api import DataFrame
from kgroups.core.spark.plans.frames import to_ask

# Tasks that read from a store: so many, or more where each would have more bytes than this.
TASKS: Final = 16
BYTES_A_TASK: Final = 32 << 20

AnyFile = ActiveFile | CapturedFile | RowFile


def read_files(
    spark: Any,
    place: Place,
    files: Sequence[AnyFile],
    schema: StructType,
    *,
    few: bool = False,
    wide: bool = False,
) -> DataFrame:
    """The rows of files of one table, null what a file does not have.

    Args:
        place: of the table; cluster and date are directories in it.
        few: whether it is little that all files have, and so worth one task and no shuffle.
        wide: whether there are many columns, of which few are asked: Spark reads only these.
    Raises:
        KgroupsError: `few` and not `wide`, and a file cannot be read.
    """
    if isinstance(place, Store) and files:  # several tasks at once: most of it is waiting
        return to_ask(_read_in_tasks(spark, place, files, schema))
    if not files or (few and not wide):
        # From a list it would be a job of Python workers that have nothing to do.
        return rows_of(spark, rows_here(place, files, schema), schema)
    reader = spark.read.schema(schema).option("basePath", str(place))
    frame = reader.parquet(*(str(file.path) for file in files))
    return to_ask(frame.coalesce(1) if few else frame)


def rows_of(spark: Any, table: pa.Table, schema: StructType) -> DataFrame:
    """Few rows that are here already, for one task; a `LateSession` gets them when it is asked."""
    if not table.num_rows:
        table = table.schema.empty_table()  # Spark takes no column without a chunk
    if isinstance(spark, LateSession):
        return cast("DataFrame", spark.rows(table, schema, few=True))
    return to_ask(spark.createDataFrame(table, schema).coalesce(1))


def rows_here(
    place: Place, files: Sequence[AnyFile], schema: StructType, at_ms: int | None = None
) -> pa.Table:
    """The rows of files, read by Arrow.

    Args:
        at_ms: as in `delta_table.rows_in`.
    Raises:
        KgroupsError: a file is gone, or cannot be read.
    """
    columns = to_arrow_schema(schema)
    batches: list[pa.RecordBatch] = []
    for file in map(_of_day, files):
        try:
            batches += rows_in([file], columns, at_ms)
        except FileNotFoundError as exc:
            raise captures_changed(place) from exc
        except (OSError, pa.ArrowException) as exc:
            why = str(exc).splitlines()[0].rstrip(".")
            raise KgroupsError(
                f"capture `{file.path}` cannot be read: {why}", code="BROKEN_CAPTURE"
            ) from exc
    return pa.Table.from_batches(batches, schema=columns)


def captures_changed(place: Place) -> KgroupsError:
    """Files were there when the report began, and are no longer."""
    return KgroupsError(
        f"captures in `{place}` were removed while they were read",
        hint="try again when `lag compact --upgrade` has finished",
        code="CAPTURES_CHANGED",
    )


def _of_day(file: AnyFile) -> ActiveFile | RowFile:
    if not isinstance(file, CapturedFile):
        return file
    place, path = file.path.parent, str(file.path)
    return RowFile(place, path, file.cluster, file.date, file.rows, file.size)


def _read_in_tasks(
    spark: Any, store: Store, files: Sequence[AnyFile], schema: StructType
) -> DataFrame:
    """Each task reads its share of the files, the largest dealt out first."""
    most = max(TASKS, sum(file.size for file in files) // BYTES_A_TASK)
    shares: list[list[RowFile]] = [[] for _ in range(min(len(files), most))]
    for number, file in enumerate(sorted(files, key=lambda file: -file.size)):
        told = RowFile(store, str(file.path), file.cluster, file.date, file.rows, file.size)
        shares[number % len(shares)].append(told)
    columns = to_arrow_schema(schema)

    def read(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from rows_in(shares[number], columns)

    tasks = spark.range(0, len(shares), 1, len(shares))
    return cast("DataFrame", tasks.mapInArrow(read, schema))
