"""OffsetCommit, OffsetFetch and OffsetDelete: committed offsets on the wire."""

from collections.abc import Awaitable, Sequence

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
from kgroups.core.sandbox.handlers.classic_groups import submit
from kgroups.core.sandbox.handlers.dispatch import Call
from kgroups.core.sandbox.wire.schema import Body

_GROUPS_SINCE = 8
"""OffsetFetch version from which several groups are asked for at once."""


def offset_commit(call: Call) -> Body | Awaitable[Body]:
    """Store offsets."""
    body = call.body
    request = OffsetCommitRequest(
        version=call.version,
        client_id=call.request.client_id or "",
        client_host=call.peer,
        group_id=body["group_id"],
        generation_id_or_member_epoch=body["generation_id_or_member_epoch"],
        member_id=body["member_id"],
        group_instance_id=body.get("group_instance_id"),
        retention_time_ms=body.get("retention_time", -1),
        topics=tuple(_committed_topic(topic) for topic in body["topics"]),
    )
    return submit(call, request, _render_commit)


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


def _render_commit(response: OffsetCommitResponse) -> Body:
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


def offset_fetch(call: Call) -> Body | Awaitable[Body]:
    """What was committed, of one group or, from version 8 on, of several."""
    body = call.body
    asked = body["groups"] if call.version >= _GROUPS_SINCE else [body]
    request = OffsetFetchRequest(
        version=call.version,
        client_id=call.request.client_id or "",
        client_host=call.peer,
        groups=tuple(_asked_group(group) for group in asked),
        require_stable=body.get("require_stable", False),
    )

    def render(response: OffsetFetchResponse) -> Body:
        groups = [_fetched_group(group) for group in response.groups]
        return {"groups": groups} if call.version >= _GROUPS_SINCE else groups[0]

    return submit(call, request, render)


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


def offset_delete(call: Call) -> Body | Awaitable[Body]:
    """Forget offsets of topics that nobody in the group reads."""
    body = call.body
    request = OffsetDeleteRequest(
        version=call.version,
        client_id=call.request.client_id or "",
        client_host=call.peer,
        group_id=body["group_id"],
        topics=tuple(
            OffsetDeleteTopic(
                topic["name"], tuple(one["partition_index"] for one in topic["partitions"])
            )
            for topic in body["topics"]
        ),
    )
    return submit(call, request, _render_delete)


def _render_delete(response: OffsetDeleteResponse) -> Body:
    return {"error_code": response.error_code, "topics": _topic_errors(response.topics)}
