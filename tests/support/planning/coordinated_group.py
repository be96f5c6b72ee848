"""A KIP-848 group on our own coordinator, whose equality with Kafka's another suite holds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.kip848.messages import ConsumerGroupHeartbeatRequest
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.topology import TopicInfo, Topology
from kgroups.core.planning.migration.speakers import Kip848Speaker
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, PartitionLog, Topic
from kgroups.core.uuids import uuid_text
from tests.support.coordinator.coordinator_driver import Harness
from tests.support.planning.moving_group import described_group

GROUP = "g"
ROUNDS = 30


class CoordinatedGroup:
    """The group's members and the coordinator.

    Args:
        topics: name to id and partitions.
        interval_ms: `group.consumer.assignment.interval.ms`.
    """

    def __init__(
        self, topics: Mapping[str, tuple[UUID, int]], assignor: str, *, interval_ms: int = 0
    ) -> None:
        infos = [TopicInfo(name, topic_id, count) for name, (topic_id, count) in topics.items()]
        config = CoordinatorConfig(consumer_assignment_interval_ms=interval_ms)
        self._topology = Topology.of(infos, version=1)
        self._harness = Harness(config, self._topology, follows=False)
        self._assignor = assignor
        self._speakers: dict[str, Kip848Speaker] = {}

    def join(self, member_id: str, topics: Sequence[str], pattern: str = "") -> None:
        """A member's first heartbeat, and no more."""
        facts = Member(
            member_id,
            "app",
            "/h",
            subscription=tuple(topics),
            subscription_regex=pattern or None,
        )
        self._speakers[member_id] = Kip848Speaker(facts, GROUP, asks_for=self._assignor)
        self._beat(member_id)

    def leave(self, member_id: str) -> None:
        """A member's last heartbeat."""
        self._speakers.pop(member_id).leave(self._harness.ask)

    def subscribe(self, member_id: str, topics: Sequence[str]) -> None:
        """A member's heartbeat with other topics."""

        def say(request: Request) -> Any:
            assert isinstance(request, ConsumerGroupHeartbeatRequest)
            return self._harness.ask(replace(request, subscribed_topic_names=tuple(topics)))

        self._speakers[member_id].beat(say, self._topology)

    def beat_all(self) -> None:
        """A heartbeat of everybody, and no time passes."""
        for member_id in self._speakers:
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
            for name, info in self._topology.topics.items()
        }
        return ClusterSnapshot(0, (group,), topics)

    def _beat(self, member_id: str) -> None:
        self._speakers[member_id].beat(self._harness.ask, self._topology)
