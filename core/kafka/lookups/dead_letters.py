"""Whether brokers write the dead letters of share groups (KIP-1191)."""

from collections.abc import Mapping
from typing import Final

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.requests import introduction
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api

DEAD_LETTER_TOPIC: Final = "errors.deadletterqueue.topic.name"
_FEATURE, _SINCE = "share.version", 2
_MISSING: Final = "UNKNOWN_TOPIC_OR_PARTITION"
_CREATED: Final = "brokers create it only with `errors.deadletterqueue.auto.create.topics.enable`"


def no_dead_letters(admin: ClusterAdmin, topics: Mapping[str, str]) -> list[str]:
    """Why brokers write no dead letters, whose configurations they take all the same.

    Args:
        topics: of dead letters, by group.
    Returns:
        Sentences; none if they write them.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> tuple[int, set[str]]:
        broker = next(iter(cluster.brokers))
        _, answer = await cluster.ask(broker, Api.API_VERSIONS, introduction(), deadline.at)
        levels = {row.name: row.max_version_level for row in answer.finalized_features}
        looked = await cluster.metadata(sorted({*topics.values()}), deadline)
        missing = {row.name for row in looked.topics if error_name(row.error_code) == _MISSING}
        return int(levels.get(_FEATURE, 0)), missing

    if not topics:
        return []
    level, missing = admin.over_wire(ask)
    if level < _SINCE:
        names = ", ".join(f"`{name}`" for name in topics)
        why = f"the feature `{_FEATURE}` is {level}, dead letters require {_SINCE}"
        return [f"no dead letters of {names} are written: {why}"]
    return [
        f"the dead letter topic `{topic}` of `{group}` does not exist: {_CREATED}"
        for group, topic in topics.items()
        if topic in missing
    ]
