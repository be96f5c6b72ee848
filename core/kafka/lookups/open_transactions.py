"""Open transactions of partitions: who holds the last stable offset back, since when, and how much.

The leader of a partition knows its producers (DescribeProducers); the coordinators of transactions
know which transactional ids are theirs (ListTransactions) and what each transaction is about
(DescribeTransactions). One that is open in a partition and that no coordinator knows of hangs: it
will not end by itself. Source: KIP-664; Kafka's TransactionsCommand.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure, only
from kgroups.core.kafka.reads.by_leader import ask_leaders, list_offsets
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.messages import decode_passing
from kgroups.core.open_transactions import HeldPartition, OpenTransaction, Transactions
from kgroups.core.protocol.batches import CorruptBatch, read_batch_header
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import TopicPartition

_DATED: Final = 50
"""So many transactions, at most, are dated by their first records: a batch each is fetched."""


class _Producer(NamedTuple):
    """A producer with an open transaction in a partition."""

    id: int
    held: HeldPartition


def open_transactions(admin: ClusterAdmin, partitions: Collection[TopicPartition]) -> Transactions:
    """The transactions that are open in these partitions; of `__consumer_offsets`, too.

    Takes READ on each topic, and DESCRIBE on transactional ids, which brokers leave out silently.
    Brokers before 2.8 do not tell producers, brokers before 3.0 no transactions.
    """
    wanted = dict.fromkeys(partitions, 0)

    async def ask(cluster: Cluster, deadline: Deadline) -> Transactions:
        producers, failures = await _producers(cluster, wanted, deadline)
        if not producers:
            return Transactions(failures=failures)
        rows, unlisted = await _told(cluster, {p.id for p in producers}, deadline)
        opened = _joined(producers, rows)
        doubtful = {held.at: 0 for t in opened if not t.is_known for held in t.partitions}
        if doubtful:  # the coordinator may have ended it since: then it is not there any more
            again, _ = await _producers(cluster, doubtful, deadline)
            still = {(p.id, p.held.at, p.held.first_offset) for p in again}
            opened = [kept for t in opened if (kept := _still_open(t, still)) is not None]
        dated = await _dated(cluster, opened, deadline)
        ordered = sorted(dated, key=lambda t: (t.started_at_ms or 0, t.producer_id))
        return Transactions(tuple(ordered), failures, unlisted)

    return admin.over_wire(ask) if wanted else Transactions()


async def _producers(
    cluster: Cluster, partitions: Mapping[TopicPartition, int], deadline: Deadline
) -> tuple[list[_Producer], dict[TopicPartition, str]]:
    """Who has a transaction open in these partitions, and which of them could not be asked."""
    answers = await ask_leaders(
        cluster,
        partitions,
        deadline,
        lambda leader, wanted, limit: _producers_on(cluster, leader, wanted, limit),
    )
    failures = {at: answer for at, answer in answers.items() if isinstance(answer, str)}
    return [
        p for answer in answers.values() if not isinstance(answer, str) for p in answer
    ], failures


async def _producers_on(
    cluster: Cluster, leader: int, wanted: Mapping[TopicPartition, int], limit: float
) -> dict[TopicPartition, list[_Producer] | str]:
    """The answers of one leader, with the ends of its logs."""
    latest = dict.fromkeys(wanted, requests.LATEST)
    (_, answer), ends = await asyncio.gather(
        cluster.ask(leader, Api.DESCRIBE_PRODUCERS, requests.describe_producers(wanted), limit),
        list_offsets(cluster, leader, latest, limit, lambda row: int(row.offset)),
    )
    end_of = {at: end for at, end in ends.items() if isinstance(end, int)}
    return {
        (topic.name, row.partition_index): error_name(row.error_code)
        or [
            _Producer(
                producer.producer_id,
                HeldPartition(
                    topic.name,
                    row.partition_index,
                    producer.current_txn_start_offset,
                    end_of.get((topic.name, row.partition_index)),
                    producer.producer_epoch,
                    producer.coordinator_epoch,
                    producer.last_timestamp if producer.last_timestamp >= 0 else None,
                ),
            )
            for producer in row.active_producers
            if producer.current_txn_start_offset >= 0
        ]
        for topic in answer.topics
        for row in topic.partitions
    }


class _Told(NamedTuple):
    """A coordinator's description of one transactional id."""

    coordinator: int
    description: Any


async def _told(
    cluster: Cluster, producer_ids: Collection[int], deadline: Deadline
) -> tuple[dict[int, _Told], dict[int, str]]:
    """Transactions of coordinators by producer id; Kafka's error name by silent broker."""

    async def one(broker: int, limit: float) -> dict[int, _Told]:
        body = requests.list_transactions(sorted(producer_ids))
        _, listed = await cluster.ask(broker, Api.LIST_TRANSACTIONS, body, limit)
        problem = error_name(listed.error_code)
        if problem is not None:
            raise BrokerFailure(problem)
        names = [row.transactional_id for row in listed.transaction_states]
        if not names:
            return {}
        body = requests.describe_transactions(names)
        _, described = await cluster.ask(broker, Api.DESCRIBE_TRANSACTIONS, body, limit)
        return {
            row.producer_id: _Told(broker, row)
            for row in described.transaction_states
            if row.error_code == 0
        }

    results, failures = await cluster.each_broker(one, deadline)
    descriptions = {producer: row for rows in results.values() for producer, row in rows.items()}
    return descriptions, {broker: failure.code for broker, failure in failures.items()}


def _joined(producers: Sequence[_Producer], rows: Mapping[int, _Told]) -> list[OpenTransaction]:
    """The transactions; partitions that a producer's coordinator does not name are one apart."""
    grouped: dict[tuple[int, bool], list[HeldPartition]] = {}
    for p in producers:
        row = rows.get(p.id)
        named = row is not None and any(
            topic.topic == p.held.topic and p.held.partition in topic.partitions
            for topic in row.description.topics
        )
        grouped.setdefault((p.id, named), []).append(p.held)
    return [
        _transaction(producer, sorted(held), rows.get(producer), is_known=named)
        for (producer, named), held in grouped.items()
    ]


def _transaction(
    producer: int, held: Sequence[HeldPartition], row: _Told | None, *, is_known: bool
) -> OpenTransaction:
    epoch = max(partition.producer_epoch for partition in held)
    bare = OpenTransaction(producer, tuple(held), epoch)
    if row is None:
        return bare
    about = row.description
    bare = replace(bare, transactional_id=about.transactional_id, coordinator=row.coordinator)
    if not is_known:
        return bare
    return replace(
        bare,
        producer_epoch=about.producer_epoch,
        state=about.transaction_state,
        started_at_ms=None
        if about.transaction_start_time_ms < 0
        else about.transaction_start_time_ms,
        timeout_ms=about.transaction_timeout_ms,
    )


def _still_open(
    transaction: OpenTransaction, still: Collection[tuple[int, TopicPartition, int]]
) -> OpenTransaction | None:
    """A transaction that no coordinator knows, without the partitions where it has ended since."""
    if transaction.is_known:
        return transaction
    kept = tuple(
        held
        for held in transaction.partitions
        if (transaction.producer_id, held.at, held.first_offset) in still
    )
    return replace(transaction, partitions=kept) if kept else None


async def _dated(
    cluster: Cluster, transactions: Sequence[OpenTransaction], deadline: Deadline
) -> list[OpenTransaction]:
    """The transactions with the times of their first records where no coordinator dates them."""
    undated = [t for t in transactions if t.started_at_ms is None][:_DATED]
    firsts = {at: first for t in undated for at, first in [_first_of(t)]}
    times = (
        await ask_leaders(
            cluster,
            firsts,
            deadline,
            lambda leader, wanted, limit: _times_on(cluster, leader, wanted, limit),
        )
        if firsts
        else {}
    )
    dated = []
    for each in transactions:
        time_ms = times.get(_first_of(each)[0]) if each in undated else None
        dated.append(replace(each, started_at_ms=time_ms) if isinstance(time_ms, int) else each)
    return dated


def _first_of(transaction: OpenTransaction) -> tuple[TopicPartition, int]:
    """Where a transaction is looked at for its first record."""
    held = transaction.partitions[0]
    return held.at, held.first_offset


async def _times_on(
    cluster: Cluster, leader: int, wanted: Mapping[TopicPartition, int], limit: float
) -> dict[TopicPartition, int | str]:
    """The times of the batches at these offsets, epoch ms; a batch of each is fetched."""

    async def one(at: TopicPartition, offset: int) -> int | str:
        body = requests.fetch({at: offset}, 1)
        try:
            _, answer = await cluster.ask(leader, Api.FETCH, body, limit, decode_passing)
            part = only(only(answer.responses).partitions)
            header = read_batch_header(bytes(part.records or b""))
        except (BrokerFailure, CorruptBatch):
            return "CORRUPT_MESSAGE"
        return header.base_timestamp_ms

    answers = await asyncio.gather(*(one(at, offset) for at, offset in wanted.items()))
    return dict(zip(wanted, answers, strict=True))
