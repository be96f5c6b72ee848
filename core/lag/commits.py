"""Commits out of `__consumer_offsets`, as a Spark data source: one task a partition of the log.

The log's records come from a reader that is handed in (`core/kafka/offsets_topic.py` has the real
one), because nothing here knows a cluster. Each task reads its slice, bounded by the offsets at the
start of the query, takes the bytes apart and hands Spark Arrow batches.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from kgroups.core.coordinator.record_bytes import RecordError
from kgroups.core.coordinator.record_codec import decode_record
from kgroups.core.coordinator.records import OffsetCommitKey, OffsetCommitValue

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

# `kind`: commit; tombstone (a commit that was deleted or expired); other (groups and members);
# broken (bytes that are no record, told in `error`).
COMMITS = StructType(
    [
        StructField("log_partition", IntegerType(), False),
        StructField("log_offset", LongType(), False),
        StructField("at_ms", LongType(), True),
        StructField("kind", StringType(), False),
        StructField("group", StringType(), True),
        StructField("topic", StringType(), True),
        StructField("partition", IntegerType(), True),
        StructField("committed_offset", LongType(), True),
        StructField("leader_epoch", IntegerType(), True),
        StructField("committed_at_ms", LongType(), True),
        StructField("error", StringType(), True),
    ]
)

NO_COMMIT = (None,) * 6


class LogSlice(Protocol):
    """Part of one partition of the log."""

    @property
    def partition(self) -> int: ...


class LogRecord(Protocol):
    """A record as bytes."""

    @property
    def offset(self) -> int: ...
    @property
    def timestamp_ms(self) -> int | None: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...


class CommitLog(Protocol):
    """Where the records come from; pickled to the tasks."""

    def slices(self) -> Sequence[Any]:
        """Slices of the log, bounded as it is now."""
        ...

    def read(self, part: Any) -> Iterator[Sequence[LogRecord]]:
        """The records of a slice, in order, in lists."""
        ...


def read_commits(session: SparkSession, log: CommitLog) -> "DataFrame":
    """The records of the log in `COMMITS`, read when the frame is computed."""
    slices = tuple(log.slices())

    class Reader(DataSourceReader):
        """One task a slice; the bounds were taken once, so that a query reads one state."""

        def partitions(self) -> Sequence[InputPartition]:
            return [InputPartition(part) for part in slices]

        def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
            # Spark asks for one empty task where there is no slice.
            if partition is not None:
                yield from _batches(log, partition.value)

    class CommitsSource(DataSource):
        """The data source; a class of each query, since it carries the reader."""

        @classmethod
        def name(cls) -> str:
            return "kgroups_commits"

        def schema(self) -> StructType:
            return COMMITS

        def reader(self, schema: StructType) -> DataSourceReader:
            return Reader()

    if not slices:
        return session.createDataFrame([], COMMITS)
    session.dataSource.register(CommitsSource)
    return session.read.format("kgroups_commits").load()


def _batches(log: CommitLog, part: LogSlice) -> "Iterator[pa.RecordBatch]":
    """Arrow batches of a slice."""
    import pyarrow as pa

    schema = to_arrow_schema(COMMITS)
    for records in log.read(part):
        rows = [(part.partition, *parse_record(record)) for record in records]
        columns = [
            pa.array(values, field.type)
            for values, field in zip(zip(*rows, strict=True), schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def parse_record(record: LogRecord) -> tuple[Any, ...]:
    """One record's columns of `COMMITS`, without the partition of the log."""
    head = (record.offset, record.timestamp_ms)
    if record.key is None:
        return (*head, "broken", *NO_COMMIT, "a record without a key")
    try:
        parsed = decode_record(record.key, record.value)
    except RecordError as exc:
        return (*head, "broken", *NO_COMMIT, str(exc))
    if parsed is None or not isinstance(parsed.key, OffsetCommitKey):
        return (*head, "other", *NO_COMMIT, None)
    key = (parsed.key.group_id, parsed.key.topic, parsed.key.partition)
    value = parsed.value
    if not isinstance(value, OffsetCommitValue):
        return (*head, "tombstone", *key, None, None, None, None)
    epoch = value.leader_epoch if value.leader_epoch >= 0 else None
    at_ms = value.commit_timestamp_ms if value.commit_timestamp_ms >= 0 else record.timestamp_ms
    return (*head, "commit", *key, value.offset, epoch, at_ms, None)
