"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup as fields by name."""

from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupProtocol,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    SyncGroupAssignment,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kgroups.core.coordinator.fields.sender import Body, Sender
from kgroups.core.protocol.errors import ErrorCode

_NULL_PROTOCOL_SINCE = 7
"""JoinGroup version from which a missing protocol name is null; before that it is empty."""
_MEMBERS_SINCE = 3
"""LeaveGroup version from which several members leave at once."""


def read_join(body: Body, sender: Sender) -> JoinGroupRequest:
    """The request of these fields."""
    return JoinGroupRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        group_id=body["group_id"],
        session_timeout_ms=body["session_timeout"],
        rebalance_timeout_ms=body.get("rebalance_timeout", -1),
        member_id=body["member_id"],
        group_instance_id=body.get("group_instance_id"),
        protocol_type=body["protocol_type"],
        protocols=tuple(JoinGroupProtocol(p["name"], p["metadata"]) for p in body["protocols"]),
        reason=body.get("reason"),
    )


def write_join(response: JoinGroupResponse, version: int) -> Body:
    """The fields of the answer."""
    name = response.protocol_name
    return {
        "error_code": response.error_code,
        "generation_id": response.generation_id,
        "protocol_type": response.protocol_type,
        "protocol_name": name if version >= _NULL_PROTOCOL_SINCE else name or "",
        "leader": response.leader,
        "skip_assignment": response.skip_assignment,
        "member_id": response.member_id,
        "members": [member._asdict() for member in response.members],
    }


def read_sync(body: Body, sender: Sender) -> SyncGroupRequest:
    """The request of these fields."""
    return SyncGroupRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        group_id=body["group_id"],
        generation_id=body["generation_id"],
        member_id=body["member_id"],
        group_instance_id=body.get("group_instance_id"),
        protocol_type=body.get("protocol_type"),
        protocol_name=body.get("protocol_name"),
        assignments=tuple(
            SyncGroupAssignment(one["member_id"], one["assignment"]) for one in body["assignments"]
        ),
    )


def write_sync(response: SyncGroupResponse, _version: int) -> Body:
    """The fields of the answer."""
    return {
        "error_code": response.error_code,
        "protocol_type": response.protocol_type,
        "protocol_name": response.protocol_name,
        "assignment": response.assignment,
    }


def read_heartbeat(body: Body, sender: Sender) -> HeartbeatRequest:
    """The request of these fields."""
    return HeartbeatRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        group_id=body["group_id"],
        generation_id=body["generation_id"],
        member_id=body["member_id"],
        group_instance_id=body.get("group_instance_id"),
    )


def write_heartbeat(response: HeartbeatResponse, _version: int) -> Body:
    """The fields of the answer."""
    return {"error_code": response.error_code}


def read_leave(body: Body, sender: Sender) -> LeaveGroupRequest:
    """The request of these fields: one member (versions 0 to 2) or several."""
    several = sender.version >= _MEMBERS_SINCE
    named = body["members"] if several else [{"member_id": body["member_id"]}]
    return LeaveGroupRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        group_id=body["group_id"],
        members=tuple(
            MemberIdentity(one["member_id"], one.get("group_instance_id"), one.get("reason"))
            for one in named
        ),
    )


def write_leave(response: LeaveGroupResponse, version: int) -> Body:
    """The fields of the answer; of a single member its own error."""
    code = response.error_code
    if version < _MEMBERS_SINCE and code is ErrorCode.NONE and response.members:
        code = response.members[0].error_code
    return {"error_code": code, "members": [one._asdict() for one in response.members]}
