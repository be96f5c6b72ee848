"""The rows of the consumer group protocol (KIP-848) in the coordinator's tables."""

from collections.abc import Mapping

from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.groups import GroupKind
from kgroups.core.coordinator.kip848.bridge import classic_requests
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kgroups.core.coordinator.kip848.replay import REPLAY, load_group, note_topology, unload_group
from kgroups.core.coordinator.kip848.steps import leave as kip848_leave
from kgroups.core.coordinator.kip848.steps.checks import check_request, refuse_heartbeat
from kgroups.core.coordinator.kip848.steps.heartbeat import answer_heartbeat, heartbeat
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.routes import AnswerAtOnce, GroupHandler, GroupRoute, Routes
from kgroups.core.coordinator.shard import TimerHandler, TimerKind
from kgroups.core.protocol.errors import ErrorCode

__all__ = ["AT_ONCE", "BRIDGED", "LOAD", "ON_TOPOLOGY", "REPLAY", "ROUTES", "TIMERS", "UNLOAD"]


def check_heartbeat(config: CoordinatorConfig, request: ConsumerGroupHeartbeatRequest) -> ErrorCode:
    """Checks of ConsumerGroupHeartbeat that need no group."""
    refusal = check_request(request, config.consumer_assignors)
    return ErrorCode.NONE if refusal is None else refusal.error


def answer_invalid_heartbeat(
    config: CoordinatorConfig, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse | None:
    """The answer that says what is wrong with the request; None if nothing is."""
    refusal = check_request(request, config.consumer_assignors)
    return None if refusal is None else refuse_heartbeat(request, *refusal)


ROUTES: Routes = {
    ConsumerGroupHeartbeatRequest: GroupRoute(
        check_heartbeat,
        refuse_heartbeat,
        {None: heartbeat, **dict.fromkeys(GroupKind, heartbeat)},
        answer_invalid=answer_invalid_heartbeat,
    ),
}

# Of classic members that a consumer group has.
BRIDGED: Mapping[type[Request], GroupHandler] = {
    JoinGroupRequest: classic_requests.join_group,
    SyncGroupRequest: classic_requests.sync_group,
    HeartbeatRequest: classic_requests.heartbeat,
    LeaveGroupRequest: classic_requests.leave_group_request,
}

AT_ONCE: Mapping[type[Request], AnswerAtOnce] = {ConsumerGroupHeartbeatRequest: answer_heartbeat}

TIMERS: Mapping[TimerKind, TimerHandler] = {
    TimerKind.SESSION: kip848_leave.session_timer,
    TimerKind.REBALANCE: kip848_leave.rebalance_timer,
    TimerKind.CLASSIC_JOIN: kip848_leave.classic_join_timer,
    TimerKind.CLASSIC_SYNC: kip848_leave.classic_sync_timer,
}

LOAD = load_group
UNLOAD = unload_group
ON_TOPOLOGY = (note_topology,)
