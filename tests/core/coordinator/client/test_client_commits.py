"""Commits of a member: asked for by the application, before a join, and on closing."""

from typing import Any

import pytest

from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
)
from kgroups.core.coordinator.client.classic.states import ClientState
from kgroups.core.coordinator.client.effects import (
    ClientEventKind,
    CommitOffsets,
    Subscribe,
    TopicPartition,
)
from kgroups.core.coordinator.offsets.messages import OffsetCommitRequest
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.classic_client_world import SETTLE_MS, App, World

T0 = TopicPartition("t", 0)
DONE, FAILED = ClientEventKind.OFFSETS_COMMITTED, ClientEventKind.COMMIT_FAILED


def settled(seed: int, **settings: Any) -> tuple[World, App]:
    """A world with one member of a settled group, which commits nothing by itself."""
    world = World(seed, disjoint=False)
    app = world.start("a", enable_auto_commit=False, **settings)
    world.settle()
    return world, app


def commits(app: App) -> list[OffsetCommitRequest]:
    """The OffsetCommits that it has sent."""
    return [one for one in app.sent if isinstance(one, OffsetCommitRequest)]


def outcome(app: App) -> list[tuple[ClientEventKind, str, int]]:
    """What it was told of its commits: kind, reason, number."""
    return [
        (one.kind, one.reason, int(str(one.detail[0])))
        for one in app.events
        if one.kind in (DONE, FAILED) and one.detail
    ]


def stored(world: World) -> int | None:
    """The offset that the coordinator has for t-0."""
    (group,) = world.coordinator.snapshot()
    value = group.offsets.get("t", {}).get(0)
    return None if value is None else value.offset


def test_a_commit_speaks_for_the_generation() -> None:
    """It carries generation and member id, and an event tells that it was taken."""
    world, app = settled(1)
    world.tell(app, CommitOffsets({T0: 7}, number=3))
    world.run(100)
    (request,) = commits(app)
    assert (request.generation_id_or_member_epoch, request.member_id) == app.client.identity
    assert outcome(app) == [(DONE, "", 3)]
    assert stored(world) == 7


def test_several_commits_under_way_are_told_apart() -> None:
    """Each event names the commit's own number."""
    world, app = settled(2)
    world.faults[OffsetCommitRequest] = [ErrorCode.OFFSET_METADATA_TOO_LARGE]
    for number in (1, 2, 3):
        world.tell(app, CommitOffsets({T0: number}, number=number))
    world.run(100)
    told = sorted(outcome(app), key=lambda one: one[2])
    assert [number for _, _, number in told] == [1, 2, 3]
    assert sorted(kind for kind, _, _ in told) == sorted([FAILED, DONE, DONE])


@pytest.mark.parametrize("code", [14, 15, 16, 7, 13])
def test_a_commit_that_is_waited_for_is_tried_again(code: int) -> None:
    """Until the coordinator takes it; the application is told once."""
    world, app = settled(code)
    world.faults[OffsetCommitRequest] = [ErrorCode(code)] * 3
    world.tell(app, CommitOffsets({T0: 9}, number=5, sync=True))
    world.run(SETTLE_MS)
    assert outcome(app) == [(DONE, "", 5)]
    assert (len(commits(app)), stored(world)) == (4, 9)
    world.assert_settled()
    assert world.generation == 1


def test_one_that_is_not_waited_for_is_tried_once() -> None:
    """Its failure is told at once; the coordinator is looked up all the same."""
    world, app = settled(3)
    world.faults[OffsetCommitRequest] = [ErrorCode.NOT_COORDINATOR]
    world.tell(app, CommitOffsets({T0: 9}, number=5))
    world.run(SETTLE_MS)
    assert outcome(app) == [(FAILED, "NOT_COORDINATOR", 5)]
    assert (len(commits(app)), stored(world)) == (1, None)
    assert len(app.told(ClientEventKind.COORDINATOR_FOUND)) == 2


@pytest.mark.parametrize("sync", [False, True])
def test_a_commit_waits_for_the_coordinator_to_be_found(sync: bool) -> None:
    """While nobody knows where it is, nothing is sent and nothing fails."""
    world, app = settled(4)
    world.faults[HeartbeatRequest] = [ErrorCode.NOT_COORDINATOR]
    while not app.told(ClientEventKind.COORDINATOR_LOST):
        world.run(1)
    world.tell(app, CommitOffsets({T0: 4}, number=1, sync=sync))
    assert (commits(app), outcome(app)) == ([], [])
    world.run(1_000)
    assert outcome(app) == [(DONE, "", 1)]


def test_time_is_over_when_the_coordinator_stays_away() -> None:
    """A commit that is waited for fails after default.api.timeout.ms, not before."""
    world, app = settled(5, default_api_timeout_ms=4_000)
    world.kill_broker(0)
    world.tell(app, CommitOffsets({T0: 4}, number=1, sync=True))
    world.run(3_900)
    assert outcome(app) == []
    world.run(200)
    assert outcome(app) == [(FAILED, "no answer came in time", 1)]


@pytest.mark.parametrize(
    ("code", "id_stays"),
    [(ErrorCode.ILLEGAL_GENERATION, True), (ErrorCode.UNKNOWN_MEMBER_ID, False)],
)
def test_a_refused_generation_fails_the_commit_and_loses_the_partitions(
    code: ErrorCode, id_stays: bool
) -> None:
    """Waited for or not: it is not tried again, and the member joins anew."""
    world, app = settled(6)
    _, before = app.client.identity
    world.faults[OffsetCommitRequest] = [code]
    world.tell(app, CommitOffsets({T0: 4}, number=1, sync=True))
    world.run(SETTLE_MS)
    assert outcome(app) == [(FAILED, code.name, 1)]
    assert len(app.told(ClientEventKind.GENERATION_LOST)) == 1
    assert (app.client.identity[1] == before) is id_stays
    world.assert_settled()


def test_a_rebalance_under_way_fails_the_commit_and_the_member_joins_again() -> None:
    """27 from the coordinator: told, not tried again; the next poll begins the rebalance."""
    world, app = settled(7)
    world.faults[OffsetCommitRequest] = [ErrorCode.REBALANCE_IN_PROGRESS]
    world.tell(app, CommitOffsets({T0: 4}, number=1, sync=True))
    world.run(SETTLE_MS)
    assert outcome(app) == [(FAILED, "REBALANCE_IN_PROGRESS", 1)]
    assert world.generation == 2


def test_nothing_is_sent_between_two_generations() -> None:
    """While JoinGroup is under way the member has no generation that it could speak for."""
    world = World(8)
    app = world.start("a", enable_auto_commit=False)
    while app.client.state is not ClientState.JOINING:
        world.run(1)
    world.tell(app, CommitOffsets({T0: 4}, number=1, sync=True))
    assert outcome(app) == [(FAILED, "REBALANCE_IN_PROGRESS", 1)]
    assert commits(app) == []


def test_before_the_first_poll_there_is_no_group_to_commit_to() -> None:
    """A subscriber that has not joined is refused, and so is one that is closed or has failed."""
    world = World(9)
    app = world.start("a", topics=())
    world.tell(app, Subscribe(("t",)))
    world.tell(app, CommitOffsets({T0: 4}, number=1))
    assert outcome(app) == [(FAILED, "the member is not part of an active group", 1)]
    world.stop(app)
    world.run(1_000)
    assert app.client.state is ClientState.CLOSED
    world.tell(app, CommitOffsets({T0: 4}, number=2))
    assert outcome(app)[1:] == [(FAILED, "the member is closed", 2)]
    other = world.start("b", enable_auto_commit=False)
    world.run(SETTLE_MS)
    world.faults[HeartbeatRequest] = [ErrorCode.FENCED_INSTANCE_ID]
    world.run(SETTLE_MS)
    world.tell(other, CommitOffsets({T0: 4}, number=3))
    ((kind, reason, number),) = outcome(other)
    assert (kind, "FENCED_INSTANCE_ID" in reason, number) == (FAILED, True, 3)


def test_a_join_is_prepared_by_a_commit() -> None:
    """OffsetCommit goes before JoinGroup, with what was read; not without auto-commit."""
    world = World(10, disjoint=False)
    first = world.start("a")
    manual = world.start("b", enable_auto_commit=False)
    world.run(SETTLE_MS)
    world.start("late", enable_auto_commit=False)
    before = len(first.sent)
    world.run(SETTLE_MS)
    kinds = [type(one) for one in first.sent[before:]]
    assert kinds.index(OffsetCommitRequest) < kinds.index(JoinGroupRequest)
    assert commits(manual) == []


def test_a_commit_before_a_join_is_tried_again_for_as_long_as_a_rebalance_may_take() -> None:
    """The JoinGroup waits for it; when the time is over it goes out all the same."""
    world = World(11, disjoint=False)
    app = world.start("a", max_poll_interval_ms=12_000)
    world.run(SETTLE_MS)
    world.faults[OffsetCommitRequest] = [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS] * 1_000
    world.tell(app, Subscribe(("t", "u")))
    world.run(11_000)
    assert app.client.state is ClientState.PREPARING
    world.run(5_000)
    assert app.told(FAILED)
    assert app.reasons()[-1] == "subscribed to u"


def test_closing_commits_before_it_leaves() -> None:
    """OffsetCommit, then LeaveGroup, and what was read is stored."""
    world = World(12)
    app = world.start("a")
    world.run(SETTLE_MS)
    position = app.positions[T0]
    world.stop(app)
    world.run(1_000)
    assert [type(one) for one in app.sent[-2:]] == [OffsetCommitRequest, LeaveGroupRequest]
    assert stored(world) == position
    assert app.client.state is ClientState.CLOSED


def test_closing_ends_in_time_though_nobody_answers() -> None:
    """After close_timeout_ms the member is closed, and was told that its commit failed."""
    world = World(13)
    app = world.start("a", close_timeout_ms=3_000)
    world.run(SETTLE_MS)
    world.lost += [OffsetCommitRequest, LeaveGroupRequest]
    world.stop(app)
    world.run(2_000)
    assert [app.client.state] == [ClientState.LEAVING]
    world.run(2_000)
    assert [app.client.state] == [ClientState.CLOSED]
    assert [one.reason for one in app.told(FAILED)] == ["no answer came in time"]
