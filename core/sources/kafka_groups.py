"""The data source `kafka_groups`: the groups of a cluster now, a row each, or their parts.

    spark.dataSource.register(KafkaGroups)
    spark.read.format("kafka_groups").option("kafka.bootstrap.servers", "localhost:9092").load()

One task asks the cluster, when the query runs, as `kgroups describe --all-groups` does.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.lag.captures.capture_tables import capture_tables, cluster_name
from kgroups.core.lag.captures.table_columns import arrow_schema
from kgroups.core.lag.group_lag import lag_summary, offset_rows, owners_known
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.sources.source_options import (
    choice_of,
    settings_of_options,
    timeout_ms_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

GROUPS: Final = StructType(
    [
        StructField("captured_at_ms", LongType(), False),
        StructField("cluster", StringType(), False),
        StructField("group", StringType(), False),
        StructField("type", StringType(), False),
        StructField("state", StringType(), True),
        StructField("protocol_type", StringType(), True),
        StructField("assignor", StringType(), True),
        StructField("coordinator_id", IntegerType(), True),
        StructField("member_count", IntegerType(), True),
        StructField("partitions", IntegerType(), False),
        StructField("lag", LongType(), True),
        StructField("lag_max", LongType(), True),
        StructField("lost", LongType(), True),
        StructField("unknown_partitions", IntegerType(), False),
        StructField("unowned_partitions", IntegerType(), True),
        StructField("beyond_end_partitions", IntegerType(), False),
    ]
)
SCHEMAS: Final = {
    "group": GROUPS,
    "member": from_arrow_schema(arrow_schema("members")),
    "partition": from_arrow_schema(arrow_schema("rows")),
}


class KafkaGroups(DataSource):
    """Groups, members or partitions now: `GROUPS`, or what a capture has of them.

    Options: `by` (`group`, `member` or `partition`), `kafka.bootstrap.servers` and other
    `kafka.` properties, `config` (a properties file), `timeout` (10s).
    """

    @classmethod
    def name(cls) -> str:
        """The arguments of `format`."""
        return "kafka_groups"

    def schema(self) -> StructType:
        """The columns of what is asked for."""
        return SCHEMAS[self._by()]

    def reader(self, schema: StructType) -> DataSourceReader:
        """Asks the cluster when the query runs."""
        settings = settings_of_options(self.options)
        return GroupsReader(settings, timeout_ms_of(self.options), self._by())

    def _by(self) -> str:
        return choice_of(self.options, "by", ("group", "member", "partition"))


class GroupsReader(DataSourceReader):
    """One task that asks a cluster."""

    def __init__(self, settings: ClientSettings, timeout_ms: int, by: str) -> None:
        self._settings, self._timeout_ms, self._by = settings, timeout_ms, by

    def partitions(self) -> Sequence[InputPartition]:
        """One: a cluster is asked as a whole."""
        return [InputPartition(None)]

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        """The rows.

        Raises:
            KgroupsError: the cluster cannot be reached, or a group of it cannot be read: a table
                without it would look whole.
        """
        with ClusterAdmin(self._settings, timeout_ms=self._timeout_ms) as admin:
            snapshot = admin.snapshot(isolation="read_committed")
        if snapshot.errors:
            first, more = snapshot.errors[0], len(snapshot.errors) - 1
            text = first.text + (f", and {more} more failures" if more else "")
            raise KgroupsError(text, hint=first.hint, code=first.code)
        yield from table_of(snapshot, self._by).to_batches()


def table_of(snapshot: ClusterSnapshot, by: str) -> "pa.Table":
    """A snapshot's rows: groups with their lag, members, or partitions."""
    import pyarrow as pa

    if by == "partition":
        return capture_tables([snapshot]).rows
    if by == "member":
        return capture_tables([snapshot]).members
    rows: list[dict[str, Any]] = []
    for group in snapshot.groups:
        places = offset_rows(snapshot, group)
        summary = lag_summary(places, owned=owners_known(group))
        rows.append(
            {
                "captured_at_ms": snapshot.captured_at_ms,
                "cluster": cluster_name(snapshot),
                "group": group.group,
                "type": group.type,
                "state": group.state,
                "protocol_type": group.protocol_type,
                "assignor": group.assignor,
                "coordinator_id": group.coordinator,
                "member_count": None if group.members is None else len(group.members),
                "partitions": len(places),
                **summary._asdict(),
            }
        )
    return pa.Table.from_pylist(rows, schema=to_arrow_schema(GROUPS))
