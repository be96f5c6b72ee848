"""The end of one open transaction: by its coordinator, or by a marker in each of its partitions.

A coordinator that knows the transaction aborts it when its producer is fenced (InitProducerId, as
`Admin.fenceProducers` sends it). One that no coordinator knows takes WriteTxnMarkers, as Kafka's
`kafka-transactions.sh abort` sends them (KIP-664).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from kgroups.core.errors import ItemError, RefusedError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.doubts import WRITING, Doubts, Failure
from kgroups.core.kafka.failures import BrokerFailure, item_error
from kgroups.core.kafka.reads.by_leader import ask_leaders
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.offsets.result import Result, result_of, seen
from kgroups.core.open_transactions import HeldPartition, OpenTransaction, Transactions
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct
from kgroups.core.snapshot import TopicPartition
from kgroups.core.times import show_ms

LONGEST_MS: Final = 900_000
"""How long a transaction may take that no coordinator shows: what `transaction.max.timeout.ms`
is by default, and what `kafka-transactions.sh find-hanging` assumes."""

_RIGHTS: Final = {
    "CLUSTER_AUTHORIZATION_FAILED": "requires ALTER or CLUSTER_ACTION on the cluster",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": "requires WRITE on the transactional id",
}


class Abort(NamedTuple):
    """A transaction that is to be aborted, and what became of it."""

    transaction: OpenTransaction
    note: str | None = None
    result: Result = "planned"
    error: ItemError | None = None

    @property
    def key(self) -> int:
        """The producer's id."""
        return self.transaction.producer_id

    @property
    def target(self) -> str:
        """Its name in messages."""
        return self.transaction.name

    def failed(self, error: ItemError) -> "Abort":
        """The same abort that came to nothing, or of which it is not known."""
        return self._replace(result=result_of(error), error=error)


def plan_abort(
    transaction: OpenTransaction, now_ms: int, *, is_forced: bool, is_told: bool
) -> Abort:
    """The abort; refused while the transaction may end by itself, unless it is forced.

    Args:
        now_ms: epoch ms.
        is_told: whether every coordinator told its transactions.
    """
    abort = Abort(transaction)
    why = None if is_forced else _life_in(transaction, now_ms, is_told=is_told)
    if why is None:
        return abort
    code = RefusedError.exit_code
    hint = "wait, or use --force"
    return abort.failed(ItemError(abort.target, "TRANSACTION_MAY_END", why, hint, code))


def _life_in(transaction: OpenTransaction, now_ms: int, *, is_told: bool) -> str | None:
    """Why it may end by itself; None if it will not."""
    state, timeout_ms = transaction.state, transaction.timeout_ms
    if state is not None and state != "Ongoing":
        return f"its coordinator is ending it (it is {state})"
    if timeout_ms is not None and transaction.started_at_ms is not None:
        left_ms = transaction.started_at_ms + timeout_ms - now_ms
        if left_ms > 0:
            ends = show_ms(left_ms)
            return f"its producer may be alive; its coordinator aborts it in {ends}"
        return None
    if not is_told:
        return "not every coordinator tells its transactions, so its producer may be alive"
    last_ms = max(held.last_written_ms or now_ms for held in transaction.partitions)
    if now_ms - last_ms < LONGEST_MS:
        return (
            f"its producer wrote {show_ms(max(0, now_ms - last_ms))} ago and may be alive; "
            f"transactions may take {show_ms(LONGEST_MS)}"
        )
    return None


def abort_transaction(admin: ClusterAdmin, transaction: OpenTransaction) -> ItemError | None:
    """Abort it and nothing else: why that failed, or None when it is done.

    Takes WRITE on the transactional id where its coordinator is asked, else ALTER (from 3.8 on)
    or CLUSTER_ACTION on the cluster.
    """
    doubts: Doubts[int] = Doubts()
    key = transaction.producer_id

    async def ask(cluster: Cluster, deadline: Deadline) -> Failure:
        writing = deadline.part(WRITING)
        if transaction.state == "Ongoing":
            return await _fence(cluster, transaction, writing, doubts)
        held = {partition.at: partition for partition in transaction.partitions}
        answers = await ask_leaders(
            cluster,
            dict.fromkeys(held, 0),
            writing,
            lambda leader, wanted, _: _mark(cluster, leader, key, held, wanted, writing),
            whole=True,
        )
        return next((code for code in answers.values() if isinstance(code, str)), None)

    def explain(target: str, failure: str | BrokerFailure) -> ItemError:
        code = failure.code if isinstance(failure, BrokerFailure) else failure
        right = _RIGHTS.get(code)
        error = item_error(target, failure)
        return error if right is None else replace(error, message=f"{error.message}: {right}")

    failure = admin.over_wire(ask, writes=True)
    doubts.note(key, failure)
    return doubts.error(key, transaction.name, failure, explain)


async def _fence(
    cluster: Cluster, transaction: OpenTransaction, deadline: Deadline, doubts: Doubts[int]
) -> Failure:
    """The coordinator's answer when it has written all markers: until then it asks to wait."""
    message = Struct(
        transactional_id=transaction.transactional_id,
        transaction_timeout_ms=transaction.timeout_ms,
    )
    failure: Failure = None
    async for _ in Attempts(deadline, whole=True):
        try:
            _, answer = await cluster.ask(
                transaction.coordinator or 0, Api.INIT_PRODUCER_ID, message, deadline.at
            )
        except BrokerFailure as error:
            return error
        failure = error_name(answer.error_code)
        if failure not in ("CONCURRENT_TRANSACTIONS", "COORDINATOR_LOAD_IN_PROGRESS"):
            break
    return failure


async def _mark(
    cluster: Cluster,
    leader: int,
    producer_id: int,
    held: Mapping[TopicPartition, HeldPartition],
    wanted: Mapping[TopicPartition, int],
    deadline: Deadline,
) -> dict[TopicPartition, str | None]:
    """The markers of one leader's partitions; an error name where one was not written."""
    markers = [
        Struct(
            producer_id=producer_id,
            producer_epoch=held[at].producer_epoch,
            transaction_result=False,
            topics=[Struct(name=at[0], partition_indexes=[at[1]])],
            coordinator_epoch=max(held[at].coordinator_epoch, 0),
        )
        for at in wanted
    ]
    body = Struct(markers=markers)
    _, answer = await cluster.ask(leader, Api.WRITE_TXN_MARKERS, body, deadline.at)
    return {
        (topic.name, row.partition_index): error_name(row.error_code)
        for marker in answer.markers
        for topic in marker.topics
        for row in topic.partitions
    }


def is_open(transaction: OpenTransaction, looked: Transactions) -> bool:
    """Whether it is open yet in one of its partitions."""
    held = {(partition.at, partition.first_offset) for partition in transaction.partitions}
    return any(
        (partition.at, partition.first_offset) in held
        for other in looked.open
        if other.producer_id == transaction.producer_id
        for partition in other.partitions
    )


def verify_abort(abort: Abort, looked: Transactions) -> Abort:
    """The abort after a look at its partitions: a transaction that is open nowhere was aborted."""
    if abort.result not in ("done", "unknown") or looked.failures:
        return abort
    is_done = not is_open(abort.transaction, looked)
    return seen(abort, is_done=is_done, text="aborted, but still open")
