"""Deletion of topics: of the internal ones of a streams group, when it goes or begins anew."""

from collections.abc import Sequence
from typing import Final

from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.doubts import WRITING, Doubts, Failure
from kgroups.core.kafka.failures import BrokerFailure, may_repeat
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct

MISSING: Final = "UNKNOWN_TOPIC_OR_PARTITION"


def delete_topics(admin: ClusterAdmin, names: Sequence[str]) -> dict[str, ItemError | None]:
    """Outcome for each topic: an error, or None when it is deleted.

    Any broker takes the request to the controller. A topic that is gone when it is tried again was
    deleted by the attempt before.
    """
    doubts: Doubts[str] = Doubts()

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[str, Failure]:
        outcomes: dict[str, Failure] = {}
        left = list(dict.fromkeys(names))
        async for _ in Attempts(deadline.part(WRITING), whole=True):
            answers = await _delete(cluster, left, deadline)
            for name in left:
                failure = answers.get(name, MISSING)
                if failure == MISSING and doubts.holds(name):
                    failure = None
                doubts.note(name, failure)
                outcomes[name] = failure
            left = [name for name in left if may_repeat(outcomes[name])]
            if not left:
                break
            cluster.forget_failures()
        return outcomes

    failures = admin.over_wire(ask, writes=True)
    return {name: doubts.error(name, name, failure) for name, failure in failures.items()}


async def _delete(cluster: Cluster, names: Sequence[str], deadline: Deadline) -> dict[str, Failure]:
    message = Struct(
        topic_names=list(names), timeout_ms=min(30_000, round(1_000 * deadline.left_s))
    )
    broker = next(iter(cluster.brokers))
    try:
        _, answer = await cluster.ask(broker, Api.DELETE_TOPICS, message, deadline.at)
    except BrokerFailure as failure:
        return dict.fromkeys(names, failure)
    return {item.name: error_name(item.error_code) for item in answer.responses}
