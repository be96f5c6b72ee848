"""The group coordinators of the cluster: one a broker, each for the partitions it leads.

`__consumer_offsets` is an ordinary topic here. What a coordinator writes goes into the log of its
partition as a real batch, and when the partition moves, or the process starts again on the same
data directory, the next coordinator reads it back from there.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from uuid import uuid4

from kgroups.core.coordinator.config import MINUTE_MS, PROPERTIES, CoordinatorConfig
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.effects import Event, Write
from kgroups.core.coordinator.log.record_codec import encode_record
from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.coordinator.releases import RELEASES, Release
from kgroups.core.coordinator.topology import BrokerEndpoint, TopicInfo, Topology
from kgroups.core.errors import UsageError
from kgroups.core.protocol.batches import build_batch, split_batches
from kgroups.core.sandbox.coordination.event_log import EventLog, event_text
from kgroups.core.sandbox.coordination.pump import Pump
from kgroups.core.sandbox.limits import PROPERTIES as LIMIT_PROPERTIES
from kgroups.core.sandbox.storage.topics import NO_LEADER, OFFSETS_TOPIC, Partition, Topic, Topics
from kgroups.core.sandbox.wire.listener import Broker

_DEFAULTS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.assignment.interval.ms": "100",
}
"""Where the embedded cluster differs from a broker unless it is told otherwise: tests and
demonstrations do not want to wait three seconds for each first rebalance, nor five for each step
of a KIP-848 one."""


def group_config(properties: Mapping[str, str], as_version: str) -> CoordinatorConfig:
    """Settings of the coordinators from broker properties.

    Args:
        as_version: the release whose rules they follow; of one before the first that is known, its.
    Raises:
        UsageError: a name is not one of a broker's settings about groups, or a value is wrong.
    """
    unknown = sorted(set(properties) - set(PROPERTIES))
    if unknown:
        raise UsageError(
            f"unknown property `{unknown[0]}`",
            hint=f"known are {', '.join([*PROPERTIES, *LIMIT_PROPERTIES])}",
        )
    release = max(Release.parse(as_version), RELEASES[0])
    return CoordinatorConfig.from_properties(_DEFAULTS | dict(properties), release=release)


def group_properties(config: CoordinatorConfig) -> dict[str, str]:
    """The settings as a broker's properties, by name."""
    values = {field.name: getattr(config, field.name) for field in fields(config)}
    return {name: _property(name, values[field]) for name, (field, _) in PROPERTIES.items()}


def _property(name: str, value: object) -> str:
    if name.endswith(".minutes") and isinstance(value, int):
        return str(value // MINUTE_MS)
    return ",".join(value) if isinstance(value, tuple) else str(value)


class Coordination:
    """Coordinators of all brokers, kept in step with topics and leaders.

    Args:
        topics: of the cluster; `__consumer_offsets` is among them before `start`.
        clock: epoch milliseconds that never go back.
        compact_bytes: size from which on a partition of `__consumer_offsets` is compacted.
    """

    def __init__(
        self,
        config: CoordinatorConfig,
        brokers: Mapping[int, Broker],
        topics: Topics,
        *,
        clock: Callable[[], int],
        events: EventLog,
        compact_bytes: int,
    ) -> None:
        self.config = config
        self._brokers = brokers
        self._topics = topics
        self._clock = clock
        self._events = events
        self._compact_bytes = compact_bytes
        self._compact_next: dict[int, int] = {}
        self._version = 0
        self._owners: dict[int, int] = {}
        self.pumps: dict[int, Pump] = {}

    def start(self) -> None:
        """Make the coordinators; none of them serves a partition before `leader_changed`."""
        offsets = self._topics.get(OFFSETS_TOPIC)
        assert offsets is not None, "the topic is made first"
        self.config = replace(self.config, offsets_partitions=len(offsets.partitions))
        topology = self._topology()
        for broker_id in self._brokers:
            coordinator = Coordinator(self.config, topology, uuid4, now_ms=self._clock())
            pump = Pump(coordinator, clock=self._clock, write=self._write, tell=self._tell)
            for partition in offsets.partitions:
                pump.resign(partition.index)
            self.pumps[broker_id] = pump

    def stop(self) -> None:
        """Fire no more timers."""
        for pump in self.pumps.values():
            pump.close()

    def topics_changed(self) -> None:
        """Tell every coordinator what topics, brokers and leaders there are now."""
        if self.pumps:
            self._version += 1
            topology = self._topology()
            for pump in self.pumps.values():
                pump.update_topology(topology)

    def leader_changed(self, partition: Partition) -> None:
        """Move the groups of a partition of `__consumer_offsets` to its leader."""
        before = self._owners.pop(partition.index, NO_LEADER)
        if before != NO_LEADER:
            self.pumps[before].resign(partition.index)
        if partition.leader != NO_LEADER:
            self._owners[partition.index] = partition.leader
            self.pumps[partition.leader].take_over(partition.index, partition.log)

    def partition_of(self, group: str) -> Partition:
        """The partition of `__consumer_offsets` that holds a group."""
        index = offsets_partition(group, self.config.offsets_partitions)
        partition = self._topics.partition(OFFSETS_TOPIC, index)
        assert partition is not None, "every group has a partition"
        return partition

    def _topology(self) -> Topology:
        offsets = self._topics.get(OFFSETS_TOPIC)
        return Topology(
            topics={topic.name: self._topic_info(topic) for topic in self._topics},
            brokers={
                broker.broker_id: BrokerEndpoint(broker.broker_id, broker.host, broker.port)
                for broker in self._brokers.values()
                if broker.is_up
            },
            offsets_leaders={
                partition.index: partition.leader
                for partition in (offsets.partitions if offsets is not None else ())
                if partition.leader != NO_LEADER
            },
            version=self._version,
        )

    def _topic_info(self, topic: Topic) -> TopicInfo:
        racks: tuple[frozenset[str], ...] = ()
        if any(broker.rack is not None for broker in self._brokers.values()):
            racks = tuple(
                frozenset(
                    rack
                    for rack in (self._brokers[number].rack for number in partition.replicas)
                    if rack is not None
                )
                for partition in topic.partitions
            )
        return TopicInfo(topic.name, topic.topic_id, len(topic.partitions), racks)

    def _write(self, write: Write) -> None:
        partition = self._topics.partition(OFFSETS_TOPIC, write.partition)
        assert partition is not None, "a coordinator writes where it serves"
        if not write.records:
            return
        records = [encode_record(record) for record in write.records]
        batch = build_batch(records, self._clock())
        partition.log.append(split_batches(batch), partition.leader_epoch)
        if partition.log.size_bytes > self._compact_next.get(write.partition, self._compact_bytes):
            self._compact(partition)

    def _compact(self, partition: Partition) -> None:
        """Compact, so that a long run does not grow; what is left may double before the next."""
        log = partition.log
        before = log.size_bytes
        try:
            log.compact(self._clock())
        except OSError as error:
            text = f"could not be compacted: {error.strerror}"
        else:
            text = f"compacted from {before} to {log.size_bytes} bytes"
        self._compact_next[partition.index] = max(self._compact_bytes, 2 * log.size_bytes)
        self._events.add(f"partition {OFFSETS_TOPIC}-{partition.index}", text)

    def _tell(self, event: Event) -> None:
        self._events.add(f"group {event.group_id}", event_text(event))
