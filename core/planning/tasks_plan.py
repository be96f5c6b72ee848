"""The next assignment of a streams group, as its coordinator's `sticky` assignor makes it. Pure."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kgroups.assignors.streams.sticky_tasks import assign_tasks
from kgroups.assignors.streams.tasks import MemberTasks, Task, TaskMember, TaskSource
from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.draft import unknown_host, unknown_member
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    DropHost,
    RemoveMember,
    RemoveMembers,
    SetPartitions,
)
from kgroups.core.planning.holders import Holders, HoldersPlan, drawn, drawn_id
from kgroups.core.snapshot import Group, Member, PartitionLog, StreamsMember, Tasks, Topic
from kgroups.core.streams_tasks import ROLES, TaskRole, task_count

TaskShare = tuple[Task, TaskRole]


def plan_tasks(
    group: Group, topics: Mapping[str, Topic], changes: Sequence[object], standby_replicas: int
) -> HoldersPlan[TaskShare]:
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
    after, certain = drawn(lambda draw: _assigned(members, sources, standby_replicas, draw))
    before = _holders(group.members or ())
    return HoldersPlan(group.group, len(members), before, after, "exact" if certain else "ids")


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
                meant = [m for m in members if name in (m.member_id, m.instance_id, m.client_id)]
                if not meant:
                    raise unknown_member(name, group.group)
                members = [member for member in members if member not in meant]
            case DropHost(host=host):
                meant = [m for m in members if m.host.lstrip("/") == host.lstrip("/")]
                if not meant:
                    raise unknown_host(host, group.group, members)
                members = [member for member in members if member not in meant]
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


def _assigned(
    members: Sequence[Member],
    sources: Sequence[TaskSource],
    standby_replicas: int,
    draw: random.Random,
) -> Holders[TaskShare]:
    """Who is given each task, where ids of new members are drawn."""
    names = {
        drawn_id(draw)
        if member.streams is not None and not member.host
        else member.member_id: member
        for member in members
    }
    given = assign_tasks(
        [_task_member(name, member) for name, member in names.items()], sources, standby_replicas
    )
    tasks: dict[TaskShare, list[str]] = {}
    for name, member in names.items():
        for task, role in _given(given[name]):
            tasks.setdefault((task, role), []).append(member.member_id)
    return tasks


def _given(tasks: MemberTasks) -> Iterator[TaskShare]:
    yield from ((task, "active") for task in tasks.active)
    yield from ((task, "standby") for task in tasks.standby)


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


def _holders(members: Sequence[Member]) -> Holders[TaskShare]:
    """Who has each task now."""
    owners: dict[TaskShare, list[str]] = {}
    for member in members:
        tasks = Tasks() if member.streams is None else member.streams.assigned_tasks
        for role in ROLES:
            for task in _listed(getattr(tasks, role)):
                owners.setdefault((task, role), []).append(member.member_id)
    return owners
