"""DescribeGroups, ConsumerGroupDescribe, ListGroups, DeleteGroups and FindCoordinator.

Source: `GroupCoordinatorService`, `KafkaApis.handleFindCoordinatorRequest`.
"""

from collections.abc import Hashable

from kgroups.core.coordinator.admin_messages import (
    GROUP_KEY_TYPE,
    DeletedGroup,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    FoundCoordinator,
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
    described_as_dead,
)
from kgroups.core.coordinator.append_errors import append_error
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedConsumerGroup,
)
from kgroups.core.coordinator.log.records import Record
from kgroups.core.coordinator.offsets.delete import all_offset_tombstones
from kgroups.core.coordinator.shard import PartitionState, Shard
from kgroups.core.protocol.errors import ErrorCode


def describe_groups(shard: Shard, token: Hashable, request: DescribeGroupsRequest) -> None:
    """DescribeGroups; groups without an id come first."""
    described = [
        _describe(shard, group_id, request.version)
        for group_id in request.groups
        if group_id is not None
    ]
    nameless = [DescribedGroup("", ErrorCode.INVALID_GROUP_ID)] * sum(
        group_id is None for group_id in request.groups
    )
    shard.reply(token, DescribeGroupsResponse(tuple(nameless + described)))


def _describe(shard: Shard, group_id: str, version: int) -> DescribedGroup:
    error = shard.check_place(group_id)
    if error is not ErrorCode.NONE:
        return DescribedGroup(group_id, error)
    group = shard.shown_group(group_id)
    if group is None:
        return described_as_dead(group_id, version, f"Group {group_id} not found.")
    return group.describe(version)


def describe_kip848_groups(
    shard: Shard, token: Hashable, request: ConsumerGroupDescribeRequest
) -> None:
    """ConsumerGroupDescribe; groups without an id come first."""
    nameless = [
        DescribedConsumerGroup(group_id or "", ErrorCode.INVALID_GROUP_ID)
        for group_id in request.group_ids
        if not group_id
    ]
    described = [
        _describe_kip848(shard, group_id, request.version)
        for group_id in request.group_ids
        if group_id
    ]
    shard.reply(token, ConsumerGroupDescribeResponse(tuple(nameless + described)))


def _describe_kip848(shard: Shard, group_id: str, version: int) -> DescribedConsumerGroup:
    error = shard.check_place(group_id)
    if error is not ErrorCode.NONE:
        return DescribedConsumerGroup(group_id, error)
    group = shard.shown_group(group_id)
    if group is None:
        message = f"Group {group_id} not found."
        return DescribedConsumerGroup(group_id, ErrorCode.GROUP_ID_NOT_FOUND, message)
    return group.describe_kip848(version, shard.topology, shard.config.consumer_assignors[0])


def list_groups(shard: Shard, token: Hashable, request: ListGroupsRequest) -> None:
    """ListGroups: every group here that passes the filters, by group id."""
    if not shard.active:
        shard.reply(token, ListGroupsResponse(ErrorCode.COORDINATOR_NOT_AVAILABLE))
        return
    if PartitionState.LOADING in shard.partitions.values():
        shard.reply(token, ListGroupsResponse(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
        return
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    listed = (
        ListedGroup(
            group.group_id, group.listed_protocol_type(), group.state_name(), group.kind.value
        )
        for group in shard.shown_groups()
        if shard.check_place(group.group_id) is ErrorCode.NONE
    )
    passing = tuple(
        group
        for group in listed
        if (not states or group.group_state.lower() in states)
        and (not types or group.group_type in types)
    )
    shard.reply(token, ListGroupsResponse(ErrorCode.NONE, passing))


def delete_groups(shard: Shard, token: Hashable, request: DeleteGroupsRequest) -> None:
    """DeleteGroups: groups without members go, with their offsets; the others are told why not."""
    results: list[DeletedGroup] = []
    deleted: list[str] = []
    for group_id in request.groups_names:
        error = _check_delete(shard, group_id)
        if error is ErrorCode.NONE and group_id is not None:
            deleted.append(group_id)
        else:
            results.append(DeletedGroup(group_id or "", error))
    refused = tuple(results)
    by_partition: dict[int, list[Record]] = {}
    for group_id in dict.fromkeys(deleted):
        group = shard.groups[group_id]
        records = by_partition.setdefault(group.partition, [])
        records += all_offset_tombstones(shard, group_id) + group.tombstones()

    def failed(error: ErrorCode) -> None:
        failures = tuple(DeletedGroup(group_id, append_error(error)) for group_id in deleted)
        shard.reply(token, DeleteGroupsResponse(refused + failures))

    for partition, records in by_partition.items():
        shard.write(partition, records, failed=failed)
    gone = tuple(DeletedGroup(group_id, ErrorCode.NONE) for group_id in deleted)
    shard.reply(token, DeleteGroupsResponse(refused + gone))


def _check_delete(shard: Shard, group_id: str | None) -> ErrorCode:
    if group_id is None:
        return ErrorCode.INVALID_GROUP_ID
    error = shard.check_place(group_id)
    if error is not ErrorCode.NONE:
        return error
    group = shard.groups.get(group_id)
    return ErrorCode.GROUP_ID_NOT_FOUND if group is None else group.check_delete()


def find_coordinator(shard: Shard, token: Hashable, request: FindCoordinatorRequest) -> None:
    """FindCoordinator: the leader of the partition that holds the group."""
    coordinators = tuple(_find(shard, key, request.key_type) for key in request.keys)
    shard.reply(token, FindCoordinatorResponse(coordinators))


def _find(shard: Shard, key: str, key_type: int) -> FoundCoordinator:
    if key_type != GROUP_KEY_TYPE:
        message = f"key type {key_type} is not served"
        return FoundCoordinator(key, -1, "", -1, ErrorCode.INVALID_REQUEST, message)
    leader = shard.topology.offsets_leaders.get(shard.partition_of(key))
    broker = None if leader is None else shard.topology.brokers.get(leader)
    if broker is None:
        message = "the group's partition of __consumer_offsets has no leader"
        return FoundCoordinator(key, -1, "", -1, ErrorCode.COORDINATOR_NOT_AVAILABLE, message)
    return FoundCoordinator(key, broker.node_id, broker.host, broker.port)
