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
from kgroups.assignors.registry import CLIENT_ASSIGNORS, SERVER_ASSIGNORS, assignor
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import (
    Assignment,
    AssignmentRequest,
    Assignor,
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

# What the current assignment counts as when a group is planned: the newest and only one known.
GENERATION = 1


def planned_assignments(
    members: DataFrame, topics: DataFrame, lagged: DataFrame, assignors: Sequence[str]
) -> DataFrame:
    """Who would get which partition under each assignor.

    Args:
        members, topics: one capture, in `schemas.PLAN_MEMBERS` or `schemas.MEMBERS`, and
            `schemas.TOPICS`.
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
        owners = {_id_of(member): member for member in members}
        for name in assignors:
            _plan_into(out, name, request, owners)
    return pa.table(out, schema=to_arrow_schema(PLANNED))


def _id_of(member: Mapping[str, Any]) -> str:
    """The id that the assignor sees: for a member that joins the one drawn for it."""
    return str(member.get("assumed_id") or member["member_id"])


def _request(members: list[dict[str, Any]], topics: list[dict[str, Any]]) -> AssignmentRequest:
    """What the assignor would be given: members own what they are assigned now."""
    return AssignmentRequest(
        members=[
            MemberSubscription(
                _id_of(member),
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
    error = None
    strategy: Assignor | None = SERVER_ASSIGNORS.get(name)
    if not is_modern:
        strategy = (
            assignor(name, first.get("leader") or "java") if name in CLIENT_ASSIGNORS else None
        )
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
    for assumed_id in assignment.member_ids:
        held = [*assignment.partitions_of(assumed_id), *later.get(assumed_id, ())]
        member = owners[assumed_id]
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
