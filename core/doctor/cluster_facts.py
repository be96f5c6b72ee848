"""Facts about the cluster around a group, for detectors."""

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.core.offsets.group_settings import Setting
from kgroups.core.open_transactions import Transactions
from kgroups.core.snapshot import PartitionLog, TopicPartition


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
