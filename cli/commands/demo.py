"""`kgroups demo`: the whole tour on an embedded cluster with live members."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgroups.cli.exits import TOLD, Note, end_with
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer, write_text
from kgroups.cli.output.table import Column, Item, plain_view
from kgroups.cli.params import GlobalOptions, options_of
from kgroups.cli.signals import stop_on_signals
from kgroups.cli.usage import option
from kgroups.core.errors import ClusterError, ItemError
from kgroups.core.extras import require_extra
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.writes.group_writes import write_commits
from kgroups.core.kafka.writes.record_deletion import delete_records
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import CommittedOffset, TopicPartition

if TYPE_CHECKING:
    from kgroups.core.kafka.librdkafka.live_clients import MemberPlan

TOPICS = {"orders": 6, "payments": 4, "audit": 2}
RECORDS = {"orders": 500, "payments": 120, "audit": 50}
MEMBERS = {"orders-app": 2, "payments-app": 3}
READS = {"orders-app": "orders", "payments-app": "payments"}
PROTOCOLS = {"orders-app": "classic", "payments-app": "consumer"}
LEFT_BEHIND = "audit-nightly"

_PATIENCE_S = 60.0
_LOOK_S = 0.05


@contextmanager
def demo_cluster(tell: Callable[[str], None] = lambda _: None) -> Iterator[Sandbox]:
    """The embedded cluster, once every group of it has settled; members leave at the end.

    Two groups with live members that lag: `orders-app` (classic, 2 members) and `payments-app`
    (KIP-848, 3 members); and `audit-nightly`, which nobody runs, and which has lost records.

    Args:
        tell: called with what is being done.
    Raises:
        ClusterError: the clients did not get on with the cluster.
    """
    from kgroups.core.kafka.librdkafka.live_clients import (  # librdkafka is slow to load
        live_members,
        produce,
    )

    tell("starting an embedded cluster of 3 brokers")
    with Sandbox(brokers=3, topics=TOPICS) as sandbox:
        bootstrap = sandbox.bootstrap_servers
        tell(f"writing records to {', '.join(TOPICS)}")
        produce(bootstrap, record_counts(), timeout_s=_PATIENCE_S)
        tell("letting real clients join the groups")
        with (
            live_members(bootstrap, _members(), half_read),
            ClusterAdmin(ClientSettings(bootstrap)) as admin,
        ):
            _leave_behind(admin)
            _wait_settled(admin)
            yield sandbox


def record_counts() -> Mapping[TopicPartition, int]:
    """How many records each partition gets: later partitions more."""
    return {
        (topic, number): RECORDS[topic] * (number + 1)
        for topic, count in TOPICS.items()
        for number in range(count)
    }


def half_read(at: TopicPartition) -> int:
    """Where a member stands in a partition: behind, and more so in later ones."""
    return record_counts()[at] * 10 // (11 + at[1])


def _members() -> list["MemberPlan"]:
    from kgroups.core.kafka.librdkafka.live_clients import MemberPlan

    return [
        MemberPlan(group, f"{READS[group]}-{number}", (READS[group],), PROTOCOLS[group])
        for group, count in MEMBERS.items()
        for number in range(1, count + 1)
    ]


def _leave_behind(admin: ClusterAdmin) -> None:
    """A group without members whose next records have expired."""
    commits = {("audit", 0): CommittedOffset(10), ("audit", 1): CommittedOffset(100)}
    for error in write_commits(admin, {LEFT_BEHIND: commits}).values():
        if error is not None:
            raise ClusterError(error.message)
    for (topic, number), start in delete_records(admin, {("audit", 0): 30}).items():
        if isinstance(start, str):
            raise ClusterError(f"records of `{topic}-{number}` could not be deleted: {start}")


def _wait_settled(admin: ClusterAdmin) -> None:
    """Return once each group is Stable, with every partition owned and committed."""
    deadline = time.monotonic() + _PATIENCE_S
    while not all(_is_settled(admin, group) for group in MEMBERS):
        if time.monotonic() > deadline:
            raise ClusterError(
                f"the demo's members did not settle within {_PATIENCE_S:.0f} s",
                hint="the machine may be busy; try again",
            )
        time.sleep(_LOOK_S)


def _is_settled(admin: ClusterAdmin, name: str) -> bool:
    group = admin.snapshot([name], log_offsets=False).group(name)
    if group is None or group.state != "Stable" or len(group.members or ()) != MEMBERS[name]:
        return False
    partitions = set(range(TOPICS[READS[name]]))
    shares = [(member.assignment or {}).get(READS[name], ()) for member in group.members or ()]
    owned = {number for share in shares for number in share}
    return all(shares) and owned == partitions == set((group.offsets or {}).get(READS[name], ()))


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
    spark: Annotated[bool, option("--spark", "Include the lag report (needs Java 17).")] = False,
    keep: Annotated[
        bool, option("--keep", "Keep cluster and members running until Ctrl-C.")
    ] = False,
) -> None:
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
            SCHEMA,
            items(),
            (plain_view("step", COLUMNS, _rows),),
            cluster={"id": cluster_id, "bootstrap": bootstrap},
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


def _rows(item: Item) -> list[Item]:
    return [{**item, "command": shlex.join(item["command"])}]
