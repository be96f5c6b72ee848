"""Which function handles which API; those of the group coordinator have one for all."""

from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import Any

from kgroups.core.coordinator.admin_messages import (
    GROUP_KEY_TYPE,
    FindCoordinatorResponse,
    FoundCoordinator,
)
from kgroups.core.coordinator.wire import WIRE_FORMS, WireForm
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.reader import Message
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.handlers import (
    fetch,
    log_offsets,
    metadata,
    produce,
    topic_admin,
)
from kgroups.core.sandbox.handlers.dispatch import Call, Handler


def ask_coordinator(call: Call) -> Message | Awaitable[Message]:
    """The coordinator's answer: at once if it is there, else as an awaitable."""
    wire_form = WIRE_FORMS[call.request.api]
    answer = call.cluster.pumps[call.broker.broker_id].submit(call.body)
    if isinstance(answer, Awaitable):
        return _later(answer, wire_form, call.version)
    return wire_form.answer(answer, call.version)


async def _later(answer: Awaitable[Any], wire_form: WireForm, version: int) -> Message:
    return wire_form.answer(await answer, version)


_NOT_SERVED = {
    1: (ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "transactions"),
    2: (ErrorCode.INVALID_REQUEST, "share groups"),
}
"""Key types without a coordinator here. The code for transactions is the one that every producer
takes for final; most would ask again for ever after another."""


def find_coordinator(call: Call) -> Message | Awaitable[Message]:
    """Which broker a group belongs to. Transactions and share groups have no coordinator here."""
    request = call.body
    if request.key_type == GROUP_KEY_TYPE:
        return ask_coordinator(call)
    refused = tuple(_no_coordinator(key, request.key_type) for key in request.keys)
    answer = FindCoordinatorResponse(refused)
    return WIRE_FORMS[call.request.api].answer(answer, call.version)


def _no_coordinator(key: str, key_type: int) -> FoundCoordinator:
    unknown = (ErrorCode.INVALID_REQUEST, f"key type {key_type}")
    code, what = _NOT_SERVED.get(key_type, unknown)
    message = f"The embedded cluster does not serve {what}."
    return FoundCoordinator(key, -1, "", -1, code, message)


HANDLERS: Mapping[Api, Handler] = MappingProxyType(
    dict.fromkeys(WIRE_FORMS, ask_coordinator)
    | {
        Api.PRODUCE: produce.produce,
        Api.FETCH: fetch.fetch,
        Api.LIST_OFFSETS: log_offsets.list_offsets,
        Api.METADATA: metadata.metadata,
        Api.FIND_COORDINATOR: find_coordinator,
        Api.API_VERSIONS: metadata.api_versions,
        Api.CREATE_TOPICS: topic_admin.create_topics,
        Api.DELETE_TOPICS: topic_admin.delete_topics,
        Api.DELETE_RECORDS: log_offsets.delete_records,
        Api.INIT_PRODUCER_ID: produce.init_producer_id,
        Api.OFFSET_FOR_LEADER_EPOCH: log_offsets.offset_for_leader_epoch,
        Api.DESCRIBE_CONFIGS: topic_admin.describe_configs,
        Api.CREATE_PARTITIONS: topic_admin.create_partitions,
        Api.DESCRIBE_CLUSTER: metadata.describe_cluster,
        Api.DESCRIBE_PRODUCERS: log_offsets.describe_producers,
        Api.DESCRIBE_TOPIC_PARTITIONS: metadata.describe_topic_partitions,
    }
)
