"""Past log ends, joined with commits: a history in the form of captures.

The commit log knows where groups stood, the logs themselves where they ended (their records have
times). Together they are what a collector would have captured at those times.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from kgroups.core.lag.captures.spark_columns import ROWS
from kgroups.core.snapshot import TopicPartition

# Time to topic and partition to where the log ended then.
Ends = Mapping[int, Mapping[TopicPartition, int]]

END = StructType(
    [
        StructField("at_ms", LongType(), False),
        StructField("topic", StringType(), False),
        StructField("partition", IntegerType(), False),
        StructField("end", LongType(), False),
    ]
)
# A history is told in finer steps than a report: commits come in bursts.
BUCKETS = 600
SERIES = ("cluster", "group", "topic", "partition")
# What was committed stands until the next commit; a tombstone is a commit of nothing.
NOTHING = -1


def times_to_ask(since_ms: int, until_ms: int, count: int) -> list[int]:
    """So many times spread over a window, each the last moment of a stretch of the history.

    There, of a stretch, the end of the log and the last commit are told by one point; anywhere
    else the next commit in the same stretch would hide the end.
    """
    width = max((until_ms - since_ms) // BUCKETS, 1)
    stretches = {number * BUCKETS // count for number in range(min(count, BUCKETS))}
    times = (since_ms + (number + 1) * width - 1 for number in sorted(stretches))
    return [at_ms for at_ms in times if at_ms < until_ms]


def ends_frame(session: Any, ends: Ends) -> DataFrame:
    """The ends as a DataFrame in `END`."""
    import pyarrow as pa

    cells = [(t, *at, end) for t, found in sorted(ends.items()) for at, end in found.items()]
    columns = list(zip(*cells, strict=True)) or [()] * len(END)
    schema = to_arrow_schema(END)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
    frame: DataFrame = session.createDataFrame(
        pa.Table.from_arrays(arrays, schema=schema), schema=END
    )
    return frame


def captures_then(commits: DataFrame, rows: DataFrame, ends: DataFrame) -> DataFrame:
    """What captures at the times of `ends` would have shown.

    Args:
        commits: all of them, as rows of captures that know no log; null is a tombstone.
        rows: the groups as they are now, in `table_columns.ROWS`.
        ends: in `END`.
    Returns:
        Rows in `table_columns.ROWS`: the newest commit until then and its time, the end of the log
        then, and its start now (which it had at most). Who was assigned what is not known.
    """
    then = rows.join(ends, ["topic", "partition"]).select(
        *SERIES,
        F.col("at_ms").alias("t"),
        F.lit(True).alias("is_then"),
        "group_type",
        F.lit(None).cast("long").alias("code"),
        F.lit(None).cast("long").alias("committed_at_ms"),
        "log_start_offset",
        F.col("end").alias("log_end_offset"),
        "error",
    )
    said = commits.select(
        *SERIES,
        F.col("captured_at_ms").alias("t"),
        F.lit(False).alias("is_then"),
        F.lit(None).cast("string").alias("group_type"),
        F.coalesce("committed_offset", F.lit(NOTHING).cast("long")).alias("code"),
        "committed_at_ms",
        F.lit(None).cast("long").alias("log_start_offset"),
        F.lit(None).cast("long").alias("log_end_offset"),
        F.lit(None).cast("string").alias("error"),
    )
    # A commit of the same millisecond was there.
    until_then = (
        Window.partitionBy(*SERIES)
        .orderBy("t", "is_then")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    stood = said.unionByName(then).select(
        "*",
        F.last("code", ignorenulls=True).over(until_then).alias("stood_at"),
        F.last("committed_at_ms", ignorenulls=True).over(until_then).alias("since_ms"),
    )
    has_commit = F.col("stood_at") >= 0
    known = {
        "captured_at_ms": F.col("t"),
        "commits_known": F.lit(True),
        "committed_offset": F.when(has_commit, F.col("stood_at")),
        "committed_at_ms": F.when(has_commit, F.col("since_ms")),
    }
    facts = {*SERIES, "group_type", "log_start_offset", "log_end_offset", "error"}
    return stood.where("is_then").select(
        *(
            known.get(
                field.name,
                F.col(field.name) if field.name in facts else F.lit(None).cast(field.dataType),
            ).alias(field.name)
            for field in ROWS.fields
        )
    )
