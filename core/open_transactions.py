"""Open transactions of partitions, as values: `core/kafka/lookups/open_transactions.py` asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kgroups.core.snapshot import TopicPartition


class HeldPartition(NamedTuple):
    """A partition in which a transaction is open.

    Args:
        first_offset: of the transaction there.
        log_end_offset: the high watermark; None if it was not learned.
        producer_epoch, coordinator_epoch: as the leader last saw them; -1 for none.
        last_written_ms: when the producer last wrote there, epoch ms; None if untold.
    """

    topic: str
    partition: int
    first_offset: int
    log_end_offset: int | None
    producer_epoch: int
    coordinator_epoch: int
    last_written_ms: int | None

    @property
    def at(self) -> TopicPartition:
        """Topic and partition."""
        return self.topic, self.partition

    @property
    def records_held(self) -> int | None:
        """Records that `read_committed` consumers do not get before it ends."""
        return None if self.log_end_offset is None else self.log_end_offset - self.first_offset


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction that is open in some of the partitions that were asked about.

    Args:
        partitions: ascending; never empty. It may be open in others that were not asked about.
        transactional_id: None if no coordinator tells one.
        state: Kafka's name, as `Ongoing`; None if no coordinator tells of this transaction.
        coordinator: broker id; None like `transactional_id`.
        producer_epoch: the coordinator's; else the highest that leaders saw.
        started_at_ms: as the coordinator says, else the time of its first record; None if unknown.
        timeout_ms: the producer's `transaction.timeout.ms`; None if no coordinator tells.
    """

    producer_id: int
    partitions: tuple[HeldPartition, ...]
    producer_epoch: int
    transactional_id: str | None = None
    state: str | None = None
    coordinator: int | None = None
    started_at_ms: int | None = None
    timeout_ms: int | None = None

    @property
    def name(self) -> str:
        """Its transactional id, else `producer 7`."""
        return self.transactional_id or f"producer {self.producer_id}"

    @property
    def is_known(self) -> bool:
        """Whether a coordinator knows it, so that it ends by itself, at the latest by timeout."""
        return self.state is not None

    @property
    def records_held(self) -> int | None:
        """Of all its partitions; None if one of them is unknown."""
        held = [partition.records_held for partition in self.partitions]
        counts = [count for count in held if count is not None]
        return sum(counts) if len(counts) == len(held) else None


@dataclass(frozen=True, slots=True)
class Transactions:
    """Transactions that were found.

    Args:
        open: the transactions, the oldest first.
        failures: Kafka's error name by partition that could not be asked.
        unlisted: Kafka's error name by broker that does not tell its transactions: of what it
            coordinates the states are unknown.
    """

    open: tuple[OpenTransaction, ...] = ()
    failures: Mapping[TopicPartition, str] = field(default_factory=dict)
    unlisted: Mapping[int, str] = field(default_factory=dict)
