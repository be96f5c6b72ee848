"""The tables of handlers: of requests, of records to replay, of timers.

A request about one group is checked, its group looked up, and the function for that group's kind
called; a request about many groups has one function. Another protocol adds rows here, and a
subclass of `groups.Group`, which answers for offsets, administration and expiry.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kgroups.core.coordinator import admin
from kgroups.core.coordinator.admin_messages import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    ListGroupsRequest,
)
from kgroups.core.coordinator.append_errors import NO_ERROR
from kgroups.core.coordinator.classic import load as classic_load
from kgroups.core.coordinator.classic import rebalance, sync
from kgroups.core.coordinator.classic.join import join_group, join_no_group
from kgroups.core.coordinator.classic.leave import leave_group, leave_no_group
from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.groups import Group, GroupKind
from kgroups.core.coordinator.kip848 import replay as kip848_replay
from kgroups.core.coordinator.kip848.bridge import classic_requests as bridge
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kgroups.core.coordinator.kip848.steps import heartbeat as kip848_heartbeat
from kgroups.core.coordinator.kip848.steps import leave as kip848_leave
from kgroups.core.coordinator.kip848.steps.checks import check_request
from kgroups.core.coordinator.log.records import GroupMetadataKey, OffsetCommitKey
from kgroups.core.coordinator.offsets import commit, delete, fetch
from kgroups.core.coordinator.offsets.messages import (
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    TxnOffsetCommitRequest,
    WriteTxnMarkerRequest,
)
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.shard import Replay, Shard, TimerHandler, TimerKind
from kgroups.core.coordinator.topology import Topology
from kgroups.core.protocol.errors import ErrorCode

# (shard, token, request, group or None)
GroupHandler = Callable[[Shard, Hashable, Any, Any], None]
# (shard, token, request)
Handler = Callable[[Shard, Hashable, Any], None]
# (shard, request, group) -> the answer, or None: the request's route decides.
AnswerAtOnce = Callable[[Shard, Any, Group], object | None]
# What happens to a group when the log of its partition was read, and when that moves away.
Lifecycle = tuple[Callable[[Shard, Any], None], Callable[[Shard, Any], None]]


@dataclass(frozen=True, slots=True)
class GroupRoute:
    """How a request about one group (`group_id`) is answered.

    Args:
        check: NONE; or the code of what is wrong with the request whatever the group is, or the
            answer that says more of it.
        refuse: the answer that carries an error at its top.
        by_kind: kind of group, or None for no group -> function, or the code to answer.
        while_loading: code of the answer while the group's log is being read.
    """

    check: Callable[[CoordinatorConfig, Any], object]
    refuse: Callable[[Any, ErrorCode], object]
    by_kind: Mapping[GroupKind | None, GroupHandler | ErrorCode]
    while_loading: ErrorCode = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def _check_group_id(config: CoordinatorConfig, request: Any) -> ErrorCode:
    """INVALID_GROUP_ID for a request without group id, null or empty."""
    return NO_ERROR if request.group_id else ErrorCode.INVALID_GROUP_ID


def _check_join(config: CoordinatorConfig, request: JoinGroupRequest) -> ErrorCode:
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    low, high = config.classic_min_session_timeout_ms, config.classic_max_session_timeout_ms
    fits = low <= request.session_timeout_ms <= high
    return ErrorCode.NONE if fits else ErrorCode.INVALID_SESSION_TIMEOUT


def _check_sync(config: CoordinatorConfig, request: SyncGroupRequest) -> ErrorCode:
    """From version 5 on the protocol must be named."""
    if request.version >= 5 and (request.protocol_type is None or request.protocol_name is None):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return _check_group_id(config, request)


def _check_heartbeat(config: CoordinatorConfig, request: ConsumerGroupHeartbeatRequest) -> object:
    refusal = check_request(request, config.consumer_assignors)
    return NO_ERROR if refusal is None else ConsumerGroupHeartbeatResponse(*refusal)


CLASSIC, CONSUMER = GroupKind.CLASSIC, GroupKind.CONSUMER

# A consumer group answers the requests of the classic members that it has.
ROUTES: Mapping[type[Request], GroupRoute | Handler] = {
    OffsetCommitRequest: commit.commit_offsets,
    TxnOffsetCommitRequest: commit.commit_transaction_offsets,
    WriteTxnMarkerRequest: commit.end_transaction,
    OffsetFetchRequest: fetch.fetch_offsets,
    OffsetDeleteRequest: GroupRoute(
        _check_group_id,
        lambda _, error: OffsetDeleteResponse(error),
        {
            None: ErrorCode.GROUP_ID_NOT_FOUND,
            **dict.fromkeys(GroupKind, delete.delete_offsets),
        },
    ),
    DescribeGroupsRequest: admin.describe_groups,
    ConsumerGroupDescribeRequest: admin.describe_kip848_groups,
    ListGroupsRequest: admin.list_groups,
    DeleteGroupsRequest: admin.delete_groups,
    FindCoordinatorRequest: admin.find_coordinator,
    JoinGroupRequest: GroupRoute(
        _check_join,
        lambda request, error: JoinGroupResponse(error, request.member_id),
        {None: join_no_group, CLASSIC: join_group, CONSUMER: bridge.join_group},
    ),
    SyncGroupRequest: GroupRoute(
        _check_sync,
        lambda _, error: SyncGroupResponse(error),
        {
            None: ErrorCode.UNKNOWN_MEMBER_ID,
            CLASSIC: sync.sync_group,
            CONSUMER: bridge.sync_group,
        },
    ),
    HeartbeatRequest: GroupRoute(
        _check_group_id,
        lambda _, error: sync.HEARTBEAT_ANSWERS[error],
        {None: ErrorCode.UNKNOWN_MEMBER_ID, CLASSIC: sync.heartbeat, CONSUMER: bridge.heartbeat},
        while_loading=ErrorCode.NONE,
    ),
    LeaveGroupRequest: GroupRoute(
        _check_group_id,
        lambda _, error: LeaveGroupResponse(error),
        {None: leave_no_group, CLASSIC: leave_group, CONSUMER: bridge.leave_group_request},
    ),
    ConsumerGroupHeartbeatRequest: GroupRoute(
        _check_heartbeat,
        lambda _, error: ConsumerGroupHeartbeatResponse(error),
        dict.fromkeys((None, *GroupKind), kip848_heartbeat.heartbeat),
    ),
}

AT_ONCE: Mapping[type[Request], AnswerAtOnce] = {
    HeartbeatRequest: sync.answer_heartbeat,
    ConsumerGroupHeartbeatRequest: kip848_heartbeat.answer_heartbeat,
}
TIMERS: Mapping[TimerKind, TimerHandler] = {
    TimerKind.EXPIRATION: delete.expiration_timer,
    TimerKind.HEARTBEAT: rebalance.session_timer,
    TimerKind.JOIN: rebalance.join_timer,
    TimerKind.SYNC: rebalance.sync_timer,
    TimerKind.SESSION: kip848_leave.fences("session timed out"),
    TimerKind.REBALANCE: kip848_leave.rebalance_timer,
    TimerKind.CLASSIC_JOIN: kip848_leave.fences("did not rejoin in time"),
    TimerKind.CLASSIC_SYNC: kip848_leave.fences("did not sync in time"),
}
# Record key -> what plays the record into the state and gives back what undoes it.
REPLAY: Mapping[type, Replay] = {
    OffsetCommitKey: commit.replay_offset,
    GroupMetadataKey: classic_load.replay_group,
    **kip848_replay.REPLAY,
}
# Records that only a coordinator with server-side assignors can play.
OF_CONSUMER_GROUPS: Final = frozenset(kip848_replay.REPLAY)
LIFECYCLE: Mapping[GroupKind, Lifecycle] = {
    CLASSIC: (classic_load.load_group, classic_load.unload_group),
    CONSUMER: (kip848_replay.load_group, kip848_replay.unload_group),
}
# (shard, topology before), once the shard has the new one.
ON_TOPOLOGY: tuple[Callable[[Shard, Topology], None], ...] = (
    delete.delete_topic_offsets,
    kip848_replay.note_topology,
)
