"""A Hypothesis state machine over KIP-848 and failing logs: what must hold whatever happens."""

from collections import Counter
from dataclasses import replace
from uuid import UUID

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kgroups.core.coordinator.classic.messages import (
    JoinGroupProtocol,
    LeaveGroupRequest,
    MemberIdentity,
)
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.groups import GroupSnapshot, MemberSnapshot
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.coordinator_driver import TOPICS, Harness
from tests.support.coordinator.default_requests import join

IDS = st.sampled_from(["a", "b", "c", "d"])
INSTANCES = {"a": None, "b": "i1", "c": "i1", "d": None}
NAMES = st.sampled_from([("t",), ("t", "u"), ("u",), ()])
PATTERNS = st.sampled_from([None, None, "t|u", "u.*", ""])
REFUSALS = st.sampled_from([ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_LEADER_OR_FOLLOWER])
SUBSCRIPTION = b"\x00\x01\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff\x00\x00\x00\x00"


def ids_of(parts: object) -> list[tuple[UUID, int]]:
    """Topic id and number of each partition in a snapshot's facts."""
    assert isinstance(parts, dict)
    return [(topic_id, number) for topic_id, numbers in parts.items() for number in numbers]


class Kip848Groups(RuleBasedStateMachine):
    """Members of both protocols come, heartbeat and go; time passes; the log refuses."""

    def __init__(self) -> None:
        super().__init__()
        config = CoordinatorConfig(
            classic_initial_rebalance_delay_ms=0,
            offsets_partitions=1,
            consumer_assignment_interval_ms=0,
        )
        self.harness = Harness(config)
        self.epochs: dict[str, int] = {}
        self.before: tuple[GroupSnapshot, ...] = ()

    def group(self) -> GroupSnapshot | None:
        """The group as it is now."""
        return next(iter(self.harness.coordinator.snapshot()), None)

    def beat(self, request: ConsumerGroupHeartbeatRequest) -> None:
        """Send a heartbeat; the member learns its epoch."""
        answer = self.harness.ask(request)
        if answer.error_code is ErrorCode.NONE:
            self.epochs[request.member_id] = answer.member_epoch

    def request(self, member_id: str, epoch: int) -> ConsumerGroupHeartbeatRequest:
        """A heartbeat that changes nothing."""
        return ConsumerGroupHeartbeatRequest(
            version=1,
            client_id="c",
            client_host="/127.0.0.1",
            group_id="g",
            member_id=member_id,
            member_epoch=epoch,
            instance_id=INSTANCES[member_id],
        )

    # ------------------------------------------------------------------ rules

    @rule(member_id=IDS, names=NAMES, pattern=PATTERNS)
    def come(self, member_id: str, names: tuple[str, ...], pattern: str | None) -> None:
        """A member joins, or joins anew."""
        request = replace(
            self.request(member_id, 0),
            rebalance_timeout_ms=5_000,
            subscribed_topic_names=names,
            subscribed_topic_regex=pattern,
            topic_partitions=(),
        )
        self.beat(request)

    @rule(member_id=IDS, gives_back=st.booleans())
    def stay(self, member_id: str, gives_back: bool) -> None:
        """A member is still there, with what it is assigned or with all it had."""
        request = self.request(member_id, self.epochs.get(member_id, 1))
        if gives_back:
            group = self.group()
            members = () if group is None else group.members
            mine = [
                one for one in members if one.member_id == member_id and "assigned" in one.facts
            ]
            parts = [pair for one in mine for pair in ids_of(one.facts["assigned"])]
            topics = {topic_id for topic_id, _ in parts}
            request = replace(
                request,
                topic_partitions=tuple(
                    TopicPartitions(topic_id, tuple(n for topic, n in parts if topic == topic_id))
                    for topic_id in sorted(topics)
                ),
            )
        self.beat(request)

    @rule(member_id=IDS, names=NAMES, pattern=PATTERNS)
    def change(self, member_id: str, names: tuple[str, ...], pattern: str | None) -> None:
        """A member subscribes to something else."""
        request = self.request(member_id, self.epochs.get(member_id, 1))
        self.beat(replace(request, subscribed_topic_names=names, subscribed_topic_regex=pattern))

    @rule(member_id=IDS, for_a_while=st.booleans())
    def go(self, member_id: str, for_a_while: bool) -> None:
        """A member leaves, for a while if it is a static one."""
        static = for_a_while and INSTANCES[member_id] is not None
        self.beat(self.request(member_id, -2 if static else -1))

    @rule(member_id=st.sampled_from(["x", "y", "a"]))
    def join_by_the_classic_protocol(self, member_id: str) -> None:
        """A classic member asks to join a group that is there."""
        group = self.group()
        if group is not None and group.kind == "consumer" and group.members:
            self.harness.ask(
                join(member_id=member_id, protocols=(JoinGroupProtocol("range", SUBSCRIPTION),))
            )

    @rule(member_id=st.sampled_from(["x", "y", "a", "b"]))
    def leave_by_the_classic_protocol(self, member_id: str) -> None:
        """LeaveGroup takes members of either protocol."""
        leaving = (MemberIdentity(member_id, None),)
        self.harness.ask(LeaveGroupRequest(version=4, group_id="g", members=leaving))

    @rule(ms=st.sampled_from([1, 1000, 5_000, 11_000, 46_000]))
    def let_time_pass(self, ms: int) -> None:
        """Timers fire."""
        self.harness.advance(ms)

    @rule(error=REFUSALS)
    def refuse_the_next_write(self, error: ErrorCode) -> None:
        """The next records do not reach the log."""
        self.harness.refusal = error

    @rule(grown=st.integers(2, 6))
    def change_topics(self, grown: int) -> None:
        """Topic u grows."""
        harness = self.harness
        topics = dict(harness.topology.topics)
        topics["u"] = topics["u"]._replace(partitions=max(grown, topics["u"].partitions))
        harness.topology = replace(TOPICS, topics=topics, version=harness.topology.version + 1)
        harness.coordinator.update_topology(harness.now_ms, harness.topology)
        harness.collect()

    # ------------------------------------------------------------------ what always holds

    @invariant()
    def replaying_the_log_gives_what_was_written(self) -> None:
        """What the log refused has left no trace; the rest is in it."""
        self.harness.assert_replica_is_equal()

    @invariant()
    def no_partition_has_two_holders(self) -> None:
        """A partition is given to a member only when no other has it or must give it back."""
        for group in self.harness.coordinator.snapshot():
            if group.kind == "consumer":
                held: Counter[tuple[UUID, int]] = Counter()
                for one in group.members:
                    held.update(self._held(one))
                assert not [partition for partition, count in held.items() if count > 1]

    @staticmethod
    def _held(member: MemberSnapshot) -> set[tuple[UUID, int]]:
        return {*ids_of(member.facts["assigned"]), *ids_of(member.facts["pending"])}

    @invariant()
    def epochs_fit_together(self) -> None:
        """No target is ahead of its group, no member ahead of the target."""
        for group in self.harness.coordinator.snapshot():
            if group.kind == "consumer":
                target = group.facts["target_epoch"]
                assert isinstance(target, int)
                assert target <= group.epoch
                assert all(one.epoch <= target for one in group.members)


Kip848Groups.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
TestKip848Groups = Kip848Groups.TestCase


def test_a_refused_heartbeat_leaves_the_group_as_it_was() -> None:
    """The member is told, and everything the batch did is undone."""
    world = Kip848Groups()
    world.come("a", ("t",), None)
    world.come("d", ("t", "u"), "u.*")
    before = world.harness.coordinator.snapshot()
    world.harness.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
    request = replace(world.request("a", world.epochs["a"]), subscribed_topic_names=("u",))
    answer = world.harness.ask(request)
    assert answer.error_code is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.harness.coordinator.snapshot() == before
    assert world.harness.ask(request).error_code is ErrorCode.NONE
    world.replaying_the_log_gives_what_was_written()
