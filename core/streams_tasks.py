"""Tasks of streams groups: what they read, who has them, and why there are none. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from kgroups.core.snapshot import (
    ClusterSnapshot,
    Group,
    Member,
    StreamsMember,
    Subtopology,
    Tasks,
    Topic,
    TopicPartition,
)

TaskRole = Literal["active", "standby", "warmup"]
_INTERNAL = re.compile(
    r"-(changelog|repartition|subscription-registration-topic|subscription-response-topic"
    r"|KTABLE-FK-JOIN-SUBSCRIPTION-(REGISTRATION|RESPONSE)-\d+-topic)$"
)
ROLES: tuple[TaskRole, ...] = ("active", "standby", "warmup")
TaskStatus = Literal["assigned", "pending", "revoking", "unassigned"]


class TaskRow(NamedTuple):
    """A task of a group and who has it.

    Args:
        status: `pending`: not given to the member yet; `revoking`: it has to give it up;
            `unassigned`: nobody has it active, or is to have it.
        lag: records that it still has to read, of an active task; None if not known.
        state_offset: how far the member's copy of its state is, summed over the changelogs; None
            where the member does not tell.
        state_lag: records that the changelogs have beyond that; the member tells it once in
            `streams.task.offset.interval.ms`, so it may have read more.
    """

    subtopology_id: str
    partition: int
    role: TaskRole
    status: TaskStatus
    member_id: str | None
    client_id: str | None
    host: str | None
    process_id: str | None
    endpoint: str | None
    topics: tuple[str, ...]
    lag: int | None
    state_offset: int | None
    state_lag: int | None


class InternalRow(NamedTuple):
    """A partition of a topic that a streams application has made for itself.

    Args:
        subtopology_id: of who reads it, or keeps its state there.
        lag: records to read, of a repartition topic; None of a changelog, which nobody commits:
            `state_lag` of tasks says how far its copies are.
    """

    subtopology_id: str
    topic: str
    kind: Literal["repartition", "changelog"]
    partition: int
    log_start_offset: int | None
    log_end_offset: int | None
    lag: int | None


def sources_of(part: Subtopology) -> tuple[str, ...]:
    """Every topic that a subtopology reads, its own and internal ones."""
    return part.source_topics + part.repartition_source_topics


def internal_topics_of(group: Group) -> list[str]:
    """The topics that a streams group's application has made for itself, ascending."""
    parts = group.topology or ()
    sources = {topic for part in parts for topic in part.source_topics}
    return sorted(
        {
            topic
            for part in parts
            for topic in part.repartition_source_topics + part.state_changelog_topics
        }
        - sources
    )


def input_commits(group: Group) -> list[TopicPartition]:
    """The commits of a streams group on topics that it has not made itself, in order."""
    sources = {topic for part in group.topology or () for topic in part.source_topics}
    offsets = group.offsets or {}
    return sorted((topic, at) for topic in offsets if topic in sources for at in offsets[topic])


def is_named_internal(topic: str, group: str) -> bool:
    """Whether a topic has a name that Kafka Streams gives to internal topics of this group."""
    return topic.startswith(f"{group}-") and _INTERNAL.search(topic) is not None


def task_count(part: Subtopology, topics: Mapping[str, Topic]) -> int:
    """Tasks of a subtopology: one for each partition of its widest source."""
    return max((_width(topics, name) for name in sources_of(part)), default=0)


def _width(topics: Mapping[str, Topic], name: str) -> int:
    return len(topics[name].partitions) if name in topics else 0


def partitions_read(
    parts: Iterable[Subtopology], tasks: Tasks, topics: Mapping[str, Topic]
) -> dict[str, tuple[int, ...]]:
    """Topic to the partitions that active tasks read."""
    by_topic: dict[str, tuple[int, ...]] = {}
    for part in parts:
        held = tasks.active.get(part.subtopology_id, ())
        for name in sources_of(part):
            numbers = tuple(number for number in held if number < _width(topics, name))
            if numbers:
                by_topic[name] = tuple(sorted({*by_topic.get(name, ()), *numbers}))
    return by_topic


def task_rows(
    snapshot: ClusterSnapshot, group: Group, lags: Mapping[tuple[str, int], int | None]
) -> list[TaskRow] | None:
    """The tasks of a streams group by subtopology, partition and role; None of another group.

    Args:
        lags: of the partitions that it reads.
    """
    if group.type != "streams" or group.members is None:
        return None
    rows: list[TaskRow] = []
    for part in group.topology or ():
        for number in range(task_count(part, snapshot.topics)):
            rows += _rows_of(snapshot, part, number, group.members, lags)
    return rows


def internal_rows(
    snapshot: ClusterSnapshot, group: Group, lags: Mapping[tuple[str, int], int | None]
) -> list[InternalRow] | None:
    """The partitions of a streams group's internal topics; None of another group.

    Args:
        lags: of the partitions that it reads.
    """
    if group.type != "streams":
        return None
    internal = internal_topics_of(group)
    return [
        InternalRow(
            part.subtopology_id,
            name,
            "repartition" if name in part.repartition_source_topics else "changelog",
            number,
            log.log_start_offset,
            log.log_end_offset,
            lags.get((name, number)) if name in part.repartition_source_topics else None,
        )
        for part in group.topology or ()
        for name in part.repartition_source_topics + part.state_changelog_topics
        if name in internal and name in snapshot.topics
        for number, log in sorted(snapshot.topics[name].partitions.items())
    ]


def _rows_of(
    snapshot: ClusterSnapshot,
    part: Subtopology,
    number: int,
    members: Sequence[Member],
    lags: Mapping[tuple[str, int], int | None],
) -> Iterator[TaskRow]:
    """Whoever has a task, or is to have it; a row without a member where nobody is active."""
    topics, name = sources_of(part), part.subtopology_id
    values = [lags.get((topic, number)) for topic in topics if (topic, number) in lags]
    lag = None if not values or None in values else sum(value or 0 for value in values)
    state_end, active = _state_end(snapshot, part, number), False
    for role in ROLES:
        for member in members:
            streams = member.streams
            status = None if streams is None else _status(streams, role, name, number)
            if streams is None or status is None:
                continue
            active = active or role == "active"
            state_offset = streams.state_offsets.get(name, {}).get(number)
            yield TaskRow(
                name,
                number,
                role,
                status,
                member.member_id,
                member.client_id,
                member.host,
                streams.process_id,
                streams.endpoint,
                topics,
                lag if role == "active" else None,
                state_offset,
                _beyond(state_offset, state_end),
            )
    if not active:
        nobody = (None,) * 5
        yield TaskRow(name, number, "active", "unassigned", *nobody, topics, lag, None, None)


def _state_end(snapshot: ClusterSnapshot, part: Subtopology, number: int) -> int | None:
    """Where the changelogs of a task end, summed as members sum theirs; None if one is unknown."""
    logs = [snapshot.topics.get(name) for name in part.state_changelog_topics]
    ends = [
        log.partitions[number].log_end_offset if log and number in log.partitions else None
        for log in logs
    ]
    return None if None in ends else sum(end or 0 for end in ends)


def _beyond(reached: int | None, end: int | None) -> int | None:
    return None if reached is None or end is None else max(0, end - reached)


def _status(streams: StreamsMember, role: TaskRole, name: str, number: int) -> TaskStatus | None:
    has = number in getattr(streams.assigned_tasks, role).get(name, ())
    will = number in getattr(streams.target_tasks, role).get(name, ())
    if has:
        # warm-up tasks are never in a target: they end when the state is there
        return "assigned" if will or role == "warmup" else "revoking"
    return "pending" if will else None


def why_not_ready(group: Group, topics: Mapping[str, Topic]) -> str | None:
    """The reason why a group is NotReady, as far as it shows from outside; None if it is ready."""
    if group.state != "NotReady":
        return None
    causes = []
    for part in group.topology or ():
        for name in (*sources_of(part), *part.state_changelog_topics):
            if name not in topics:
                kind = "source" if name in part.source_topics else "internal"
                causes.append(f"{kind} topic `{name}` does not exist")
        widths = {name: _width(topics, name) for name in part.source_topics if name in topics}
        if len(set(widths.values())) > 1:
            counts = ", ".join(f"`{name}` has {count}" for name, count in widths.items())
            causes.append(
                f"the sources of subtopology {part.subtopology_id} differ in partitions: {counts}"
            )
    why = "; ".join(dict.fromkeys(causes)) or "the logs of its members say why"
    return f"`{group.group}` is not ready: {why}"
