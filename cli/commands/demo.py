"""`kgroups demo`: the whole tour on an embedded cluster with live members."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from kgroups.cli.exits import TOLD, Note, end_with
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer, write_text
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.cli.params import GlobalOptions, options_of
from kgroups.cli.signals import stop_on_signals
from kgroups.cli.source import now_ms
from kgroups.core.errors import ItemError
from kgroups.core.extras import require_extra

SCHEMA = "kgroups.demo/1"

HELP = """Tour kgroups on an embedded cluster with live clients.

Starts a cluster of three brokers on this machine, creates topics, lets real
clients join a classic and a KIP-848 group, and runs the most useful commands,
each shown before its output. Needs no Kafka, and Java only for --spark. Stops
members and cluster at the end, unless --keep is given.

With --output json, each command is one item with its own document.

EXAMPLES
  kgroups demo
  kgroups demo --spark
  kgroups demo --keep
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the tour and why it is run."""

    why: str
    arguments: tuple[str, ...]


STEPS = (
    Step("Who is there?", ("list",)),
    Step("How far behind is one group, and who owns what?", ("describe", "orders-app")),
    Step(
        "The members of a classic and of a KIP-848 group, side by side",
        ("describe", "orders-app", "payments-app", "--members"),
    ),
    Step(
        "The three partitions with most lag in the whole cluster",
        ("describe", "--all-groups", "--sort", "lag", "--top", "3"),
    ),
    Step(
        "What would the next rebalance do if one more member joined?",
        ("plan", "orders-app", "--add-members", "1:orders-3"),
    ),
)
SPARK_STEPS = (
    Step(
        "Lag of the whole fleet, in records and in seconds, computed by Spark",
        ("lag", "report", "--record-times"),
    ),
    Step(
        "Which groups would gain most from another assignor, or from one more member?",
        ("lag", "report", "--assignor", "cooperative-sticky,range,uniform"),
    ),
)

COLUMNS = (
    Column("why", "WHY"),
    Column("command", "COMMAND"),
    Column("exit_code", "EXIT-CODE", right=True),
)


def demo(
    ctx: typer.Context,
    spark: Annotated[
        bool, typer.Option("--spark", help="Include the lag report (needs Java 17).")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep cluster and members running until Ctrl-C.")
    ] = False,
) -> None:
    """`kgroups demo`."""
    from kgroups.core.demo import demo_cluster

    options = options_of(ctx)
    printer = Printer(options)
    if spark:
        require_extra("spark", "`demo --spark`")
    steps = STEPS + (SPARK_STEPS if spark else ())
    with demo_cluster(lambda text: printer.waiting(f"demo: {text}")) as cluster:
        printer.wipe()
        bootstrap = cluster.bootstrap_servers
        stays = Note("KEEPS_RUNNING", f"the cluster keeps running at {bootstrap} until Ctrl-C")
        if keep:
            TOLD.notes.append(stays)
        errors = (_told if options.output == "table" else _reported)(
            printer, steps, bootstrap, cluster.cluster_id
        )
        if keep:
            wait = stop_on_signals()
            printer.tell([stays])
            wait()
    end_with(errors)


def _told(
    printer: Printer, steps: tuple[Step, ...], bootstrap: str, _cluster_id: str
) -> list[ItemError]:
    """Run every step in sight of the user, up to the first that fails."""
    _say(f"export KGROUPS_BOOTSTRAP_SERVER={bootstrap}")
    for step in steps:
        _say(step.why)
        write_text(f"$ kgroups {shlex.join(step.arguments)}\n")
        code, _ = _run(_command(step, printer.options), bootstrap, None)
        if code:
            return [_failure(step, code)]
    _say("The members were real clients. `kgroups --help` lists all commands.")
    return []


def _reported(
    printer: Printer, steps: tuple[Step, ...], bootstrap: str, cluster_id: str
) -> list[ItemError]:
    """Run every step, and report them with their documents."""
    errors: list[ItemError] = []

    def items() -> Iterator[Item]:
        for step in steps:
            line = [*_command(step, printer.options), "--output", "json"]
            code, stdout = _run(line, bootstrap, subprocess.PIPE)
            if code:
                errors.append(_failure(step, code))
            yield {
                "why": step.why,
                "command": ["kgroups", *step.arguments],
                "exit_code": code,
                "document": _document(stdout),
            }

    printer.show(
        Report(
            schema=SCHEMA,
            cluster={"id": cluster_id, "bootstrap": bootstrap},
            generated_at_ms=now_ms(),
            items=items(),
            views=(View("step", COLUMNS, _rows),),
            errors=errors,
            summary=lambda: {"commands": len(steps), "failed": len(errors)},
        )
    )
    return errors


def _say(text: str) -> None:
    write_text(f"\n# {text}\n")


def _command(step: Step, options: GlobalOptions) -> list[str]:
    """The step as a process of this very installation."""
    color = ["--no-color"] if options.no_color else []
    return [sys.executable, "-m", "kgroups.cli", *step.arguments, *color]


def _run(line: list[str], bootstrap: str, stdout: int | None) -> tuple[int, str]:
    """The exit code of a step's process, and what it wrote if `stdout` is a pipe.

    It never sees Ctrl-C: a Python that still starts would answer with a traceback. We end it.
    """
    seen = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = subprocess.Popen(
            line, env=_environment(bootstrap), stdout=stdout, text=True, encoding="utf-8"
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, seen)
    with process:
        try:
            written, _ = process.communicate()
        except BaseException:
            process.kill()
            raise
    return process.returncode, written or ""


def _environment(bootstrap: str) -> dict[str, str]:
    """Our environment with this cluster in the place of the user's."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("KGROUPS_")}
    return {**kept, "KGROUPS_BOOTSTRAP_SERVER": bootstrap}


def _document(text: str) -> Any:
    """A command's document; None if it failed before it had one."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _failure(step: Step, exit_code: int) -> ItemError:
    return ItemError(
        target=shlex.join(step.arguments),
        code="COMMAND_FAILED",
        message=f"`kgroups {shlex.join(step.arguments)}` failed with exit code {exit_code}",
        exit_code=exit_code,
    )


def _rows(item: Item) -> list[Row]:
    return [(item["why"], shlex.join(item["command"]), item["exit_code"])]
