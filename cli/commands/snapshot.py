"""`kgroups snapshot`: the cluster's groups as a file."""

from pathlib import Path
from typing import Annotated, Final

import typer

from kgroups.cli.exits import DOCUMENTS, end_with, show_item_errors
from kgroups.cli.log_leaders import with_leaders
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, plain_view
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster
from kgroups.cli.usage import argument
from kgroups.core.kafka.lookups.group_settings import with_settings
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.snapshot_file import document_rest, read_snapshot, snapshot_items, write_snapshot
from kgroups.core.times import timestamp

SAVE_SCHEMA = "kgroups.snapshot.save/1"

HELP = """Save a cluster's groups to a file, or show one.

A snapshot holds everything that `list`, `describe`, `plan` and `lag report`
ask of a cluster; all of them take one with --from FILE.
"""
SAVE_HELP = """Save the cluster's groups to a file.

Saves groups with members and offsets, the topics they read with log bounds,
and the brokers; of classic groups also who leads, where `__consumer_offsets`
may be read and a plan depends on it. Replaces the file atomically. Its name
says the format:

  .json         JSON, also for every other name
  .yaml, .yml   YAML
  .jsonl        JSON lines, a topic or group each
  .jsonl.zst    the same, compressed: for large clusters

A snapshot that could not be read back in its format is refused.

EXAMPLES
  kgroups snapshot save before.json
  kgroups snapshot save before.jsonl.zst
  kgroups describe --all-groups --from before.json
  kgroups plan orders-app --from before.json --add-members 2
"""
SHOW_HELP = """Show a snapshot file.

A table of its groups, or with --output json or yaml the whole snapshot.

EXAMPLES
  kgroups snapshot show before.json
  kgroups snapshot show before.yaml --output json
"""

COLUMNS = (
    Column("group", "GROUP"),
    Column("type", "TYPE"),
    Column("state", "STATE"),
    Column("assignor", "ASSIGNOR"),
    Column("member_count", "MEMBERS", right=True),
    Column("partitions", "PARTITIONS", right=True),
    Column("lag", "LAG", right=True),
    Column("lost", "LOST", right=True, quiet=(None, 0)),
    Column("unknown_partitions", "UNKNOWN", right=True, quiet=(None, 0)),
)


def save(
    ctx: typer.Context,
    file: Annotated[Path, argument("FILE", "File to write.")],
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    with cluster(options) as admin:
        snapshot = admin.snapshot(isolation="read_committed", progress=printer.progress)
        # A plan from the file knows what a live one knows.
        snapshot = with_leaders(printer, admin, snapshot, asked=False, grows=True, most=None)
        snapshot = with_settings(admin, snapshot, strict=False)
    write_snapshot(snapshot, file)
    printer.note("SNAPSHOT_SAVED", f"saved {counted(snapshot)} to `{file}`", str(file))
    saved = {
        "file": str(file),
        "captured_at": timestamp(snapshot.captured_at_ms),
        "groups": len(snapshot.groups),
        "topics": len(snapshot.topics),
        "brokers": len(snapshot.brokers),
    }
    if options.output in DOCUMENTS:
        printer.show(Report.of(snapshot, SAVE_SCHEMA, [saved], (), summary=lambda: {"files": 1}))
    else:
        show_item_errors(snapshot.errors)
    end_with(snapshot.errors)


def show(
    ctx: typer.Context,
    file: Annotated[Path, argument("FILE", "File to read.")],
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    snapshot = read_snapshot(file)
    if options.output == "table":
        taken = timestamp(snapshot.captured_at_ms)
        text = f"{counted(snapshot)}, taken {taken} from {snapshot.bootstrap or 'nowhere'}"
        printer.note("SNAPSHOT_READ", text, str(file))
    printer.show(snapshot_report(snapshot))


def counted(snapshot: ClusterSnapshot) -> str:
    """`3 groups, 2 topics, 1 broker`."""
    counts = (
        (len(snapshot.groups), "group"),
        (len(snapshot.topics), "topic"),
        (len(snapshot.brokers), "broker"),
    )
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)


def snapshot_report(snapshot: ClusterSnapshot) -> Report:
    """The whole snapshot as a `kgroups.snapshot/1` report."""
    document = document_rest(snapshot)
    return Report(
        document["schema"],
        snapshot_items(snapshot),
        (plain_view("group", COLUMNS, _rows),),
        cluster=document["cluster"],
        generated_at_ms=snapshot.captured_at_ms,
        errors=snapshot.errors,
        summary=lambda: document["summary"],
        extra={key: document[key] for key in ("topics", "brokers")},
    )


def _rows(item: Item) -> list[Item]:
    members, offsets = item["members"], item["offsets"]
    counts = {
        "member_count": None if members is None else len(members),
        "partitions": None if offsets is None else len(offsets),
    }
    return [{**item, **counts}]


COMMANDS: Final = {"save": (SAVE_HELP, save), "show": (SHOW_HELP, show)}
