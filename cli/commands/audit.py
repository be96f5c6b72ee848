"""`kgroups audit`: what was written to clusters from here."""

import shlex
from typing import Annotated

import typer

from kgroups.cli.audit_log import audit_path, read_audit
from kgroups.cli.exits import Note, now_ms
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, plain_view
from kgroups.cli.params import options_of
from kgroups.cli.usage import Text, option
from kgroups.core.errors import UsageError
from kgroups.core.times import parse_instant_ms, timestamp

SCHEMA = "kgroups.audit/1"

HELP = """Show what was written to clusters from here.

Every command that sent a write, official options included, is a line in the
audit log, ~/.local/state/kgroups/audit.jsonl: when, who, cluster, command,
--reason (KGROUPS_REASON), undo file and outcome. Commands that were refused,
declined or only planned are not in it. KGROUPS_NO_AUDIT=1 turns it off.

OUTCOMES
  done         everything was written
  partial      some of it was written, or the run was interrupted
  failed       nothing was written
  unknown      a write got no answer
  interrupted  stopped before the outcome was known

EXAMPLES
  kgroups audit
  kgroups audit --since 7d --output json
  kgroups delete old-app --reason "moved to new-app, OPS-7" --yes
"""

COLUMNS = (
    Column("at", "AT"),
    Column("user", "USER"),
    Column("host"),
    Column("context", "CONTEXT", quiet=(None,)),
    Column("cluster_id", "CLUSTER-ID"),
    Column("bootstrap"),
    Column("outcome", "OUTCOME"),
    Column("command", "COMMAND"),
    Column("reason", "REASON", quiet=(None,)),
    Column("undo_file", "UNDO-FILE", quiet=(None,)),
)


def audit(
    ctx: typer.Context,
    since: Annotated[
        Text, option("--since TIME", "Only writes since then: 7d, 2026-11-21T06:00Z.")
    ] = None,
    last: Annotated[int | None, option("--last N", "Only the last N writes.", min=1)] = None,
) -> None:
    printer = Printer(options_of(ctx, several=True))
    path = audit_path()
    if path is None:
        raise UsageError("KGROUPS_NO_AUDIT is set, so there is no audit log")
    begin = "" if since is None else timestamp(parse_instant_ms(since, now_ms()))
    try:
        lines, broken = read_audit(path)
    except FileNotFoundError:
        lines, broken = [], []
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"the audit log `{path}` cannot be read: {why}") from error
    written = [line for line in lines if str(line["at"]) >= begin]
    written = written[-last:] if last is not None else written
    notes = []
    if broken:
        numbers = ", ".join(map(str, broken[:3])) + (", …" if len(broken) > 3 else "")
        text = f"left out of `{path}`: lines that are not entries, at line {numbers}"
        notes.append(Note("LINES_LEFT_OUT", text, str(path)))
    printer.show(
        Report(
            SCHEMA,
            written,
            (plain_view("write", COLUMNS, _rows),),
            summary=lambda: {"writes": len(written), "file": str(path)},
            notes=notes,
        )
    )


def _rows(item: Item) -> list[Item]:
    cluster = {"cluster_id": item["cluster"]["id"], "bootstrap": item["cluster"]["bootstrap"]}
    return [{**item, **cluster, "command": shlex.join(item["command"])}]
