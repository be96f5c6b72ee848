"""Which function handles which API."""

from collections.abc import Mapping
from types import MappingProxyType

from kgroups.core.sandbox.apis import Api
from kgroups.core.sandbox.handlers import (
    classic_groups,
    describe_configs,
    fetch,
    group_admin,
    group_offsets,
    kip848_groups,
    log_offsets,
    metadata,
    produce,
    topic_admin,
)
from kgroups.core.sandbox.handlers.dispatch import Handler

HANDLERS: Mapping[Api, Handler] = MappingProxyType(
    {
        Api.PRODUCE: produce.produce,
        Api.FETCH: fetch.fetch,
        Api.LIST_OFFSETS: log_offsets.list_offsets,
        Api.METADATA: metadata.metadata,
        Api.OFFSET_COMMIT: group_offsets.offset_commit,
        Api.OFFSET_FETCH: group_offsets.offset_fetch,
        Api.FIND_COORDINATOR: group_admin.find_coordinator,
        Api.JOIN_GROUP: classic_groups.join_group,
        Api.HEARTBEAT: classic_groups.heartbeat,
        Api.LEAVE_GROUP: classic_groups.leave_group,
        Api.SYNC_GROUP: classic_groups.sync_group,
        Api.DESCRIBE_GROUPS: group_admin.describe_groups,
        Api.LIST_GROUPS: group_admin.list_groups,
        Api.API_VERSIONS: metadata.api_versions,
        Api.CREATE_TOPICS: topic_admin.create_topics,
        Api.DELETE_TOPICS: topic_admin.delete_topics,
        Api.DELETE_RECORDS: log_offsets.delete_records,
        Api.INIT_PRODUCER_ID: produce.init_producer_id,
        Api.OFFSET_FOR_LEADER_EPOCH: log_offsets.offset_for_leader_epoch,
        Api.DESCRIBE_CONFIGS: describe_configs.describe_configs,
        Api.CREATE_PARTITIONS: topic_admin.create_partitions,
        Api.DELETE_GROUPS: group_admin.delete_groups,
        Api.OFFSET_DELETE: group_offsets.offset_delete,
        Api.CONSUMER_GROUP_HEARTBEAT: kip848_groups.consumer_group_heartbeat,
        Api.CONSUMER_GROUP_DESCRIBE: kip848_groups.consumer_group_describe,
        Api.DESCRIBE_CLUSTER: metadata.describe_cluster,
        Api.DESCRIBE_TOPIC_PARTITIONS: metadata.describe_topic_partitions,
    }
)
