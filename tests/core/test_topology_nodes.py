"""Topologies in the layout of Kafka's `Topology.describe`."""

from kgroups.core.topology_nodes import Node, TopologyNodes, topology_text

SOURCE = Node("source", "source", ("b", "a"), (), ("count",))
COUNT = Node("count", "processor", (), ("store-2", "store-1"), ("sink",))
SINK = Node("sink", "sink", ("out",), (), ())
SIMPLE = """\
   Sub-topology: 0
    Source: source (topics: [a, b])
      --> count
    Processor: count (stores: [store-1, store-2])
      --> sink
      <-- source
    Sink: sink (topic: out)
      <-- count
"""


def test_simple() -> None:
    """Each subtopology with its nodes, an empty line after each."""
    nodes = (SOURCE, COUNT, SINK)
    assert topology_text(TopologyNodes({"0": nodes})) == f"Topologies:\n{SIMPLE}\n"
    second = SIMPLE.replace("0", "1", 1)
    both = topology_text(TopologyNodes({"0": nodes, "1": nodes}))
    assert both == f"Topologies:\n{SIMPLE}\n{second}\n"


def test_global_stores() -> None:
    """They count on from the subtopologies."""
    pair = (SOURCE, COUNT._replace(successors=()))
    text = topology_text(TopologyNodes({"0": (SOURCE, COUNT, SINK)}, (pair, pair)))
    assert text.count(" for global store (will not generate tasks)\n") == 2
    assert "\n\n   Sub-topology: 2 for global store (will not generate tasks)\n    Source:" in text
    assert text.endswith("      --> none\n      <-- source\n\n")


def test_lonely() -> None:
    """Nodes without neighbours, and a sink that decides for each record."""
    nodes = (
        Node("alone", "processor", (), (), ()),
        Node("source", "source", ("t",), (), ("z", "a")),
        Node("z", "sink", (), (), ()),
    )
    assert topology_text(TopologyNodes({"0": nodes})) == (
        "Topologies:\n   Sub-topology: 0\n"
        "    Processor: alone (stores: [])\n      --> none\n      <-- none\n"
        "    Source: source (topics: [t])\n      --> a, z\n"
        "    Sink: z (topic: null)\n      <-- source\n\n"
    )


def test_empty() -> None:
    """The heading alone."""
    assert topology_text(TopologyNodes({})) == "Topologies:\n"
