"""A group that changes its protocol on our own coordinator, whose equality with Kafka's is held
by another suite: the classic group is loaded, then members leave and come by either protocol.
"""

import random
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from typing import Any

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.kip848.messages import ConsumerGroupDescribeRequest
from kgroups.core.planning.migration.speakers import ClassicSpeaker, Kip848Speaker, Speaker
from kgroups.core.planning.migration.stored_group import classic_records, topology_of
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, Topic
from tests.support.coordinator.coordinator_driver import Harness

ROUNDS = 40


class MovingGroup:
    """The members of one group, by client id, and its coordinator.

    Args:
        group: as a classic group at rest, or an empty one of either protocol.
        strategy: assignor of its classic members.
        asked: server-side assignor of the others.
        interval_ms: `group.consumer.assignment.interval.ms`.
        dice: decides who is heard when.
        static: client ids of the static members.
    """

    def __init__(
        self,
        topics: Mapping[str, Topic],
        group: Group,
        strategy: str,
        asked: str,
        dice: random.Random,
        *,
        interval_ms: int = 0,
        static: Container[str] = (),
    ) -> None:
        self.group, self._topics, self._dice = group, topics, dice
        self._strategy, self._asked, self._static = strategy, asked, static
        self._topology = topology_of(
            topics, group, [Member("", "", "", subscription=tuple(topics))]
        )
        config = CoordinatorConfig(consumer_assignment_interval_ms=interval_ms)
        self._harness = Harness(config, self._topology, follows=False)
        self._speakers: dict[str, Speaker] = {}
        if group.members:
            self._harness.coordinator.reload(self._harness.now_ms, classic_records(group))
            (loaded,) = self._harness.coordinator.snapshot()
            for facts in group.members:
                held = {name: tuple(numbers) for name, numbers in (facts.assignment or {}).items()}
                self._speakers[facts.client_id] = ClassicSpeaker(
                    facts, group.group, strategy, facts.member_id, loaded.epoch, held
                )

    @property
    def snapshot(self) -> ClusterSnapshot:
        """The cluster with this group as it is."""
        return ClusterSnapshot(0, (self.group,), self._topics)

    def join_kip848(self, client_id: str, member_id: str) -> None:
        """A member's first heartbeat, and no more; a static one replaces its last life."""
        facts = self._facts(client_id, member_id)
        speaker = Kip848Speaker(
            replace(facts, member_protocol="consumer"), self.group.group, asks_for=self._asked
        )
        speaker.beat(self._ask, self._topology)
        self._speakers[client_id] = speaker

    def join_classic(self, client_id: str, member_id: str) -> None:
        """A member joins the consumer group by JoinGroup; a static one draws another id."""
        facts = self._facts(client_id, member_id)
        name = "" if facts.instance_id else member_id
        speaker = ClassicSpeaker(facts, self.group.group, self._strategy, name)
        speaker.beat(self._ask, self._topology)
        self._speakers[client_id] = speaker

    def leave(self, client_id: str) -> None:
        """A member leaves for good."""
        self._speakers.pop(client_id).leave(self._ask)

    def wait(self, ms: int) -> None:
        """Time passes, and nobody is heard."""
        self._harness.advance(ms)

    def settle(self) -> Group:
        """The group at rest."""
        for _ in range(ROUNDS):
            for client_id in self._dice.sample(list(self._speakers), len(self._speakers)):
                self._speakers[client_id].beat(self._ask, self._topology)
            self.wait(self._dice.choice((100, 700, 2_000)))
            found = described_group(self._ask, self.group.group)
            if self._rests(found):
                self.group = found
                return found
        raise AssertionError(f"the group does not settle: {found}")

    def _rests(self, group: Group) -> bool:
        return (
            group.state in ("Stable", "Empty")
            and all(
                one.synced for one in self._speakers.values() if isinstance(one, ClassicSpeaker)
            )
            and all(
                one.assignment == one.target_assignment == self._speakers[one.client_id].owned
                for one in group.members or ()
            )
        )

    def _facts(self, client_id: str, member_id: str) -> Member:
        instance = f"i-{client_id}" if client_id in self._static else None
        return Member(member_id, client_id, "/h", instance, subscription=tuple(self._topics))

    def _ask(self, request: Any) -> Any:
        return self._harness.ask(request)


def described_group(ask: Callable[[Any], Any], name: str) -> Group:
    """A group as ConsumerGroupDescribe shows it."""
    (found,) = ask(ConsumerGroupDescribeRequest(version=1, group_ids=(name,))).groups
    return Group(
        name,
        "consumer",
        found.group_state,
        "consumer",
        found.assignor_name,
        group_epoch=found.group_epoch,
        target_epoch=found.assignment_epoch,
        members=tuple(
            Member(
                one.member_id,
                one.client_id,
                one.client_host,
                one.instance_id,
                "consumer" if one.member_type else "classic",
                one.member_epoch,
                subscription=one.subscribed_topic_names,
                subscription_regex=one.subscribed_topic_regex or None,
                assignment=_by_name(one.assignment),
                target_assignment=_by_name(one.target_assignment),
                rack=one.rack_id,
            )
            for one in found.members
        ),
    )


def _by_name(held: Any) -> dict[str, tuple[int, ...]]:
    return {one.topic_name: tuple(one.partitions) for one in held if one.partitions}
