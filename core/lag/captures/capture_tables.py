"""A cluster snapshot as tables of facts: nothing is computed but patterns looked up."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from kgroups.assignors.order.java_order import java_sorted
from kgroups.core.errors import PatternError, UsageError
from kgroups.core.lag.captures.table_columns import arrow_schema, table_of
from kgroups.core.lag.group_lag import HIDDEN_LOG, NO_COMMIT, NO_LOG, NOBODY, topics_read
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, Topic

if TYPE_CHECKING:
    import pyarrow as pa


class CaptureTables(NamedTuple):
    """A snapshot as Arrow tables."""

    rows: "pa.Table"
    members: "pa.Table"
    topics: "pa.Table"


Tuples = list[tuple[Any, ...]]
# Topic, partition and offset to when the record there, or the next one, was written.
RecordTimes = Mapping[tuple[str, int, int], int]
NO_TIMES: RecordTimes = MappingProxyType({})


def capture_tables(
    snapshots: Iterable[ClusterSnapshot], record_times: RecordTimes = NO_TIMES
) -> CaptureTables:
    """Snapshots as tables of facts; no lag is computed here.

    Args:
        record_times: of the next record that a group will read, by topic, partition and offset.
    Returns:
        Rows by group, topic and partition within a snapshot; members in the broker's order.
    """
    rows, members, topics = Tuples(), Tuples(), Tuples()
    for snapshot in snapshots:
        capture = (snapshot.captured_at_ms, cluster_name(snapshot))
        reads = Subscriptions(snapshot)
        for group in snapshot.groups:
            _add_rows(rows, capture, snapshot, group, record_times)
            for ordinal, member in enumerate(group.members or ()):
                members.append(
                    (
                        *(*capture, group.group, group.type, ordinal),
                        *_member(member, reads),
                        group.assignor,
                        *_round(group, member),
                    )
                )
        for topic in snapshot.topics.values():
            topics.append((*capture, *_topic(topic)))
    return CaptureTables(
        table_of(rows, arrow_schema("rows")),
        table_of(members, arrow_schema("members")),
        table_of(topics, arrow_schema("topics")),
    )


def plan_tables(
    snapshots: Iterable[ClusterSnapshot],
    assumed_ids: Mapping[tuple[str, str], str],
    leader_of: Callable[[Group], str],
) -> tuple["pa.Table", "pa.Table"]:
    """Members as `plan_members` and topics of clusters as they are to be planned.

    Args:
        assumed_ids: group and name of a member that joins -> the id drawn for it.
        leader_of: the client library whose rules a group's plan follows.
    """
    members, topics = Tuples(), Tuples()
    for snapshot in snapshots:
        capture = (snapshot.captured_at_ms, cluster_name(snapshot))
        reads = Subscriptions(snapshot)
        for group in snapshot.groups:
            leader = leader_of(group) if group.members else ""
            for ordinal, member in enumerate(group.members or ()):
                assumed = assumed_ids.get((group.group, member.member_id))
                facts = (*_member(member, reads), group.assignor, assumed, leader)
                members.append((*capture, group.group, group.type, ordinal, *facts))
        for topic in snapshot.topics.values():
            topics.append((*capture, *_topic(topic)))
    return (
        table_of(members, arrow_schema("plan_members")),
        table_of(topics, arrow_schema("topics")),
    )


class Subscriptions:
    """The topics that members read, patterns of KIP-848 resolved against those of one snapshot."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._topics = snapshot.topics
        self._found: dict[str, tuple[str, ...]] = {}

    def of(self, member: Member) -> list[str]:
        """Topics of a member. One whose subscription is not shown is taken to want what it has."""
        pattern = member.subscription_regex
        if not pattern:
            names = member.subscription
            return list(names if names is not None else member.assignment or ())
        if pattern not in self._found:
            self._found[pattern] = self._matching(pattern)
        return java_sorted({*(member.subscription or ()), *self._found[pattern]})

    def _matching(self, pattern: str) -> tuple[str, ...]:
        from kgroups.core.patterns import compile_pattern  # a native library

        try:
            matches = compile_pattern(pattern)
        except PatternError as error:
            raise UsageError(f"the RE2 pattern `{pattern}` is not valid: {error}") from error
        return tuple(name for name in self._topics if matches(name))


def cluster_name(snapshot: ClusterSnapshot) -> str:
    """The identity of this cluster: its id, else where it was reached."""
    return snapshot.cluster_id or snapshot.bootstrap or "unknown"


def _add_rows(
    rows: Tuples,
    capture: tuple[int, str],
    snapshot: ClusterSnapshot,
    group: Group,
    record_times: RecordTimes,
) -> None:
    """The rows of a group: every partition of the topics that it reads or has committed."""
    head = (*capture, group.group, group.type, group.state)
    hidden = snapshot.hidden_topics
    add = rows.append
    for name, logs, commits, owners, partitions in topics_read(snapshot.topics, group):
        is_hidden = name in hidden
        no_log = HIDDEN_LOG if is_hidden else NO_LOG
        commits_known = group.offsets is not None and not is_hidden
        for partition in partitions:
            start, end, stable, leader, _, error, _, _ = logs.get(partition, no_log)
            if error is None and leader is None and end is None:
                error = "LEADER_NOT_AVAILABLE"
            committed, epoch, _, at_ms, told = commits.get(partition, NO_COMMIT)
            next_at = None
            if record_times and committed is not None:
                next_at = record_times.get((name, partition, committed))
            # fmt: off
            add((
                *head, name, partition, commits_known, committed, at_ms, epoch, start, end, stable,
                *owners.get(partition, NOBODY)[:3], error, group.assignor, next_at,
                told,
            ))
            # fmt: on


def _member(member: Member, reads: Subscriptions) -> tuple[Any, ...]:
    """A member's columns."""
    assignment = member.assignment or {}
    owned = member.target_assignment if member.target_assignment is not None else assignment
    return (
        member.member_id,
        member.client_id,
        member.host,
        member.instance_id,
        member.rack,
        reads.of(member),
        _owned(owned),
    )


def _round(group: Group, member: Member) -> tuple[Any, ...]:
    """How far the group is, and its member."""
    is_as_owned = member.target_assignment in (None, member.assignment)
    return (
        group.state,
        group.generation,
        None if group.leader is None else group.leader == member.member_id,
        group.group_epoch,
        group.target_epoch,
        member.member_epoch,
        member.generation,
        None if is_as_owned or member.assignment is None else _owned(member.assignment),
    )


def _owned(assignment: Mapping[str, tuple[int, ...]]) -> list[dict[str, Any]]:
    return [{"topic": name, "partitions": list(held)} for name, held in assignment.items()]


def _topic(topic: Topic) -> tuple[Any, ...]:
    """A topic's columns; a partition number that is missing in between counts as there."""
    count = max(topic.partitions, default=-1) + 1
    logs = [topic.partitions.get(number, NO_LOG) for number in range(count)]
    has_racks = any(rack for log in logs for rack in log.racks)
    return (
        topic.topic,
        topic.topic_id,
        count,
        [list(log.racks) for log in logs] if has_racks else [],
    )
