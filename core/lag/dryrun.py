"""The batch dry run: every group's next assignment, computed inside Spark, joined with lag.

Groups are planned where their rows are: `applyInArrow` hands one group's members and topics to
the assignor on a worker, and no group ever passes through the driver. The assignors are Python;
everything around them is Spark's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.registry import CLIENT_ASSIGNORS, SERVER_ASSIGNORS
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import (
    Assignment,
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.core.lag.schemas import PLANNED

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_KEYS = ("cluster", "group")
PARTITION_KEYS = (*GROUP_KEYS, "topic", "partition")
MEMBER_KEYS = (*GROUP_KEYS, "assignor", "member_id", "client_id", "host")

# Records a second that a window of captures tells of a partition.
RATES = ("rate_in", "rate_out")

# What the current assignment counts as when a group is planned: the newest and only one known.
GENERATION = 1


def planned_assignments(
    members: DataFrame, topics: DataFrame, lagged: DataFrame, assignors: Sequence[str]
) -> DataFrame:
    """Who would get which partition under each assignor.

    Args:
        members, topics: one capture, in `schemas.MEMBERS` and `schemas.TOPICS`.
        lagged: rows of the same capture from `transforms.with_lag`.
        assignors: names that `assignors.registry` knows.
    Returns:
        Rows in `schemas.PLANNED`.
    """
    # Fresh names for the keys: both sides come from `members`, and a cogroup must tell them apart.
    fresh = {key: F.col(key).alias(key) for key in GROUP_KEYS}
    wanted = _wanted_topics(members, topics, lagged).withColumns(fresh)
    grouped = members.groupBy(*GROUP_KEYS).cogroup(wanted.groupBy(*GROUP_KEYS))
    return grouped.applyInArrow(group_planner(tuple(assignors)), schema=PLANNED)


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


def group_planner(assignors: tuple[str, ...]) -> "Callable[[pa.Table, pa.Table], pa.Table]":
    """A function from one group's members and topics to its planned partitions, for workers."""

    def plan(members: "pa.Table", topics: "pa.Table") -> "pa.Table":
        return _plan_group(members.to_pylist(), topics.to_pylist(), assignors)

    return plan


def _plan_group(
    members: list[dict[str, Any]], topics: list[dict[str, Any]], assignors: Sequence[str]
) -> "pa.Table":
    """One group under each assignor; a group without members has no rows."""
    import pyarrow as pa

    members.sort(key=lambda member: int(member["ordinal"]))
    out: dict[str, list[Any]] = {name: [] for name in PLANNED.fieldNames()}
    if members:
        request = _request(members, topics)
        owners = {member["member_id"]: member for member in members}
        for name in assignors:
            _plan_into(out, name, request, owners)
    return pa.table(out, schema=to_arrow_schema(PLANNED))


def _request(members: list[dict[str, Any]], topics: list[dict[str, Any]]) -> AssignmentRequest:
    """What the assignor would be given: members own what they are assigned now."""
    return AssignmentRequest(
        members=[
            MemberSubscription(
                member["member_id"],
                tuple(member["subscription"]),
                instance_id=member["instance_id"],
                rack=member["rack"],
                owned=[(held["topic"], held["partitions"]) for held in member["owned"]],
                generation=GENERATION,
            )
            for member in members
        ],
        topics={
            topic["topic"]: TopicPartitions(
                topic["partitions"],
                racks=topic["racks"],
                lag=topic["lag"] or (),
                topic_id=topic["topic_id"],
            )
            for topic in topics
        },
        generation=GENERATION,
    )


def known_assignors() -> list[str]:
    """Names that a plan may be made with, of either side."""
    return sorted({*CLIENT_ASSIGNORS, *SERVER_ASSIGNORS})


def _plan_into(
    out: dict[str, list[Any]],
    name: str,
    request: AssignmentRequest,
    owners: Mapping[str, dict[str, Any]],
) -> None:
    """Appends the rows of one assignor; where it does not plan the group, one that says why.

    `range` is the client's for a classic group and the coordinator's for a KIP-848 group.
    """
    first = next(iter(owners.values()))
    is_modern = first["group_type"] == "consumer"
    strategy = (SERVER_ASSIGNORS if is_modern else CLIENT_ASSIGNORS).get(name)
    error = None
    if strategy is None:
        error = f"`{name}` is no assignor of {first['group_type']} groups"
    else:
        try:
            assignment = strategy.assign(request if is_modern else _rejoined(request, name))
        except AssignorError as exc:
            error = str(exc)
    if error is not None:
        where = (first["cluster"], first["group"], name)
        row = (*where, *[None] * 5, strategy is not None, error)
        for values, value in zip(out.values(), row, strict=True):
            values.append(value)
        return
    later = _next_round(assignment)
    for member_id in assignment.member_ids:
        held = [*assignment.partitions_of(member_id), *later.get(member_id, ())]
        member = owners[member_id]
        for column in ("cluster", "group", "member_id", "client_id", "host"):
            out[column] += [member[column]] * len(held)
        out["assignor"] += [name] * len(held)
        out["topic"] += [topic for topic, _ in held]
        out["partition"] += [partition for _, partition in held]
        out["applies"] += [True] * len(held)
        out["error"] += [None] * len(held)


def _rejoined(request: AssignmentRequest, name: str) -> AssignmentRequest:
    """The request as members of a classic group would make it, each in its assignor's own way."""
    members = [
        rejoin(
            member,
            name,
            [(topic, number) for topic, numbers in member.owned for number in numbers],
            GENERATION,
        )
        for member in request.members
    ]
    return replace(request, members=members)


def _next_round(assignment: Assignment) -> dict[str, list[tuple[str, int]]]:
    """What a cooperative round holds back until its old owner has let go, by the new owner."""
    later: dict[str, list[tuple[str, int]]] = {}
    if isinstance(assignment, CompactAssignment):
        for number, position in assignment.withheld.items():
            member_id = assignment.member_ids[position]
            later.setdefault(member_id, []).append(assignment.topics.partition(number))
    return later


def members_now_and_planned(
    members: DataFrame, lagged: DataFrame, planned: DataFrame, assignors: Sequence[str]
) -> DataFrame:
    """Each member under each assignor: partitions and lag now and as planned.

    Args:
        members, lagged: as for `planned_assignments`; `lagged` may have `RATES` too.
        planned: its answer.
    Returns:
        `cluster`, `group`, `assignor`, `member_id`, `client_id`, `host`; `partitions`, `lag`,
        `lag_max`, `unknown_partitions` and the rates now; the same `planned_`; `kept`,
        `moved_in`, `moved_out`. A group that could not be planned has no rows.
    """
    rates = [name for name in RATES if name in lagged.columns]
    names = F.explode(F.array(*(F.lit(name) for name in assignors)))
    failed = planned.where(F.col("error").isNotNull()).select(*GROUP_KEYS, "assignor")
    nothing = [F.lit(None).cast("long").alias("lag")]
    nothing += [F.lit(None).cast("double").alias(name) for name in rates]
    not_kept = F.lit(False).alias("is_kept")
    everyone = members.withColumn("assignor", names).select(
        *MEMBER_KEYS, F.lit("member").alias("side"), *nothing, not_kept
    )
    now = (
        lagged.where(F.col("member_id").isNotNull())
        .withColumn("assignor", names)
        .select(*MEMBER_KEYS, F.lit("now").alias("side"), "lag", *rates, not_kept)
    )
    owner = lagged.select(*PARTITION_KEYS, "lag", *rates, F.col("member_id").alias("owner"))
    then = (
        planned.where(F.col("error").isNull())
        .join(owner, list(PARTITION_KEYS), "left")
        .select(
            *MEMBER_KEYS,
            F.lit("planned").alias("side"),
            "lag",
            *rates,
            F.col("member_id").eqNullSafe(F.col("owner")).alias("is_kept"),
        )
    )
    sides = everyone.unionByName(now).unionByName(then)
    return (
        sides.groupBy(*MEMBER_KEYS)
        .agg(
            *_side("now", "", rates),
            *_side("planned", "planned_", rates),
            F.count_if("is_kept").alias("kept"),
        )
        .withColumn("moved_in", F.col("planned_partitions") - F.col("kept"))
        .withColumn("moved_out", F.col("partitions") - F.col("kept"))
        .join(F.broadcast(failed), [*GROUP_KEYS, "assignor"], "left_anti")
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
        `none`); `best_gain`: how much; `members`; `idle_members`, `partitions`, `lag`,
        `member_lag_max` (the most that one member has to read), `member_lag_stddev` and
        `member_rate_in_max` (where rates are known) now; the same `planned_`; `moved`.
    """
    has_rates = "rate_in" in member_rows.columns
    # One more member still reads whole partitions, and no spread beats an even one.
    even = F.ceil(F.sum("lag") / (F.count(F.lit(1)) + 1))
    most = F.max("lag")
    with_member = F.greatest(most - F.greatest(F.max("lag_max"), even), F.lit(0))
    by_group = member_rows.groupBy(*keys).agg(
        F.count(F.lit(1)).alias("members"),
        *_balance("", has_rates),
        *_balance("planned_", has_rates),
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


def _balance(prefix: str, has_rates: bool) -> list[Column]:
    """How evenly members are loaded, on one side."""
    partitions, lag = f"{prefix}partitions", f"{prefix}lag"
    columns = [
        F.count_if(F.col(partitions) == 0).alias(f"{prefix}idle_members"),
        F.sum(partitions).alias(partitions),
        F.sum(lag).alias(lag),
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
        `idle_members`, `planned_idle_members`, `moved`; `gain` and `gain_with_member` summed.
    """
    return group_rows.groupBy("cluster", "assignor").agg(
        F.count(F.lit(1)).alias("groups"),
        F.count_if(F.col("gain") > 0).alias("better"),
        F.count_if(F.col("gain") < 0).alias("worse"),
        *(
            F.sum(name).alias(name)
            for name in (
                *("members", "idle_members", "planned_idle_members", "moved"),
                *("gain", "gain_with_member"),
            )
        ),
    )
