"""The next assignments of share and streams groups, where one thing may have several holders. Pure.

As their coordinators make them: by the `simple` assignor of share groups, and the `sticky` one of
streams groups.
"""

import base64
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple, cast

from kgroups.assignors.kip848.simple import SimpleAssignor
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions
from kgroups.assignors.streams.sticky_tasks import assign_tasks
from kgroups.assignors.streams.tasks import Task, TaskMember, TaskSource
from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.apply import MADE_BY, meant_in, next_roster
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    Change,
    Deploy,
    DropHost,
    Pattern,
    RemoveMember,
    RemoveMembers,
    SetPartitions,
)
from kgroups.core.planning.moves import ownership
from kgroups.core.planning.plan import EMPTY_NOTE
from kgroups.core.planning.roster import Roster, Seat
from kgroups.core.snapshot import ClusterSnapshot, Group, StreamsMember
from kgroups.core.streams_tasks import ROLES, task_count

OF_SHARE_GROUPS: Final = tuple(kind for kind in MADE_BY if kind is not Pattern)
OF_STREAMS_GROUPS: Final = (AddMembers, RemoveMember, RemoveMembers, DropHost, SetPartitions)
"""The kinds of changes that such groups can have."""
DRAWS: Final = 16
"""How often ids of new members are drawn, as they decide ties."""

Thing = tuple[Any, ...]
"""A topic and a partition, or the parts of a task."""
Holders = Mapping[Thing, Set[str]]
Kind = Literal["kept", "moved", "started", "ended"]
Assign = Callable[[Mapping[str, Seat], random.Random], Iterable[tuple[Thing, str]]]
"""From members by their ids, drawn ones too, to things and who is given each; draws other ids."""


class HoldersPlan(NamedTuple):
    """The partitions, or tasks, that the members of a group will hold.

    Args:
        before, after: member ids by thing; new members have ids that say so.
        confidence: `exact`; `ids`: other ids of new members would give them other things; `likely`:
            something is assumed, which a note names.
        notes: what is to be known of it, one sentence each.
    """

    group: str
    member_count: int
    before: Holders
    after: Holders
    confidence: Literal["exact", "ids", "likely"]
    notes: Sequence[str] = ()

    def moves(self) -> Iterator[tuple[Thing, str | None, str | None, Kind]]:
        """Each thing with who has it and who will, a row for each holder."""
        for thing in {**self.before, **self.after}:
            old, new = self.before.get(thing, set()), self.after.get(thing, set())
            gone, come = sorted(old - new), sorted(new - old)
            yield from ((thing, name, name, "kept") for name in sorted(old & new))
            yield from ((thing, a, b, "moved") for a, b in zip(gone, come, strict=False))
            yield from ((thing, name, None, "ended") for name in gone[len(come) :])
            yield from ((thing, None, name, "started") for name in come[len(gone) :])


def plan_shared(
    snapshot: ClusterSnapshot, group: Group, changes: Sequence[Change | Deploy]
) -> HoldersPlan:
    """The group after these changes and one assignment.

    Raises:
        UsageError: a change that share groups cannot have.
        NotFoundError: a member, host or topic that is not there.
    """
    refused = UsageError(
        "members of share groups have no patterns and no instance ids, and are not restarted",
        hint="use --add-members, --remove-member, --drop-host, --subscribe, --add-topic or "
        "--set-partitions",
    )
    roster = _changed_roster(snapshot, group, changes, OF_SHARE_GROUPS, refused)

    def assign(seats: Mapping[str, Seat], draw: random.Random) -> Iterator[tuple[Thing, str]]:
        members = [
            MemberSubscription(
                name, seat.topics, owned=list((seat.member.assignment or {}).items())
            )
            for name, seat in seats.items()
        ]
        topics = {
            topic.topic: TopicPartitions(
                len(topic.partitions), topic_id=topic.topic_id or _drawn_id(draw)
            )
            for topic in map(roster.topics.__getitem__, roster.subscribed())
        }
        given = SimpleAssignor().assign(AssignmentRequest(members, topics)).items()
        return (((t, number), name) for t, number, name in ownership(dict(given)))

    held = ownership({m.member_id: m.assignment or {} for m in group.members or ()})
    return _plan_of(roster, (((topic, n), name) for topic, n, name in held), assign)


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
    roster = _changed_roster(
        snapshot, replace(group, members=present), bare, OF_STREAMS_GROUPS, refused
    )
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
    return _plan_of(roster, before, assign)


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


def _changed_roster(
    snapshot: ClusterSnapshot,
    group: Group,
    changes: Sequence[Change | Deploy],
    kinds: tuple[type, ...],
    refused: UsageError,
) -> Roster:
    """Who is in the group after the changes; members join as those of KIP-848 groups do.

    Args:
        kinds: of changes that such groups can have; their members have no patterns or instance ids.
        refused: is raised of others.
    Raises:
        UsageError: a change that cannot be made.
        NotFoundError: a member, host or topic that is not there.
    """
    like = replace(group, type="consumer", protocol_type=None)
    meant = meant_in(like, changes)
    for change in meant:
        named = isinstance(change, AddMembers) and (change.pattern or change.instance_id)
        if not isinstance(change, kinds) or named:
            raise refused
    return next_roster(snapshot, like, cast("list[Change]", meant), may_match=False)


def _plan_of(roster: Roster, before: Iterable[tuple[Thing, str]], assign: Assign) -> HoldersPlan:
    """The plan of these members; ids are drawn again, to see whether others give the same."""
    plans: list[Holders] = []
    for draw in map(random.Random, range(DRAWS)):
        seats = {s.member.member_id if s.id_known else _drawn_id(draw): s for s in roster.seats}
        given = assign(seats, draw)
        plans.append(_holders((thing, seats[name].member.member_id) for thing, name in given))
    certain = all(plan == plans[0] for plan in plans)
    return HoldersPlan(
        roster.group.group,
        len(roster.seats),
        _holders(before),
        plans[0],
        "likely" if roster.guesses else "exact" if certain else "ids",
        (*roster.notes, *roster.guesses, *([] if roster.seats else [EMPTY_NOTE])),
    )


def _holders(pairs: Iterable[tuple[Thing, str]]) -> Holders:
    holders: dict[Thing, set[str]] = {}
    for thing, name in pairs:
        holders.setdefault(thing, set()).add(name)
    return holders


def _drawn_id(draw: random.Random) -> str:
    """An id as coordinators, topics and clients' processes have them."""
    return base64.urlsafe_b64encode(draw.randbytes(16)).decode().rstrip("=")
