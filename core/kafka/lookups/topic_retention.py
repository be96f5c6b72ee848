"""For how long topics keep their records."""

from collections.abc import Iterable
from typing import Any, Final

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.requests import TOPIC_RESOURCE
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct

_POLICY: Final = "cleanup.policy"
_TIME: Final = "retention.ms"


def topic_retentions(
    admin: ClusterAdmin, topics: Iterable[str]
) -> tuple[dict[str, float], dict[str, str]]:
    """Seconds after which each topic deletes a record; takes DESCRIBE_CONFIGS on the topics.

    Returns:
        Topics to seconds, without those that keep records for ever (`compact`, or -1), and Kafka's
        error names of those that could not be asked.
    """
    resources = [
        Struct(
            resource_type=TOPIC_RESOURCE,
            resource_name=topic,
            configuration_keys=[_POLICY, _TIME],
        )
        for topic in sorted(set(topics))
    ]

    async def ask(cluster: Cluster, deadline: Deadline) -> tuple[dict[str, float], dict[str, str]]:
        broker = next(iter(cluster.brokers))
        message = Struct(resources=resources)
        _, answer = await cluster.ask(broker, Api.DESCRIBE_CONFIGS, message, deadline.at)
        codes = {row.resource_name: error_name(row.error_code) for row in answer.results}
        failures = {topic: code for topic, code in codes.items() if code is not None}
        told = [row for row in answer.results if row.resource_name not in failures]
        retentions = {row.resource_name: _retention_s(row) for row in told}
        known = {topic: kept_s for topic, kept_s in retentions.items() if kept_s is not None}
        return known, failures

    return admin.over_wire(ask)


def _retention_s(row: Any) -> float | None:
    values = {config.name: config.value or "" for config in row.configs}
    kept_ms = int(values.get(_TIME, "-1"))
    return kept_ms / 1_000 if kept_ms >= 0 and "delete" in values.get(_POLICY, "") else None
