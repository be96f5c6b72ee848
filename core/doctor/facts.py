"""The facts of a group that detectors look at."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Literal

from kgroups.core.deliveries import DeliveryRow
from kgroups.core.doctor.cluster_facts import (
    GroupSettings,
    MemberQuota,
    OffsetsPartition,
    PendingOffsets,
    RecordAge,
)
from kgroups.core.doctor.thresholds import STUCK_S
from kgroups.core.history.broker_log import Elections
from kgroups.core.history.changes import Change
from kgroups.core.history.rivals import Rivalry, worst
from kgroups.core.lag.group_lag import NO_LOG, OffsetRow
from kgroups.core.lag.group_times import GroupTimes
from kgroups.core.lag.window.unread import Place
from kgroups.core.offsets.expiry import GroupExpiry
from kgroups.core.offsets.scope import log_of
from kgroups.core.open_transactions import Transactions
from kgroups.core.rounds import REBALANCING, rounds_of
from kgroups.core.snapshot import ClusterSnapshot, Group, PartitionLog, TopicPartition

Part = Literal[
    "offsets",
    "members",
    "rates",
    "long_rates",
    "history",
    "expiry",
    "transactions",
    "pending",
    "offsets_partition",
    "settings",
    "own_settings",
    "quotas",
    "deliveries",
    "retention",
]
"""Facts that a detector needs besides the group's state; `long_rates` are over `STUCK_S` at least.

`retention` of topics is a figure of one finding, which is found without it, too.
"""


@dataclass(frozen=True, slots=True)
class DoctorFacts:
    """One group, as far as it was looked at.

    Args:
        snapshot: of the newest look; with the group's topics.
        rows: one a partition; None if commits could not be read.
        times: rates between two looks; None without `--over`.
        over_seconds: between them.
        before: the group at the first of them.
        has_settled: whether a look in between found it at rest.
        changes: with causes, in order; None if its log was not read.
        span_ms: the time that they cover.
        standing: commits by place, and since when each has stood there; known with `changes`.
        ends: of partitions that were added: their log ends when they got their first owners.
        fenced: by instance id: how many members brokers' logs say were fenced for it.
        expiry: when its commits expire; None if that was not looked at.
        snapshot_before: of the first look.
        gaps: commits with no record to read after them, as `Times` has them.
        transactions: open on partitions that the group reads; None if that was not looked at.
        pending: offsets of the group that a transaction holds; None likewise.
        offsets_partition: where the group's own offsets are; None likewise.
        elections: of its coordinator, as brokers' logs tell; None if they tell of none.
        settings: that decide about its members; None likewise.
        own_settings: names of those of a group that does not exist; None if they are not told.
        quotas: on its clients that have records to read; None if they are not told.
        ages: of the next records of partitions that are read more slowly than they grow, where
            their topics delete records after a time; looked at if the group falls behind.
        deliveries: of a share group, one a partition; None if they are not told.
        missing: why parts were not looked at, where that is a matter of this group.
    """

    snapshot: ClusterSnapshot
    group: Group
    rows: Sequence[OffsetRow] | None = None
    times: GroupTimes | None = None
    over_seconds: float | None = None
    before: Group | None = None
    has_settled: bool = False
    changes: Sequence[Change] | None = None
    span_ms: int = 0
    standing: Mapping[TopicPartition, tuple[int, int]] = field(default_factory=dict)
    ends: Mapping[TopicPartition, int] = field(default_factory=dict)
    fenced: Mapping[str, int] = field(default_factory=dict)
    expiry: GroupExpiry | None = None
    snapshot_before: ClusterSnapshot | None = None
    gaps: Set[Place] = frozenset()
    transactions: Transactions | None = None
    pending: PendingOffsets | None = None
    offsets_partition: OffsetsPartition | None = None
    elections: Elections | None = None
    settings: GroupSettings | None = None
    own_settings: Sequence[str] | None = ()
    quotas: Sequence[MemberQuota] | None = None
    ages: Mapping[TopicPartition, RecordAge] = field(default_factory=dict)
    deliveries: Sequence[DeliveryRow] | None = ()
    missing: Mapping[Part, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The group's name."""
        return self.group.group

    @property
    def word(self) -> str:
        """The name as one types it in a shell."""
        return quote(self.group.group)

    @property
    def rivals(self) -> Mapping[TopicPartition, Rivalry]:
        """Partitions that two commit in turn."""
        return worst(
            one for each in self.changes or () if each.commits for one in each.commits.rivals
        )

    @property
    def has_members(self) -> bool:
        """Whether anybody is in the group."""
        return bool(self.group.members)

    @property
    def is_unsettled(self) -> bool:
        """Whether every look found it rebalancing, with the same members in the same round."""
        before, now = self.before, self.group
        if before is None or self.has_settled or not {before.state, now.state} <= REBALANCING:
            return False
        return rounds_of(before) == rounds_of(now)

    def has(self, part: Part) -> bool:
        """Whether this part was looked at."""
        return {
            "offsets": self.rows,
            "members": self.group.members,
            "rates": self.times,
            "long_rates": self.times if (self.over_seconds or 0.0) >= STUCK_S else None,
            "history": self.changes,
            "expiry": self.expiry,
            "transactions": self.transactions,
            "pending": self.pending,
            "offsets_partition": self.offsets_partition,
            "settings": self.settings,
            "own_settings": self.own_settings,
            "quotas": self.quotas,
            "deliveries": self.deliveries,
            "retention": self.ages,
        }[part] is not None

    def without(self, parts: Iterable[Part], why: str) -> "DoctorFacts":
        """The facts without these parts, and why."""
        return replace(self, missing={**self.missing, **dict.fromkeys(parts, why)})

    def log_of(self, topic: str, partition: int) -> PartitionLog:
        """The log of a partition, with its last stable offset."""
        return log_of(self.snapshot.topics, (topic, partition)) or NO_LOG

    def is_phantom(self, row: OffsetRow) -> bool:
        """Whether no record is left to read of its lag, nor held by an open transaction."""
        log = self.log_of(row.topic, row.partition)
        is_gap = (row.topic, row.partition, row.committed_offset) in self.gaps
        return is_gap and log.last_stable_offset in (None, log.log_end_offset)
