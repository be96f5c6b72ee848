"""What detectors know of the cluster around a group."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from kgroups.core.offsets.group_settings import Setting
from kgroups.core.snapshot import PartitionLog, TopicPartition


class Held(Protocol):
    """A partition in which a transaction is open: what `lookups/open_transactions.py` gives."""

    @property
    def at(self) -> TopicPartition:
        """Topic and partition."""

    @property
    def first_offset(self) -> int:
        """Of the transaction there."""

    @property
    def records_held(self) -> int | None:
        """Records that `read_committed` consumers do not get before it ends."""


class Transaction(Protocol):
    """An open transaction, likewise."""

    @property
    def producer_id(self) -> int:
        """Whose it is."""

    @property
    def transactional_id(self) -> str | None:
        """None if no coordinator tells one."""

    @property
    def is_known(self) -> bool:
        """Whether a coordinator knows it, so that it ends by itself."""

    @property
    def started_at_ms(self) -> int | None:
        """By its coordinator, else by its first record, whose time its producer gave."""

    @property
    def timeout_ms(self) -> int | None:
        """Its producer's `transaction.timeout.ms`."""

    @property
    def partitions(self) -> Sequence[Held]:
        """Where it is open, as far as that was asked."""


class Transactions(NamedTuple):
    """Open transactions of some partitions.

    Args:
        open: the oldest first.
        is_whole: every coordinator was asked for them.
    """

    open: Sequence[Transaction] = ()
    is_whole: bool = True


class PendingOffsets(NamedTuple):
    """Offsets of a group that an open transaction holds.

    Args:
        transactions: open on the group's partition of `__consumer_offsets`: of this group or of
            another one there.
    """

    partitions: frozenset[TopicPartition]
    transactions: Transactions = Transactions()


class OffsetsPartition(NamedTuple):
    """A group's partition of `__consumer_offsets`, whose leader coordinates the group.

    Args:
        elections: of its leader in the last hour, as far as its records tell.
    """

    log: PartitionLog
    elections: int = 0


class GroupSettings(NamedTuple):
    """Settings of brokers, and of the group itself, that decide about its members.

    Args:
        max_size: members that the group may have; None if its coordinator has no such setting.
        max_size_name: the broker's setting that says so.
        own: of a KIP-848 group, by name: `consumer.session.timeout.ms`; empty if not known.
    """

    max_size: int | None
    max_size_name: str
    own: Mapping[str, Setting] = {}


class RecordAge(NamedTuple):
    """The next record of a partition that is read too slowly.

    Args:
        age_seconds: since it was written.
        retention_seconds: after which its topic deletes it.
    """

    age_seconds: float
    retention_seconds: float


class MemberQuota(NamedTuple):
    """A quota on a client of the group that has more records to read than is usual.

    Args:
        consumer_byte_rate: bytes a second that its brokers together send it.
        bytes_per_second: that it has read, estimated from the size of its next records.
    """

    client_id: str
    consumer_byte_rate: float
    bytes_per_second: float
