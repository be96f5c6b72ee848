"""Own names of client libraries that do not use Kafka's property names.

Source: sarama's Config, franz-go's options of kgo, kafkajs's configuration, the parameters of
kafka-python's and aiokafka's consumers; `clients/libraries.py` has their releases.
"""

from collections.abc import Mapping
from typing import Final

from kgroups.core.simulation.clients.libraries import Library

_PYTHON: Final = (
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "max.poll.records",
    "partition.assignment.strategy",
    "auto.offset.reset",
    "enable.auto.commit",
    "auto.commit.interval.ms",
    "request.timeout.ms",
    "metadata.max.age.ms",
    "retry.backoff.ms",
    "fetch.min.bytes",
    "fetch.max.bytes",
    "max.partition.fetch.bytes",
    "fetch.max.wait.ms",
    "connections.max.idle.ms",
    "isolation.level",
    "exclude.internal.topics",
    "group.id",
    "group.instance.id",
    "client.id",
    "client.rack",
)


def _with_underscores(*names: str) -> Mapping[str, str]:
    return {name.replace(".", "_"): name for name in names}


OWN_NAMES: Final[Mapping[Library, Mapping[str, str]]] = {
    "sarama": {
        "ClientID": "client.id",
        "RackID": "client.rack",
        "Consumer.Fetch.Default": "max.partition.fetch.bytes",
        "Consumer.Fetch.Min": "fetch.min.bytes",
        "Consumer.Group.Heartbeat.Interval": "heartbeat.interval.ms",
        "Consumer.Group.InstanceId": "group.instance.id",
        "Consumer.Group.Rebalance.GroupStrategies": "partition.assignment.strategy",
        "Consumer.Group.Rebalance.Timeout": "rebalance.timeout.ms",
        "Consumer.Group.Session.Timeout": "session.timeout.ms",
        "Consumer.IsolationLevel": "isolation.level",
        "Consumer.MaxWaitTime": "fetch.max.wait.ms",
        "Consumer.Offsets.AutoCommit.Enable": "enable.auto.commit",
        "Consumer.Offsets.AutoCommit.Interval": "auto.commit.interval.ms",
        "Consumer.Offsets.Initial": "auto.offset.reset",
        "Metadata.AllowAutoTopicCreation": "allow.auto.create.topics",
        "Metadata.RefreshFrequency": "metadata.max.age.ms",
        "Metadata.Retry.Backoff": "retry.backoff.ms",
        "Net.DialTimeout": "socket.connection.setup.timeout.ms",
        "Net.ReadTimeout": "request.timeout.ms",
    },
    "franz-go": {
        "AllowAutoTopicCreation": "allow.auto.create.topics",
        "AutoCommitInterval": "auto.commit.interval.ms",
        "Balancers": "partition.assignment.strategy",
        "ConnIdleTimeout": "connections.max.idle.ms",
        "ConsumeResetOffset": "auto.offset.reset",
        "ConsumerGroup": "group.id",
        "DisableAutoCommit": "enable.auto.commit",
        "FetchIsolationLevel": "isolation.level",
        "FetchMaxBytes": "fetch.max.bytes",
        "FetchMaxPartitionBytes": "max.partition.fetch.bytes",
        "FetchMaxWait": "fetch.max.wait.ms",
        "FetchMinBytes": "fetch.min.bytes",
        "HeartbeatInterval": "heartbeat.interval.ms",
        "InstanceID": "group.instance.id",
        "MetadataMaxAge": "metadata.max.age.ms",
        "Rack": "client.rack",
        "RebalanceTimeout": "rebalance.timeout.ms",
        "RequestTimeoutOverhead": "request.timeout.ms",
        "RetryBackoffFn": "retry.backoff.ms",
        "SessionTimeout": "session.timeout.ms",
    },
    "kafka-python": _with_underscores(
        *_PYTHON, "allow.auto.create.topics", "reconnect.backoff.ms", "reconnect.backoff.max.ms"
    ),
    "aiokafka": _with_underscores(*_PYTHON, "rebalance.timeout.ms"),
    "kafkajs": {
        "allowAutoTopicCreation": "allow.auto.create.topics",
        "autoCommit": "enable.auto.commit",
        "autoCommitInterval": "auto.commit.interval.ms",
        "clientId": "client.id",
        "connectionTimeout": "socket.connection.setup.timeout.ms",
        "fromBeginning": "auto.offset.reset",
        "groupId": "group.id",
        "heartbeatInterval": "heartbeat.interval.ms",
        "initialRetryTime": "retry.backoff.ms",
        "maxBytes": "fetch.max.bytes",
        "maxBytesPerPartition": "max.partition.fetch.bytes",
        "maxRetryTime": "retry.backoff.max.ms",
        "maxWaitTimeInMs": "fetch.max.wait.ms",
        "metadataMaxAge": "metadata.max.age.ms",
        "minBytes": "fetch.min.bytes",
        "partitionAssigners": "partition.assignment.strategy",
        "rackId": "client.rack",
        "readUncommitted": "isolation.level",
        "rebalanceTimeout": "rebalance.timeout.ms",
        "requestTimeout": "request.timeout.ms",
        "sessionTimeout": "session.timeout.ms",
    },
}
"""Library -> its name of a setting -> Kafka's."""
