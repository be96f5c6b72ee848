"""A fleet as it is beside the same fleet as planned: by member, by group, by assignor.

Columns over what `dryrun.planned_assignments` gives, joined with lag; no Python runs per row.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kgroups.core.lag.dryrun import GROUP_KEYS, MEMBER_KEYS, PARTITION_KEYS

# Records a second that a window of captures tells of a partition.
RATES = ("rate_in", "rate_out")


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
    planned: DataFrame,
    assignors: Sequence[str],
    later: Later | None = None,
) -> DataFrame:
    """Each member under each assignor: partitions and lag now and as planned.

    Args:
        members, lagged: of one capture, as it is now; `lagged` may have `RATES` too.
        planned: from `dryrun.planned_assignments`.
        later: the fleet after what-if changes; None: as it is.
    Returns:
        `cluster`, `group`, `assignor`, `member_id`, `client_id`, `host`; `change` (stays, joins,
        leaves); `partitions`, `lag`, `lag_max`, `unknown_partitions` and the rates now; the same
        `planned_`; `kept`, `moved_in`, `moved_out`. A group that could not be planned has no rows.
    """
    rates = [name for name in RATES if name in lagged.columns]
    failed = planned.where(F.col("error").isNotNull()).select(*GROUP_KEYS, "assignor")
    both = (
        _present(members, assignors, "is_member", rates)
        .unionByName(
            _present(members if later is None else later.members, assignors, "will_be", rates)
        )
        .unionByName(_held_now(lagged, assignors, rates))
        .unionByName(_held_then(lagged, planned, later, rates))
    )
    change = (
        F.when(F.count_if(F.col("side") == "is_member") == 0, "joins")
        .when(F.count_if(F.col("side") == "will_be") == 0, "leaves")
        .otherwise("stays")
    )
    return (
        both.groupBy(*MEMBER_KEYS)
        .agg(
            change.alias("change"),
            *_side("now", "", rates),
            *_side("planned", "planned_", rates),
            F.count_if("is_kept").alias("kept"),
        )
        .withColumn("moved_in", F.col("planned_partitions") - F.col("kept"))
        .withColumn("moved_out", F.col("partitions") - F.col("kept"))
        .join(F.broadcast(failed), [*GROUP_KEYS, "assignor"], "left_anti")
    )


def _each(assignors: Sequence[str]) -> Column:
    """Every assignor, a row each."""
    return F.explode(F.array(*(F.lit(name) for name in assignors)))


def _present(
    members: DataFrame, assignors: Sequence[str], side: str, rates: Sequence[str]
) -> DataFrame:
    """One row for each member under each assignor, that says only that it is there."""
    nothing = [F.lit(None).cast("long").alias("lag")]
    nothing += [F.lit(None).cast("double").alias(name) for name in rates]
    return members.withColumn("assignor", _each(assignors)).select(
        *MEMBER_KEYS, F.lit(side).alias("side"), *nothing, F.lit(False).alias("is_kept")
    )


def _held_now(lagged: DataFrame, assignors: Sequence[str], rates: Sequence[str]) -> DataFrame:
    """What members have now, once for each assignor."""
    owned = lagged.where(F.col("member_id").isNotNull()).withColumn("assignor", _each(assignors))
    not_kept = F.lit(False).alias("is_kept")
    return owned.select(*MEMBER_KEYS, F.lit("now").alias("side"), "lag", *rates, not_kept)


def _held_then(
    lagged: DataFrame, planned: DataFrame, later: Later | None, rates: Sequence[str]
) -> DataFrame:
    """What members get, with the lag of now; what changes add to a topic is empty."""
    owner = lagged.select(*PARTITION_KEYS, "lag", *rates, F.col("member_id").alias("owner"))
    given = planned.where(F.col("error").isNull()).join(owner, list(PARTITION_KEYS), "left")
    if later is not None:
        known = later.known.select("cluster", "topic", F.col("partitions").alias("known"))
        given = given.join(F.broadcast(known), ["cluster", "topic"], "left")
        is_new = F.col("partition") >= F.coalesce(F.col("known"), F.lit(0))
        for name in ("lag", *rates):
            given = given.withColumn(name, F.when(is_new, F.lit(0)).otherwise(F.col(name)))
    return given.select(
        *MEMBER_KEYS,
        F.lit("planned").alias("side"),
        "lag",
        *rates,
        F.col("member_id").eqNullSafe(F.col("owner")).alias("is_kept"),
    )


def _side(side: str, prefix: str, rates: Sequence[str]) -> list[Column]:
    """Partitions and lag of one side; lag is null where partitions are there but none is known."""
    is_side = F.col("side") == side
    lag = F.when(is_side, F.col("lag"))
    has_none = F.count_if(is_side) == 0
    nothing = F.when(has_none, F.lit(0).cast("long"))
    return [
        F.count_if(is_side).alias(f"{prefix}partitions"),
        F.coalesce(F.sum(lag), nothing).alias(f"{prefix}lag"),
        F.coalesce(F.max(lag), nothing).alias(f"{prefix}lag_max"),
        F.count_if(is_side & F.col("lag").isNull()).alias(f"{prefix}unknown_partitions"),
        *(
            F.coalesce(F.sum(F.when(is_side, F.col(name))), F.when(has_none, F.lit(0.0))).alias(
                f"{prefix}{name}"
            )
            for name in rates
        ),
    ]


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
