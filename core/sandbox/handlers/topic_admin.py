"""CreateTopics, CreatePartitions, DeleteTopics and DescribeConfigs, with the settings it shows."""

from collections.abc import Mapping, Sequence
from operator import attrgetter

from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.reader import Message
from kgroups.core.protocol.writer import Struct
from kgroups.core.sandbox.coordination.coordinators import group_properties
from kgroups.core.sandbox.handlers.dispatch import Call
from kgroups.core.sandbox.storage.topics import INTERNAL_TOPICS, Topic, creation_error

_DYNAMIC_TOPIC, _STATIC_BROKER, _DEFAULT, _GROUP = 1, 4, 5, 8
_STRING, _INT, _LONG, _DOUBLE, _LIST, _BOOLEAN = 2, 3, 5, 6, 7, 1

TOPIC_DEFAULTS: Mapping[str, tuple[str, int]] = {
    "cleanup.policy": ("delete", _LIST),
    "compression.type": ("producer", _STRING),
    "delete.retention.ms": ("86400000", _LONG),
    "file.delete.delay.ms": ("60000", _LONG),
    "flush.messages": ("9223372036854775807", _LONG),
    "flush.ms": ("9223372036854775807", _LONG),
    "follower.replication.throttled.replicas": ("", _LIST),
    "index.interval.bytes": ("4096", _INT),
    "leader.replication.throttled.replicas": ("", _LIST),
    "local.retention.bytes": ("-2", _LONG),
    "local.retention.ms": ("-2", _LONG),
    "max.compaction.lag.ms": ("9223372036854775807", _LONG),
    "max.message.bytes": ("1048588", _INT),
    "message.timestamp.after.max.ms": ("3600000", _LONG),
    "message.timestamp.before.max.ms": ("9223372036854775807", _LONG),
    "message.timestamp.type": ("CreateTime", _STRING),
    "min.cleanable.dirty.ratio": ("0.5", _DOUBLE),
    "min.compaction.lag.ms": ("0", _LONG),
    "min.insync.replicas": ("1", _INT),
    "preallocate": ("false", _BOOLEAN),
    "remote.storage.enable": ("false", _BOOLEAN),
    "retention.bytes": ("-1", _LONG),
    "retention.ms": ("604800000", _LONG),
    "segment.bytes": ("1073741824", _INT),
    "segment.index.bytes": ("10485760", _INT),
    "segment.jitter.ms": ("0", _LONG),
    "segment.ms": ("604800000", _LONG),
    "unclean.leader.election.enable": ("false", _BOOLEAN),
}
"""Settings that a topic may have, with their default and type. They are kept and shown; none of
them changes what the embedded cluster does, which keeps every record."""

GROUP_SETTINGS: Mapping[str, str] = {
    "consumer.heartbeat.interval.ms": "group.consumer.heartbeat.interval.ms",
    "consumer.session.timeout.ms": "group.consumer.session.timeout.ms",
}
"""A consumer group's setting and the broker's setting that it takes its value from."""


def _row(
    name: str, value: str, source: int, config_type: int, *, read_only: bool = False
) -> Struct:
    return Struct(
        name=name,
        value=value,
        read_only=read_only,
        config_source=source,
        is_sensitive=False,
        synonyms=[Struct(name=name, value=value, source=source)],
        config_type=config_type,
        documentation=None,
    )


def topic_config_rows(given: Mapping[str, str]) -> list[Struct]:
    """Every setting of a topic: its own where given, else the default."""
    return [
        _row(name, given.get(name, default), _DYNAMIC_TOPIC if name in given else _DEFAULT, kind)
        for name, (default, kind) in TOPIC_DEFAULTS.items()
    ]


def broker_config_rows(properties: Mapping[str, str]) -> list[Struct]:
    """Settings of a broker, none of which can be changed while it runs."""
    return [
        _row(name, value, _STATIC_BROKER, _STRING, read_only=True)
        for name, value in sorted(properties.items())
    ]


def group_config_rows(properties: Mapping[str, str]) -> list[Struct]:
    """Settings of a consumer group, which are the broker's."""
    return [
        _row(name, properties[broker_name], _DEFAULT, _INT)
        for name, broker_name in GROUP_SETTINGS.items()
        if broker_name in properties
    ]


Failure = tuple[ErrorCode, str]

_BY_ID_SINCE = 6
_NO_ROOM = "The embedded cluster cannot hold that many partitions."


def _room(call: Call) -> int:
    return call.cluster.options.limits.partitions - call.cluster.topics.partition_count


def create_topics(call: Call) -> Struct:
    """Make topics, or only say whether they could be made."""
    names = [entry.name for entry in call.body.topics]
    rows = [
        _create(call, entry, repeated=names.count(entry.name) > 1) for entry in call.body.topics
    ]
    return Struct(topics=rows)


def _create(call: Call, entry: Message, *, repeated: bool) -> Struct:
    cluster = call.cluster
    name = entry.name
    configs = {config.name: config.value or "" for config in entry.configs}
    by_hand = [a.broker_ids for a in sorted(entry.assignments, key=attrgetter("partition_index"))]
    options = cluster.options
    wanted, factor = entry.num_partitions, entry.replication_factor
    partitions = len(by_hand) or (options.default_partitions if wanted == -1 else wanted)
    replicas = (
        len(by_hand[0])
        if by_hand
        else (options.default_replication_factor if factor == -1 else factor)
    )
    failure = _creation_failure(call, entry, partitions, replicas, by_hand, configs)
    if repeated:
        failure = (
            ErrorCode.INVALID_REQUEST,
            f"Topic `{name}` appears more than once in the request.",
        )
    if failure is not None:
        return _refused_row(name, failure)
    topic_id = None
    if not call.body.validate_only:
        topic = cluster.create_topic(
            name, partitions, replication_factor=replicas, configs=configs, assignments=by_hand
        )
        topic_id = topic.topic_id
    return Struct(
        name=name,
        topic_id=topic_id,
        error_code=0,
        error_message=None,
        num_partitions=partitions,
        replication_factor=replicas,
        configs=topic_config_rows(configs),
    )


def _creation_failure(
    call: Call,
    entry: Message,
    partitions: int,
    replicas: int,
    by_hand: Sequence[Sequence[int]],
    configs: dict[str, str],
) -> Failure | None:
    cluster = call.cluster
    name = entry.name
    if cluster.topics.get(name or "\0") is not None:
        return ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists."
    failure = creation_error(name, partitions, replicas, len(cluster.brokers))
    if failure is not None:
        return failure
    if partitions > _room(call):
        return ErrorCode.INVALID_PARTITIONS, _NO_ROOM
    if by_hand:
        if entry.num_partitions != -1 or entry.replication_factor != -1:
            return (
                ErrorCode.INVALID_REQUEST,
                "Counts and a replica assignment cannot be used together.",
            )
        indexes = sorted(assignment.partition_index for assignment in entry.assignments)
        if indexes != list(range(partitions)):
            return ErrorCode.INVALID_REPLICA_ASSIGNMENT, "Partitions must be numbered from 0."
        failure = _assignment_failure(call, by_hand)
        if failure is not None:
            return failure
    unknown = sorted(set(configs) - set(TOPIC_DEFAULTS))
    if unknown:
        return ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {unknown[0]}"
    return None


def _assignment_failure(call: Call, replicas: Sequence[Sequence[int]]) -> Failure | None:
    for brokers in replicas:
        all_exist = all(broker in call.cluster.brokers for broker in brokers)
        if not brokers or not all_exist or len(set(brokers)) != len(brokers):
            return ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Brokers {list(brokers)} do not fit."
    if len({len(brokers) for brokers in replicas}) > 1:
        return (
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "All partitions must have the same number of replicas.",
        )
    return None


def _refused_row(name: str, failure: Failure) -> Struct:
    return Struct(
        name=name,
        topic_id=None,
        error_code=failure[0],
        error_message=failure[1],
        num_partitions=-1,
        replication_factor=-1,
        configs=None,
    )


def create_partitions(call: Call) -> Struct:
    """Add partitions to topics, or only say whether that could be done."""
    rows = []
    for entry in call.body.topics:
        failure = _grow(call, entry)
        rows.append(
            Struct(
                name=entry.name,
                error_code=failure[0] if failure else 0,
                error_message=failure[1] if failure else None,
            )
        )
    return Struct(results=rows)


def _grow(call: Call, entry: Message) -> Failure | None:
    cluster = call.cluster
    topic = cluster.topics.get(entry.name or "\0")
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic."
    count, now = entry.count, len(topic.partitions)
    if count <= now:
        return (
            ErrorCode.INVALID_PARTITIONS,
            f"The topic already has {now} partitions; {count} is not more.",
        )
    if count - now > _room(call):
        return ErrorCode.INVALID_PARTITIONS, _NO_ROOM
    by_hand = [assignment.broker_ids for assignment in entry.assignments or ()]
    if by_hand:
        if len(by_hand) != count - now:
            return ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Expected {count - now} assignments."
        failure = _assignment_failure(call, by_hand)
        if failure is not None:
            return failure
    if not call.body.validate_only:
        cluster.grow_topic(topic, count, assignments=by_hand)
    return None


def delete_topics(call: Call) -> Struct:
    """Forget topics with their records and commits."""
    asked = call.body.topics
    if call.version < _BY_ID_SINCE:
        asked = [Struct(name=name, topic_id=None) for name in call.body.topic_names]
    return Struct(responses=[_delete(call, entry) for entry in asked])


def _delete(call: Call, entry: Message) -> Struct:
    name, topic_id = entry.name, entry.topic_id
    topic: Topic | None = call.cluster.topics.get(name, topic_id)
    code, message = ErrorCode.NONE, None
    if topic is None:
        by_id = not name and topic_id is not None
        code = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    elif topic.name in INTERNAL_TOPICS:
        code, message = ErrorCode.INVALID_REQUEST, "The topic is internal."
    else:
        call.cluster.delete_topic(topic)
        name, topic_id = topic.name, topic.topic_id
    return Struct(name=name, topic_id=topic_id, error_code=code, error_message=message)


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
    properties = group_properties(cluster.coordination.config)
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
            return ErrorCode.NONE, None, broker_config_rows(properties)
        case 32:
            return ErrorCode.NONE, None, group_config_rows(properties)
    return ErrorCode.INVALID_REQUEST, f"resource type {kind} has no settings here", []
