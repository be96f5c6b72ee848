"""`kgroups coordinator`: where groups live."""

from collections.abc import Mapping
from typing import Annotated

import typer

from kgroups.assignors.order.java_order import java_hash
from kgroups.cli.choosing import exact_names
from kgroups.cli.exits import end_with
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, plain_view, with_coordinator
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster
from kgroups.cli.usage import argument, option
from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.errors import ItemError
from kgroups.core.snapshot import Broker

SCHEMA = "kgroups.coordinator/1"

HELP = """Show which broker coordinates a group, and why.

A group's offsets live in partition abs(hash) mod N of __consumer_offsets,
where hash is Java's String.hashCode of the name and N the number of that
topic's partitions (50 by default). The leader of that partition is the
group's coordinator. Groups need not exist; a note names those that do not.

With --partitions N, no cluster is contacted and the broker is unknown.

EXAMPLES
  kgroups coordinator orders-app billing
  kgroups coordinator orders-app --partitions 50
  kgroups coordinator orders-app --output json | jq '.items[].coordinator'
"""

COLUMNS = (
    Column("group", "GROUP"),
    Column("hash", "HASH", right=True),
    Column("offsets_partition", "OFFSETS-PARTITION", right=True),
    Column("partitions", "OF", right=True),
    Column("coordinator_id", "COORDINATOR", right=True),
    Column("coordinator_host", "HOST", quiet=(None,)),
    Column("coordinator_port", "PORT", right=True, quiet=(None,)),
)
MAX_PARTITIONS = 2**31 - 1


def coordinator(
    ctx: typer.Context,
    groups: Annotated[list[str], argument("GROUP...", "Group names, existing or not.")],
    partitions: Annotated[
        int | None,
        option(
            "--partitions N",
            "Partitions of __consumer_offsets; contacts no cluster.",
            min=1,
            max=MAX_PARTITIONS,
        ),
    ] = None,
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    names = list(exact_names(groups))
    errors: tuple[ItemError, ...] = ()
    where: dict[str, str | None] | None = None
    leaders: Mapping[str, Broker] = {}
    if partitions is None:
        with cluster(options) as admin:
            placement = admin.coordinators(names)
            looked = admin.snapshot(names, members=False, offsets=False, log_offsets=False)
        for error in looked.errors:
            if error.code == "GROUP_ID_NOT_FOUND":
                printer.note("NO_SUCH_GROUP", f"no such group: `{error.target}`", error.target)
        partitions, leaders, errors = placement.partitions, placement.coordinators, placement.errors
        where = {"id": placement.cluster_id, "bootstrap": placement.bootstrap}
    items = [placement_item(name, partitions, leaders.get(name)) for name in names]
    report = Report(
        SCHEMA,
        items,
        (plain_view("group", COLUMNS, lambda item: [with_coordinator(item)]),),
        cluster=where,
        errors=errors,
        summary=lambda: {"groups": len(items), "partitions": partitions},
    )
    printer.show(report)
    end_with(errors)


def placement_item(name: str, partitions: int | None, leader: Broker | None) -> Item:
    """Where a group of this name lives, as an item of `kgroups.coordinator/1`."""
    return {
        "group": name,
        "hash": java_hash(name),
        "offsets_partition": None if partitions is None else offsets_partition(name, partitions),
        "partitions": partitions,
        "coordinator": None
        if leader is None
        else {"id": leader.id, "host": leader.host, "port": leader.port},
    }
