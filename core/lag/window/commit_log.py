"""Commits out of `__consumer_offsets`: few are read here, more by Spark, a task a partition.

The log's records come from a reader that is handed in (`core/kafka/librdkafka/offsets_topic.py` has
the real one), because nothing here knows a cluster. Each task reads its slice, bounded by the
offsets at the start of the query, takes the bytes apart and hands Spark Arrow batches. To start
workers takes longer than to read some ten thousand records, so few are read by threads instead.
"""

import struct
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import UUID

import msgspec
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from kgroups.core.coordinator.log.record_codec import decode_key, decode_record
from kgroups.core.coordinator.log.records import OffsetCommitKey, OffsetCommitValue
from kgroups.core.lag.captures.table_columns import table_of
from kgroups.core.protocol.reader import DecodeError

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

# All that records say: also of what kind each is, by the name of Kafka's schema (`OffsetCommit`,
# `GroupMetadata`, `ConsumerGroupMemberMetadata`, ...), and its value as JSON, null in a tombstone.
RECORDS = StructType(
    [
        *COMMITS.fields,
        StructField("record", StringType(), True),
        StructField("group_id", StringType(), True),
        StructField("member_id", StringType(), True),
        StructField("value", StringType(), True),
    ]
)

NO_COMMIT = (None,) * 6

# Partitions that are read at once by threads.
READERS: Final = 8

# Keys of commits as bytes, and what they say; at most so many are remembered.
KnownKeys = dict[bytes, tuple[str, str, int] | None]
MOST_KEYS = 100_000

# A value of version 3: version, offset, leader epoch, length of the metadata; these; the time.
# Version 4, Kafka 4.1's, has compact strings and tagged fields: none, or the topic's id.
PLAIN_VERSION, COMPACT_VERSION = 3, 4
COMPACT_SHORT = 127
NO_TAGS = b"\0"
TOPIC_ID_TAG = b"\1\0\x10"
TOPIC_ID_BYTES = len(TOPIC_ID_TAG) + 16
PLAIN_HEAD = struct.Struct(">hqih")
PLAIN_TIME = struct.Struct(">q")
PLAIN_BYTES = PLAIN_HEAD.size + PLAIN_TIME.size


class LogSlice(Protocol):
    """Part of one partition of the log."""

    @property
    def partition(self) -> int: ...
    @property
    def most_records(self) -> int: ...


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

    def slices(self, groups: Collection[str] | None = None) -> Sequence[Any]:
        """Slices of the log, bounded as it is now; of the partitions of these groups, if given."""
        ...

    def read(self, part: Any) -> Iterator[Sequence[LogRecord]]:
        """The records of a slice, in order, in lists."""
        ...


def commits_here(
    log: CommitLog, slices: Sequence[Any], groups: Collection[str] | None = None
) -> "pa.Table":
    """The records of some slices in `COMMITS`, read by threads of this process.

    Args:
        groups: leave out commits of others; None: of nobody.
    """
    import pyarrow as pa

    with ThreadPoolExecutor(READERS) as readers:
        parts = readers.map(lambda part: list(decoded(log, part, groups)), slices)
        batches = [batch for part in parts for batch in part]
    return pa.Table.from_batches(batches, to_arrow_schema(COMMITS))


def read_commits(
    session: SparkSession,
    log: CommitLog,
    slices: Sequence[Any],
    groups: Collection[str] | None = None,
) -> "DataFrame":
    """The same by tasks of Spark, read when the frame is computed."""

    class CommitsSource(DataSource):
        """The data source; a class of each query, since it carries the reader."""

        @classmethod
        def name(cls) -> str:
            return "kgroups_commits"

        def schema(self) -> StructType:
            return COMMITS

        def reader(self, schema: StructType) -> DataSourceReader:
            return SliceReader(log, slices, groups)

    session.dataSource.register(CommitsSource)
    return session.read.format("kgroups_commits").load()


class SliceReader(DataSourceReader):
    """One task a slice; the bounds were taken once, so that a query reads one state.

    Args:
        groups: as in `commits_here`.
        is_whole: `RECORDS`, with the values of every kind, instead of `COMMITS`.
    """

    def __init__(
        self,
        log: CommitLog,
        slices: Sequence[Any],
        groups: Collection[str] | None = None,
        *,
        is_whole: bool = False,
    ) -> None:
        self._log, self._slices, self._groups = log, slices, groups
        self._is_whole = is_whole

    def partitions(self) -> Sequence[InputPartition]:
        """The slices."""
        return [InputPartition(part) for part in self._slices]

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        """The records of one, in Arrow batches."""
        # Spark asks for one empty task where there is no slice.
        if partition is not None:
            yield from decoded(self._log, partition.value, self._groups, is_whole=self._is_whole)


def decoded(
    log: CommitLog,
    part: LogSlice,
    groups: Collection[str] | None = None,
    *,
    is_whole: bool = False,
) -> "Iterator[pa.RecordBatch]":
    """Arrow batches of a slice, in `RECORDS` or in `COMMITS`.

    Args:
        groups: as in `commits_here`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = to_arrow_schema(RECORDS if is_whole else COMMITS)
    keys: KnownKeys = {}
    for records in log.read(part):
        rows = [
            (part.partition, *parse_record(record, keys), *(parse_rest(record) if is_whole else ()))
            for record in records
        ]
        (batch,) = table_of(rows, schema).to_batches()
        if groups is not None:
            group = batch["group"]
            kept = pc.is_in(group, pa.array(groups, pa.string()))
            batch = batch.filter(pc.or_(kept, pc.is_null(group)))
        yield batch


def parse_rest(record: LogRecord) -> tuple[str | None, str | None, str | None, str | None]:
    """The columns that `RECORDS` has beside `COMMITS`; nulls for what cannot be read."""
    try:
        key = decode_key(record.key) if record.key is not None else None
        if key is None:
            return (None, None, None, None)
        stored = decode_record(record.key or b"", record.value)
    except DecodeError:
        return (None, None, None, None)
    kind = type(key).__name__.removesuffix("Key")
    value = stored.value if stored is not None else None
    text = None if value is None else msgspec.json.encode(_plain(value)).decode()
    return (kind, key.group_id, getattr(key, "member_id", None), text)


def _plain(value: Any) -> Any:
    """A value of a record as JSON has it: fields by name, bytes in base64."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, UUID):
        return str(value)
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (tuple, list, set, frozenset)):
        return [_plain(part) for part in value]
    return value


def parse_record(record: LogRecord, keys: KnownKeys | None = None) -> tuple[Any, ...]:
    """One record's columns of `COMMITS`, without the partition of the log.

    Args:
        keys: keys that were parsed before; the same few come again and again.
    """
    head = (record.offset, record.timestamp_ms)
    if record.key is None:
        return (*head, "broken", *NO_COMMIT, "a record has no key")
    try:
        key = _key_of(record.key, keys)
        if key is None:
            return (*head, "other", *NO_COMMIT, None)
        if record.value is None:
            return (*head, "tombstone", *key, None, None, None, None)
        offset, epoch, at_ms = _plain_value(record.value) or _value_of(record.key, record.value)
    except DecodeError as exc:
        return (*head, "broken", *NO_COMMIT, str(exc))
    at_ms = at_ms if at_ms >= 0 else record.timestamp_ms
    return (*head, "commit", *key, offset, epoch if epoch >= 0 else None, at_ms, None)


def _key_of(raw: bytes, keys: KnownKeys | None) -> tuple[str, str, int] | None:
    """Group, topic and partition of a commit's key; None for a key of something else.

    Raises:
        DecodeError: the bytes are broken.
    """
    if keys is not None and raw in keys:
        return keys[raw]
    parsed = decode_key(raw)
    key = None
    if isinstance(parsed, OffsetCommitKey):
        key = (parsed.group_id, parsed.topic, parsed.partition)
    if keys is not None:
        if len(keys) >= MOST_KEYS:
            keys.clear()
        keys[raw] = key
    return key


def _plain_value(raw: bytes) -> tuple[int, int, Any] | None:
    """Offset, epoch and time of a value as nearly every one is: of version 3 or 4, short metadata.

    None for any other, and for one that is not exactly as long as it should be: the codec knows
    what to make of these.
    """
    if len(raw) < PLAIN_BYTES:
        return None
    version, offset, epoch, length = PLAIN_HEAD.unpack_from(raw)
    begin = PLAIN_HEAD.size
    if version == COMPACT_VERSION:
        # A compact string: its length and one in a byte, if it is short; then the tagged fields.
        length = raw[begin - 2] - 1
        begin -= 1
        rest = raw[begin + length + PLAIN_TIME.size :]
        is_plain = length < COMPACT_SHORT and (rest == NO_TAGS or _is_topic_id(rest))
    else:
        is_plain = version == PLAIN_VERSION and len(raw) == PLAIN_BYTES + length
    if not is_plain or length < 0 or (length and not raw[begin : begin + length].isascii()):
        return None
    return offset, epoch, PLAIN_TIME.unpack_from(raw, begin + length)[0]


def _is_topic_id(rest: bytes) -> bool:
    """Whether tagged fields are the topic's id and nothing else."""
    return len(rest) == TOPIC_ID_BYTES and rest.startswith(TOPIC_ID_TAG)


def _value_of(key: bytes, raw: bytes) -> tuple[int, int, Any]:
    """Offset, epoch and time of a commit's value in any version.

    Raises:
        DecodeError: the bytes are broken, or of a version that is not known.
    """
    parsed = decode_record(key, raw)
    assert parsed is not None
    assert isinstance(parsed.value, OffsetCommitValue)
    value = parsed.value
    return value.offset, value.leader_epoch, value.commit_timestamp_ms
