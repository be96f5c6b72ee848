"""Which function answers a request: by the kind of request and the kind of group it meets.

A request about one group is checked (`check`), its group looked up, and the function for that
group's kind called; None stands for a group that does not exist. A request about many groups has
one function. Another protocol adds rows here and touches nothing else.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from kgroups.core.coordinator.append_errors import NO_ERROR
from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.groups import Group, GroupKind
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.shard import Shard
from kgroups.core.protocol.errors import ErrorCode

# (shard, token, request, group or None)
GroupHandler = Callable[[Shard, Hashable, Any, Any], None]
# (shard, token, request)
Handler = Callable[[Shard, Hashable, Any], None]
Check = Callable[[CoordinatorConfig, Any], ErrorCode]
Refuse = Callable[[Any, ErrorCode], object]
AnswerInvalid = Callable[[CoordinatorConfig, Any], object]


@dataclass(frozen=True, slots=True)
class GroupRoute:
    """How a request about one group (`group_id`) is answered.

    Args:
        check: NONE, or what is wrong with the request whatever the group is.
        refuse: the answer that carries an error at its top.
        by_kind: kind of group, or None for no group -> function.
        while_loading: code of the answer while the group's log is being read.
        answer_invalid: the answer to a request that fails its check, if it says more than a code;
            None if the check is passed.
    """

    check: Check
    refuse: Refuse
    by_kind: Mapping[GroupKind | None, GroupHandler]
    while_loading: ErrorCode = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    answer_invalid: AnswerInvalid | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """How a request that is not about one group is answered."""

    handler: Handler


# Heartbeats are most of what a coordinator hears; each answer is made once.
HEARTBEAT_ANSWERS: Mapping[ErrorCode, HeartbeatResponse] = {
    error: HeartbeatResponse(error) for error in ErrorCode
}

AnyRoute = GroupRoute | Route
# (shard, request, group) -> the answer, or None: the request's route decides.
AnswerAtOnce = Callable[[Shard, Any, Group], object | None]
Routes = Mapping[type[Request], AnyRoute]


def check_group_id(config: CoordinatorConfig, request: Any) -> ErrorCode:
    """INVALID_GROUP_ID for a request without group id, null or empty."""
    return NO_ERROR if request.group_id else ErrorCode.INVALID_GROUP_ID


def check_join(config: CoordinatorConfig, request: JoinGroupRequest) -> ErrorCode:
    """Checks of JoinGroup that need no group."""
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    low, high = config.classic_min_session_timeout_ms, config.classic_max_session_timeout_ms
    fits = low <= request.session_timeout_ms <= high
    return ErrorCode.NONE if fits else ErrorCode.INVALID_SESSION_TIMEOUT


def refuse_join_request(request: JoinGroupRequest, error: ErrorCode) -> JoinGroupResponse:
    """A JoinGroup answer with this error; the member id is echoed."""
    name = "" if request.version < 7 else None
    return JoinGroupResponse(error, request.member_id, protocol_name=name)


def check_sync(config: CoordinatorConfig, request: SyncGroupRequest) -> ErrorCode:
    """Checks of SyncGroup that need no group; from version 5 on the protocol must be named."""
    if request.version >= 5 and (request.protocol_type is None or request.protocol_name is None):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return check_group_id(config, request)


def refuse_sync_request(request: SyncGroupRequest, error: ErrorCode) -> SyncGroupResponse:
    """A SyncGroup answer with this error."""
    return SyncGroupResponse(error)


def refuse_heartbeat_request(request: HeartbeatRequest, error: ErrorCode) -> HeartbeatResponse:
    """A Heartbeat answer with this error."""
    return HEARTBEAT_ANSWERS[error]


def refuse_leave_request(request: LeaveGroupRequest, error: ErrorCode) -> LeaveGroupResponse:
    """A LeaveGroup answer with this error at its top."""
    return LeaveGroupResponse(error)
