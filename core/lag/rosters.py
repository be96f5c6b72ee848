"""Members beside their lag: how many there are, who is idle, how unevenly the work is spread.

Rows of lag know only members that hold partitions; the table of members knows the idle ones too.
"""

from collections.abc import Sequence

from kgroups.core.lag.transforms import join_by
from kgroups.core.spark.plans.api import DataFrame
from kgroups.core.spark.plans.api import functions as F
from kgroups.core.spark.plans.frames import as_text

MEMBER = ("cluster", "group", "member_id")
# Groupings that members belong to; a topic or a partition has none of its own.
OF_MEMBERS = frozenset({"group", "client", "host", "assignor", "member"})
COUNTS = ("partitions", "unknown_partitions", "stale_partitions")


@as_text
def with_members(
    report: DataFrame, lagged: DataFrame, members: DataFrame, by: str, keys: Sequence[str]
) -> DataFrame:
    """A report with what the table of members adds.

    Args:
        report: figures by `keys`.
        lagged: the rows that the report is made of, with lag.
        members: of the same capture, in `table_columns.MEMBERS`.
        by: the grouping; one that has no members is left as it is.
    Returns:
        By group, client, host and assignor also `members`, `idle_members` (without a partition)
        and `skew`: the most lag of one member over the mean of all, 1 where it is even, null
        where there is none. By member a row of each idle member too.
    """
    if by not in OF_MEMBERS:
        return report
    loads = member_loads(lagged, members)
    if by == "member":
        return _with_idle_rows(report, loads, keys)
    spread = loads.groupBy(*keys).agg(
        F.count(F.lit(1)).alias("members"),
        F.count_if(F.col("held") == 0).alias("idle_members"),
        F.when(F.sum("load") > 0, F.max("load") / F.avg("load")).alias("skew"),
    )
    figures = [name for name in report.columns if name not in keys]
    joined = join_by(report, spread, keys, "full")
    counted = ("members", "idle_members", *(name for name in COUNTS if name in figures))
    return joined.select(
        *keys,
        *(F.coalesce(name, F.lit(0)).alias(name) for name in ("members", "idle_members")),
        *(
            F.coalesce(name, F.lit(0)).alias(name) if name in counted else F.col(name)
            for name in figures
        ),
        "skew",
    )


@as_text
def member_loads(lagged: DataFrame, members: DataFrame) -> DataFrame:
    """Every member with the number of its partitions (`held`) and their lag (`load`).

    Returns:
        Columns of keys; `load` is 0 for an idle member, null where no lag is known.
    """
    held = (
        lagged.where(F.col("member_id").isNotNull())
        .groupBy(*MEMBER)
        .agg(F.count(F.lit(1)).alias("n"), F.sum("lag").alias("sum"))
    )
    joined = members.select(*MEMBER, "client_id", "host", "assignor").join(
        held, list(MEMBER), "left"
    )
    count = F.coalesce("n", F.lit(0))
    load = F.when(count == 0, F.lit(0).cast("long")).otherwise(F.col("sum"))
    return joined.select("*", count.alias("held"), load.alias("load")).drop("n", "sum")


def _with_idle_rows(report: DataFrame, loads: DataFrame, keys: Sequence[str]) -> DataFrame:
    """The report by member with a row of each idle one: no partitions, no lag."""
    zeros = {*COUNTS, "lag", "lag_max"}
    idle = loads.where(F.col("held") == 0).select(
        *keys,
        *(
            F.lit(0).cast("long").alias(name) if name in zeros else F.lit(None).alias(name)
            for name in report.columns
            if name not in keys
        ),
    )
    return report.unionByName(idle)
