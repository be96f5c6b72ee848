"""A KIP-848 group on our own coordinator, whose equality with Kafka's another suite holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from kgroups.core.coordinator.topology import TopicInfo, Topology
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.snapshot import ClusterSnapshot, Group, PartitionLog, Topic
from kgroups.core.uuids import uuid_text
from tests.support.coordinator.coordinator_driver import Harness
from tests.support.planning.moving_group import described_group

GROUP = "g"
LEAVING = -1
ROUNDS = 30


@dataclass
class _Client:
    """What a member knows of itself."""

    topics: tuple[str, ...]
    pattern: str = ""
    epoch: int = 0
    owned: tuple[TopicPartitions, ...] = ()
    said: bool = field(default=False)


class CoordinatedGroup:
    """The group's members and the coordinator.

    Args:
        topics: name to id and partitions.
        interval_ms: `group.consumer.assignment.interval.ms`.
    """

    def __init__(
        self, topics: Mapping[str, tuple[UUID, int]], assignor: str, *, interval_ms: int = 0
    ) -> None:
        self._infos = {
            name: TopicInfo(name, topic_id, count) for name, (topic_id, count) in topics.items()
        }
        config = CoordinatorConfig(consumer_assignment_interval_ms=interval_ms)
        topology = Topology.of(list(self._infos.values()), version=1)
        self._harness = Harness(config, topology)
        self._assignor = assignor
        self._clients: dict[str, _Client] = {}

    def join(self, member_id: str, topics: Sequence[str], pattern: str = "") -> None:
        """A member's first heartbeat, and no more."""
        self._clients[member_id] = _Client(tuple(topics), pattern)
        self._beat(member_id)

    def leave(self, member_id: str) -> None:
        """A member's last heartbeat."""
        del self._clients[member_id]
        self._send(member_id, LEAVING)

    def subscribe(self, member_id: str, topics: Sequence[str]) -> None:
        """A member's heartbeat with other topics."""
        self._clients[member_id].topics = tuple(topics)
        self._clients[member_id].said = False
        self._beat(member_id)

    def beat_all(self) -> None:
        """A heartbeat of everybody, and no time passes."""
        for member_id in list(self._clients):
            self._beat(member_id)

    def settle(self) -> Group:
        """The group when everybody has what the coordinator wants; time passes."""
        for _ in range(ROUNDS):
            self._harness.advance(2_000)
            self.beat_all()
            group = self.described()
            members = group.members or ()
            if group.group_epoch == group.target_epoch and all(
                member.member_epoch == group.group_epoch
                and member.assignment == member.target_assignment
                for member in members
            ):
                return group
        raise AssertionError(f"the group does not settle: {self.described()}")

    def described(self) -> Group:
        """The group as ConsumerGroupDescribe shows it."""
        return described_group(self._harness.ask, GROUP)

    def snapshot(self, group: Group) -> ClusterSnapshot:
        """A cluster with this group and the topics."""
        topics = {
            name: Topic(
                name, {p: PartitionLog() for p in range(info.partitions)}, uuid_text(info.topic_id)
            )
            for name, info in self._infos.items()
        }
        return ClusterSnapshot(0, (group,), topics)

    def _beat(self, member_id: str) -> None:
        client = self._clients[member_id]
        first = client.epoch == 0
        answer = self._send(
            member_id,
            client.epoch,
            topics=None if client.said else client.topics,
            pattern=None if client.said else client.pattern or None,
            owned=() if first else client.owned,
            assignor=self._assignor if first else None,
        )
        client.said = True
        client.epoch = answer.member_epoch
        if answer.assignment is not None:
            client.owned = answer.assignment

    def _send(
        self,
        member_id: str,
        epoch: int,
        *,
        topics: tuple[str, ...] | None = None,
        pattern: str | None = None,
        owned: tuple[TopicPartitions, ...] | None = None,
        assignor: str | None = None,
    ) -> ConsumerGroupHeartbeatResponse:
        request = ConsumerGroupHeartbeatRequest(
            version=1,
            client_id="app",
            client_host="/h",
            group_id=GROUP,
            member_id=member_id,
            member_epoch=epoch,
            rebalance_timeout_ms=60_000,
            subscribed_topic_names=topics,
            subscribed_topic_regex=pattern,
            topic_partitions=owned,
            server_assignor=assignor,
        )
        answer: ConsumerGroupHeartbeatResponse = self._harness.ask(request)
        assert answer.error_code is ErrorCode.NONE, answer
        return answer
