"""A fleet as it is beside the same fleet as planned: by member, by group, by assignor.

Columns over what `dryrun.plan_groups` gives, joined with lag; no Python runs per row.
"""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kgroups.core.lag.fleet.dryrun import (
    GROUP_KEYS,
    MEMBER_KEYS,
    PARTITION_KEYS,
    planned_partitions,
)

# Records a second that a window of captures tells of a partition.
RATES = ("rate_in", "rate_out")
WHO = tuple(name for name in MEMBER_KEYS if name != "assignor")


class Fleet(NamedTuple):
    """A fleet as it was captured: members and topics, and rows with lag and rates."""

    members: DataFrame
    topics: DataFrame
    lagged: DataFrame


class Later(NamedTuple):
    """What what-if changes make of a fleet.

    Args:
        members: those that are there then.
        known: the topics as they are now; what the changes add to one is empty.
    """

    members: DataFrame
    known: DataFrame


def members_now_and_planned(
    members: DataFrame,
    lagged: DataFrame,
    plans: DataFrame,
    assignors: Sequence[str],
    later: Later | None = None,
) -> DataFrame:
    """Each member under each assignor: partitions and lag now and as planned.

    Args:
        members, lagged: of one capture, as it is now; `lagged` may have `RATES` too.
        plans: from `dryrun.plan_groups`.
        later: the fleet after what-if changes; None: as it is.
    Returns:
        `cluster`, `group`, `assignor`, `member_id`, `client_id`, `host`; `change` (stays, joins,
        leaves); `partitions`, `lag`, `lag_max`, `unknown_partitions` and the rates now; the same
        `planned_`; `kept`, `moved_in`, `moved_out`. A group that could not be planned has no rows.
    """
    rates = [name for name in RATES if name in lagged.columns]
    then = members if later is None else later.members
    failed = plans.where(F.col("error").isNotNull()).select(*GROUP_KEYS, "assignor")
    held_then = _held_then(lagged, planned_partitions(plans), later, rates)
    # Each side is summed up before they meet: members are far fewer than partitions.
    sides = (
        members.select(*WHO, F.lit(True).alias("is_member")).withColumn(
            "assignor", _each(assignors)
        ),
        then.select(*WHO, F.lit(True).alias("will_be")).withColumn("assignor", _each(assignors)),
        _held_now(lagged, rates).withColumn("assignor", _each(assignors)),
        held_then,
    )
    both = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), sides)
    change = (
        F.when(F.max("is_member").isNull(), "joins")
        .when(F.max("will_be").isNull(), "leaves")
        .otherwise("stays")
    )
    return (
        both.groupBy(*MEMBER_KEYS)
        .agg(
            change.alias("change"),
            *_side("", rates),
            *_side("planned_", rates),
            _counted("kept"),
        )
        .withColumn("moved_in", F.col("planned_partitions") - F.col("kept"))
        .withColumn("moved_out", F.col("partitions") - F.col("kept"))
        .join(F.broadcast(failed), [*GROUP_KEYS, "assignor"], "left_anti")
    )


def _each(assignors: Sequence[str]) -> Column:
    """Every assignor, a row each."""
    return F.explode(F.array(*(F.lit(name) for name in assignors)))


def _held_now(lagged: DataFrame, rates: Sequence[str]) -> DataFrame:
    """What members have now, summed up; who has nothing is not among them."""
    return lagged.where(F.col("member_id").isNotNull()).groupBy(*WHO).agg(*_sums("", rates))


def _held_then(
    lagged: DataFrame, planned: DataFrame, later: Later | None, rates: Sequence[str]
) -> DataFrame:
    """What members get, summed up, with the lag of now; what changes add to a topic is empty."""
    owner = lagged.select(*PARTITION_KEYS, "lag", *rates, F.col("member_id").alias("owner"))
    given = planned.join(owner, list(PARTITION_KEYS), "left")
    if later is not None:
        known = later.known.select("cluster", "topic", F.col("partitions").alias("known"))
        given = given.join(F.broadcast(known), ["cluster", "topic"], "left")
        is_new = F.col("partition") >= F.coalesce(F.col("known"), F.lit(0))
        for name in ("lag", *rates):
            given = given.withColumn(name, F.when(is_new, F.lit(0)).otherwise(F.col(name)))
    is_kept = F.col("member_id") == F.col("owner")
    return given.groupBy(*MEMBER_KEYS).agg(
        *_sums("planned_", rates), F.count_if(is_kept).alias("kept")
    )


def _sums(prefix: str, rates: Sequence[str]) -> list[Column]:
    """A member's partitions on one side, with the sums over those where figures are known."""
    return [
        F.count(F.lit(1)).alias(f"{prefix}partitions"),
        F.sum("lag").alias(f"{prefix}lag"),
        F.max("lag").alias(f"{prefix}lag_max"),
        F.count_if(F.col("lag").isNull()).alias(f"{prefix}unknown_partitions"),
        *(F.sum(name).alias(f"{prefix}{name}") for name in rates),
    ]


def _side(prefix: str, rates: Sequence[str]) -> list[Column]:
    """One side of a member; lag is null where partitions are there but none is known."""
    has_none = F.max(f"{prefix}partitions").isNull()
    kinds = {"lag": "long", "lag_max": "long"} | dict.fromkeys(rates, "double")
    figures = [
        F.coalesce(F.max(f"{prefix}{name}"), F.when(has_none, F.lit(0).cast(kind))).alias(
            f"{prefix}{name}"
        )
        for name, kind in kinds.items()
    ]
    lag, lag_max, *rest = figures
    return [
        _counted(f"{prefix}partitions"), lag, lag_max,
        _counted(f"{prefix}unknown_partitions"), *rest,
    ]  # fmt: skip


def _counted(name: str) -> Column:
    """The one count of a side; 0 where the side says nothing."""
    return F.coalesce(F.max(name), F.lit(0).cast("long")).alias(name)


def groups_now_and_planned(member_rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Each group under each assignor, from `members_now_and_planned`.

    Returns:
        The keys; `gain`: by how much the assignor would relieve the most loaded member, negative
        if it gets worse; `gain_with_member`: by how much one more member could at best, however
        partitions are spread; `best`: which of the two promises more (`assignor`, `member`,
        `none`); `best_gain`: how much; `members`, `planned_members`; `idle_members`,
        `partitions`, `lag`, `member_lag_max` (the most that one member has to read),
        `member_lag_stddev` and `member_rate_in_max` (where rates are known) now; the same
        `planned_`; `moved`.
    """
    has_rates = "rate_in" in member_rows.columns
    is_there, will_be = F.col("change") != "joins", F.col("change") != "leaves"
    # One more member still reads whole partitions, and no spread beats an even one.
    even = F.ceil(F.sum("lag") / (F.count_if(is_there) + 1))
    most = F.max("lag")
    with_member = F.greatest(most - F.greatest(F.max("lag_max"), even), F.lit(0))
    by_group = member_rows.groupBy(*keys).agg(
        F.count_if(is_there).alias("members"),
        F.count_if(will_be).alias("planned_members"),
        *_balance("", is_there, has_rates),
        *_balance("planned_", will_be, has_rates),
        F.sum("moved_in").alias("moved"),
        # `greatest` skips nulls: what is not known must not become 0.
        F.when(most.isNotNull(), with_member).alias("gain_with_member"),
    )
    best = F.greatest("gain", "gain_with_member")
    promises = F.coalesce("gain", F.lit(0)) >= F.coalesce("gain_with_member", F.lit(0))
    named = (
        F.when(best.isNull(), None)
        .when(best <= 0, "none")
        .when(promises, "assignor")
        .otherwise("member")
    )
    rest = [name for name in by_group.columns if name not in {*keys, "gain_with_member"}]
    return (
        by_group.withColumn("gain", F.col("member_lag_max") - F.col("planned_member_lag_max"))
        .withColumn("best", named)
        .withColumn("best_gain", F.greatest(best, F.when(best.isNotNull(), F.lit(0))))
        .select(*keys, "best", "best_gain", "gain", "gain_with_member", *rest)
    )


def _balance(prefix: str, counts: Column, has_rates: bool) -> list[Column]:
    """How evenly members are loaded, on one side; `counts` says who is a member then."""
    partitions, lag = f"{prefix}partitions", F.when(counts, F.col(f"{prefix}lag"))
    columns = [
        F.count_if(counts & (F.col(partitions) == 0)).alias(f"{prefix}idle_members"),
        F.sum(partitions).alias(partitions),
        F.sum(lag).alias(f"{prefix}lag"),
        F.max(lag).alias(f"{prefix}member_lag_max"),
        F.stddev_pop(lag).alias(f"{prefix}member_lag_stddev"),
    ]
    if has_rates:
        columns.append(F.max(f"{prefix}rate_in").alias(f"{prefix}member_rate_in_max"))
    return columns


def assignors_compared(group_rows: DataFrame) -> DataFrame:
    """Each assignor over the whole fleet, from `groups_now_and_planned`.

    Returns:
        `cluster`, `assignor`; `groups`; how many of them would be `better`, `worse`; `members`,
        `planned_members`, `idle_members`, `planned_idle_members`, `moved`; `gain` and
        `gain_with_member` summed.
    """
    return group_rows.groupBy("cluster", "assignor").agg(
        F.count(F.lit(1)).alias("groups"),
        F.count_if(F.col("gain") > 0).alias("better"),
        F.count_if(F.col("gain") < 0).alias("worse"),
        *(
            F.sum(name).alias(name)
            for name in (
                *("members", "planned_members", "idle_members", "planned_idle_members", "moved"),
                *("gain", "gain_with_member"),
            )
        ),
    )
