"""The JSON form of a group: one item of `describe`, and of a snapshot file.

The same words stand for the same things in both; a snapshot holds more of them (view `planning`),
so that a dry run from a file knows what a live one knows.
"""

import base64
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, Literal

from kgroups.core.lag.group_lag import LagSummary, OffsetRow, lag_summary, owners_known
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, Topic
from kgroups.core.streams_tasks import internal_rows, task_rows

Item = dict[str, Any]
View = Literal["state", "members", "offsets", "tasks", "deliveries", "planning"]

DEFAULT_VIEWS: Final[tuple[View, ...]] = ("offsets",)


def describe_item(
    snapshot: ClusterSnapshot,
    group: Group,
    rows: "Sequence[OffsetRow] | None",
    views: Collection[View] = DEFAULT_VIEWS,
    *,
    flat: bool = False,
) -> Item:
    """A group as one item of a document.

    Args:
        rows: the group's offset rows; None if its offsets were not asked for or not readable.
        views: `members`, `offsets` and `tasks` add the lists of that name, `planning` adds to the
            members what a dry run needs; without any of them the item is the group's state alone.
        flat: leave the offset rows as the tuples they are, for who shows them in columns.
    Returns:
        The fields in a fixed order; what is not known is None.
    """
    item: Item = {
        "group": group.group,
        "type": group.type,
        "state": group.state,
        "protocol_type": group.protocol_type,
        "assignor": group.assignor,
        "coordinator": coordinator_item(snapshot, group.coordinator),
        "offsets_partition": group.offsets_partition,
        "group_epoch": group.group_epoch,
        "target_epoch": group.target_epoch,
    }
    if group.topology is not None:
        item["topology"] = [asdict(part) for part in group.topology]
    if "planning" in views and group.settings is not None:
        item["group_configs"] = dict(group.settings)
    if "tasks" in views:
        lags = {(row.topic, row.partition): row.lag for row in rows or ()}
        tasks = task_rows(snapshot, group, lags)
        item["tasks"] = None if tasks is None else [row._asdict() for row in tasks]
        internal = internal_rows(snapshot, group, lags)
        item["internal_topics"] = None if internal is None else [r._asdict() for r in internal]
    if "members" in views:
        if "planning" in views:
            item |= _leader_item(group)
        item["members"] = member_items(group, rows, planning="planning" in views)
    if "offsets" in views:
        as_they_are = flat or rows is None
        item["offsets"] = rows if as_they_are else [offset_item(row) for row in rows or ()]
        item |= (
            dict.fromkeys(LagSummary._fields)
            if rows is None
            else lag_summary(rows, owned=owners_known(group))._asdict()
        )
    return item


LEADER_SOURCE: Final[Literal["__consumer_offsets"]] = "__consumer_offsets"
"""Where leaders are known from: no answer of a broker names them."""


def _leader_item(group: Group) -> Item:
    """Who leads a group, how that is known, and what it has assigned."""
    rounds = [
        {
            "assignor": led.assignor,
            "members": [member_item(member, None, planning=True) for member in led.members or ()],
        }
        for led in group.led
    ]
    return {
        "leader": group.leader,
        "leader_known_from": None if group.leader is None else LEADER_SOURCE,
        "leader_is_back": group.leader_is_back,
        "led": rounds or None,
    }


def coordinator_item(snapshot: ClusterSnapshot, broker_id: int | None) -> Item | None:
    """Id and address of a group's coordinator; host and port None for a broker not listed."""
    if broker_id is None:
        return None
    broker = snapshot.broker(broker_id)
    return {
        "id": broker_id,
        "host": None if broker is None else broker.host,
        "port": None if broker is None else broker.port,
    }


def member_items(
    group: Group, rows: "Sequence[OffsetRow] | None", *, planning: bool = False
) -> list[Item] | None:
    """The members in the broker's order; None if they were not asked for."""
    if group.members is None:
        return None
    lags = member_lags(group, rows) if rows is not None else {}
    return [member_item(member, lags.get(member.member_id), planning) for member in group.members]


def member_lags(group: Group, rows: "Iterable[OffsetRow]") -> dict[str, int]:
    """Records that each member still has to read, by member id; unknown partitions left out.

    A partition that several members are assigned counts for each of them.
    """
    lag_of = {(row.topic, row.partition): row.lag for row in rows if row.lag is not None}
    lags: dict[str, int] = {}
    for member in group.members or ():
        held = [
            lag_of[topic, number]
            for topic, number in member.assigned_partitions
            if (topic, number) in lag_of
        ]
        if held:
            lags[member.member_id] = sum(held)
    return lags


def member_item(member: Member, lag: int | None, planning: bool = False) -> Item:
    """One member; `planning` adds what only a dry run asks for."""
    item: Item = {
        "member_id": member.member_id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "host": member.host,
        "member_protocol": member.member_protocol,
        "member_epoch": member.member_epoch,
        "subscription": None if member.subscription is None else list(member.subscription),
        "assignment": assignment_item(member.assignment),
        "target_assignment": assignment_item(member.target_assignment),
        "partitions": _count(member.assignment),
        "lag": lag,
    }
    if member.streams is not None:
        item["streams"] = asdict(member.streams)
    if planning:
        item |= {
            "rack": member.rack,
            "subscription_regex": member.subscription_regex,
            "subscription_version": member.subscription_version,
            "generation": member.generation,
            "owned": assignment_item(member.owned),
            "user_data": _bytes_item(member.user_data),
            "assignment_version": member.assignment_version,
            "assignment_user_data": _bytes_item(member.assignment_user_data),
        }
    return item


def _bytes_item(data: bytes | None) -> str | None:
    if data is None:
        return None
    return base64.b64encode(data).decode()


def assignment_item(assignment: Mapping[str, Sequence[int]] | None) -> dict[str, list[int]] | None:
    """Topic to partitions, orders kept; None stays None."""
    if assignment is None:
        return None
    return {topic: list(partitions) for topic, partitions in assignment.items()}


def offset_item(row: "OffsetRow") -> Item:
    """One partition of a group.

    `last_stable_offset` is there only where it was asked for, `shared_with` only where several
    members are assigned the partition.
    """
    # Unpacked, because a cluster has 100,000s of rows and a look by name takes ten times as long.
    # fmt: off
    (
        topic, partition, committed, start, end, stable, lag, status, lost, leader_epoch, metadata,
        member_id, client_id, host, error, others, leader, current_epoch, in_sync,
    ) = row
    # fmt: on
    item: Item = {
        "topic": topic,
        "partition": partition,
        "committed_offset": committed,
        "log_start_offset": start,
        "log_end_offset": end,
        "lag": lag,
        "lag_status": status,
        "lost": lost,
        "leader_epoch": leader_epoch,
        "metadata": metadata,
        "member_id": member_id,
        "client_id": client_id,
        "host": host,
        "error": error,
        "leader": leader,
        "current_leader_epoch": current_epoch,
        "in_sync_replicas": None if in_sync is None else list(in_sync),
    }
    if stable is not None:
        item["last_stable_offset"] = stable
    if others is not None:
        item["shared_with"] = list(others)
    return item


def topic_item(topic: Topic) -> Item:
    """A topic with its partitions in the snapshot's order."""
    return {
        "topic": topic.topic,
        "topic_id": topic.topic_id,
        "partitions": [
            {
                "partition": number,
                **log._asdict(),
                "racks": list(log.racks),
                "in_sync_replicas": list(log.in_sync_replicas),
            }
            for number, log in topic.partitions.items()
        ],
    }


def _count(assignment: Mapping[str, Sequence[int]] | None) -> int | None:
    if assignment is None:
        return None
    return sum(len(partitions) for partitions in assignment.values())
