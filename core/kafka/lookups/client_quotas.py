"""Quotas of clients, and how large the records are that they read."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure, only
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.messages import decode_passing
from kgroups.core.kafka.transport.requests import fetch
from kgroups.core.protocol.batches import CorruptBatch, read_batch_header
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct
from kgroups.core.snapshot import TopicPartition

CONSUMER_RATE: Final = "consumer_byte_rate"
_BEFORE_LENGTH: Final = 12  # bytes of a batch that its length leaves out


class ClientQuota(NamedTuple):
    """A quota that slows consumers down.

    Args:
        entity: `user` and `client-id`, as far as it names them; None stands for the default.
        byte_rate: bytes a second that a broker sends to all clients of the entity.
    """

    entity: Mapping[str, str | None]
    byte_rate: float


def client_quotas(admin: ClusterAdmin) -> tuple[ClientQuota, ...]:
    """Every quota that slows consumers down; takes DESCRIBE_CONFIGS on the cluster."""

    async def ask(cluster: Cluster, deadline: Deadline) -> tuple[ClientQuota, ...]:
        message = Struct(components=(), strict=False)
        broker = next(iter(cluster.brokers))
        _, answer = await cluster.ask(broker, Api.DESCRIBE_CLIENT_QUOTAS, message, deadline.at)
        problem = error_name(answer.error_code)
        if problem is not None:
            raise BrokerFailure(problem)
        return tuple(
            ClientQuota({part.entity_type: part.entity_name for part in entry.entity}, each.value)
            for entry in answer.entries or ()
            for each in entry.values
            if each.key == CONSUMER_RATE
        )

    return admin.over_wire(ask)


def record_bytes(admin: ClusterAdmin, leader: int, at: TopicPartition, offset: int) -> float | None:
    """Bytes of a record there, on average of its batch; None if none can be fetched.

    Takes READ on the topic.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> float | None:
        body = fetch({at: offset}, 1)
        _, answer = await cluster.ask(leader, Api.FETCH, body, deadline.at, decode_passing)
        try:
            part = only(only(answer.responses).partitions)
            header = read_batch_header(bytes(part.records or b""))
        except (BrokerFailure, CorruptBatch):
            return None
        return (header.length + _BEFORE_LENGTH) / (header.last_offset_delta + 1)

    return admin.over_wire(ask)
