"""Contexts as a report: no secret is in it."""

from collections.abc import Iterable
from typing import Final

from kgroups.cli.contexts.context import Context, ContextFile
from kgroups.cli.contexts.context_file import property_text
from kgroups.cli.contexts.secrets import shown
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Item, Row, View, plain_view

SCHEMA = "kgroups.context/1"

COLUMNS: Final = (
    Column("current", "CURRENT"),
    Column("context", "CONTEXT"),
    Column("bootstrap_servers", "BOOTSTRAP"),
    Column("protected", "PROTECTED"),
    Column("cluster_id", "CLUSTER-ID", quiet=(None,)),
    Column("command_config", "COMMAND-CONFIG", quiet=(None,)),
    Column("client", "CLIENT", quiet=(None,)),
    Column("output", "OUTPUT", quiet=(None,)),
    Column("timeout_seconds", "TIMEOUT", right=True, quiet=(None,)),
    Column("engine", "ENGINE", quiet=(None,)),
    Column("values", "VALUES", quiet=(None,)),
)
FIELDS: Final = (Column("field", "FIELD"), Column("value", "VALUE"))


def context_item(context: Context, current: str | None) -> Item:
    """A context as an item of `kgroups.context/1`."""
    properties = {name: property_text(at) for name, at in context.properties.items()}
    config = context.command_config
    return {
        "context": context.name,
        "current": context.name == current,
        "bootstrap_servers": context.bootstrap_servers or properties.get("bootstrap.servers"),
        "cluster_id": context.cluster_id,
        "protected": context.protected,
        "command_config": None if config is None else str(config),
        "client": context.client,
        "properties": {name: shown(name, text) for name, text in properties.items()},
        "output": context.output,
        "timeout_seconds": context.timeout_ms and context.timeout_ms / 1_000,
        "engine": context.engine,
        "values": context.values,
    }


def contexts_report(
    file: ContextFile, contexts: Iterable[Context], current: str | None, *, in_full: bool = False
) -> Report:
    """The contexts as a `kgroups.context/1` report.

    Args:
        current: the one that is in force, or that the file says.
        in_full: with every field of one context, a row each.
    """
    items = [context_item(context, current) for context in contexts]
    view = plain_view(
        "context", COLUMNS, lambda item: [{**item, "current": "*" if item["current"] else ""}]
    )
    return Report(
        SCHEMA,
        items,
        (View("field", FIELDS, _fields) if in_full else view,),
        summary=lambda: {"contexts": len(items), "file": str(file.path)},
    )


def _fields(item: Item) -> list[Row]:
    rows: list[Row] = [
        (name, value) for name, value in item.items() if name not in ("properties", "current")
    ]
    return rows + [(name, text) for name, text in item["properties"].items()]
