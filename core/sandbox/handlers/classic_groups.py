"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup: the classic protocol on the wire."""

from collections.abc import Awaitable, Callable
from typing import Any

from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
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
from kgroups.core.coordinator.errors import ErrorCode
from kgroups.core.coordinator.request import Request
from kgroups.core.sandbox.handlers.dispatch import Call
from kgroups.core.sandbox.wire.schema import Body

_NULL_PROTOCOL_SINCE = 7
"""JoinGroup version from which a missing protocol name is null; before that it is empty."""


def submit(call: Call, request: Request, render: Callable[[Any], Body]) -> Body | Awaitable[Body]:
    """The coordinator's answer as fields: at once if it is there, else as an awaitable."""
    answer = call.cluster.pumps[call.broker.broker_id].submit(request)
    if isinstance(answer, Awaitable):
        return _rendered(answer, render)
    return render(answer)


async def _rendered(answer: Awaitable[Any], render: Callable[[Any], Body]) -> Body:
    return render(await answer)


def join_group(call: Call) -> Body | Awaitable[Body]:
    """Park the member until its group's join phase ends."""
    body = call.body
    request = JoinGroupRequest(
        version=call.version,
        client_id=call.request.client_id or "",
        client_host=call.peer,
        group_id=body["group_id"],
        session_timeout_ms=body["session_timeout"],
        rebalance_timeout_ms=body.get("rebalance_timeout", -1),
        member_id=body["member_id"],
        group_instance_id=body.get("group_instance_id"),
        protocol_type=body["protocol_type"],
        protocols=tuple(JoinGroupProtocol(p["name"], p["metadata"]) for p in body["protocols"]),
        reason=body.get("reason"),
    )

    def render(response: JoinGroupResponse) -> Body:
        name = response.protocol_name
        return {
            "error_code": response.error_code,
            "generation_id": response.generation_id,
            "protocol_type": response.protocol_type,
            "protocol_name": name if call.version >= _NULL_PROTOCOL_SINCE else name or "",
            "leader": response.leader,
            "skip_assignment": response.skip_assignment,
            "member_id": response.member_id,
            "members": [member._asdict() for member in response.members],
        }

    return submit(call, request, render)


def sync_group(call: Call) -> Body | Awaitable[Body]:
    """Give the member its part, once the leader has said what it is."""
    body = call.body
    request = SyncGroupRequest(
        version=call.version,
        client_id=call.request.client_id or "",
        client_host=call.peer,
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
    return submit(call, request, _render_sync)


def _render_sync(response: SyncGroupResponse) -> Body:
    return {
        "error_code": response.error_code,
        "protocol_type": response.protocol_type,
        "protocol_name": response.protocol_name,
        "assignment": response.assignment,
    }


def heartbeat(call: Call) -> Body | Awaitable[Body]:
    """Keep the member's session."""
    body = call.body
    request = HeartbeatRequest(
        version=call.version,
        client_id=call.request.client_id or "",
        client_host=call.peer,
        group_id=body["group_id"],
        generation_id=body["generation_id"],
        member_id=body["member_id"],
        group_instance_id=body.get("group_instance_id"),
    )
    return submit(call, request, lambda response: {"error_code": response.error_code})


def leave_group(call: Call) -> Body | Awaitable[Body]:
    """Remove one member (versions 0 to 2) or several."""
    body = call.body
    batch = "members" in body
    named = body["members"] if batch else [{"member_id": body["member_id"]}]
    request = LeaveGroupRequest(
        version=call.version,
        client_id=call.request.client_id or "",
        client_host=call.peer,
        group_id=body["group_id"],
        members=tuple(
            MemberIdentity(one["member_id"], one.get("group_instance_id"), one.get("reason"))
            for one in named
        ),
    )

    def render(response: LeaveGroupResponse) -> Body:
        code = response.error_code
        if not batch and code is ErrorCode.NONE and response.members:
            code = response.members[0].error_code
        return {"error_code": code, "members": [one._asdict() for one in response.members]}

    return submit(call, request, render)
