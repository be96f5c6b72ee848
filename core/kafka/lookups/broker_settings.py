"""What brokers are set to: DescribeConfigs, a request a broker."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import only
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.requests import describe_broker_configs
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api

if TYPE_CHECKING:
    from kgroups.core.kafka.librdkafka.librdkafka_reads import LibrdkafkaClient


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """One broker's answer.

    Args:
        values: those of the settings that it has.
        failure: Kafka's error name where it does not tell; None if it does.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    failure: str | None = None


def broker_settings(
    admin: ClusterAdmin, brokers: Iterable[int], names: Sequence[str]
) -> dict[int, BrokerSettings]:
    """These settings of each broker; takes DESCRIBE_CONFIGS on the cluster.

    Raises:
        ClusterError: the cluster cannot be reached.
    """
    wanted = sorted(set(brokers))

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[int, BrokerSettings]:
        async def one(broker: int, limit: float) -> BrokerSettings:
            body = describe_broker_configs(broker, names)
            _, answer = await cluster.ask(broker, Api.DESCRIBE_CONFIGS, body, limit)
            result = only(answer.results)
            failure = error_name(result.error_code)
            values = {row.name: row.value for row in result.configs if row.value is not None}
            return BrokerSettings(values, failure)

        found, failed = await cluster.each_broker(one, deadline, wanted)
        return found | {broker: BrokerSettings({}, why.code) for broker, why in failed.items()}

    def otherwise(_: "LibrdkafkaClient") -> dict[int, BrokerSettings]:
        return {broker: BrokerSettings({}, "UNSUPPORTED_VERSION") for broker in wanted}

    return admin.over_wire(ask, otherwise)
