"""Which function handles which API; those of the coordinator have one for all."""

from collections.abc import Mapping
from types import MappingProxyType

from kgroups.core.coordinator.wire import WIRE_FORMS
from kgroups.core.protocol.tables.api_keys import Api
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
    dict.fromkeys(WIRE_FORMS, groups_api.ask_coordinator)
    | {
        Api.PRODUCE: produce.produce,
        Api.FETCH: fetch.fetch,
        Api.LIST_OFFSETS: log_offsets.list_offsets,
        Api.METADATA: metadata.metadata,
        Api.FIND_COORDINATOR: groups_api.find_coordinator,
        Api.API_VERSIONS: metadata.api_versions,
        Api.CREATE_TOPICS: topic_admin.create_topics,
        Api.DELETE_TOPICS: topic_admin.delete_topics,
        Api.DELETE_RECORDS: log_offsets.delete_records,
        Api.INIT_PRODUCER_ID: produce.init_producer_id,
        Api.OFFSET_FOR_LEADER_EPOCH: log_offsets.offset_for_leader_epoch,
        Api.DESCRIBE_CONFIGS: describe_configs.describe_configs,
        Api.CREATE_PARTITIONS: topic_admin.create_partitions,
        Api.DESCRIBE_CLUSTER: metadata.describe_cluster,
        Api.DESCRIBE_TOPIC_PARTITIONS: metadata.describe_topic_partitions,
    }
)
