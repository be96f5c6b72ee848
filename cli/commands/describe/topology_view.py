"""`describe --tasks --verbose`: the nodes of streams applications, as their brokers keep them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kgroups.cli.exits import Note
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View, each_of, plain_view
from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.topologies import topologies
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.streams_tasks import InternalRow
from kgroups.core.topology_nodes import TopologyNodes, topology_text

FIELD = "topology_description"
INTERNAL_COLUMNS = (
    Column("group", "GROUP"),
    Column("subtopology_id", "SUBTOPOLOGY", right=True),
    Column("topic", "INTERNAL-TOPIC"),
    Column("kind", "KIND"),
    Column("partition", "PARTITION", right=True),
    Column("log_start_offset", "LOG-START", right=True),
    Column("log_end_offset", "LOG-END", right=True),
    Column("lag", "LAG", right=True),
)

assert [column.field for column in INTERNAL_COLUMNS[1:]] == list(InternalRow._fields)


def with_topologies(
    report: Report, printer: Printer, admin: ClusterAdmin | None, snapshot: ClusterSnapshot
) -> Report:
    """A verbose report of tasks with the nodes of each streams group, or a note why there are none.

    In tables internal topics stand below the tasks, and the nodes below the rest, in the layout of
    Kafka's `Topology.describe`.
    """
    wanted = printer.options.verbose and any(view.name == "task" for view in report.views)
    groups = [group.group for group in snapshot.groups if group.type == "streams"]
    if not wanted or not groups:
        return report
    found = {} if admin is None else topologies(admin, groups)
    as_text = printer.options.output == "table"
    known = {name: each for name, each in found.items() if isinstance(each, TopologyNodes)}
    document_of = report.document_of

    def document(item: Any) -> Item:
        made = document_of(item)
        name = made["group"]
        if name not in found:
            return made
        return {**made, FIELD: topology_item(known[name]) if name in known else None}

    def lines(item: Any) -> Iterator[Row]:
        if (name := item["group"]) in known:
            texts = topology_text(known[name]).splitlines()[1:]
            # Without empty ones, which a table would show as unknown.
            yield from ((line,) for line in (f"Group: {name}", *filter(None, texts)))

    shown = (
        plain_view("internal topic", INTERNAL_COLUMNS, each_of("internal_topics")),
        View("line", (Column("topology", "TOPOLOGY"),), lines),
    )
    notes = [
        Note("TOPOLOGY_UNKNOWN", f"no topology nodes of `{name}`: {_why(each)}", name)
        for name, each in found.items()
        if not isinstance(each, TopologyNodes)
    ]
    return replace(
        report,
        document_of=document,
        views=[*report.views, *(shown if as_text else ())],
        notes=[*report.notes, *notes],
    )


def _why(answer: ItemError | None) -> str:
    if answer is not None:
        return answer.message
    return (
        "the brokers hold no description of it; they need "
        "`group.streams.topology.description.plugin.class`, and the application Kafka Streams 4.4"
    )


def topology_item(topology: TopologyNodes) -> Item:
    """A topology in a document."""
    return {
        "subtopologies": [
            {"subtopology_id": name, "nodes": [node._asdict() for node in nodes]}
            for name, nodes in topology.subtopologies.items()
        ],
        "global_stores": [
            {"source_node": source._asdict(), "processor_node": processor._asdict()}
            for source, processor in topology.global_stores
        ],
    }
