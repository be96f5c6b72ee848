"""Kafka's own JSON of messages and records, in every version, from and to the coordinator's."""

from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_type_hints
from uuid import UUID

from kgroups.core.coordinator import admin_messages
from kgroups.core.coordinator.classic import messages
from kgroups.core.coordinator.kip848 import messages as kip848_messages
from kgroups.core.coordinator.log import record_codec, records
from kgroups.core.coordinator.log.record_codec import OFFSET_VERSION_WITH_EXPIRY
from kgroups.core.coordinator.offsets import messages as offset_messages
from kgroups.core.coordinator.request import Request
from kgroups.core.protocol.forms import NO_ID

Json = dict[str, Any]
NO_OPERATIONS = -2147483648


def id_text(topic_id: UUID | None) -> str:
    """A topic id as Kafka prints it: 22 characters of url-safe base64."""
    return urlsafe_b64encode((topic_id or NO_ID).bytes).decode().rstrip("=")


def read_id(text: str) -> UUID:
    """A topic id as Kafka prints it, read."""
    return UUID(bytes=urlsafe_b64decode(text + "=="))


def _bytes(text: str) -> bytes:
    return b64decode(text)


def _text(raw: bytes) -> str:
    return b64encode(raw).decode()


# ---------------------------------------------------------------------- requests


def _sender(op: Json) -> Json:
    return {
        "version": op["version"],
        "client_id": op.get("client_id", "client"),
        "client_host": "/" + op.get("host", "127.0.0.1"),
    }


def _join(op: Json, q: Json) -> Request:
    return messages.JoinGroupRequest(
        **_sender(op),
        group_id=q["groupId"],
        session_timeout_ms=q["sessionTimeoutMs"],
        rebalance_timeout_ms=q.get("rebalanceTimeoutMs", -1),
        member_id=q["memberId"],
        group_instance_id=q.get("groupInstanceId"),
        protocol_type=q["protocolType"],
        protocols=tuple(
            messages.JoinGroupProtocol(one["name"], _bytes(one["metadata"]))
            for one in q["protocols"]
        ),
        reason=q.get("reason"),
    )


def _sync(op: Json, q: Json) -> Request:
    return messages.SyncGroupRequest(
        **_sender(op),
        group_id=q["groupId"],
        generation_id=q["generationId"],
        member_id=q["memberId"],
        group_instance_id=q.get("groupInstanceId"),
        protocol_type=q.get("protocolType"),
        protocol_name=q.get("protocolName"),
        assignments=tuple(
            messages.SyncGroupAssignment(one["memberId"], _bytes(one["assignment"]))
            for one in q["assignments"]
        ),
    )


def _heartbeat(op: Json, q: Json) -> Request:
    return messages.HeartbeatRequest(
        **_sender(op),
        group_id=q["groupId"],
        generation_id=q["generationId"],
        member_id=q["memberId"],
        group_instance_id=q.get("groupInstanceId"),
    )


def _leave(op: Json, q: Json) -> Request:
    if op["version"] <= 2:
        members: tuple[messages.MemberIdentity, ...] = (messages.MemberIdentity(q["memberId"]),)
    else:
        members = tuple(
            messages.MemberIdentity(one["memberId"], one["groupInstanceId"], one.get("reason"))
            for one in q["members"]
        )
    return messages.LeaveGroupRequest(**_sender(op), group_id=q["groupId"], members=members)


def _commit(op: Json, q: Json) -> Request:
    return offset_messages.OffsetCommitRequest(
        **_sender(op),
        group_id=q["groupId"],
        generation_id_or_member_epoch=q.get("generationIdOrMemberEpoch", -1),
        member_id=q.get("memberId", ""),
        group_instance_id=q.get("groupInstanceId"),
        retention_time_ms=q.get("retentionTimeMs", -1),
        topics=tuple(
            offset_messages.OffsetCommitTopic(
                topic.get("name", ""),
                tuple(
                    offset_messages.OffsetCommitPartition(
                        one["partitionIndex"],
                        one["committedOffset"],
                        one.get("committedLeaderEpoch", -1),
                        one["committedMetadata"],
                    )
                    for one in topic["partitions"]
                ),
                read_id(topic["topicId"]) if "topicId" in topic else None,
            )
            for topic in q["topics"]
        ),
    )


def _fetch_topics(topics: list[Json] | None) -> tuple[offset_messages.OffsetFetchTopic, ...] | None:
    if topics is None:
        return None
    return tuple(
        offset_messages.OffsetFetchTopic(
            topic.get("name", ""),
            tuple(topic["partitionIndexes"]),
            read_id(topic["topicId"]) if "topicId" in topic else None,
        )
        for topic in topics
    )


def _fetch(op: Json, q: Json) -> Request:
    if op["version"] < 8:
        groups = [offset_messages.OffsetFetchGroup(q["groupId"], _fetch_topics(q["topics"]))]
    else:
        groups = [
            offset_messages.OffsetFetchGroup(
                group["groupId"],
                _fetch_topics(group["topics"]),
                group.get("memberId"),
                group.get("memberEpoch", -1),
            )
            for group in q["groups"]
        ]
    return offset_messages.OffsetFetchRequest(
        **_sender(op), groups=tuple(groups), require_stable=q.get("requireStable", False)
    )


def _delete_offsets(op: Json, q: Json) -> Request:
    return offset_messages.OffsetDeleteRequest(
        **_sender(op),
        group_id=q["groupId"],
        topics=tuple(
            offset_messages.OffsetDeleteTopic(
                topic["name"], tuple(one["partitionIndex"] for one in topic["partitions"])
            )
            for topic in q["topics"]
        ),
    )


def _describe(op: Json, q: Json) -> Request:
    return admin_messages.DescribeGroupsRequest(**_sender(op), groups=tuple(q["groups"]))


def _list(op: Json, q: Json) -> Request:
    return admin_messages.ListGroupsRequest(
        **_sender(op),
        states_filter=tuple(q.get("statesFilter", ())),
        types_filter=tuple(q.get("typesFilter", ())),
    )


def _delete_groups(op: Json, q: Json) -> Request:
    return admin_messages.DeleteGroupsRequest(**_sender(op), groups_names=tuple(q["groupsNames"]))


def _topic_partitions(
    topics: list[Json] | None,
) -> tuple[kip848_messages.TopicPartitions, ...] | None:
    if topics is None:
        return None
    return tuple(
        kip848_messages.TopicPartitions(read_id(one["topicId"]), tuple(one["partitions"]))
        for one in topics
    )


def _kip848_heartbeat(op: Json, q: Json) -> Request:
    names = q.get("subscribedTopicNames")
    return kip848_messages.ConsumerGroupHeartbeatRequest(
        **_sender(op),
        group_id=q["groupId"],
        member_id=q["memberId"],
        member_epoch=q["memberEpoch"],
        instance_id=q.get("instanceId"),
        rack_id=q.get("rackId"),
        rebalance_timeout_ms=q.get("rebalanceTimeoutMs", -1),
        subscribed_topic_names=None if names is None else tuple(names),
        subscribed_topic_regex=q.get("subscribedTopicRegex"),
        server_assignor=q.get("serverAssignor"),
        topic_partitions=_topic_partitions(q.get("topicPartitions")),
    )


def _kip848_describe(op: Json, q: Json) -> Request:
    return kip848_messages.ConsumerGroupDescribeRequest(
        **_sender(op), group_ids=tuple(q["groupIds"])
    )


READERS: Mapping[str, Callable[[Json, Json], Request]] = {
    "join": _join,
    "sync": _sync,
    "heartbeat": _heartbeat,
    "leave": _leave,
    "commit": _commit,
    "fetch": _fetch,
    "delete_offsets": _delete_offsets,
    "describe": _describe,
    "list": _list,
    "delete_groups": _delete_groups,
    "consumer_heartbeat": _kip848_heartbeat,
    "consumer_describe": _kip848_describe,
}


def read_request(op: Json) -> Request:
    """The request that an operation carries."""
    return READERS[op["op"]](op, op["request"])


# ---------------------------------------------------------------------- answers


def _since(version: int, first: int, **fields: object) -> Json:
    return fields if version >= first else {}


def _join_answer(r: messages.JoinGroupResponse, v: int) -> Json:
    return {
        **_since(v, 2, throttleTimeMs=0),
        "errorCode": int(r.error_code),
        "generationId": r.generation_id,
        **_since(v, 7, protocolType=r.protocol_type),
        "protocolName": r.protocol_name,
        "leader": r.leader,
        **_since(v, 9, skipAssignment=r.skip_assignment),
        "memberId": r.member_id,
        "members": [
            {
                "memberId": one.member_id,
                **_since(v, 5, groupInstanceId=one.group_instance_id),
                "metadata": _text(one.metadata),
            }
            for one in r.members
        ],
    }


def _sync_answer(r: messages.SyncGroupResponse, v: int) -> Json:
    return {
        **_since(v, 1, throttleTimeMs=0),
        "errorCode": int(r.error_code),
        **_since(v, 5, protocolType=r.protocol_type, protocolName=r.protocol_name),
        "assignment": _text(r.assignment),
    }


def _heartbeat_answer(r: messages.HeartbeatResponse, v: int) -> Json:
    return {**_since(v, 1, throttleTimeMs=0), "errorCode": int(r.error_code)}


def _leave_answer(r: messages.LeaveGroupResponse, v: int) -> Json:
    members = [
        {
            "memberId": one.member_id,
            "groupInstanceId": one.group_instance_id,
            "errorCode": int(one.error_code),
        }
        for one in r.members
    ]
    return {
        **_since(v, 1, throttleTimeMs=0),
        "errorCode": int(r.error_code),
        **_since(v, 3, members=members),
    }


def _topic_errors(topics: Iterable[offset_messages.TopicErrors], *, by_id: bool) -> list[Json]:
    return [
        {
            **({"topicId": id_text(one.topic_id)} if by_id else {"name": one.name}),
            "partitions": [
                {"partitionIndex": index, "errorCode": int(error)}
                for index, error in one.partitions
            ],
        }
        for one in topics
    ]


def _commit_answer(r: offset_messages.OffsetCommitResponse, v: int) -> Json:
    return {
        **_since(v, 3, throttleTimeMs=0),
        "topics": _topic_errors(r.topics, by_id=v >= 10),
    }


def _fetch_answer(r: offset_messages.OffsetFetchResponse, v: int) -> Json:
    groups = [
        {
            "groupId": group.group_id,
            "topics": [
                {
                    **({"topicId": id_text(topic.topic_id)} if v >= 10 else {"name": topic.name}),
                    "partitions": [
                        {
                            "partitionIndex": one.partition_index,
                            "committedOffset": one.committed_offset,
                            **_since(v, 5, committedLeaderEpoch=one.committed_leader_epoch),
                            "metadata": one.metadata,
                            "errorCode": int(one.error_code),
                        }
                        for one in topic.partitions
                    ],
                }
                for topic in group.topics
            ],
            "errorCode": int(group.error_code),
        }
        for group in r.groups
    ]
    if v >= 8:
        return {"throttleTimeMs": 0, "groups": groups}
    only = groups[0]
    return {
        **_since(v, 3, throttleTimeMs=0),
        "topics": only["topics"],
        **_since(v, 2, errorCode=only["errorCode"]),
    }


def _delete_offsets_answer(r: offset_messages.OffsetDeleteResponse, v: int) -> Json:
    return {
        "errorCode": int(r.error_code),
        "throttleTimeMs": 0,
        "topics": _topic_errors(r.topics, by_id=False),
    }


def _describe_answer(r: admin_messages.DescribeGroupsResponse, v: int) -> Json:
    groups = [
        {
            "errorCode": int(group.error_code),
            **_since(v, 6, errorMessage=group.error_message),
            "groupId": group.group_id,
            "groupState": group.group_state,
            "protocolType": group.protocol_type,
            "protocolData": group.protocol_data,
            "members": [
                {
                    "memberId": one.member_id,
                    **_since(v, 4, groupInstanceId=one.group_instance_id),
                    "clientId": one.client_id,
                    "clientHost": one.client_host,
                    "memberMetadata": _text(one.member_metadata),
                    "memberAssignment": _text(one.member_assignment),
                }
                for one in group.members
            ],
            **_since(v, 3, authorizedOperations=NO_OPERATIONS),
        }
        for group in r.groups
    ]
    return {**_since(v, 1, throttleTimeMs=0), "groups": groups}


def _list_answer(r: admin_messages.ListGroupsResponse, v: int) -> Json:
    groups = [
        {
            "groupId": one.group_id,
            "protocolType": one.protocol_type,
            **_since(v, 4, groupState=one.group_state),
            **_since(v, 5, groupType=one.group_type),
        }
        for one in r.groups
    ]
    return {**_since(v, 1, throttleTimeMs=0), "errorCode": int(r.error_code), "groups": groups}


def _delete_groups_answer(r: admin_messages.DeleteGroupsResponse, v: int) -> Json:
    return {
        "throttleTimeMs": 0,
        "results": [
            {"groupId": one.group_id, "errorCode": int(one.error_code)} for one in r.results
        ],
    }


def _assignment(topics: Iterable[kip848_messages.TopicPartitions], *, named: bool) -> Json:
    return {
        "topicPartitions": [
            {
                "topicId": id_text(one.topic_id),
                **({"topicName": one.topic_name} if named else {}),
                "partitions": list(one.partitions),
            }
            for one in topics
        ]
    }


def _kip848_heartbeat_answer(r: kip848_messages.ConsumerGroupHeartbeatResponse, v: int) -> Json:
    return {
        "throttleTimeMs": 0,
        "errorCode": int(r.error_code),
        "errorMessage": r.error_message,
        "memberId": r.member_id,
        "memberEpoch": r.member_epoch,
        "heartbeatIntervalMs": r.heartbeat_interval_ms,
        "assignment": None if r.assignment is None else _assignment(r.assignment, named=False),
    }


def _kip848_describe_answer(r: kip848_messages.ConsumerGroupDescribeResponse, v: int) -> Json:
    return {
        "throttleTimeMs": 0,
        "groups": [
            {
                "errorCode": int(group.error_code),
                "errorMessage": group.error_message,
                "groupId": group.group_id,
                "groupState": group.group_state,
                "groupEpoch": group.group_epoch,
                "assignmentEpoch": group.assignment_epoch,
                "assignorName": group.assignor_name,
                "members": [
                    {
                        "memberId": one.member_id,
                        "instanceId": one.instance_id,
                        "rackId": one.rack_id,
                        "memberEpoch": one.member_epoch,
                        "clientId": one.client_id,
                        "clientHost": one.client_host,
                        "subscribedTopicNames": list(one.subscribed_topic_names),
                        "subscribedTopicRegex": one.subscribed_topic_regex,
                        "assignment": _assignment(one.assignment, named=True),
                        "targetAssignment": _assignment(one.target_assignment, named=True),
                        **_since(v, 1, memberType=one.member_type),
                    }
                    for one in group.members
                ],
                "authorizedOperations": NO_OPERATIONS,
            }
            for group in r.groups
        ],
    }


WRITERS: Mapping[type, Callable[[Any, int], Json]] = {
    messages.JoinGroupResponse: _join_answer,
    messages.SyncGroupResponse: _sync_answer,
    messages.HeartbeatResponse: _heartbeat_answer,
    messages.LeaveGroupResponse: _leave_answer,
    offset_messages.OffsetCommitResponse: _commit_answer,
    offset_messages.OffsetFetchResponse: _fetch_answer,
    offset_messages.OffsetDeleteResponse: _delete_offsets_answer,
    admin_messages.DescribeGroupsResponse: _describe_answer,
    admin_messages.ListGroupsResponse: _list_answer,
    admin_messages.DeleteGroupsResponse: _delete_groups_answer,
    kip848_messages.ConsumerGroupHeartbeatResponse: _kip848_heartbeat_answer,
    kip848_messages.ConsumerGroupDescribeResponse: _kip848_describe_answer,
}


def write_answer(response: object, version: int) -> Json:
    """The JSON of a response in this version."""
    return WRITERS[type(response)](response, version)


# ---------------------------------------------------------------------- records

_NAMES = {
    "group_id": "groupId",
    "member_id": "memberId",
    "regular_expression": "regularExpression",
    "topic": "topic",
    "partition": "partition",
}


def _assigned(topics: Iterable[records.AssignedTopic]) -> list[Json]:
    return [
        {
            "topicId": id_text(one.topic_id),
            "partitions": list(one.partitions),
            **({"assignmentEpochs": list(one.assignment_epochs)} if one.assignment_epochs else {}),
        }
        for one in topics
    ]


def _offset_value(v: records.OffsetCommitValue, version: int) -> Json:
    if version == OFFSET_VERSION_WITH_EXPIRY:
        return {
            "offset": v.offset,
            "metadata": v.metadata,
            "commitTimestamp": v.commit_timestamp_ms,
            "expireTimestamp": v.expire_timestamp_ms,
        }
    return {
        "offset": v.offset,
        "leaderEpoch": v.leader_epoch,
        "metadata": v.metadata,
        "commitTimestamp": v.commit_timestamp_ms,
        **({"topicId": id_text(v.topic_id)} if v.topic_id else {}),
    }


def _group_value(v: records.GroupMetadataValue, version: int) -> Json:
    return {
        "protocolType": v.protocol_type,
        "generation": v.generation,
        "protocol": v.protocol,
        "leader": v.leader,
        "currentStateTimestamp": v.current_state_timestamp_ms,
        "members": [
            {
                "memberId": one.member_id,
                "groupInstanceId": one.group_instance_id,
                "clientId": one.client_id,
                "clientHost": one.client_host,
                "rebalanceTimeout": one.rebalance_timeout_ms,
                "sessionTimeout": one.session_timeout_ms,
                "subscription": _text(one.subscription),
                "assignment": _text(one.assignment),
            }
            for one in v.members
        ],
    }


def _member_value(v: records.ConsumerGroupMemberMetadataValue, version: int) -> Json:
    classic = None
    if v.classic is not None:
        classic = {
            "sessionTimeoutMs": v.classic.session_timeout_ms,
            "supportedProtocols": [
                {"name": one.name, "metadata": _text(one.metadata)}
                for one in v.classic.supported_protocols
            ],
        }
    return {
        "instanceId": v.instance_id,
        "rackId": v.rack_id,
        "clientId": v.client_id,
        "clientHost": v.client_host,
        "subscribedTopicNames": list(v.subscribed_topic_names),
        "subscribedTopicRegex": v.subscribed_topic_regex,
        "rebalanceTimeoutMs": v.rebalance_timeout_ms,
        "serverAssignor": v.server_assignor,
        "classicMemberMetadata": classic,
    }


VALUES: Mapping[type, Callable[[Any, int], Json]] = {
    records.OffsetCommitValue: _offset_value,
    records.GroupMetadataValue: _group_value,
    records.ConsumerGroupMetadataValue: lambda v, _: {
        "epoch": v.epoch,
        **({"metadataHash": v.metadata_hash} if v.metadata_hash else {}),
    },
    records.ConsumerGroupMemberMetadataValue: _member_value,
    records.ConsumerGroupTargetAssignmentMetadataValue: lambda v, _: {
        "assignmentEpoch": v.assignment_epoch,
        **({"assignmentTimestamp": v.assignment_timestamp_ms} if v.assignment_timestamp_ms else {}),
    },
    records.ConsumerGroupTargetAssignmentMemberValue: lambda v, _: {
        "topicPartitions": _assigned(v.topic_partitions)
    },
    records.ConsumerGroupCurrentMemberAssignmentValue: lambda v, _: {
        "memberEpoch": v.member_epoch,
        "previousMemberEpoch": v.previous_member_epoch,
        "state": v.state,
        "assignedPartitions": _assigned(v.assigned_partitions),
        "partitionsPendingRevocation": _assigned(v.partitions_pending_revocation),
    },
    records.ConsumerGroupRegularExpressionValue: lambda v, _: {
        "topics": list(v.topics),
        "version": v.version,
        "timestamp": v.timestamp_ms,
    },
}


def write_record(record: records.Record, *, raw: bool) -> Json:
    """The JSON of a record; with its bytes in hex if `raw`."""
    number = record_codec.kind_number(record.key)
    key = {_NAMES[name]: getattr(record.key, name) for name in get_type_hints(type(record.key))}
    if number <= 2:
        key["group"] = key.pop("groupId")
    out: Json = {"type": number, "key": key}
    version = record_codec.value_version(record)
    if version is not None:
        out["version"] = version
    out["value"] = None if version is None else VALUES[type(record.value)](record.value, version)
    if raw:
        out["k"] = record_codec.encode_key(record.key).hex()
        value = record_codec.encode_value(record)
        if value is not None:
            out["v"] = value.hex()
    return out
