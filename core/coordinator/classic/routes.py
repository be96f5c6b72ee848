"""The rows of the classic protocol in the coordinator's tables."""

from collections.abc import Mapping

from kgroups.core.coordinator.classic import join as classic_join
from kgroups.core.coordinator.classic import leave as classic_leave
from kgroups.core.coordinator.classic import rebalance as classic_rebalance
from kgroups.core.coordinator.classic import sync as classic_sync
from kgroups.core.coordinator.classic.load import load_group, replay_group, unload_group
from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from kgroups.core.coordinator.groups import GroupKind
from kgroups.core.coordinator.log.records import GroupMetadataKey
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.routes import (
    AnswerAtOnce,
    GroupRoute,
    Routes,
    check_group_id,
    check_join,
    check_sync,
    refuse_heartbeat_request,
    refuse_join_request,
    refuse_leave_request,
    refuse_sync_request,
)
from kgroups.core.coordinator.shard import Replay, TimerHandler, TimerKind
from kgroups.core.protocol.errors import ErrorCode

CLASSIC = GroupKind.CLASSIC

ROUTES: Routes = {
    JoinGroupRequest: GroupRoute(
        check_join,
        refuse_join_request,
        {None: classic_join.join_no_group, CLASSIC: classic_join.join_group},
    ),
    SyncGroupRequest: GroupRoute(
        check_sync,
        refuse_sync_request,
        {None: classic_sync.sync_no_group, CLASSIC: classic_sync.sync_group},
    ),
    HeartbeatRequest: GroupRoute(
        check_group_id,
        refuse_heartbeat_request,
        {None: classic_sync.heartbeat_no_group, CLASSIC: classic_sync.heartbeat},
        while_loading=ErrorCode.NONE,
    ),
    LeaveGroupRequest: GroupRoute(
        check_group_id,
        refuse_leave_request,
        {None: classic_leave.leave_no_group, CLASSIC: classic_leave.leave_group},
    ),
}

AT_ONCE: Mapping[type[Request], AnswerAtOnce] = {HeartbeatRequest: classic_sync.answer_heartbeat}

TIMERS: Mapping[TimerKind, TimerHandler] = {
    TimerKind.HEARTBEAT: classic_rebalance.session_timer,
    TimerKind.JOIN: classic_rebalance.join_timer,
    TimerKind.SYNC: classic_rebalance.sync_timer,
}

REPLAY: Mapping[type, Replay] = {GroupMetadataKey: replay_group}

LOAD = load_group
UNLOAD = unload_group
