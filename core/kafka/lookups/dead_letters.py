"""Whether brokers write the dead letters of share groups (KIP-1191)."""

from collections.abc import Sequence
from typing import Final

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.requests import introduction
from kgroups.core.protocol.tables.api_keys import Api

DEAD_LETTER_TOPIC: Final = "errors.deadletterqueue.topic.name"
_FEATURE, _SINCE = "share.version", 2


def no_dead_letters(admin: ClusterAdmin, groups: Sequence[str]) -> str | None:
    """Why brokers write no dead letters, whose configurations they take all the same.

    Returns:
        None if they write them, or if there are no such groups.
    Raises:
        ClusterError: the cluster cannot be asked, or only through librdkafka.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> int:
        broker = next(iter(cluster.brokers))
        _, answer = await cluster.ask(broker, Api.API_VERSIONS, introduction(), deadline.at)
        levels = {row.name: row.max_version_level for row in answer.finalized_features}
        return int(levels.get(_FEATURE, 0))

    if not groups or (level := admin.over_wire(ask)) >= _SINCE:
        return None
    names = ", ".join(f"`{name}`" for name in groups)
    why = f"the feature `{_FEATURE}` is {level}, dead letters require {_SINCE}"
    return f"no dead letters of {names} are written: {why}"
