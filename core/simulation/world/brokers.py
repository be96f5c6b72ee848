"""The brokers: one real coordinator each, the log of `__consumer_offsets` between them.

A partition of the log belongs to one broker; when it moves, the next coordinator replays it. Only
the newest record of each key is kept, as compaction leaves it, so the log does not grow with time.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Final
from uuid import UUID

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.effects import Dropped, Event, Reply, Write
from kgroups.core.coordinator.groups import GroupSnapshot
from kgroups.core.coordinator.log.records import (
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
    RecordKey,
)
from kgroups.core.coordinator.offsets.messages import (
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitTopic,
)
from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.coordinator.topology import BrokerEndpoint, TopicInfo, Topology
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.world.actors import Forgotten, Service, ServiceOutput, Stored, Told

PORT: Final = 9092
NOBODY: Final = object()


class BrokerService(Service):
    """One broker: its coordinator, for the partitions that it leads."""

    def __init__(self, coordinator: Coordinator, log: "OffsetsLog") -> None:
        self.coordinator = coordinator
        self._log = log

    def submit(self, now_ms: int, token: Hashable, sender: str, request: object) -> None:
        self.coordinator.submit(now_ms, token, request)  # type: ignore[arg-type] # a client half's

    def answer_at_once(self, now_ms: int, request: object) -> object | None:
        return self.coordinator.answer_at_once(now_ms, request)  # type: ignore[arg-type]

    def commit_at_once(self, now_ms: int, request: object) -> object | None:
        """The coordinator's answer, once the log has the commits."""
        answer = self.coordinator.commit_at_once(now_ms, request)  # type: ignore[arg-type]
        if answer is None:
            return None
        write, response = answer
        self._log.keep(write)
        return response

    def disconnect(self, now_ms: int, sender: str) -> None:
        """A lost connection removes no member from its group."""

    def update_topology(self, now_ms: int, topology: Topology) -> None:
        self.coordinator.update_topology(now_ms, topology)

    def advance(self, now_ms: int) -> None:
        self.coordinator.advance(now_ms)

    def next_deadline(self) -> int | None:
        """Of the coordinator's timers, or earlier."""
        return self.coordinator.next_look()

    def take(self) -> list[ServiceOutput]:
        """Answers, what was stored, what was told; the log takes everything."""
        outputs: list[ServiceOutput] = []
        for effect in self.coordinator.take():
            if type(effect) is Reply:
                outputs.append(effect)
            elif type(effect) is Write:
                outputs.extend(self._log.append(effect))
            elif type(effect) is Dropped:
                outputs.append(Forgotten(effect.token))
            elif type(effect) is Event:
                outputs.append(Told(effect))
        return outputs


class OffsetsLog:
    """`__consumer_offsets`, compacted."""

    def __init__(self) -> None:
        self._partitions: dict[int, dict[RecordKey, Record]] = {}

    def append(self, write: Write) -> list[Stored]:
        """Keep the records; gives back the commits among them."""
        partition = self._partitions.setdefault(write.partition, {})
        commits: dict[str, dict[TopicPartition, int]] = {}
        for record in write.records:
            key, value = record
            if value is None:
                partition.pop(key, None)
                continue
            partition[key] = record
            if type(key) is OffsetCommitKey and type(value) is OffsetCommitValue:
                group, topic, number = key
                if group not in commits:
                    commits[group] = {}
                commits[group][TopicPartition(topic, number)] = value.offset
        return [Stored(group, offsets) for group, offsets in commits.items()]

    def keep(self, write: Write) -> None:
        """Keep the records of a write that holds commits only."""
        partition = self._partitions.setdefault(write.partition, {})
        for record in write.records:
            partition[record[0]] = record

    def records(self, partition: int) -> list[Record]:
        """Records that a coordinator reads as it takes over the partition, as first written."""
        return list(self._partitions.get(partition, {}).values())


class Brokers:
    """All brokers, who is up, and who leads which partition of `__consumer_offsets`.

    Attributes:
        services: by broker id; those that are down keep their place.
        up: ids of the brokers that are up, ascending.
        topology: as brokers and clients know it now.
    """

    def __init__(
        self,
        scenario: Scenario,
        topics: Mapping[str, TopicInfo],
        new_id: Callable[[], UUID],
        now_ms: int,
    ) -> None:
        self._config = scenario.cluster
        self._log = OffsetsLog()
        self.up = list(range(scenario.brokers))
        self._leaders = {n: n % scenario.brokers for n in range(self._config.offsets_partitions)}
        self._version = 0
        self._topics = topics
        self.topology = self._topology()
        self.services: dict[int, BrokerService] = {}
        for broker in self.up:
            coordinator = Coordinator(self._config, self.topology, new_id, now_ms=now_ms)
            self.services[broker] = BrokerService(coordinator, self._log)
            for partition, leader in self._leaders.items():
                if leader != broker:
                    coordinator.resign(now_ms, partition)
            for group in scenario.groups:
                if group.config:
                    coordinator.set_group_config(group.name, group.config)

    # ------------------------------------------------------------------ where things are

    def partition_of(self, group: str) -> int:
        """Partition of `__consumer_offsets` that holds the group."""
        return offsets_partition(group, self._config.offsets_partitions)

    def leader_of(self, group: str) -> int | None:
        """The broker that coordinates the group now; None while there is none."""
        return self._leaders.get(self.partition_of(group))

    def state_of(self, group: str) -> str | None:
        """The group's state at its coordinator; None if it has none."""
        leader = self.leader_of(group)
        if leader is None:
            return None
        state = self.services[leader].coordinator.group_states().get(group)
        return None if state is None else state[1]

    def snapshot_of(self, group: str) -> GroupSnapshot | None:
        """The group as its coordinator has it; None if it has none."""
        leader = self.leader_of(group)
        if leader is None:
            return None
        groups = self.services[leader].coordinator.snapshot()
        return next((snapshot for snapshot in groups if snapshot.group_id == group), None)

    # ------------------------------------------------------------------ changes

    def set_topics(self, now_ms: int, topics: Mapping[str, TopicInfo]) -> None:
        """Topics came or grew."""
        self._topics = topics
        self._spread(now_ms)

    def move(self, now_ms: int, partition: int, to: int | None) -> None:
        """Another broker leads a partition of the log from now on: it begins to load it."""
        before = self._leaders.pop(partition, None)
        if before is not None and before in self.up:
            self.services[before].coordinator.resign(now_ms, partition)
        if to is not None:
            self._leaders[partition] = to
            self.services[to].coordinator.begin_loading(partition)
        self._spread(now_ms)

    def finish_loading(self, now_ms: int, partition: int) -> None:
        """The leader has read the partition."""
        leader = self._leaders.get(partition)
        if leader is None or leader not in self.up:
            return
        coordinator = self.services[leader].coordinator
        for record in self._log.records(partition):
            coordinator.replay(record)
        coordinator.finish_loading(now_ms, partition)

    def next_up(self, after: int | None) -> int | None:
        """The broker that is up and comes after this one in the circle; None if none is."""
        if not self.up:
            return None
        return next((broker for broker in self.up if after is None or broker > after), self.up[0])

    def take_down(self, now_ms: int, broker: int) -> None:
        """The broker is gone; what it led has no leader until somebody moves it."""
        if broker in self.up:
            self.up.remove(broker)
            for partition in self.led_by(broker):
                self.services[broker].coordinator.resign(now_ms, partition)
            # What it would still answer goes nowhere.
            self.services[broker].coordinator.take()
            self._spread(now_ms)

    def bring_up(self, now_ms: int, broker: int) -> None:
        """The broker is back, with nothing to lead but what nobody else leads."""
        if broker not in self.up:
            self.up = sorted([*self.up, broker])
            self._spread(now_ms)

    def led_by(self, broker: int) -> list[int]:
        """Partitions of the log that a broker leads."""
        return [partition for partition, leader in self._leaders.items() if leader == broker]

    def orphans(self) -> list[int]:
        """Partitions of the log that nobody leads."""
        return [n for n in range(self._config.offsets_partitions) if n not in self._leaders]

    def commit(self, now_ms: int, group: str, offsets: Mapping[str, Mapping[int, int]]) -> None:
        """Commits that the group had before the run."""
        topics = tuple(
            OffsetCommitTopic(name, tuple(OffsetCommitPartition(n, at) for n, at in p.items()))
            for name, p in offsets.items()
        )
        leader = self.leader_of(group)
        if leader is not None and topics:
            request = OffsetCommitRequest(version=9, group_id=group, topics=topics)
            self.services[leader].coordinator.submit(now_ms, NOBODY, request)

    def _spread(self, now_ms: int) -> None:
        self._version += 1
        self.topology = self._topology()
        for broker in self.up:
            self.services[broker].update_topology(now_ms, self.topology)

    def _topology(self) -> Topology:
        return Topology(
            topics=self._topics,
            brokers={b: BrokerEndpoint(b, f"broker-{b}", PORT) for b in self.up},
            offsets_leaders={p: broker for p, broker in self._leaders.items() if broker in self.up},
            version=self._version,
        )
