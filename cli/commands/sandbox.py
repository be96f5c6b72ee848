"""`kgroups sandbox up`: an embedded cluster for clients to join."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kgroups.cli.output.envelope import Report
from kgroups.cli.output.escapes import printable
from kgroups.cli.output.printer import Printer, write_text
from kgroups.cli.output.table import Column, plain_view
from kgroups.cli.params import options_of
from kgroups.cli.signals import stop_on_signals
from kgroups.cli.usage import Text, Texts, option
from kgroups.core.errors import UsageError

if TYPE_CHECKING:
    from kgroups.core.sandbox.coordination.event_log import LogLine
    from kgroups.core.sandbox.sandbox import Sandbox

SCHEMA = "kgroups.sandbox/1"
DEFAULT_PORT = 9092

UP_HELP = """Run an embedded Kafka cluster until Ctrl-C.

Listens on loopback, needs no Java, and serves any Kafka client: produce,
consume, join groups, commit, administer. Prints the bootstrap address on
stdout (with --output json, the brokers) and events on stderr. Ctrl-C or
SIGTERM stops it cleanly with exit code 0; a second Ctrl-C kills it.

Records are kept in memory, and in --data-dir if given: then a restart loses
no record and no committed offset. There is no initial rebalance delay unless
you set one: --property group.initial.rebalance.delay.ms=3000
Share groups and streams groups are not served.

LIMITS (--property, with their defaults)
  socket.request.max.bytes=33554432   longest request
  queued.max.request.bytes=134217728  unanswered requests, all clients
  max.connections=8192                open at once
  connections.max.idle.ms=600000      idle connections are closed after this
  A request must be complete within 30 s of its first byte.

FAULTS (a YAML file for --faults)
  faults:
    - {api: OffsetCommit, group: billing, error: NOT_COORDINATOR, times: 3}
    - {api: Fetch, client: slow-1, delay: 500ms, times: always}
    - {api: JoinGroup, drop: true}
    - {at: 5s, broker_down: 2}
    - {at: 9s, broker_up: 2}
    - {at: 3s, move_coordinator: billing}
    - {at: 4s, expire_member: billing-1, group: billing}
    - {api: Produce, topic: orders, error: NOT_LEADER_OR_FOLLOWER}
    - {at: 6s, advance_clock: 7d}
    - {at: 1s, freeze_clock: true}

EXAMPLES
  kgroups sandbox up --topic orders=12
  kgroups sandbox up --brokers 3 --topic orders=12 --topic audit --port 9092
  kgroups sandbox up --as-version 2.8 --port 0 --output json
  kgroups sandbox up --from snapshot.yaml --data-dir /tmp/kafka
"""

COLUMNS = (
    Column("id", "BROKER", right=True),
    Column("host", "HOST"),
    Column("port", "PORT", right=True),
)

HELP = """Run an embedded Kafka cluster."""


def up(
    ctx: typer.Context,
    brokers: Annotated[int, option("--brokers N", "Number of brokers.")] = 1,
    topic: Annotated[Texts, option("--topic NAME[=N]", "Create a topic with N partitions.")] = None,
    port: Annotated[
        int, option("--port PORT", "Port of the first broker, others follow; 0: any.")
    ] = DEFAULT_PORT,
    host: Annotated[str, option("--host ADDRESS", "Address to listen on.")] = "127.0.0.1",
    data_dir: Annotated[
        Path | None, option("--data-dir DIR", "Persist topics, records and offsets here.")
    ] = None,
    from_file: Annotated[
        Path | None, option("--from FILE", "Start with a snapshot's topics and groups.")
    ] = None,
    as_version: Annotated[
        Text, option("--as-version X.Y", "Act as this Kafka, 2.4 to 4.4 (default: 4.4).")
    ] = None,
    faults: Annotated[Path | None, option("--faults FILE", "Inject faults by these rules.")] = None,
    auto_create: Annotated[
        bool, option("--auto-create-topics", "Create topics that clients ask for.")
    ] = False,
    properties: Annotated[
        Texts, option("--property KEY=VALUE", "Broker property for groups or limits.")
    ] = None,
) -> None:
    from kgroups.core.sandbox.options import parse_topic_options
    from kgroups.core.sandbox.sandbox import Sandbox

    options = options_of(ctx)
    printer = Printer(options)
    sandbox = Sandbox(
        brokers=brokers,
        topics=parse_topic_options(topic or []),
        port=port,
        host=host,
        data_dir=data_dir,
        snapshot=from_file,
        as_version=as_version,
        faults=faults,
        auto_create_topics=auto_create,
        properties=_pairs(properties or []),
        listener=None if options.quiet else _tell,
    )
    wait = stop_on_signals()
    with sandbox:
        _announce(sandbox, printer)
        wait()


def _announce(sandbox: "Sandbox", printer: Printer) -> None:
    """Say on stdout where the cluster is."""
    bootstrap = sandbox.bootstrap_servers
    if printer.options.output == "table":
        write_text(f"{bootstrap}\n")
        return
    items = [{"id": b.id, "host": b.host, "port": b.port} for b in sandbox.brokers]
    printer.show(
        Report(
            SCHEMA,
            items,
            (plain_view("broker", COLUMNS),),
            cluster={"id": sandbox.cluster_id, "bootstrap": bootstrap},
            summary=lambda: {"brokers": len(items)},
        )
    )


def _tell(line: "LogLine") -> None:
    """Write an event to stderr."""
    sys.stderr.write(printable(str(line)) + "\n")


def _pairs(texts: list[str]) -> Mapping[str, str]:
    pairs = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise UsageError(f"`{text}` is not KEY=VALUE")
        pairs[name] = value
    return pairs


COMMANDS: Final = {"up": (UP_HELP, up)}
