"""`kgroups list`: which groups there are."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kgroups.cli.exits import end_with
from kgroups.cli.official.layouts import list_text
from kgroups.cli.output import Printer, Report
from kgroups.cli.params import (
    GROUP_STATES,
    GROUP_TYPES,
    FromFile,
    GlobalOptions,
    options_of,
    parse_choice,
    split_names,
)
from kgroups.cli.source import cluster, match_names, now_ms, take_snapshot, topics_of
from kgroups.cli.table import Column, Item, Row, View
from kgroups.cli.tree import Command
from kgroups.core.group_item import coordinator_item
from kgroups.core.snapshot import ClusterSnapshot, Group

SCHEMA = "kgroups.list/1"

HELP = """List the groups of a cluster.

Groups of every type, ascending by name. PATTERN is a glob (quote it), or a
plain text that a name contains. Filters combine: a group must fit them all.

STATES  PreparingRebalance  CompletingRebalance  Stable  Dead  Empty
        Assigning  Reconciling
TYPES   classic   the protocol of old, rebalanced by the clients
        consumer  KIP-848, rebalanced by the broker
        share     KIP-932 queues
        streams   KIP-1071

Both take several values by commas, in upper or lower case.

EXAMPLES
  kgroups list
  kgroups list 'orders-*' --state Stable
  kgroups list --state Empty,Dead --output csv
  kgroups list --topic payments      groups that read this topic
"""

COLUMNS = (
    Column("group", "GROUP"),
    Column("type", "TYPE"),
    Column("state", "STATE"),
    Column("protocol_type", "PROTOCOL"),
    Column("coordinator_id", "COORDINATOR", right=True, quiet=(None,)),
    Column("coordinator_host"),
    Column("coordinator_port"),
)


def register(app: typer.Typer) -> None:
    """Add `list` to the program."""
    app.command("list", help=HELP, cls=Command)(list_groups)


def list_groups(
    ctx: typer.Context,
    pattern: Annotated[
        str | None, typer.Argument(metavar="[PATTERN]", help="Glob, or a part of a name.")
    ] = None,
    state: Annotated[
        list[str] | None, typer.Option("--state", metavar="STATE", help="Only in these states.")
    ] = None,
    type_: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only of these types.")
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            metavar="TOPIC",
            help="Only groups that read one of these topics.",
        ),
    ] = None,
    file: FromFile = None,
) -> None:
    """`kgroups list`."""
    options = options_of(ctx)
    printer = Printer(options)
    states = parse_choice(state, GROUP_STATES, "group state")
    types = parse_choice(type_, GROUP_TYPES, "group type")
    topics = set(split_names(topic))
    listing = _listing(options, printer, states, types, needs_topics=bool(topics), file=file)
    groups = [
        group
        for group in match_names(listing.groups, pattern)
        if (not states or group.state in states)
        and (not types or group.type in types)
        and (not topics or topics & topics_of(group))
    ]
    report = list_report(listing, groups)
    plain = (list_text(groups, types=bool(types), states=bool(states)),)
    printer.show(replace(report, plain=lambda: plain))
    end_with(listing.errors)


def _listing(
    options: GlobalOptions,
    printer: Printer,
    states: tuple[str, ...],
    types: tuple[str, ...],
    *,
    needs_topics: bool,
    file: Path | None,
) -> ClusterSnapshot:
    """Groups with what the filters need; only `--topic` has to look into the groups."""
    if file is not None or needs_topics:
        return take_snapshot(options, file=file, log_offsets=False, progress=printer.progress)
    with cluster(options) as admin:
        listing = admin.list_groups(states=states, types=types)
        bootstrap = admin.settings.bootstrap_servers
    return ClusterSnapshot(
        captured_at_ms=now_ms(),
        groups=tuple(sorted(listing.groups, key=lambda group: group.group)),
        topics={},
        brokers=tuple(listing.brokers),
        cluster_id=listing.cluster_id,
        bootstrap=bootstrap,
        errors=tuple(listing.errors),
    )


def list_report(snapshot: ClusterSnapshot, groups: list[Group]) -> Report:
    """The groups as a `kgroups.list/1` report."""
    states: dict[str, int] = {}
    for group in groups:
        states[group.state or "unknown"] = states.get(group.state or "unknown", 0) + 1
    return Report(
        schema=SCHEMA,
        cluster={"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap},
        generated_at_ms=snapshot.captured_at_ms,
        items=(list_item(snapshot, group) for group in groups),
        views=(View("group", COLUMNS, _rows),),
        errors=snapshot.errors,
        summary=lambda: {"groups": len(groups), "states": dict(sorted(states.items()))},
    )


def list_item(snapshot: ClusterSnapshot, group: Group) -> Item:
    """A group as an item of `kgroups.list/1`."""
    return {
        "group": group.group,
        "type": group.type,
        "state": group.state,
        "protocol_type": group.protocol_type,
        "coordinator": coordinator_item(snapshot, group.coordinator),
    }


def _rows(item: Item) -> list[Row]:
    at = item["coordinator"] or {"id": None, "host": None, "port": None}
    return [
        (
            item["group"],
            item["type"],
            item["state"],
            item["protocol_type"],
            at["id"],
            at["host"],
            at["port"],
        )
    ]
