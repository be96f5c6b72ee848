"""The embedded cluster itself, inside one event loop: filled, started, stopped.

`sandbox.Sandbox` runs one in a thread of its own; `async with Cluster(...)` runs one in the
caller's loop.

A snapshot that fills it has no records: what lies between the bounds of a log becomes one batch
without records, as compaction leaves it behind, so that log ends and lag are right and a consumer
that reads there goes on to the end. Groups come without their members, which live elsewhere.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self
from uuid import UUID, uuid4

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.log.record_codec import encode_record
from kgroups.core.coordinator.log.records import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
)
from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.errors import KgroupsError
from kgroups.core.protocol.batches import build_batch, empty_batch, split_batches
from kgroups.core.sandbox.cluster_state import ClusterState
from kgroups.core.sandbox.faults.fault_file import TimedFault
from kgroups.core.sandbox.handlers.dispatch import Dispatcher
from kgroups.core.sandbox.handlers.handler_table import HANDLERS
from kgroups.core.sandbox.options import SandboxOptions
from kgroups.core.sandbox.storage.data_directory import (
    DataDirectory,
    Meta,
    kept_topics,
)
from kgroups.core.sandbox.storage.partition_log import PartitionLog
from kgroups.core.sandbox.storage.topics import OFFSETS_TOPIC, Topics
from kgroups.core.sandbox.wire.client_connection import Connection
from kgroups.core.sandbox.wire.frame_codec import warm_up
from kgroups.core.sandbox.wire.listener import Broker
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group
from kgroups.core.snapshot import PartitionLog as Bounds
from kgroups.core.uuids import uuid_from

_MAX_GAP = 2**31 - 1


def seed_topics(snapshot: ClusterSnapshot, topics: Topics, *, replication_factor: int) -> int:
    """Make the snapshot's topics, as far as they are missing.

    A topic may have holes in its partitions (what was not learned): those become empty ones.

    Returns:
        How many were made.
    """
    made = 0
    for name, facts in snapshot.topics.items():
        if topics.get(name or "\0") is not None or not facts.partitions:
            continue
        topic = topics.create(
            name,
            max(facts.partitions) + 1,
            replication_factor=replication_factor,
            topic_id=uuid_from(facts.topic_id) if facts.topic_id else uuid4(),
        )
        for index, bounds in facts.partitions.items():
            partition = topic.partition(index)
            if partition is not None:
                _fill_log(partition.log, bounds, snapshot.captured_at_ms)
        made += 1
    return made


def _fill_log(log: PartitionLog, bounds: Bounds, now_ms: int) -> None:
    end = bounds.log_end_offset or 0
    start = bounds.log_start_offset if bounds.log_start_offset is not None else 0
    log.start_offset = log.end_offset = min(start, end)
    while log.end_offset < end:
        gap = min(end - log.end_offset, _MAX_GAP)
        batch = empty_batch(gap, now_ms)
        log.append(split_batches(batch, stored=True), 0)


def seed_groups(
    snapshot: ClusterSnapshot, topics: Topics, config: CoordinatorConfig, *, now_ms: int
) -> int:
    """Write the snapshot's groups and offsets into `__consumer_offsets`.

    Returns:
        How many groups were written.
    """
    for group in snapshot.groups:
        records = list(_group_records(group, topics, now_ms))
        index = offsets_partition(group.group, config.offsets_partitions)
        partition = topics.partition(OFFSETS_TOPIC, index)
        if records and partition is not None:
            pairs = [encode_record(record) for record in records]
            batch = build_batch(pairs, now_ms)
            partition.log.append(split_batches(batch), partition.leader_epoch)
    return len(snapshot.groups)


def _group_records(group: Group, topics: Topics, now_ms: int) -> Iterator[Record]:
    """A classic group, or a consumer group, that is empty; then its offsets."""
    if group.type == "classic" and group.protocol_type:
        value = GroupMetadataValue(group.protocol_type, 0, current_state_timestamp_ms=now_ms)
        yield Record(GroupMetadataKey(group.group), value)
    elif group.type == "consumer":
        epoch = ConsumerGroupMetadataValue(group.group_epoch or 1)
        yield Record(ConsumerGroupMetadataKey(group.group), epoch)
    offsets: Mapping[str, Mapping[int, CommittedOffset]] = group.offsets or {}
    for topic, partitions in offsets.items():
        described = topics.get(topic or "\0")
        topic_id: UUID | None = described.topic_id if described is not None else None
        for index, commit in partitions.items():
            yield Record(
                OffsetCommitKey(group.group, topic, index),
                OffsetCommitValue(
                    commit.offset,
                    -1 if commit.leader_epoch is None else commit.leader_epoch,
                    commit.metadata,
                    now_ms if commit.committed_at_ms is None else commit.committed_at_ms,
                    topic_id=topic_id,
                ),
            )


async def run_timed_faults(cluster: ClusterState, faults: Sequence[TimedFault]) -> None:
    """Have each fault happen at its time after now; one that fails is only noted."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for fault in sorted(faults, key=lambda fault: fault.at_ms):
        await asyncio.sleep(max(begun + fault.at_ms / 1000 - loop.time(), 0))
        try:
            await carry_out(cluster, fault)
        except KgroupsError as error:
            cluster.events.add("incident", f"{fault.kind} failed: {error.message}")


async def carry_out(cluster: ClusterState, fault: TimedFault) -> None:
    """Have a fault happen now.

    Raises:
        NotFoundError: the broker, group or member does not exist.
    """
    match fault.kind:
        case "broker_down":
            await cluster.stop_broker(fault.broker or 0)
        case "broker_up":
            await cluster.start_broker(fault.broker or 0)
        case "move_coordinator":
            cluster.move_coordinator(fault.group or "", fault.broker)
        case "expire_member":
            await cluster.expire_member(fault.group or "", fault.member or "")
        case "advance_clock":
            cluster.advance_clock(fault.ms)
        case "freeze_clock":
            cluster.freeze_clock(frozen=fault.frozen)


_OFFSETS_TOPIC_CONFIGS = {
    "cleanup.policy": "compact",
    "compression.type": "producer",
    "segment.bytes": "104857600",
}
_LAST_TURNS = 10
"""Turns of the loop after the listeners closed, in which connections that were just accepted are
refused and those that were dropped report it."""


class Cluster(ClusterState):
    """N brokers on loopback that real clients talk to.

    All methods belong to the event loop that entered it.

    Args:
        options: shape and behaviour; checked when the cluster is made.
    """

    def __init__(self, options: SandboxOptions) -> None:
        super().__init__(options)
        self._timed_faults: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Make the topics and listen.

        Raises:
            UsageError: a port is taken.
        """
        try:
            for broker in self.brokers.values():
                broker.reserve()
            warm_up(self.caps)
            if self.options.data_dir is not None:
                self._open(self.options.data_dir)
            self._make_topics()
            for broker in self.brokers.values():
                await self.listen(broker)
        except KgroupsError:
            await self.stop()
            raise
        self.coordination.start()
        self._elect(everything=True)
        self.events.add("cluster", f"{len(self.brokers)} brokers at {self.bootstrap_servers}")
        if self._plan.timed_faults:
            self._timed_faults = asyncio.create_task(
                run_timed_faults(self, self._plan.timed_faults)
            )

    def _make_topics(self) -> None:
        """Make what the data directory did not bring: the internal topic, the snapshot's, ours."""
        config = self.coordination.config
        is_new = self.topics.get(OFFSETS_TOPIC) is None
        if is_new:
            partitions = config.offsets_partitions
            self.create_topic(OFFSETS_TOPIC, partitions, configs=_OFFSETS_TOPIC_CONFIGS)
        if self._snapshot is not None and is_new:  # what the directory has is newer than the file
            factor = self.options.default_replication_factor
            topics = seed_topics(self._snapshot, self.topics, replication_factor=factor)
            groups = seed_groups(self._snapshot, self.topics, config, now_ms=self.now_ms())
            self.events.add("cluster", f"{topics} topics and {groups} groups from the snapshot")
        for name, partitions in self.options.topics.items():
            if self.topics.get(name) is None:
                self.create_topic(name, partitions)

    async def stop(self) -> None:
        """Close every connection and listener; nothing is left behind."""
        for broker in self.brokers.values():
            await broker.shut("the cluster stops")
        self.coordination.stop()
        if self._timed_faults is not None:
            self._timed_faults.cancel()
        if self._data is not None:
            self._data.close()
        for _ in range(_LAST_TURNS):
            await asyncio.sleep(0)

    async def listen(self, broker: Broker) -> None:
        dispatcher = Dispatcher(self, broker, HANDLERS)
        await broker.listen(lambda: Connection(dispatcher, self.options.limits, self.held))

    def _open(self, path: Path) -> None:
        """Take over topics and records of the last run."""
        self._data = DataDirectory(path, self._meta)
        meta = self._data.load(self.topics)
        if meta is not None:
            self.cluster_id = self.options.cluster_id or meta.cluster_id
            self._next_producer_id = meta.next_producer_id
            self.events.add("cluster", f"{len(meta.topics)} topics from {path}")

    def _meta(self) -> Meta:
        return Meta(self.cluster_id, self._next_producer_id, kept_topics(self.topics))
