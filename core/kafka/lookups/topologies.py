"""Topologies of streams groups, as far as their brokers keep descriptions of them."""

from collections.abc import Sequence
from typing import Any, Final

from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure, item_error
from kgroups.core.kafka.reads.settling import ask_coordinators
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct
from kgroups.core.topology_nodes import Node, NodeKind, TopologyNodes

_KINDS: Final[dict[int, NodeKind]] = {1: "source", 2: "processor", 3: "sink"}
_SINCE: Final = 1  # version of StreamsGroupDescribe: Kafka 4.4
_TOO_OLD: Final = "requires brokers of Kafka 4.4 or later"
_FAILED, _THERE = 2, 3  # StreamsGroupTopologyDescriptionStatus


def topologies(
    admin: ClusterAdmin, groups: Sequence[str]
) -> dict[str, TopologyNodes | ItemError | None]:
    """The topology of each streams group; None where the brokers hold no description of it."""

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[str, Any]:
        placed, lost = await cluster.coordinators(list(groups), deadline)

        async def on(broker: int, names: Sequence[str], limit: float) -> dict[str, Any]:
            message = Struct(
                group_ids=list(names),
                include_authorized_operations=False,
                include_topology_description=True,
            )
            version, answer = await cluster.ask(broker, Api.STREAMS_GROUP_DESCRIBE, message, limit)
            if version < _SINCE:
                return dict.fromkeys(names, BrokerFailure("UNSUPPORTED_VERSION", _TOO_OLD))
            return {item.group_id: _topology_of(item) for item in answer.groups}

        return {**lost, **await ask_coordinators(cluster, placed, deadline, on)}

    answers = admin.over_wire(ask)
    return {
        group: item_error(group, answer) if isinstance(answer, BrokerFailure) else answer
        for group, answer in answers.items()
    }


def _topology_of(item: Any) -> TopologyNodes | BrokerFailure | None:
    problem = error_name(item.error_code)
    if problem is not None:
        return BrokerFailure(problem, item.error_message)
    status = getattr(item, "topology_description_status", 0)
    if status == _FAILED:
        return BrokerFailure(
            "UNKNOWN_SERVER_ERROR", "the broker failed to fetch the topology description"
        )
    if status != _THERE or item.topology_description is None:
        return None
    description = item.topology_description
    return TopologyNodes(
        {part.subtopology_id: tuple(map(_node, part.nodes)) for part in description.subtopologies},
        tuple((_node(edge.source), _node(edge.processor)) for edge in description.global_stores),
    )


def _node(item: Any) -> Node:
    topics = item.source_topics if item.sink_topic is None else [item.sink_topic]
    kind = _KINDS.get(item.node_type, "processor")
    return Node(item.name, kind, tuple(topics), tuple(item.stores), tuple(item.successors))
