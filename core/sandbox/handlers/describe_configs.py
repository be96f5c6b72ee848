"""DescribeConfigs: settings of topics, brokers and groups."""

from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.reader import Message
from kgroups.core.protocol.writer import Struct
from kgroups.core.sandbox.configs import broker_config_rows, group_config_rows, topic_config_rows
from kgroups.core.sandbox.handlers.dispatch import Call

TOPIC, BROKER, GROUP = 2, 4, 32


def describe_configs(call: Call) -> Struct:
    """The settings of each resource, all of them or those named."""
    return Struct(results=[_describe(call, resource) for resource in call.body.resources])


def _describe(call: Call, resource: Message) -> Struct:
    code, message, rows = _rows(call, resource.resource_type, resource.resource_name)
    wanted = resource.configuration_keys
    if wanted is not None:
        rows = [row for row in rows if row.name in wanted]
    if not call.body.include_synonyms:
        rows = [Struct(**{**vars(row), "synonyms": []}) for row in rows]
    return Struct(
        error_code=code,
        error_message=message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=rows,
    )


def _rows(call: Call, kind: int, name: str) -> tuple[ErrorCode, str | None, list[Struct]]:
    cluster = call.cluster
    match kind:
        case 2:
            topic = cluster.topics.get(name or "\0")
            if topic is None:
                return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None, []
            return ErrorCode.NONE, None, topic_config_rows(topic.configs)
        case 4:
            if name and name != str(call.broker.broker_id):
                message = f"broker {call.broker.broker_id} was asked about broker {name}"
                return ErrorCode.INVALID_REQUEST, message, []
            return ErrorCode.NONE, None, broker_config_rows(cluster.broker_properties())
        case 32:
            return ErrorCode.NONE, None, group_config_rows(cluster.broker_properties())
    return ErrorCode.INVALID_REQUEST, f"resource type {kind} has no settings here", []
