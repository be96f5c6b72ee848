"""The next assignment of a streams group, as its coordinator's `sticky` assignor makes it. Pure."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from kgroups.assignors.streams.sticky_tasks import assign_tasks
from kgroups.assignors.streams.tasks import Task, TaskMember, TaskSource
from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    Change,
    Deploy,
    DropHost,
    RemoveMember,
    RemoveMembers,
    SetPartitions,
)
from kgroups.core.planning.holders import HoldersPlan, Thing, changed_roster, plan_of
from kgroups.core.planning.roster import Seat
from kgroups.core.snapshot import ClusterSnapshot, Group, StreamsMember
from kgroups.core.streams_tasks import ROLES, task_count

KINDS: Final = (AddMembers, RemoveMember, RemoveMembers, DropHost, SetPartitions)


def plan_tasks(
    snapshot: ClusterSnapshot, group: Group, changes: Sequence[Change | Deploy]
) -> HoldersPlan:
    """The group after these changes and one assignment; tasks with their roles.

    Raises:
        UsageError: a change that streams groups cannot have, or nothing to plan.
        NotFoundError: a member, host or topic that is not there.
    """
    refused = UsageError(
        "plans of streams groups take members and partitions that come or go",
        hint="use --add-members, --remove-member, --drop-host or --set-partitions",
    )
    # What members read is the topology's, not their own.
    present = tuple(replace(member, subscription=()) for member in group.members or ())
    bare = [replace(c, topics=()) if isinstance(c, AddMembers) else c for c in changes]
    roster = changed_roster(snapshot, replace(group, members=present), bare, KINDS, refused)
    if group.topology is None or not roster.seats:
        raise UsageError(f"`{group.group}` has no members or no topology, so it is given no tasks")
    sources = [
        TaskSource(p.subtopology_id, task_count(p, roster.topics), bool(p.state_changelog_topics))
        for p in group.topology
    ]
    standby = standby_replicas(group)

    def assign(seats: Mapping[str, Seat], _: random.Random) -> Iterator[tuple[Thing, str]]:
        members = [_task_member(name, seat.member.streams) for name, seat in seats.items()]
        for name, given in assign_tasks(members, sources, standby).items():
            for role, tasks in given._asdict().items():
                yield from (((*task, role), name) for task in tasks)

    before = (
        ((*task, role), member.member_id)
        for member in present
        if member.streams is not None
        for role in ROLES
        for task in _listed(getattr(member.streams.assigned_tasks, role))
    )
    return plan_of(roster, before, assign)


def standby_replicas(group: Group) -> int:
    """Copies of the state of each stateful task; none where its configurations are not known."""
    return int((group.settings or {}).get("streams.num.standby.replicas") or 0)


def _task_member(name: str, streams: StreamsMember | None) -> TaskMember:
    """A member as the assignor sees it; one that joins is an instance of its own."""
    if streams is None:
        return TaskMember(name, process_id=name)
    return TaskMember(
        name,
        streams.process_id,
        _listed(streams.assigned_tasks.active),
        _listed(streams.assigned_tasks.standby),
        {
            (part, number): offset
            for part, offsets in streams.state_offsets.items()
            for number, offset in offsets.items()
        },
    )


def _listed(tasks: Mapping[str, Sequence[int]]) -> set[Task]:
    return {(part, number) for part, numbers in tasks.items() for number in numbers}
