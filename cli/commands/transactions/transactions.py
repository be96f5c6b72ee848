"""`kgroups transactions`: open transactions that hold a group or a topic back, and their end."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer

from kgroups.cli.commands.transactions.open_report import (
    OfGroup,
    OfTopics,
    age_seconds,
    errors_of,
    find_open,
    report_of,
    scope_of,
)
from kgroups.cli.commands.writes.batches import Answers, Units, in_batches, look_again
from kgroups.cli.commands.writes.prompts import Consent, DryRun, Execute
from kgroups.cli.commands.writes.writing import Run, Write, carry_out
from kgroups.cli.exits import end_with, now_ms
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Row
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster, cluster_to_change
from kgroups.cli.tree import Noun, WriteCommand
from kgroups.cli.usage import Text, option
from kgroups.core.errors import ItemError, NotFoundError, UsageError, counted
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.lookups.open_transactions import open_transactions
from kgroups.core.kafka.writes.transaction_aborts import (
    Abort,
    abort_transaction,
    is_open,
    plan_abort,
    verify_abort,
)
from kgroups.core.lag.uncommitted import ranges_text
from kgroups.core.open_transactions import OpenTransaction

HELP = """Show open transactions that hold a group back, or abort one.

`kgroups transactions GROUP` is short for `kgroups transactions list GROUP`.
"""
LIST_HELP = """List the open transactions of a group's partitions, or of a topic.

While a transaction is open, consumers with isolation.level=read_committed
get no record from its first one on (HELD counts them), and a group whose
commits are in it cannot start there: GROUP covers its own partition of
__consumer_offsets too. A row per partition, the oldest transaction first.

STATE is what the transaction's coordinator says. Without one (null or -) no
coordinator knows the transaction: it hangs and never ends by itself, unless
you lack DESCRIBE on its transactional id. Requires READ on the topics, and
Kafka 2.8 or newer.

EXAMPLES
  kgroups transactions billing
  kgroups transactions --topic orders:0,3-5
  kgroups transactions billing -o json --query 'items[?state==null]'
"""
ABORT_HELP = """Abort one open transaction. Its records are dropped.

If a coordinator knows the transaction, it aborts it and fences the producer;
that requires WRITE on the transactional id. Otherwise an abort marker is
written to each partition; that requires ALTER or CLUSTER_ACTION on the
cluster. No other transaction is touched. Refused while the transaction may
end by itself: before its timeout, or, if no coordinator knows it, within 15
minutes of its last write. --force aborts it anyway. If several are open,
--producer-id or --transactional-id says which. Asks for confirmation unless
--yes (or --execute) is given. Reads the partitions again afterwards.

RESULTS
  planned  would be aborted (--dry-run)
  done     is not open any more
  refused  may end by itself                         exit code 4
  failed   the broker did not do it
  skipped  you declined
  unknown  no answer within --timeout, so it may or may not be done (3)

EXAMPLES
  kgroups transactions abort billing --dry-run
  kgroups transactions abort billing --producer-id 4012 --reason INC-7
  kgroups transactions abort --topic orders:3 --transactional-id payments-1
"""
COLUMNS = (
    Column("transactional_id", "TRANSACTIONAL-ID"),
    Column("producer_id", "PRODUCER", right=True),
    Column("state", "STATE"),
    Column("age_seconds", "AGE-SECONDS", right=True, decimals=0),
    Column("partition_count", "PARTITIONS", right=True),
    Column("records_held", "HELD", right=True),
    Column("action"),
)


class Transactions(Noun):
    """The noun, whose first word may be a group: then it is listed."""

    ignore_unknown_options = True

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command; `list` where none is named."""
        is_named = bool(args) and args[0] in self.commands
        return super().resolve_command(ctx, args if is_named else ["list", *args])


def list_open(ctx: typer.Context, group: OfGroup = None, topic: OfTopics = None) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    scope = scope_of(group, topic)
    with cluster(options) as admin:
        report = report_of(find_open(admin, group, scope), group)
    printer.show(report)
    end_with(report.errors)


def abort(
    ctx: typer.Context,
    group: OfGroup = None,
    topic: OfTopics = None,
    producer_id: Annotated[
        int | None, option("--producer-id ID", "The one of this producer.")
    ] = None,
    transactional_id: Annotated[
        Text, option("--transactional-id ID", "The one of this id.")
    ] = None,
    force: Annotated[bool, option("--force", "Abort it although it may end by itself.")] = False,
    dry_run: DryRun = False,
    yes: Execute = False,
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    scope = scope_of(group, topic)
    with cluster_to_change(options, dry_run=dry_run) as admin:
        looked_up = find_open(admin, group, scope)
        wanted = _wanted(looked_up.transactions.open, producer_id, transactional_id)
        is_told = not looked_up.transactions.unlisted
        at_ms = now_ms()
        aborts = [plan_abort(t, at_ms, is_forced=force, is_told=is_told) for t in wanted]
        run = Run(printer, admin, Consent(yes=yes, dry_run=dry_run), looked_up.looked.cluster_id)
        carry_out(run, _write(at_ms), aborts, errors_of(looked_up.transactions))


def _wanted(
    transactions: Sequence[OpenTransaction], producer_id: int | None, transactional_id: str | None
) -> list[OpenTransaction]:
    """The one transaction that is meant; none where none is named and none is open.

    Raises:
        NotFoundError: the one that is named is not open.
        UsageError: several are meant.
    """
    fitting = [
        transaction
        for transaction in transactions
        if producer_id in (None, transaction.producer_id)
        and transactional_id in (None, transaction.transactional_id)
    ]
    if not fitting and (producer_id, transactional_id) != (None, None):
        raise NotFoundError(
            "no such transaction is open there",
            hint="`kgroups transactions list` shows those that are",
            code="TRANSACTION_NOT_FOUND",
        )
    if len(fitting) > 1:
        ids = ", ".join(f"--producer-id {transaction.producer_id}" for transaction in fitting[:5])
        raise UsageError(f"{len(fitting)} transactions are open there", hint=f"for example {ids}")
    return fitting


def _write(at_ms: int) -> Write[Abort]:
    def row(planned: Abort) -> Row:
        about = planned.transaction
        return (
            about.transactional_id,
            about.producer_id,
            about.state,
            age_seconds(about, at_ms),
            len(about.partitions),
            about.records_held,
            "transactions.abort",
        )

    return Write(
        command="transactions.abort",
        verb="abort",
        item="transaction",
        written="transactions are aborted",
        columns=COLUMNS,
        row=row,
        question=_question,
        apply=_apply,
    )


def _question(planned: Sequence[Abort]) -> str:
    """`Abort the transaction of producer 7 in 2 partitions (orders:0-1)? Its records …`"""
    about = planned[0].transaction
    places = [partition.at for partition in about.partitions]
    what = f"{counted(len(places), 'partition')} ({ranges_text(places)})"
    fenced = " and its producer is fenced" if about.state == "Ongoing" else ""
    return f"Abort the transaction of `{about.name}` in {what}? Its records are dropped{fenced}."


def _apply(run: Run, aborts: Sequence[Abort]) -> list[Abort]:
    (transaction,) = [request.transaction for request in aborts]
    places = [partition.at for partition in transaction.partitions]

    def send(_parts: Units[Abort], _until: Deadline) -> Answers:
        error: ItemError | None
        if is_open(transaction, open_transactions(run.admin, places)):
            error = abort_transaction(run.admin, transaction)
        else:
            text = "it has ended since the plan was made"
            error = ItemError(transaction.name, "TRANSACTION_NOT_FOUND", text, None, 5)
        return {transaction.producer_id: error}

    answered = in_batches(run, aborts, send, "aborting", "transactions", lambda a: a.target)

    def look() -> list[Abort]:
        looked = open_transactions(run.admin, places)
        return [verify_abort(request, looked) for request in answered]

    return look_again(run, answered, look)


NOUN: Final = Transactions
COMMANDS: Final = {"list": (LIST_HELP, list_open), "abort": (ABORT_HELP, abort, WriteCommand)}
