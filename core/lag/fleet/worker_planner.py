"""The dry run on a worker: groups come in Arrow batches, one a row, planned assignments go out.

Many groups share a call. Handing a worker one group at a time (`applyInArrow`) costs a stream, a
schema and a table for either side of each, which is many times what planning a group takes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

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
from kgroups.core.lag.captures.table_columns import PLANS, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

    Planner = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

# What the current assignment counts as when a group is planned: the newest and only one known.
GENERATION = 1

# Groups that are Python objects at one time, and whose plans go back together.
SLICE = 128


def fleet_planner(assignors: Sequence[str]) -> "Planner":
    """A function from batches of groups to their plans in `table_columns.PLANS`, for workers.

    A group is a row: `cluster`, `group`, `group_type`, `members` and `topics`, structs with
    columns of `PLAN_MEMBERS` or `MEMBERS`, and of `TOPICS` with `lag` by partition (all in
    `capture_tables`). A group without members has no plans.
    """

    def plan(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        for batch in batches:
            for first in range(0, batch.num_rows, SLICE):
                plans = _Plans()
                for group in batch.slice(first, SLICE).to_pylist():
                    _plan_group(plans, group, assignors)
                yield plans.to_arrow()

    return plan


@dataclass(slots=True)
class _Plans:
    """Rows of `table_columns.PLANS` on their way to Arrow: a list each column, partitions flat."""

    columns: list[list[Any]] = field(default_factory=lambda: [[] for _ in PLANS[:-1]])
    partitions: list[int] = field(default_factory=list)
    bounds: list[int] = field(default_factory=lambda: [0])

    def add(self, row: tuple[Any, ...], partitions: Sequence[int] = ()) -> None:
        """One row: every column but the last, and the partitions in that."""
        for column, value in zip(self.columns, row, strict=True):
            column.append(value)
        self.partitions += partitions
        self.bounds.append(len(self.partitions))

    def to_arrow(self) -> "pa.RecordBatch":
        """All rows."""
        import pyarrow as pa

        *fields, last = schema = arrow_schema("plans")
        lists = pa.ListArray.from_arrays(
            pa.array(self.bounds, pa.int32()), pa.array(self.partitions, pa.int32()), last.type
        )
        arrays = [pa.array(c, f.type) for c, f in zip(self.columns, fields, strict=True)]
        return pa.RecordBatch.from_arrays([*arrays, lists], schema=schema)


def _plan_group(plans: _Plans, group: Mapping[str, Any], assignors: Sequence[str]) -> None:
    """Appends one group's plans under each assignor."""
    members = sorted(group["members"], key=lambda member: int(member["ordinal"]))
    if members:
        request = _request(members, group["topics"] or ())
        owners = {_id_of(member): member for member in members}
        for name in assignors:
            _plan_into(plans, name, group, request, owners)


def _id_of(member: Mapping[str, Any]) -> str:
    """The id that the assignor sees: for a member that joins the one drawn for it."""
    return str(member.get("assumed_id") or member["member_id"])


def _request(
    members: Sequence[Mapping[str, Any]], topics: Sequence[Mapping[str, Any]]
) -> AssignmentRequest:
    """The input of the assignor: members own what they are assigned now."""
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
    plans: _Plans,
    name: str,
    group: Mapping[str, Any],
    request: AssignmentRequest,
    owners: Mapping[str, Mapping[str, Any]],
) -> None:
    """Appends the plan of one assignor; where it does not plan the group, a row that says why.

    `range` is the client's for a classic group and the coordinator's for a KIP-848 group.
    """
    where = (group["cluster"], group["group"], name)
    is_kip848 = group["group_type"] == "consumer"
    strategy: Assignor | None = SERVER_ASSIGNORS.get(name)
    if not is_kip848:
        leader = next(iter(owners.values())).get("leader") or "java"
        strategy = assignor(name, leader) if name in CLIENT_ASSIGNORS else None
    if strategy is None:
        error = f"`{name}` is not an assignor of {group['group_type']} groups"
        plans.add((*where, *[None] * 4, False, error))
        return
    try:
        assignment = strategy.assign(request if is_kip848 else _rejoined(request, name))
    except AssignorError as exc:
        plans.add((*where, *[None] * 4, True, str(exc)))
        return
    for member_id, topic, partitions in _by_topic(assignment):
        member = owners[member_id]
        who = (member["member_id"], member["client_id"], member["host"])
        plans.add((*where, *who, topic, True, None), partitions)


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


def _by_topic(assignment: Assignment) -> Iterator[tuple[str, str, list[int]]]:
    """Member, topic and partitions, with what a cooperative round holds back for the next one."""
    later: dict[str, dict[str, list[int]]] = {}
    for (topic, partition), member_id in getattr(assignment, "withheld", {}).items():
        later.setdefault(member_id, {}).setdefault(topic, []).append(partition)
    for member_id, held in assignment.items():
        for topic, partitions in held.items():
            yield member_id, topic, partitions
        for topic, partitions in later.get(member_id, {}).items():
            yield member_id, topic, partitions
