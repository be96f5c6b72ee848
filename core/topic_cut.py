"""A snapshot seen from its topics: only the groups that read some, and only what they read."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

from kgroups.core.snapshot import ClusterSnapshot, Group, Member

Value = TypeVar("Value")


def cut_to_topics(snapshot: ClusterSnapshot, topics: Collection[str]) -> ClusterSnapshot:
    """The groups that read one of these topics, with the commits and assignments of these only.

    Args:
        snapshot: of all groups.
        topics: names; a group reads what it subscribed to, is assigned or committed.
    """
    wanted = set(topics)
    cut = (_cut_group(group, wanted) for group in snapshot.groups)
    return replace(
        snapshot,
        groups=tuple(group for group in cut if group is not None),
        topics={name: topic for name, topic in snapshot.topics.items() if name in wanted},
    )


def _cut_group(group: Group, wanted: set[str]) -> Group | None:
    """The group with what it has to do with these topics; None if that is nothing."""
    offsets = _only(group.offsets, wanted)
    members = None
    if group.members is not None:
        members = tuple(_cut_member(m, wanted) for m in group.members if _reads(m, wanted))
    if not offsets and not members:
        return None
    return replace(group, offsets=offsets, members=members)


def _reads(member: Member, wanted: set[str]) -> bool:
    return not wanted.isdisjoint((*(member.subscription or ()), *(member.assignment or ())))


def _cut_member(member: Member, wanted: set[str]) -> Member:
    return replace(
        member,
        assignment=_only(member.assignment, wanted),
        target_assignment=_only(member.target_assignment, wanted),
    )


def _only(by_topic: Mapping[str, Value] | None, wanted: set[str]) -> dict[str, Value] | None:
    if by_topic is None:
        return None
    return {topic: value for topic, value in by_topic.items() if topic in wanted}
