"""The rows about offsets and administration in the coordinator's tables: any kind of group."""

from collections.abc import Mapping

from kgroups.core.coordinator import admin
from kgroups.core.coordinator.admin_messages import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    ListGroupsRequest,
)
from kgroups.core.coordinator.groups import GroupKind
from kgroups.core.coordinator.kip848.messages import ConsumerGroupDescribeRequest
from kgroups.core.coordinator.log.records import OffsetCommitKey
from kgroups.core.coordinator.offsets import commit as offset_commit
from kgroups.core.coordinator.offsets import delete as offset_delete
from kgroups.core.coordinator.offsets import fetch as offset_fetch
from kgroups.core.coordinator.offsets.messages import (
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    TxnOffsetCommitRequest,
    WriteTxnMarkerRequest,
)
from kgroups.core.coordinator.routes import GroupRoute, Route, Routes, check_group_id
from kgroups.core.coordinator.shard import Replay, TimerHandler, TimerKind

ROUTES: Routes = {
    OffsetCommitRequest: Route(offset_commit.commit_offsets),
    TxnOffsetCommitRequest: Route(offset_commit.commit_transaction_offsets),
    WriteTxnMarkerRequest: Route(offset_commit.end_transaction),
    OffsetFetchRequest: Route(offset_fetch.fetch_offsets),
    OffsetDeleteRequest: GroupRoute(
        check_group_id,
        offset_delete.refuse_delete_offsets,
        {
            None: offset_delete.delete_offsets_of_nobody,
            **dict.fromkeys(GroupKind, offset_delete.delete_offsets),
        },
    ),
    DescribeGroupsRequest: Route(admin.describe_groups),
    ConsumerGroupDescribeRequest: Route(admin.describe_kip848_groups),
    ListGroupsRequest: Route(admin.list_groups),
    DeleteGroupsRequest: Route(admin.delete_groups),
    FindCoordinatorRequest: Route(admin.find_coordinator),
}
TIMERS: Mapping[TimerKind, TimerHandler] = {TimerKind.EXPIRATION: offset_delete.expiration_timer}
REPLAY: Mapping[type, Replay] = {OffsetCommitKey: offset_commit.replay_offset}
