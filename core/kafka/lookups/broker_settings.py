"""Settings of brokers, their release, and whether they serve KIP-848."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from kgroups.core.coordinator.releases import Release, releases_offering
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import only
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.requests import describe_broker_configs, describe_groups
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api


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
    """These settings of each broker; takes DESCRIBE_CONFIGS on the cluster."""
    wanted = sorted(set(brokers))

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[int, BrokerSettings]:
        async def one(broker: int, limit: float) -> BrokerSettings:
            body = describe_broker_configs(broker, names)
            _, answer = await cluster.ask(broker, Api.DESCRIBE_CONFIGS, body, limit)
            result = only(answer.results)
            failure = error_name(result.error_code)
            values = {row.name: row.value for row in result.configs if row.value is not None}
            return BrokerSettings(values, failure)

        answers, failed = await cluster.each_broker(one, deadline, wanted)
        return answers | {broker: BrokerSettings({}, why.code) for broker, why in failed.items()}

    unknown = BrokerSettings({}, "UNSUPPORTED_VERSION")
    return admin.over_wire(ask, lambda _: dict.fromkeys(wanted, unknown))


Kip848Support = Literal["served", "refused", "missing"]
"""`missing`: they lack the requests. `refused`: they have them, and answer UNSUPPORTED_VERSION."""

_API: Final = Api.CONSUMER_GROUP_DESCRIBE


class Support(NamedTuple):
    """Support of KIP-848 by a broker, and the releases that it may be of."""

    kip848: Kip848Support
    releases: tuple[Release, ...]


def broker_support(admin: ClusterAdmin, groups: Mapping[int, str]) -> dict[int, Support]:
    """Support by broker id; brokers of which it was not learned are left out.

    Brokers refuse KIP-848 before they look at the group, where
    `group.coordinator.rebalance.protocols` lacks `consumer` or, from 4.0 on, `group.version` is
    not finalized, as after an upgrade.

    Args:
        groups: of each broker that is asked, a group; of any type, and it need not exist.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[int, Support]:
        async def one(broker: int, limit: float) -> Support:
            connection = await cluster.connection(broker, limit)
            releases = releases_offering(connection.newest)
            if connection.offers(_API) is None:
                return Support("missing", releases)
            body = describe_groups([groups[broker]])
            _, answer = await cluster.ask(broker, _API, body, limit)
            refused = error_name(only(answer.groups).error_code) == "UNSUPPORTED_VERSION"
            return Support("refused" if refused else "served", releases)

        answers, _ = await cluster.each_broker(one, deadline, sorted(groups))
        return answers

    return admin.over_wire(ask, lambda _: {})
