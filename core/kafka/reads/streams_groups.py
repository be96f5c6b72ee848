"""Streams groups (KIP-1071) as StreamsGroupDescribe tells them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kgroups.core.snapshot import Group, Member, StreamsMember, Subtopology, Tasks, Topic
from kgroups.core.streams_tasks import partitions_read


def topology_of(item: Any) -> tuple[Subtopology, ...] | None:
    """A group's topology; internal topics by their names."""
    if item is None or item.subtopologies is None:
        return None
    return tuple(
        Subtopology(
            part.subtopology_id,
            tuple(part.source_topics),
            tuple(topic.name for topic in part.repartition_source_topics),
            tuple(part.repartition_sink_topics),
            tuple(topic.name for topic in part.state_changelog_topics),
        )
        for part in item.subtopologies
    )


def streams_member(item: Any) -> Member:
    """A described member; `with_partitions` adds what it reads."""
    at = item.user_endpoint
    offsets: dict[str, dict[int, int]] = {}
    for row in item.task_offsets:
        offsets.setdefault(row.subtopology_id, {})[row.partition] = row.offset
    return Member(
        member_id=item.member_id,
        client_id=item.client_id,
        host=item.client_host,
        instance_id=item.instance_id,
        member_protocol="classic" if item.is_classic else "consumer",
        member_epoch=item.member_epoch,
        rack=item.rack_id,
        streams=StreamsMember(
            process_id=item.process_id,
            topology_epoch=item.topology_epoch,
            endpoint=None if at is None else f"{at.host}:{at.port}",
            assigned_tasks=_tasks(item.assignment),
            target_tasks=_tasks(item.target_assignment),
            state_offsets=offsets,
        ),
    )


def _tasks(item: Any) -> Tasks:
    def held(rows: Iterable[Any]) -> dict[str, tuple[int, ...]]:
        return {row.subtopology_id: tuple(sorted(row.partitions)) for row in rows}

    return Tasks(held(item.active_tasks), held(item.standby_tasks), held(item.warmup_tasks))


def with_partitions(group: Group, topics: Mapping[str, Topic]) -> Group:
    """A streams group whose members are assigned the partitions that their active tasks read."""
    if group.type != "streams" or not group.members:
        return group
    parts = group.topology or ()
    members = [
        replace(
            member,
            assignment=partitions_read(parts, member.streams.assigned_tasks, topics),
            target_assignment=partitions_read(parts, member.streams.target_tasks, topics),
        )
        if member.streams is not None
        else member
        for member in group.members
    ]
    return replace(group, members=tuple(members))
