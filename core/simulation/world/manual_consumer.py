"""A consumer that is assigned its partitions by hand, and is no member of its group."""

from random import Random

from kgroups.core.coordinator.client.effects import (
    Assign,
    Close,
    CommitOffsets,
    Subscribe,
    TopicPartition,
    UpdateTopics,
)
from kgroups.core.coordinator.client.manual import ManualClient
from kgroups.core.coordinator.client.ports import Offsets
from kgroups.core.coordinator.topology import Topology
from kgroups.core.simulation.world.actors import Hold, Release
from kgroups.core.simulation.world.client_settings import client_config
from kgroups.core.simulation.world.group_consumer import GroupConsumer


class ManualConsumer(GroupConsumer):
    """A consumer with `assign`: it owns what it names from its start to its end."""

    _client: ManualClient

    def _make(self, now_ms: int) -> ManualClient:
        config = client_config(self.group, self.plan)
        return ManualClient(config, now_ms=now_ms, positions=self.positions)

    def start(self, now_ms: int, topology: Topology) -> None:
        """Take the partitions, and ask where the group was."""
        self._client = self._make(now_ms)
        partitions: list[TopicPartition] = []
        for topic, numbers in self.plan.assign:
            topic_now = topology.topic(topic)
            every = range(0 if topic_now is None else topic_now.partitions)
            partitions += [TopicPartition(topic, number) for number in numbers or every]
        self._tell(now_ms, Assign(tuple(partitions)))
        self.outputs.append(Hold(self._client.owned, self.epoch))
        self._lookup.want(self._sought(self._client.owned))
        self._look(now_ms)

    def _subscription(self, topology: Topology) -> Subscribe:
        return Subscribe(())

    def listen(self, random: Random) -> None:
        """Nobody gives it anything, or takes it away."""

    def poll(self, now_ms: int) -> None:
        """Nothing: no rebalance begins."""

    def polled(self, now_ms: int, at_ms: int) -> None:
        """Nothing: nobody waits for its polls."""

    def commit(self, now_ms: int, offsets: Offsets, *, number: int = 0, sync: bool = False) -> None:
        """Commit as who is no member: the coordinator decides."""
        self._tell(now_ms, CommitOffsets(offsets, number, sync))

    def close(self, now_ms: int) -> None:
        """Commit, where it auto-commits; there is nobody to say good-bye to."""
        self._tell(now_ms, Close())
        self.outputs.append(Release(self._client.owned))

    def update_topics(self, now_ms: int, topology: Topology) -> None:
        """Its partitions stay those that it has named."""
        self._tell(now_ms, UpdateTopics(topology.topics))

    @property
    def settled(self) -> bool:
        """It knows where to read."""
        return not self._lookup.wanted and not self._client.closed

    @property
    def idle(self) -> bool:
        """It is in no group."""
        return self.settled

    @property
    def closed(self) -> bool:
        """Its last commit is answered."""
        return self._client.closed
