"""The batch dry run: every group's next assignment, computed inside Spark, joined with lag.

Groups are planned where their rows are: a group with its members and topics becomes one row, and
`mapInArrow` hands the assignors on a worker many at a time. No group ever passes through the
driver. The assignors are Python; everything around them is Spark's.
"""

from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kgroups.core.lag.captures.spark_columns import PLANS
from kgroups.core.lag.fleet.worker_planner import fleet_planner

GROUP_KEYS = ("cluster", "group")
PARTITION_KEYS = (*GROUP_KEYS, "topic", "partition")
MEMBER_KEYS = (*GROUP_KEYS, "assignor", "member_id", "client_id", "host")

# What the planner reads of a group's members; the last two only where they were made to be planned.
GROUP_FACTS = (*GROUP_KEYS, "group_type")
MEMBER_FACTS = (
    *("ordinal", "member_id", "client_id", "host", "instance_id", "rack", "subscription", "owned"),
    *("assumed_id", "leader"),
)
TOPIC_FACTS = ("topic", "topic_id", "partitions", "racks", "lag")


def plan_groups(
    members: DataFrame, topics: DataFrame, lagged: DataFrame, assignors: Sequence[str]
) -> DataFrame:
    """Who would get which partitions under each assignor.

    Args:
        members, topics: one capture, in `PLAN_MEMBERS` or `MEMBERS`, and `TOPICS`, of
            `capture_tables`.
        lagged: rows of the same capture from `transforms.with_lag`.
        assignors: names that `assignors.registry` knows.
    Returns:
        Rows in `table_columns.PLANS`.
    """
    facts = [name for name in MEMBER_FACTS if name in members.columns]
    rosters = members.groupBy(*GROUP_FACTS).agg(F.collect_list(F.struct(*facts)).alias("members"))
    wanted = _wanted_topics(members, topics, lagged).groupBy(*GROUP_KEYS)
    reads = wanted.agg(F.collect_list(F.struct(*TOPIC_FACTS)).alias("topics"))
    groups = rosters.join(reads, list(GROUP_KEYS), "left")
    return groups.mapInArrow(fleet_planner(tuple(assignors)), schema=PLANS)


def planned_partitions(plans: DataFrame) -> DataFrame:
    """The partitions of `table_columns.PLANS`, a row each; groups not planned have none."""
    return plans.where(F.col("error").isNull()).select(
        *MEMBER_KEYS, "topic", F.explode("partitions").alias("partition")
    )


def _wanted_topics(members: DataFrame, topics: DataFrame, lagged: DataFrame) -> DataFrame:
    """For each group the existing topics that its members subscribe to, with lag by partition."""
    subscribed = members.select(*GROUP_KEYS, F.explode("subscription").alias("topic")).distinct()
    lags = lagged.groupBy(*GROUP_KEYS, "topic").agg(
        F.map_from_entries(F.collect_list(F.struct("partition", "lag"))).alias("lag_by_partition")
    )
    numbers = F.when(F.col("partitions") > 0, F.sequence(F.lit(0), F.col("partitions") - 1))
    lag = F.transform(numbers, _value_at("lag_by_partition"))
    return (
        subscribed.join(topics.drop("captured_at_ms"), ["cluster", "topic"], "inner")
        .join(lags, [*GROUP_KEYS, "topic"], "left")
        .select(*GROUP_KEYS, "topic", "topic_id", "partitions", "racks", lag.alias("lag"))
    )


def _value_at(column: str) -> Callable[[Column], Column]:
    """A function from a key to the value of a map column, null where there is none."""
    return lambda key: F.try_element_at(F.col(column), key)
