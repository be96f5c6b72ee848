"""OffsetCommit, OffsetFetch and OffsetDelete as fields by name."""

from collections.abc import Sequence

from kgroups.core.coordinator.fields.sender import Body, Sender
from kgroups.core.coordinator.offsets.messages import (
    FetchedGroup,
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitTopic,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteTopic,
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchTopic,
    TopicErrors,
)

_GROUPS_SINCE = 8
"""OffsetFetch version from which several groups are asked for at once."""


def read_commit(body: Body, sender: Sender) -> OffsetCommitRequest:
    """The request of these fields."""
    return OffsetCommitRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        group_id=body["group_id"],
        generation_id_or_member_epoch=body["generation_id_or_member_epoch"],
        member_id=body["member_id"],
        group_instance_id=body.get("group_instance_id"),
        retention_time_ms=body.get("retention_time", -1),
        topics=tuple(_committed_topic(topic) for topic in body["topics"]),
    )


def _committed_topic(topic: Body) -> OffsetCommitTopic:
    return OffsetCommitTopic(
        topic.get("name", ""),
        tuple(
            OffsetCommitPartition(
                one["partition_index"],
                one["committed_offset"],
                one.get("committed_leader_epoch", -1),
                one["committed_metadata"],
            )
            for one in topic["partitions"]
        ),
        topic.get("topic_id"),
    )


def write_commit(response: OffsetCommitResponse, _version: int) -> Body:
    """The fields of the answer."""
    return {"topics": _topic_errors(response.topics)}


def _topic_errors(topics: Sequence[TopicErrors]) -> list[Body]:
    return [
        {
            "name": topic.name,
            "topic_id": topic.topic_id,
            "partitions": [one._asdict() for one in topic.partitions],
        }
        for topic in topics
    ]


def read_fetch(body: Body, sender: Sender) -> OffsetFetchRequest:
    """The request of these fields: one group or, from version 8 on, several."""
    asked = body["groups"] if sender.version >= _GROUPS_SINCE else [body]
    return OffsetFetchRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        groups=tuple(_asked_group(group) for group in asked),
        require_stable=body.get("require_stable", False),
    )


def write_fetch(response: OffsetFetchResponse, version: int) -> Body:
    """The fields of the answer."""
    groups = [_fetched_group(group) for group in response.groups]
    return {"groups": groups} if version >= _GROUPS_SINCE else groups[0]


def _asked_group(group: Body) -> OffsetFetchGroup:
    topics = group["topics"]
    return OffsetFetchGroup(
        group["group_id"],
        None
        if topics is None
        else tuple(
            OffsetFetchTopic(
                topic.get("name", ""), tuple(topic["partition_indexes"]), topic.get("topic_id")
            )
            for topic in topics
        ),
        group.get("member_id"),
        group.get("member_epoch", -1),
    )


def _fetched_group(group: FetchedGroup) -> Body:
    return {
        "group_id": group.group_id,
        "topics": [
            {
                "name": topic.name,
                "topic_id": topic.topic_id,
                "partitions": [one._asdict() for one in topic.partitions],
            }
            for topic in group.topics
        ],
        "error_code": group.error_code,
    }


def read_delete(body: Body, sender: Sender) -> OffsetDeleteRequest:
    """The request of these fields."""
    return OffsetDeleteRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        group_id=body["group_id"],
        topics=tuple(
            OffsetDeleteTopic(
                topic["name"], tuple(one["partition_index"] for one in topic["partitions"])
            )
            for topic in body["topics"]
        ),
    )


def write_delete(response: OffsetDeleteResponse, _version: int) -> Body:
    """The fields of the answer."""
    return {"error_code": response.error_code, "topics": _topic_errors(response.topics)}
