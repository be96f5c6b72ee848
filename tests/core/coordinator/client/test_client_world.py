"""Members driven against the real coordinator in virtual time: they converge."""

import pytest

from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from kgroups.core.coordinator.client.classic.states import ClientState
from kgroups.core.coordinator.client.effects import CallbackKind, ClientEventKind, TopicPartition
from kgroups.core.coordinator.offsets.messages import OffsetCommitRequest
from kgroups.core.coordinator.request import Request
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.classic_client_world import SETTLE_MS, App, World

EAGER = ["range", "roundrobin", "sticky", "lag"]
ALL = [*EAGER, "cooperative-sticky"]
DEATH_MS = 30_000  # session timeout, rebalance, and some


def kinds(app: App) -> list[CallbackKind]:
    """Kinds of an application's callbacks, in order."""
    return [one.kind for one in app.callbacks]


@pytest.mark.parametrize("assignors", EAGER)
def test_an_eager_group_lives_through_joins_leaves_and_deaths(assignors: str) -> None:
    """One generation each for the start, a newcomer, who leaves and who is killed."""
    world = World(1)
    first, second, third = world.group(assignors)
    late = world.start("late", assignors)
    world.settle()
    assert world.generation == 2
    assert kinds(first) == [CallbackKind.ASSIGNED, CallbackKind.REVOKED, CallbackKind.ASSIGNED]
    world.stop(first)
    world.settle()
    assert world.generation == 3
    assert (first.client.state, first.client.owned) == (ClientState.CLOSED, ())
    assert isinstance(first.sent[-1], LeaveGroupRequest)
    world.kill(second)
    world.settle(DEATH_MS)
    assert world.generation == 4
    assert sorted(world.shares()) == sorted([third.name, late.name])


def test_a_cooperative_newcomer_costs_two_generations_and_no_partition_that_stays() -> None:
    """The first round takes away, the second gives; who gives nothing is told of nothing."""
    world = World(2)
    apps = world.group("cooperative-sticky")
    late = world.start("late", "cooperative-sticky")
    world.settle()
    assert world.generation == 3
    revoked = [one for app in apps for one in app.callbacks if one.kind is CallbackKind.REVOKED]
    assert [len(one.partitions) for one in revoked] == [1]
    assert late.client.owned == revoked[0].partitions
    givers = [app for app in apps if CallbackKind.REVOKED in kinds(app)]
    assert "need to revoke partitions and re-join" in givers[0].reasons()


@pytest.mark.parametrize("assignors", ALL)
def test_offsets_are_committed_before_partitions_are_given_up(assignors: str) -> None:
    """The new owner of every partition goes on where the old one stopped (World checks each)."""
    world = World(3)
    apps = world.group(assignors)
    before = dict(apps[0].positions)
    assert all(position > 0 for position in before.values())
    world.stop(apps[0])
    world.settle()
    for partition, position in before.items():
        (owner,) = [app for app in world.living() if partition in app.client.owned]
        assert owner.positions[partition] >= position
        assert world.committed[partition] >= position


def test_a_members_id_is_handed_out_first() -> None:
    """The first JoinGroup has no id and is answered 79; the second names the id of the answer."""
    world = World(4)
    (app,) = world.group("range", 1)
    joins = [one for one in app.sent if isinstance(one, JoinGroupRequest)]
    (event,) = app.told(ClientEventKind.MEMBER_ID_GIVEN)
    assert [one.member_id for one in joins] == ["", event.detail[0]]


def test_a_static_member_restarts_without_a_rebalance() -> None:
    """No LeaveGroup, the same generation, the same partitions, a new member id."""
    world = World(5)
    apps = [world.start(f"s{n}", "sticky", group_instance_id=f"i{n}") for n in range(3)]
    world.settle()
    shares = world.shares()
    for place, app in enumerate(apps):
        world.stop(app)
        world.run(1_000)
        assert not [one for one in app.sent if isinstance(one, LeaveGroupRequest)]
        again = world.start(app.name, "sticky", group_instance_id=f"i{place}")
        world.run(4_000)
        assert again.client.identity[1] != app.client.identity[1]
        world.assert_settled()
    assert (world.generation, world.shares()) == (1, shares)


def test_a_second_process_with_the_same_instance_id_fences_the_first() -> None:
    """The first fails for good, loses its partitions on close, and says no good-bye."""
    world = World(6, disjoint=False)
    first = world.start("one", group_instance_id="i")
    world.run(SETTLE_MS)
    second = world.start("two", group_instance_id="i")
    world.run(SETTLE_MS)
    failed = first.client.state
    assert failed is ClientState.FAILED
    assert "FENCED_INSTANCE_ID" in (first.client.failure or "")
    world.stop(first)
    world.run(1_000)
    assert kinds(first)[-1] is CallbackKind.LOST
    assert first.client.state is ClientState.CLOSED
    world.assert_settled()
    assert world.shares() == {"two": [0, 1, 2, 3, 4, 5]}
    assert second.client.identity[0] == 1


@pytest.mark.parametrize("assignors", ALL)
def test_who_stops_polling_leaves_and_comes_back_having_lost_everything(assignors: str) -> None:
    """It says LeaveGroup, the others take over; back at its poll it is told `lost`."""
    world = World(7, disjoint=False)
    apps = world.group(assignors)
    world.stall(apps[1])
    world.run(30_000 + SETTLE_MS)
    left = [one for one in apps[1].sent if isinstance(one, LeaveGroupRequest)]
    assert [one.members[0].reason for one in left] == ["consumer poll timeout has expired"]
    world.assert_settled(missing=[apps[1].name])
    world.wake(apps[1])
    world.settle()
    after = kinds(apps[1])[1:]
    rounds = 2 if assignors == "cooperative-sticky" else 1  # the first may give it nothing
    assert after == [CallbackKind.LOST, *[CallbackKind.ASSIGNED] * rounds]


@pytest.mark.parametrize("code", [14, 15, 16, 22, 25, 27])
@pytest.mark.parametrize(
    "kind", [JoinGroupRequest, SyncGroupRequest, HeartbeatRequest, OffsetCommitRequest]
)
@pytest.mark.parametrize("assignors", ["range", "cooperative-sticky"])
def test_one_wrong_answer_is_survived(assignors: str, kind: type[Request], code: int) -> None:
    """Whatever is refused once, the group settles again, with every partition owned."""
    if (kind, code) == (JoinGroupRequest, 22):
        code = 27  # JoinGroup carries no generation, so it is never answered 22
    world = World(code, disjoint=False)
    world.group(assignors)
    world.faults[kind] = [ErrorCode(code)]
    world.start("late", assignors)
    world.settle(60_000)
    assert world.faults[kind] == []


@pytest.mark.parametrize(
    "kind", [JoinGroupRequest, SyncGroupRequest, HeartbeatRequest, OffsetCommitRequest]
)
def test_one_lost_request_is_survived(kind: type[Request]) -> None:
    """A request that nobody answers is given up after its time and the coordinator looked up."""
    world = World(8, disjoint=False)
    world.group("sticky")
    world.lost.append(kind)
    world.start("late", "sticky")
    world.settle(150_000)
    assert world.lost == []


def test_a_heartbeat_answered_16_only_looks_the_coordinator_up_again() -> None:
    """No rebalance, no callback: found again, the member goes on."""
    world = World(9)
    apps = world.group("range")
    world.faults[HeartbeatRequest] = [ErrorCode.NOT_COORDINATOR]
    world.settle()
    assert world.generation == 1
    found = sorted(len(app.told(ClientEventKind.COORDINATOR_FOUND)) for app in apps)
    assert found == [1, 1, 2]


def test_a_refused_generation_keeps_the_id_and_loses_the_partitions() -> None:
    """22 on a heartbeat: `lost`, and the next JoinGroup names the same member."""
    world = World(10, disjoint=False)
    (app,) = world.group("range", 1)
    _, member_id = app.client.identity
    world.faults[HeartbeatRequest] = [ErrorCode.ILLEGAL_GENERATION]
    world.settle()
    assert app.client.identity == (2, member_id)
    assert CallbackKind.LOST in kinds(app)


def test_more_partitions_and_another_subscription_ask_for_a_rebalance() -> None:
    """The leader sees the topic grow; whoever subscribes to something else joins again."""
    world = World(11, t=2, u=2)
    apps = [world.start(name, topics=("t", "u")) for name in "ab"]
    world.settle()
    world.add_partitions(t=4, u=2)
    world.settle()
    assert world.generation == 2
    reasons = {reason for app in apps for reason in app.reasons()}
    assert "t has 4 partitions instead of 2" in reasons


def test_heartbeats_stop_between_joingroup_and_its_answer() -> None:
    """They go on while partitions are given up, and pause while the JoinGroup is under way."""
    world = World(12)
    first, _ = world.group("range", 2)
    world.stall(world.start("slow"))
    world.run(SETTLE_MS)
    assert first.client.state in (ClientState.JOINING, ClientState.STABLE)
    kinds_sent = [type(one) for one in first.sent]
    joins = [place for place, kind in enumerate(kinds_sent) if kind is JoinGroupRequest]
    for place in joins:
        assert kinds_sent[place + 1] in (JoinGroupRequest, SyncGroupRequest)


def test_closing_while_joining_leaves_the_group() -> None:
    """A member that is closed during the initial delay is gone at once."""
    world = World(13)
    app, other = world.start("a"), world.start("b")
    world.run(1_000)
    closed_in = app.client.state
    assert closed_in is ClientState.JOINING
    world.stop(app)
    world.run(SETTLE_MS)
    assert app.client.state is ClientState.CLOSED
    world.assert_settled()
    assert other.client.owned == tuple(TopicPartition("t", n) for n in range(6))
