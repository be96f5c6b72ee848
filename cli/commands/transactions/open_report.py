"""Open transactions as a report, and the partitions that a line asks about."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, NamedTuple

from kgroups.cli.commands.writes.lookups import resolved
from kgroups.cli.exits import Note, now_ms
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Item, each_of, plain_view, with_coordinator
from kgroups.cli.usage import Text, Texts, argument, option
from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.errors import ItemError, MixedFailures, UsageError, counted
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.open_transactions import open_transactions
from kgroups.core.kafka.lookups.pending_offsets import pending_offsets
from kgroups.core.lag.uncommitted import ranges_text
from kgroups.core.offsets.reset import committed_partitions
from kgroups.core.offsets.scope import Scope, parse_scope
from kgroups.core.open_transactions import HeldPartition, OpenTransaction, Transactions
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition
from kgroups.core.times import timestamp

SCHEMA = "kgroups.transactions.list/1"
COLUMNS: Final = (
    Column("transactional_id", "TRANSACTIONAL-ID", shared=True),
    Column("producer_id", "PRODUCER", right=True, shared=True),
    Column("producer_epoch", "EPOCH", right=True, verbose=True),
    Column("coordinator_id", "COORDINATOR", right=True, verbose=True),
    Column("state", "STATE"),
    Column("started_at", "STARTED", verbose=True),
    Column("age_seconds", "AGE-SECONDS", right=True, decimals=0),
    Column("timeout_seconds", "TIMEOUT-SECONDS", right=True, verbose=True),
    Column("topic", "TOPIC"),
    Column("partition", "PARTITION", right=True),
    Column("first_offset", "FIRST", right=True),
    Column("log_end_offset", "LOG-END", right=True),
    Column("records_held", "HELD", right=True),
)

OfGroup = Annotated[Text, argument("[GROUP]", "A group: its partitions and its commits.")]
OfTopics = Annotated[Texts, option("--topic TOPIC", "A topic, or partitions: orders:0,3-5.")]


class Found(NamedTuple):
    """Transactions that are open where the line asks.

    Args:
        transactions: the oldest first, with what could not be asked.
        pending: partitions whose commits of the group wait.
        looked: the cluster; None where a topic was asked about.
    """

    transactions: Transactions
    pending: frozenset[TopicPartition]
    looked: ClusterSnapshot


def scope_of(group: str | None, topic: Sequence[str] | None) -> Scope:
    """The topics that the line names; empty where it names a group.

    Raises:
        UsageError: neither a group nor a topic is named, or both.
    """
    scope = parse_scope(topic or ())
    if (group is None) != bool(scope.names):
        raise UsageError(
            "expected either a group or --topic",
            hint="`kgroups transactions GROUP`, or --topic TOPIC",
        )
    return scope


def find_open(admin: ClusterAdmin, group: str | None, scope: Scope) -> Found:
    """The open transactions of the partitions that the line names.

    Raises:
        NotFoundError: one of them, or the group, does not exist.
        MixedFailures: the brokers are too old.
        ClusterError: they cannot be asked.
    """
    looked = admin.snapshot([] if group is None else [group], log_offsets=False)
    pending: frozenset[TopicPartition] | str = frozenset()
    if group is None:
        listing = admin.topics(sorted(scope.names))
        for name, code in listing.failures.items():
            raise broker_error(name, code).as_error()
        partitions = resolved(scope, listing.topics)
    else:
        partitions = read_by(looked.needed(group))
        pending = pending_offsets(admin, {group: partitions})[group]
        number = looked.needed(group).offsets_partition
        partitions += [] if number is None else [(OFFSETS_TOPIC, number)]
    transactions = open_transactions(admin, partitions)
    codes = set(transactions.failures.values())
    if codes == {"UNSUPPORTED_VERSION"}:
        raise MixedFailures(
            "the brokers are too old to tell open transactions: Kafka 2.8 or newer does",
            code="UNSUPPORTED_VERSION",
        )
    return Found(transactions, frozenset() if isinstance(pending, str) else pending, looked)


def read_by(group: Group) -> list[TopicPartition]:
    """Partitions that a group has committed or that its members are assigned."""
    owned = (member.assigned_partitions for member in group.members or ())
    return sorted({*committed_partitions(group)}.union(*owned))


def errors_of(transactions: Transactions) -> list[ItemError]:
    """The partitions that could not be asked, with the right that is missing."""
    return [
        broker_error(
            f"{topic}-{number}",
            code,
            "not authorized: open transactions require READ on the topic"
            if code == "TOPIC_AUTHORIZATION_FAILED"
            else None,
        )
        for (topic, number), code in sorted(transactions.failures.items())
    ]


def notes_of(looked_up: Found, group: str | None) -> Iterator[Note]:
    """Notes on them."""
    transactions = looked_up.transactions
    if looked_up.pending:
        where = ranges_text(sorted(looked_up.pending))
        text = f"commits of `{group}` wait for the end of a transaction, and members there: {where}"
        yield Note("OFFSETS_PENDING", text, group)
    unknown = sum(not transaction.is_known for transaction in transactions.open)
    if transactions.unlisted:
        brokers = ", ".join(f"broker {number}" for number in sorted(transactions.unlisted))
        text = f"{brokers} did not tell transactional ids (Kafka 3.0 or newer does)"
        yield Note("TRANSACTIONS_UNTOLD", text)
    elif unknown:
        what = counted(unknown, "transaction")
        text = (
            f"no coordinator tells of {what}: hanging, or DESCRIBE on transactional ids is missing"
        )
        yield Note("HANGING_TRANSACTIONS", text)
    if not transactions.open and not transactions.failures:
        yield Note("NO_TRANSACTIONS", "no transaction is open")


def report_of(looked_up: Found, group: str | None) -> Report:
    """The report of what is open."""
    at_ms = now_ms()
    items = [item_of(t, at_ms, looked_up.looked) for t in looked_up.transactions.open]
    return Report.of(
        looked_up.looked,
        SCHEMA,
        items,
        (
            plain_view(
                "partition", COLUMNS, lambda item: each_of("partitions")(with_coordinator(item))
            ),
        ),
        generated_at_ms=at_ms,
        errors=errors_of(looked_up.transactions),
        summary=lambda: {
            "transactions": len(items),
            "partitions": sum(len(item["partitions"]) for item in items),
        },
        notes=tuple(notes_of(looked_up, group)),
    )


def age_seconds(transaction: OpenTransaction, at_ms: int) -> float | None:
    """Seconds since it began; None if that is not known."""
    since = transaction.started_at_ms
    return None if since is None else max(0, at_ms - since) / 1000


def item_of(transaction: OpenTransaction, at_ms: int, looked: ClusterSnapshot) -> Item:
    """A transaction as an item of the document."""
    places = [broker for broker in looked.brokers if broker.id == transaction.coordinator]
    started, timeout = transaction.started_at_ms, transaction.timeout_ms
    return {
        "transactional_id": transaction.transactional_id,
        "producer_id": transaction.producer_id,
        "producer_epoch": transaction.producer_epoch,
        "coordinator": {"id": places[0].id, "host": places[0].host, "port": places[0].port}
        if places
        else None,
        "state": transaction.state,
        "started_at": None if started is None else timestamp(started),
        "age_seconds": age_seconds(transaction, at_ms),
        "timeout_seconds": None if timeout is None else timeout / 1000,
        "records_held": transaction.records_held,
        "partitions": [_partition_item(partition) for partition in transaction.partitions],
    }


def _partition_item(held: HeldPartition) -> dict[str, Any]:
    last = held.last_written_ms
    return {
        "topic": held.topic,
        "partition": held.partition,
        "first_offset": held.first_offset,
        "log_end_offset": held.log_end_offset,
        "records_held": held.records_held,
        "last_written_at": None if last is None else timestamp(last),
    }
