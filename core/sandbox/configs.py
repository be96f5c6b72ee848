"""Settings of topics, brokers and groups as DescribeConfigs shows them."""

from collections.abc import Mapping

from kgroups.core.protocol.writer import Struct

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
