"""The data source `consumer_offsets`: every record of `__consumer_offsets`, batch and streaming.

    spark.dataSource.register(ConsumerOffsets)
    spark.read.format("consumer_offsets").option("kafka.bootstrap.servers", "localhost:9092").load()

One task reads one partition of the topic. A stream's offset is where each partition is read to:
records of committed transactions only, up to the last stable offset, so that a checkpoint neither
repeats nor leaves out a record.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StructType

from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.librdkafka.offsets_topic import LogSlice, OffsetsTopic
from kgroups.core.lag.window.commit_log import RECORDS, SliceReader, decoded
from kgroups.core.sources.source_options import (
    choice_of,
    settings_of_options,
    timeout_ms_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # older PySpark: such a trigger runs one batch, an unfinished one first

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Nothing."""


Offsets = dict[str, int]
"""The next offset to be read, by the number of the partition as text: it is kept as JSON."""


class ConsumerOffsets(DataSource):
    """Every record of `__consumer_offsets` in `commit_log.RECORDS`.

    Options: `kafka.bootstrap.servers` and other `kafka.` properties, `config` (a properties file),
    `timeout` (10s), `startingOffsets` of a stream (`earliest` or `latest`).
    """

    @classmethod
    def name(cls) -> str:
        """The arguments of `format`."""
        return "consumer_offsets"

    def schema(self) -> StructType:
        """The columns."""
        return RECORDS

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads the topic as it is when the query is planned."""
        log = self._log()
        return SliceReader(log, log.slices(), is_whole=True)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Reads on from a checkpoint."""
        start = choice_of(self.options, "startingOffsets", ("earliest", "latest"))
        return OffsetsStream(self._log(), from_start=start == "earliest")

    def _log(self) -> OffsetsTopic:
        return OffsetsTopic(settings_of_options(self.options), timeout_ms_of(self.options))


class OffsetsStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The records of a log that come between two offsets of a checkpoint."""

    def __init__(self, log: OffsetsTopic, *, from_start: bool) -> None:
        self._log, self._from_start = log, from_start
        self._last: Offsets | None = None

    def initialOffset(self) -> Offsets:
        """Where a stream without a checkpoint begins."""
        slices = self._log.slices()
        return {str(s.partition): s.start if self._from_start else s.end for s in slices}

    def latestOffset(self, start: Mapping[str, int] | None = None, limit: Any = None) -> Offsets:
        """Where each partition ends now; one that is empty stays where it was."""
        return {**(start or {}), **(self._last or self._ends())}

    def prepareForTriggerAvailableNow(self) -> None:
        """From now on the stream ends where each partition ends now."""
        self._last = self._ends()

    def _ends(self) -> Offsets:
        return {str(s.partition): s.end for s in self._log.slices()}

    def partitions(
        self, start: Mapping[str, int], end: Mapping[str, int]
    ) -> Sequence[InputPartition]:
        """A task for each partition that has grown.

        Raises:
            KgroupsError: one has shrunk: the topic is another one than that of the checkpoint.
        """
        slices = []
        for name, last in end.items():
            first = start.get(name, 0)
            if last < first:
                raise KgroupsError(
                    f"`{self._log.topic}-{name}` ends at {last}, before the checkpoint's {first}",
                    hint="the topic was recreated; start with a new checkpoint",
                )
            if last > first:
                slices.append(LogSlice(int(name), first, last))
        return [InputPartition(part) for part in slices]

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        """The records of one partition."""
        if partition is not None:
            yield from decoded(self._log, partition.value, is_whole=True)

    def commit(self, end: Mapping[str, int]) -> None:
        """Nothing: the checkpoint is Spark's, and the cluster is told nothing."""

    def stop(self) -> None:
        """Nothing stays open."""
