"""`kgroups ping`: a staged test of the way to a cluster."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import typer

from kgroups.cli.exits import Note, end_with
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, plain_view
from kgroups.cli.params import options_of
from kgroups.cli.source import settings_for
from kgroups.core.errors import ClusterError, ItemError
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.probing.probe import probe
from kgroups.core.kafka.probing.step import Step
from kgroups.core.times import in_seconds

SCHEMA = "kgroups.ping/1"

HELP = """Test the connection to a cluster, step by step.

Shows each step as it is taken, and stops at the first that fails (exit code
3), with what to do about it. A warning is something that does not work and is
not needed for most commands. Nothing is changed.

STEPS
  name resolution  the addresses of every bootstrap server
  TCP              somebody listens there
  TLS              chain, host name, days until the certificate expires
  token, ticket    what OAUTHBEARER and GSSAPI log in with
  login            SASL
  API versions     which requests the broker supports
  brokers          every broker is reachable where it advertises itself
  groups           can be listed and described
  topics           how many are visible
  read             __consumer_offsets, for `lag history`
  clock            difference to the controller's clock (Kafka 3.3 and newer)

EXAMPLES
  kgroups ping -b localhost:9092
  kgroups ping -c prod -o json
"""

STATUSES = ("ok", "warning", "failed", "skipped")
COLUMNS = (
    Column("step", "STEP"),
    Column("status", "STATUS"),
    Column("target", "TARGET"),
    Column("took_seconds", "SECONDS", right=True),
    Column("detail", "DETAIL"),
    Column("hint"),
    Column("code"),
    Column("days_left"),
    Column("clock_ahead_seconds"),
)


def ping(ctx: typer.Context) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    settings = settings_for(options)
    steps: list[Step] = []
    for step in probe(settings, Deadline.after(options.timeout_ms)):
        steps.append(step)
        printer.progress(f"{step.step}: {step.status}")
    errors = [_error(step) for step in steps if step.status == "failed"]
    notes = [
        Note("PING_WARNING", f"{step.step}: {step.remedy}", step.step)
        for step in steps
        if step.status == "warning" and step.remedy is not None
    ]
    report = ping_report(settings.bootstrap_servers, steps, errors)
    printer.show(replace(report, notes=notes))
    end_with(errors)


def ping_report(bootstrap: str, steps: Sequence[Step], errors: Sequence[ItemError]) -> Report:
    """The steps as a `kgroups.ping/1` report."""
    statuses: list[str] = [step.status for step in steps]
    cluster_id = next((step.cluster_id for step in steps if step.cluster_id is not None), None)
    return Report(
        SCHEMA,
        [step_item(step) for step in steps],
        (plain_view("step", COLUMNS),),
        cluster={"id": cluster_id, "bootstrap": bootstrap},
        errors=errors,
        summary=lambda: {status: statuses.count(status) for status in STATUSES},
    )


def step_item(step: Step) -> Item:
    """A step as an item of `kgroups.ping/1`."""
    item: Item = in_seconds(asdict(step)) | {"hint": step.remedy}
    return {column.field: item[column.field] for column in COLUMNS}


def _error(step: Step) -> ItemError:
    code = step.code or ClusterError.default_code
    return ItemError(step.step, code, step.detail, step.remedy, ClusterError.exit_code)
