"""The client half of KIP-848 against the real coordinator: it joins, hands over, comes back."""

from dataclasses import replace
from typing import Any

import pytest

from kgroups.core.coordinator.admin_messages import FindCoordinatorRequest
from kgroups.core.coordinator.client.effects import (
    CallbackKind,
    ClientEventKind,
    Close,
    TopicPartition,
    UpdateTopics,
)
from kgroups.core.coordinator.client.kip848.member import MOVES, MemberState
from kgroups.core.coordinator.kip848.messages import ConsumerGroupHeartbeatRequest
from kgroups.core.coordinator.offsets.messages import OffsetCommitRequest
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.classic_client_world import topology
from tests.support.coordinator.kip848_client_world import Member, World


def kinds(member: Member) -> list[CallbackKind]:
    """Kinds of a member's callbacks, in order."""
    return [one.kind for one in member.callbacks]


def group_of(world: World, number: int = 2, **settings: Any) -> list[Member]:
    """That many settled members."""
    members = [world.start(f"m{place}", **settings) for place in range(number)]
    world.settle()
    assert sorted(n for share in world.shares().values() for n in share) == list(range(6))
    assert {one.client.state for one in members} == {MemberState.STABLE}
    return members


def test_the_first_heartbeat_is_full_and_those_after_it_say_only_what_changed() -> None:
    """Epoch 0 with everything; then the acknowledgement with what is owned; then nothing."""
    world = World()
    (member,) = group_of(world, 1)
    first, second, *rest = member.beats()
    assert (first.member_epoch, first.subscribed_topic_names) == (0, ("t",))
    assert (first.topic_partitions, first.rebalance_timeout_ms) == ((), 30_000)
    assert second.topic_partitions is not None
    assert second.subscribed_topic_names is None
    assert sum(len(one.partitions) for one in second.topic_partitions) == 6
    assert rest
    assert all(one.topic_partitions is None for one in rest)
    assert all(one.rebalance_timeout_ms == -1 for one in rest)


def test_a_newcomer_gets_what_the_others_have_given_up_first() -> None:
    """The holder commits, revokes, acknowledges; only then has the newcomer something."""
    world = World()
    (first,) = group_of(world, 1)
    late = world.start("late")
    world.settle()
    assert world.shares() == {"m0": [0, 1, 2], "late": [3, 4, 5]}
    # A reconciliation ends with `assigned`, though nothing came.
    assert kinds(first) == [CallbackKind.ASSIGNED, CallbackKind.REVOKED, CallbackKind.ASSIGNED]
    assert first.callbacks[-1].partitions == ()
    commits = [one for one in first.sent if isinstance(one, OffsetCommitRequest)]
    assert len(commits) == 1
    revoked_at = first.sent.index(commits[0])
    after = [
        one for one in first.sent[revoked_at:] if isinstance(one, ConsumerGroupHeartbeatRequest)
    ]
    assert after[0].topic_partitions is not None
    assert [c.kind for c in late.callbacks if c.partitions] == [CallbackKind.ASSIGNED]


@pytest.mark.parametrize("error", [ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID])
def test_who_is_fenced_loses_everything_and_joins_again(error: ErrorCode) -> None:
    """Epoch 0 under the same id, `lost` before, `assigned` after."""
    world = World()
    (member,) = group_of(world, 1)
    world.faults[ConsumerGroupHeartbeatRequest] = [error]
    world.run(1_500)
    world.settle()
    assert kinds(member) == [CallbackKind.ASSIGNED, CallbackKind.LOST, CallbackKind.ASSIGNED]
    joins = [one for one in member.beats() if one.member_epoch == 0]
    assert len(joins) == 2
    assert joins[1].subscribed_topic_names == ("t",)
    assert {one.member_id for one in joins} == {"id-m0"}
    assert world.shares() == {"m0": [0, 1, 2, 3, 4, 5]}


@pytest.mark.parametrize("static", [False, True])
def test_leaving_says_so_in_the_epoch(static: bool) -> None:
    """-1, or -2 of a static member, whose partitions stay with it."""
    world = World()
    settings = {"group_instance_id": "i"} if static else {}
    member = world.start("gone", **settings)
    other = world.start("stays")
    world.settle()
    owned = world.shares()["stays"]
    world.tell(member, Close())
    world._poll(member)
    assert member.client.state is MemberState.CLOSED
    assert member.beats()[-1].member_epoch == (-2 if static else -1)
    assert kinds(member)[-1] is CallbackKind.REVOKED
    member.alive = False
    world.settle()
    assert world.shares()["stays"] == (owned if static else [0, 1, 2, 3, 4, 5])
    if static:
        again = world.start("gone-again", group_instance_id="i")
        world.settle()
        assert again.client.state is MemberState.STABLE
        assert sorted(world.shares()["gone-again"] + owned) == list(range(6))
        assert CallbackKind.REVOKED not in kinds(other)


def test_who_does_not_poll_leaves_and_comes_back_at_its_next_poll() -> None:
    """After max.poll.interval.ms it says -1; back at its poll it is told `lost` and joins."""
    world = World()
    first, second = group_of(world)
    first.polls = False
    world.run(31_000)
    assert first.client.state is MemberState.STALE
    assert first.beats()[-1].member_epoch == -1
    world.settle()
    assert world.shares()["m1"] == [0, 1, 2, 3, 4, 5]
    first.polls = True
    world.settle()
    assert kinds(first)[-2:] == [CallbackKind.LOST, CallbackKind.ASSIGNED]
    assert first.client.state is second.client.state is MemberState.STABLE
    assert sorted(map(len, world.shares().values())) == [3, 3]


@pytest.mark.parametrize("error", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE])
def test_a_coordinator_that_moved_is_looked_for_without_a_rebalance(error: ErrorCode) -> None:
    """FindCoordinator again, then a full heartbeat in the old epoch; nothing is given up."""
    world = World()
    (member,) = group_of(world, 1)
    epoch = member.client.epoch
    world.faults[ConsumerGroupHeartbeatRequest] = [error]
    world.run(3_000)
    finds = [one for one in member.sent if isinstance(one, FindCoordinatorRequest)]
    assert len(finds) == 2
    full = next(one for one in member.beats()[2:] if one.subscribed_topic_names is not None)
    assert full.member_epoch == epoch
    assert kinds(member) == [CallbackKind.ASSIGNED]
    assert member.client.state is MemberState.STABLE


def test_loading_is_waited_for_with_growing_patience() -> None:
    """100, 200, 400 ms between the attempts, at the same coordinator."""
    world = World()
    (member,) = group_of(world, 1)
    before = len(member.beats())
    world.faults[ConsumerGroupHeartbeatRequest] = [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS] * 3
    world.run(3_000)
    assert len(member.beats()) >= before + 4
    assert sum(isinstance(one, FindCoordinatorRequest) for one in member.sent) == 1
    assert member.client.state is MemberState.STABLE


@pytest.mark.parametrize(
    "error", [ErrorCode.UNRELEASED_INSTANCE_ID, ErrorCode.UNSUPPORTED_ASSIGNOR]
)
def test_a_fatal_error_ends_it(error: ErrorCode) -> None:
    """It fails with the broker's words and sends nothing more."""
    world = World()
    world.faults[ConsumerGroupHeartbeatRequest] = [error]
    member = world.start("m0")
    world.run(3_000)
    failed = member.client.state
    assert failed is MemberState.FATAL
    assert member.client.failure == f"ConsumerGroupHeartbeat was answered {error.name}: no"
    assert len(member.beats()) == 1
    world.tell(member, Close())
    assert member.client.state is MemberState.CLOSED
    assert len(member.beats()) == 1


def test_a_broken_connection_is_found_out_by_the_request_timeout() -> None:
    """No answer for request.timeout.ms: find the coordinator, beat again, stay."""
    world = World()
    (member,) = group_of(world, 1, request_timeout_ms=2_000)
    world.faults[ConsumerGroupHeartbeatRequest] = [None]
    world.run(4_000)
    assert any(one.kind is ClientEventKind.COORDINATOR_LOST for one in member.events)
    assert member.client.state is MemberState.STABLE


def test_a_pattern_goes_to_the_coordinator_and_an_unknown_topic_asks_for_metadata() -> None:
    """The pattern stands in the first heartbeat; a topic without a name is waited for."""
    world = World(t1=2)
    member = world.start("m0", pattern="t.*")
    world.settle()
    assert member.beats()[0].subscribed_topic_regex == "t.*"
    assert len(member.client.owned) == 2
    world.topology = replace(topology(t1=2, t2=3), version=1)
    world.coordinator.update_topology(world.now_ms, world.topology)
    world.run(15_000)
    assert any(one.kind is ClientEventKind.TOPICS_NEEDED for one in member.events)
    assert len(member.client.owned) == 2
    world.tell(member, UpdateTopics(world.topology.topics))
    world.settle()
    assert member.client.state is MemberState.STABLE
    assert TopicPartition("t2", 2) in member.client.owned
    assert len(member.client.owned) == 5


def test_every_state_is_in_the_table() -> None:
    """Moves are told for each state, and lead to states."""
    assert set(MOVES) == set(MemberState)
