"""The nodes of a Kafka Streams topology, as an application described it to its brokers. Pure.

Kafka 4.4 keeps such descriptions where `group.streams.topology.description.plugin.class` names a
plugin (KIP-1331).
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

NodeKind = Literal["source", "processor", "sink"]


class Node(NamedTuple):
    """A step of a topology.

    Args:
        topics: that a source reads, or a sink writes; a sink that decides for each record has none.
        successors: nodes that it hands records to.
    """

    name: str
    kind: NodeKind
    topics: tuple[str, ...]
    stores: tuple[str, ...]
    successors: tuple[str, ...]


class TopologyNodes(NamedTuple):
    """Nodes by the id of their subtopology; source and processor of each global store."""

    subtopologies: dict[str, tuple[Node, ...]]
    global_stores: tuple[tuple[Node, Node], ...] = ()


def topology_text(topology: TopologyNodes) -> str:
    """The topology in the layout of Kafka's `Topology.describe`, with its last empty line."""
    parts: list[tuple[str, Sequence[Node]]] = [*topology.subtopologies.items()]
    parts += [
        (f"{number} for global store (will not generate tasks)", pair)
        for number, pair in enumerate(topology.global_stores, len(parts))
    ]
    lines = ["Topologies:"]
    for name, nodes in parts:
        lines.append(f"   Sub-topology: {name}")
        for node in nodes:
            lines += _lines(node, [s.name for s in nodes if node.name in s.successors])
        lines.append("")
    return "\n".join(lines) + "\n"


def _lines(node: Node, predecessors: Sequence[str]) -> Iterator[str]:
    said = {
        "source": f"(topics: [{', '.join(sorted(node.topics))}])",
        "processor": f"(stores: [{', '.join(sorted(node.stores))}])",
        "sink": f"(topic: {node.topics[0] if node.topics else 'null'})",
    }
    yield f"    {node.kind.capitalize()}: {node.name} {said[node.kind]}"
    if node.kind != "sink":
        yield f"      --> {', '.join(sorted(node.successors)) or 'none'}"
    if node.kind != "source":
        yield f"      <-- {', '.join(sorted(predecessors)) or 'none'}"
