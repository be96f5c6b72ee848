"""Spark as the engine of reports: on this machine, on a cluster, or through Spark Connect."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Final

import pyarrow as pa
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from kgroups.core.errors import KgroupsError
from kgroups.core.lag.captures.capture_files import rows_of_files
from kgroups.core.lag.captures.delta_table import ActiveFile, rows_in
from kgroups.core.lag.engines import Frame, Given, Query, WrongSql, with_sources
from kgroups.core.lag.lag_query import EngineName
from kgroups.core.lag.stores.places import Place, Store
from kgroups.core.spark.session import (
    SPARK_ERRORS,
    Progress,
    SessionOptions,
    first_line,
    spark_session,
)

# Tasks that read from a store: so many, or more where each would have more bytes than this.
TASKS: Final = 16
BYTES_A_TASK: Final = 32 << 20


class Spark:
    """An engine: each answer is a DataFrame that Spark has analysed, not computed."""

    name: EngineName = "spark"

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._kept: dict[str, DataFrame] = {}

    def rows(self, table: pa.Table, *, few: bool = True) -> Given:
        """A table of the driver."""
        if not table.num_rows:
            table = table.schema.empty_table()  # Spark takes no column without a chunk
        elif len(batches := table.to_batches()) > 1:  # and nothing that comes after an empty one
            table = pa.Table.from_batches(filter(len, batches), table.schema)
        frame = self.session.createDataFrame(table, from_arrow_schema(table.schema))
        return Given(frame.coalesce(1) if few else frame)

    def files(
        self, place: Place, files: Sequence[ActiveFile], schema: pa.Schema, *, few: bool
    ) -> Given:
        """The rows of files.

        Few are read by Arrow, here. Others of a local folder, or one that every worker has mounted,
        by Spark itself; those of a store in its tasks, by Arrow through delta-rs: no Hadoop jars,
        and one login for all.
        """
        if few or not files:
            return self.rows(rows_of_files(place, files, schema))
        if isinstance(place, Store):
            return self._read_in_tasks(files, schema)
        reader = self.session.read.schema(from_arrow_schema(schema)).option("basePath", str(place))
        return Given(reader.parquet(*(file.path for file in files)))

    def _read_in_tasks(self, files: Sequence[ActiveFile], schema: pa.Schema) -> Given:
        """Each task reads its share of the files, the largest dealt out first."""
        most = max(TASKS, sum(file.size for file in files) // BYTES_A_TASK)
        shares: list[list[ActiveFile]] = [[] for _ in range(min(len(files), most))]
        for number, file in enumerate(sorted(files, key=lambda file: -file.size)):
            shares[number % len(shares)].append(file)

        def read(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in numbers:
                for number in batch.column(0).to_pylist():
                    yield from rows_in(shares[number], schema)

        tasks = self.session.range(0, len(shares), 1, len(shares))
        return self.keep_rows(tasks.mapInArrow(read, from_arrow_schema(schema)))

    def frame(self, answer: Frame) -> DataFrame:
        """The answer as a DataFrame, which Spark computes when its rows are wanted."""
        if isinstance(answer, Given):
            given: DataFrame = answer.frame
            return given
        query = Query(answer)
        views = {id(frame): view for view, frame in self._kept.items()}
        frames = {f"source_{number}": given.frame for number, given in enumerate(query.given)}
        names = [views.get(id(frame), f"{{{name}}}") for name, frame in frames.items()]
        text = with_sources(query.text.replace("{", "{{").replace("}", "}}"), names)
        try:
            return self.session.sql(text, args=query.parameters, **frames)
        except (AnalysisException, ParseException) as exc:
            raise WrongSql(first_line(exc)) from exc

    def keep(self, answer: Frame) -> Given:
        """The same, computed once however often it is asked for.

        What `persist` keeps is not found again where one query is a part of another: Spark numbers
        the CTEs of both anew. An executor that is lost between two queries ends the report.
        """
        return Given(self.frame(answer).localCheckpoint(eager=False))

    def keep_rows(self, frame: DataFrame) -> Given:
        """Rows from elsewhere, perhaps many: read once, compressed, until the report is done.

        With a view that is dropped Spark forgets what it keeps of the same rows, and `sql` drops
        those that it makes of frames; so these have a view of their own.
        """
        view = f"kgroups_{uuid.uuid4().hex}"
        self._kept[view] = frame.persist()
        self._kept[view].createOrReplaceTempView(view)
        return Given(self._kept[view])

    def release(self) -> None:
        """Forgets the rows that were kept."""
        for view, frame in self._kept.items():
            frame.unpersist()
            self.session.catalog.dropTempView(view)

    def fetch(self, answer: Frame) -> pa.Table:
        """All rows; any value of them may be null (`toArrow` fails on structs that are)."""
        frame = self.frame(answer)
        try:
            schema = to_arrow_schema(frame.schema)
        except AnalysisException as exc:  # a Connect server looks at queries only when it must
            raise WrongSql(first_line(exc)) from exc
        rows = [row.asDict(recursive=True) for row in frame.collect()]
        fields = [field.with_type(_nullable(field.type)) for field in schema]
        return pa.Table.from_pylist(rows, pa.schema(fields))


def _nullable(kind: pa.DataType) -> pa.DataType:
    if not pa.types.is_struct(kind):
        return kind
    return pa.struct([pa.field(field.name, _nullable(field.type)) for field in kind])


@contextmanager
def spark_engine(
    session: SparkSession | SessionOptions | None,
    progress: Progress | None,
    kind: str,
    *,
    small: bool,
    large: bool = False,
) -> Iterator[Spark]:
    """An engine on a session that runs, or on one made for the length of a `with` block.

    Args:
        kind, small, large: as in `SessionOptions`, of a session that is made.
    Raises:
        KgroupsError: Spark did not start, or failed.
    """
    opened: AbstractContextManager[SparkSession]
    if session is None or isinstance(session, SessionOptions):
        options = replace(session or SessionOptions(), kind=kind, small=small, large=large)
        opened = spark_session(options, progress)
    else:  # of Connect it is another class
        opened = nullcontext(session)
    try:
        with opened as running:
            engine = Spark(running)
            try:
                yield engine
            finally:
                engine.release()
    except SPARK_ERRORS as exc:  # says nothing any more once the session has ended
        raise KgroupsError(
            f"Spark failed: {first_line(exc)}",
            hint="run with --verbose for Spark's own messages",
            code="SPARK_FAILED",
        ) from exc
