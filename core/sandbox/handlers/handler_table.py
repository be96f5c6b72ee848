"""Which function handles which API."""

from collections.abc import Mapping
from types import MappingProxyType

from kgroups.core.sandbox.apis import Api
from kgroups.core.sandbox.handlers import (
    describe_configs,
    fetch,
    groups_api,
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
        Api.OFFSET_COMMIT: groups_api.ask_coordinator,
        Api.OFFSET_FETCH: groups_api.ask_coordinator,
        Api.FIND_COORDINATOR: groups_api.find_coordinator,
        Api.JOIN_GROUP: groups_api.ask_coordinator,
        Api.HEARTBEAT: groups_api.ask_coordinator,
        Api.LEAVE_GROUP: groups_api.ask_coordinator,
        Api.SYNC_GROUP: groups_api.ask_coordinator,
        Api.DESCRIBE_GROUPS: groups_api.ask_coordinator,
        Api.LIST_GROUPS: groups_api.ask_coordinator,
        Api.API_VERSIONS: metadata.api_versions,
        Api.CREATE_TOPICS: topic_admin.create_topics,
        Api.DELETE_TOPICS: topic_admin.delete_topics,
        Api.DELETE_RECORDS: log_offsets.delete_records,
        Api.INIT_PRODUCER_ID: produce.init_producer_id,
        Api.OFFSET_FOR_LEADER_EPOCH: log_offsets.offset_for_leader_epoch,
        Api.DESCRIBE_CONFIGS: describe_configs.describe_configs,
        Api.CREATE_PARTITIONS: topic_admin.create_partitions,
        Api.DELETE_GROUPS: groups_api.ask_coordinator,
        Api.OFFSET_DELETE: groups_api.ask_coordinator,
        Api.CONSUMER_GROUP_HEARTBEAT: groups_api.ask_coordinator,
        Api.CONSUMER_GROUP_DESCRIBE: groups_api.ask_coordinator,
        Api.DESCRIBE_CLUSTER: metadata.describe_cluster,
        Api.DESCRIBE_TOPIC_PARTITIONS: metadata.describe_topic_partitions,
    }
)
