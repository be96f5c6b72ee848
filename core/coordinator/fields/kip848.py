"""ConsumerGroupHeartbeat and ConsumerGroupDescribe as fields by name."""

from collections.abc import Sequence
from uuid import UUID

from kgroups.core.coordinator.fields.sender import NO_OPERATIONS, Body, Sender
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupDescribeMember,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    DescribedConsumerGroup,
    TopicPartitions,
)

_NO_TOPIC = UUID(int=0)


def read_heartbeat(body: Body, sender: Sender) -> ConsumerGroupHeartbeatRequest:
    """The request of these fields."""
    names, owned = body["subscribed_topic_names"], body["topic_partitions"]
    return ConsumerGroupHeartbeatRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        group_id=body["group_id"],
        member_id=body["member_id"],
        member_epoch=body["member_epoch"],
        instance_id=body["instance_id"],
        rack_id=body["rack_id"],
        rebalance_timeout_ms=body["rebalance_timeout"],
        subscribed_topic_names=None if names is None else tuple(names),
        subscribed_topic_regex=body.get("subscribed_topic_regex"),
        server_assignor=body["server_assignor"],
        topic_partitions=None
        if owned is None
        else tuple(
            TopicPartitions(one["topic_id"] or _NO_TOPIC, tuple(one["partitions"])) for one in owned
        ),
    )


def write_heartbeat(response: ConsumerGroupHeartbeatResponse, _version: int) -> Body:
    """The fields of the answer."""
    assignment = response.assignment
    return {
        "error_code": response.error_code,
        "error_message": response.error_message,
        "member_id": response.member_id,
        "member_epoch": response.member_epoch,
        "heartbeat_interval": response.heartbeat_interval_ms,
        "assignment": None if assignment is None else _topic_partitions(assignment),
    }


def _topic_partitions(topics: Sequence[TopicPartitions]) -> Body:
    return {"topic_partitions": [topic._asdict() for topic in topics]}


def read_describe(body: Body, sender: Sender) -> ConsumerGroupDescribeRequest:
    """The request of these fields."""
    return ConsumerGroupDescribeRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        group_ids=tuple(body["group_ids"]),
    )


def write_describe(response: ConsumerGroupDescribeResponse, _version: int) -> Body:
    """The fields of the answer."""
    return {"groups": [_described_group(group) for group in response.groups]}


def _described_group(group: DescribedConsumerGroup) -> Body:
    return {
        "error_code": group.error_code,
        "error_message": group.error_message,
        "group_id": group.group_id,
        "group_state": group.group_state,
        "group_epoch": group.group_epoch,
        "assignment_epoch": group.assignment_epoch,
        "assignor_name": group.assignor_name,
        "members": [_described_member(member) for member in group.members],
        "authorized_operations": NO_OPERATIONS,
    }


def _described_member(member: ConsumerGroupDescribeMember) -> Body:
    return {
        "member_id": member.member_id,
        "instance_id": member.instance_id,
        "rack_id": member.rack_id,
        "member_epoch": member.member_epoch,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "subscribed_topic_names": member.subscribed_topic_names,
        "subscribed_topic_regex": member.subscribed_topic_regex,
        "assignment": _topic_partitions(member.assignment),
        "target_assignment": _topic_partitions(member.target_assignment),
        "member_type": member.member_type,
    }
