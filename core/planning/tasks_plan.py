"""The next assignment of a streams group, as its coordinator's `sticky` assignor makes it. Pure."""

import base64
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Literal, NamedTuple

from kgroups.assignors.streams.sticky_tasks import assign_tasks
from kgroups.assignors.streams.tasks import MemberTasks, Task, TaskMember, TaskSource
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    DropHost,
    RemoveMember,
    RemoveMembers,
    SetPartitions,
)
from kgroups.core.snapshot import Group, Member, PartitionLog, StreamsMember, Tasks, Topic
from kgroups.core.streams_tasks import ROLES, TaskRole, task_count

DRAWS: Final = 16
"""How often ids of new members are drawn, as they decide ties."""

Holders = Mapping[tuple[Task, TaskRole], Sequence[str]]


class TasksPlan(NamedTuple):
    """What a group will have.

    Args:
        members: as they will be; new ones have the ids `new-1`, `new-2`, ….
        before, after: who has each task; standby tasks may have several holders.
        confidence: `exact`, or `ids`: other ids of new members would give other tasks.
    """

    group: str
    members: tuple[Member, ...]
    before: Holders
    after: Holders
    confidence: Literal["exact", "ids"]


def plan_tasks(
    group: Group, topics: Mapping[str, Topic], changes: Sequence[object], standby_replicas: int
) -> TasksPlan:
    """The group after these changes and one assignment.

    Raises:
        UsageError: a change that streams groups cannot have, or nothing to plan.
        NotFoundError: a member or host that is not there.
    """
    members, grown = _changed(group, dict(topics), changes)
    if group.topology is None or not members:
        raise UsageError(f"`{group.group}` has no members or no topology, so it is given no tasks")
    sources = [
        TaskSource(part.subtopology_id, task_count(part, grown), bool(part.state_changelog_topics))
        for part in group.topology
    ]
    drawn = [_assigned(members, sources, standby_replicas, seed) for seed in range(DRAWS)]
    return TasksPlan(
        group.group,
        tuple(members),
        _holders(group.members or ()),
        drawn[0],
        "exact" if all(plan == drawn[0] for plan in drawn) else "ids",
    )


def _changed(
    group: Group, topics: dict[str, Topic], changes: Sequence[object]
) -> tuple[list[Member], dict[str, Topic]]:
    """The members and topics after the changes."""
    members, added = list(group.members or ()), 0
    for change in changes:
        match change:
            case AddMembers(count=count, client_id=client_id):
                for _ in range(count):
                    added += 1
                    name = f"new-{added}"
                    streams = StreamsMember(process_id=name, topology_epoch=0)
                    members.append(Member(name, client_id or name, "", streams=streams))
            case RemoveMember(member=name) | RemoveMembers(name=name) if name:
                members = _without(members, partial(_is_named, name), name)
            case DropHost(host=host):
                members = _without(members, partial(_is_on, host), host)
            case SetPartitions(topic=topic, partitions=count) if topic in topics:
                logs = {number: PartitionLog() for number in range(count)}
                topics[topic] = replace(topics[topic], partitions={**logs})
            case _:
                raise UsageError(
                    "plans of streams groups take members and partitions that come or go",
                    hint="use --add-members N, --remove-member ID, --drop-host HOST or "
                    "--set-partitions TOPIC=N with a topic that the group reads",
                )
    return members, topics


def _is_named(name: str, member: Member) -> bool:
    return name in (member.member_id, member.instance_id)


def _is_on(host: str, member: Member) -> bool:
    return member.host.lstrip("/") == host.lstrip("/")


def _without(
    members: Sequence[Member], is_meant: Callable[[Member], bool], name: str
) -> list[Member]:
    left = [member for member in members if not is_meant(member)]
    if len(left) == len(members):
        raise NotFoundError(f"no such member: `{name}`", code="UNKNOWN_MEMBER_ID")
    return left


def _assigned(
    members: Sequence[Member], sources: Sequence[TaskSource], standby_replicas: int, seed: int
) -> Holders:
    """Who is given each task, where ids of new members are drawn by this seed."""
    draw = random.Random(seed)
    names = {
        _drawn(draw) if member.streams is not None and not member.host else member.member_id: member
        for member in members
    }
    given = assign_tasks(
        [_task_member(name, member) for name, member in names.items()], sources, standby_replicas
    )
    tasks: dict[tuple[Task, TaskRole], list[str]] = {}
    for name, member in names.items():
        for task, role in _given(given[name]):
            tasks.setdefault((task, role), []).append(member.member_id)
    return tasks


def _given(tasks: MemberTasks) -> Iterator[tuple[Task, TaskRole]]:
    yield from ((task, "active") for task in tasks.active)
    yield from ((task, "standby") for task in tasks.standby)


def _drawn(draw: random.Random) -> str:
    """An id as the coordinator and the client's processes have them."""
    return base64.urlsafe_b64encode(draw.randbytes(16)).decode().rstrip("=")


def _task_member(name: str, member: Member) -> TaskMember:
    streams = member.streams
    assert streams is not None, "a member of a streams group"
    tasks = streams.assigned_tasks
    return TaskMember(
        name,
        streams.process_id if member.host else name,
        _listed(tasks.active),
        _listed(tasks.standby),
        {
            (part, number): offset
            for part, offsets in streams.state_offsets.items()
            for number, offset in offsets.items()
        },
    )


def _listed(tasks: Mapping[str, Sequence[int]]) -> set[Task]:
    return {(part, number) for part, numbers in tasks.items() for number in numbers}


def _holders(members: Sequence[Member]) -> Holders:
    """Who has each task now."""
    owners: dict[tuple[Task, TaskRole], list[str]] = {}
    for member in members:
        tasks = Tasks() if member.streams is None else member.streams.assigned_tasks
        for role in ROLES:
            for task in _listed(getattr(tasks, role)):
                owners.setdefault((task, role), []).append(member.member_id)
    return owners
