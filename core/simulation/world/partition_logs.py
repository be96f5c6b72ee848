"""The topics' partitions and how full they are at a virtual time: records come evenly.

Each partition of a topic gets its share of the topic's rate; partitions are out of step with each
other, so that records do not come all at once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import ceil, floor
from typing import Final
from uuid import UUID

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.topology import TopicInfo
from kgroups.core.simulation.scenario.member_settings import MemberSettings
from kgroups.core.simulation.scenario.scenario_model import TopicPlan

# What a topic's id begins with; ids only have to differ and to be the same in every run.
_FIRST_ID: Final = 0x6B67726F757073 << 64
NEVER: Final = float("inf")
# Records of a partition that wait for the application beside a fetch: sarama's ChannelBufferSize.
CHANNEL: Final = 256


class PartitionRecords:
    """Records of one partition over time.

    Args:
        base: records that are there at `from_ms`.
        phase: share of the next record that is there already, from 0 up to but not 1.
    """

    def __init__(self, base: int, from_ms: float, per_ms: float, phase: float) -> None:
        self._base, self._from_ms, self.per_ms, self._phase = base, from_ms, per_ms, phase

    def end(self, at_ms: float) -> int:
        """Offset after the last record at this time."""
        return self._base + floor((at_ms - self._from_ms) * self.per_ms + self._phase)

    def time_of(self, offset: int) -> float:
        """When the record at this offset is there, in ms; infinity for never."""
        missing = offset + 1 - self._base - self._phase
        if missing <= 0:
            return self._from_ms
        return NEVER if self.per_ms == 0 else self._from_ms + missing / self.per_ms

    def set_rate(self, at_ms: float, per_ms: float) -> None:
        """From now on records come at another rate."""
        filled = (at_ms - self._from_ms) * self.per_ms + self._phase
        self._base, self._phase = self._base + floor(filled), filled - floor(filled)
        self._from_ms, self.per_ms = at_ms, per_ms


class CommittedRecords:
    """The same as who reads what is committed sees it (`isolation.level: read_committed`).

    Args:
        records: of the partition, written in transactions.
        every_ms: they are committed so often, counted from time 0.
    """

    def __init__(self, records: PartitionRecords, every_ms: int) -> None:
        self._records, self._every_ms = records, every_ms

    @property
    def per_ms(self) -> float:
        """Records that come in a millisecond, on average."""
        return self._records.per_ms

    def end(self, at_ms: float) -> int:
        """The last stable offset at this time."""
        return self._records.end(floor(at_ms / self._every_ms) * self._every_ms)

    def time_of(self, offset: int) -> float:
        """When the record at this offset is committed, in ms; infinity for never."""
        at_ms = self._records.time_of(offset)
        return at_ms if at_ms == NEVER else ceil(at_ms / self._every_ms) * self._every_ms


class FetchedRecords:
    """The records that a consumer has fetched of a partition that it fetches no more.

    Args:
        limit: offset after the last record.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self.per_ms = limit, 0.0

    def end(self, at_ms: float) -> int:
        return self._limit

    def time_of(self, offset: int) -> float:
        return 0.0 if offset < self._limit else NEVER


Records = PartitionRecords | CommittedRecords | FetchedRecords


class Logs:
    """All topics of the simulated cluster.

    Attributes:
        partitions: every partition's records.
        changes: how often topics came or grew: rates are others then.
        sizes: bytes of a record by topic.
    """

    def __init__(self, topics: Iterable[TopicPlan], now_ms: int) -> None:
        self.partitions: dict[TopicPartition, PartitionRecords] = {}
        self.changes = 0
        self._infos: dict[str, TopicInfo] = {}
        self._plans: dict[str, TopicPlan] = {}  # with their rates as they are now
        self.sizes: dict[str, int] = {}
        for topic in topics:
            self.create(topic, now_ms)

    def topics(self) -> Mapping[str, TopicInfo]:
        """The topics as coordinators and clients know them."""
        return dict(self._infos)

    def seen(self, partition: TopicPartition, *, committed: bool) -> Records:
        """A partition as a consumer sees it that reads everything, or what is committed."""
        every_ms = self._plans[partition.topic].transaction_ms if committed else 0
        records = self.partitions[partition]
        return CommittedRecords(records, every_ms) if every_ms else records

    def fetched(
        self, partition: TopicPartition, position: int, settings: MemberSettings, at_ms: float
    ) -> FetchedRecords:
        """The most that a consumer that has read so far can have fetched of a partition."""
        seen = self.seen(partition, committed=settings.isolation_level == "read_committed")
        most = settings.max_partition_fetch_bytes // self.sizes[partition.topic] + CHANNEL
        return FetchedRecords(min(seen.end(at_ms), position + most))

    def reset_to(self, partition: TopicPartition, settings: MemberSettings, now_ms: int) -> int:
        """Where to begin without a commit, as `auto.offset.reset` has it."""
        if settings.auto_offset_reset == "earliest":
            return 0
        records = self.seen(partition, committed=settings.isolation_level == "read_committed")
        # A backlog is as old as the topic.
        return max(0, records.end(now_ms - settings.reset_age_ms))

    def create(self, topic: TopicPlan, now_ms: int) -> None:
        """Add a topic with its backlog."""
        number = len(self._infos) + 1
        topic_id = UUID(int=_FIRST_ID + number)
        self._infos[topic.name] = TopicInfo(topic.name, topic_id, 0, topic.racks)
        self._plans[topic.name] = topic
        self.sizes[topic.name] = topic.record_bytes
        self._grow(topic.name, topic.partitions, now_ms)
        for index in range(topic.partitions):
            partition = TopicPartition(topic.name, index)
            share = self._share(topic.name, index, topic.partitions)
            self.partitions[partition] = PartitionRecords(
                topic.backlog_of(index), now_ms, share, index / topic.partitions
            )

    def rate_of(self, name: str) -> float:
        """Records a second that come to a topic."""
        return self._plans[name].rate

    def set_rate(self, name: str, rate: float, now_ms: int) -> None:
        """So many records a second come to a topic from now on."""
        self._plans[name] = replace(self._plans[name], rate=rate)
        self.changes += 1
        count = self._infos[name].partitions
        for index in range(count):
            share = self._share(name, index, count)
            self.partitions[TopicPartition(name, index)].set_rate(now_ms, share)

    def _share(self, name: str, index: int, partitions: int) -> float:
        """The share of one of so many partitions; one beyond the weights begins them anew."""
        plan = self._plans[name]
        rate, weights = plan.rate / 1_000, plan.weights
        if plan.keys is not None:
            return rate * plan.keys.shares(partitions)[index]
        if not weights:
            return rate / partitions if partitions else 0.0
        rounds, rest = divmod(partitions, len(weights))
        total = rounds * sum(weights) + sum(weights[:rest])
        return rate * weights[index % len(weights)] / total if total else 0.0

    def grow(self, name: str, partitions: int, now_ms: int) -> tuple[TopicPartition, ...]:
        """Let a topic have so many partitions, if that is more; gives back the new ones."""
        before = self._infos[name].partitions
        if partitions <= before:
            return ()
        return self._grow(name, partitions, now_ms)

    def _grow(self, name: str, partitions: int, now_ms: int) -> tuple[TopicPartition, ...]:
        info = self._infos[name]
        self.changes += 1
        for index in range(info.partitions):
            self.partitions[TopicPartition(name, index)].set_rate(
                now_ms, self._share(name, index, partitions)
            )
        new = tuple(TopicPartition(name, n) for n in range(info.partitions, partitions))
        for partition in new:
            phase = partition.partition / partitions
            share = self._share(name, partition.partition, partitions)
            self.partitions[partition] = PartitionRecords(0, now_ms, share, phase)
        racks = info.racks
        if racks:
            racks += tuple(racks[n % len(racks)] for n in range(len(racks), partitions))
        self._infos[name] = TopicInfo(name, info.topic_id, partitions, racks)
        return new
