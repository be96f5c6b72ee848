"""Members whose library counts what is lost, keeps a connection, or waits before it joins again."""

from typing import Any

import pytest

from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    SyncGroupRequest,
)
from kgroups.core.coordinator.client.effects import CallbackKind, ClientEventKind
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.classic_client_world import App, World

COUNTING = {"tolerated_losses": 3, "retry_backoff_ms": 200, "retry_backoff_max_ms": 200}
BEAT_MS = 3_000
LATE_MS = 100


def alone(**settings: Any) -> tuple[World, App]:
    """A member that has settled in a group of its own."""
    world = World(1)
    app = world.start("only", **settings)
    world.settle(5_000)
    return world, app


def lost_after_ms(world: World, app: App, most_ms: int) -> int | None:
    """When it gave everything up; None if it did not in that time."""
    for passed_ms in range(LATE_MS, most_ms + 1, LATE_MS):
        world.run(LATE_MS)
        if CallbackKind.LOST in [one.kind for one in app.callbacks]:
            return passed_ms
    return None


def test_one_loss_too_many_ends_everything() -> None:
    """A heartbeat and three searches for the coordinator, 200 ms apart but for the first."""
    world, app = alone(**COUNTING)
    world.kill_broker(0)
    found = lost_after_ms(world, app, 10_000)
    assert found is not None
    assert found <= BEAT_MS + 2 * 200 + 1_000
    assert len(app.told(ClientEventKind.GENERATION_LOST)) == 1


def test_who_does_not_count_goes_on_owning() -> None:
    """As the Java client: it only looks for its coordinator."""
    world, app = alone()
    world.kill_broker(0)
    assert lost_after_ms(world, app, 60_000) is None


@pytest.mark.parametrize("keeps_id", [True, False])
def test_it_joins_under_its_old_id_or_without_one(keeps_id: bool) -> None:
    """The broker is back before the session is over."""
    world, app = alone(**COUNTING, keeps_id=keeps_id)
    before = app.client.member_id
    asked = len(app.reasons())
    world.kill_broker(0)
    assert lost_after_ms(world, app, 6_000) is not None
    world.dead.clear()
    world.settle(20_000)
    ids = [one.member_id for one in app.sent if isinstance(one, JoinGroupRequest)][asked:]
    assert (ids[0] == before) is keeps_id
    assert (app.client.member_id == before) is keeps_id


def test_an_answer_ends_the_count() -> None:
    """Two losses, an answer, two losses."""
    world, app = alone(**COUNTING, request_timeout_ms=1_000)
    for _ in range(3):
        world.lost.append(HeartbeatRequest)
        assert lost_after_ms(world, app, 2 * BEAT_MS) is None
    assert not world.lost


def test_a_request_that_is_late_need_not_end_the_connection() -> None:
    """Of kafkajs: only that request is given up."""
    for closes in (True, False):
        world, app = alone(request_timeout_ms=1_000, timeout_closes_connection=closes)
        world.lost.append(HeartbeatRequest)
        world.settle(2 * BEAT_MS)
        assert not world.lost
        assert bool(app.told(ClientEventKind.CONNECTION_CLOSED)) is closes


def test_a_new_connection_comes_with_the_new_start() -> None:
    """Who keeps its connection gives it up with everything else."""
    world, app = alone(**COUNTING, timeout_closes_connection=False)
    world.kill_broker(0)
    assert lost_after_ms(world, app, 6_000) is not None
    assert len(app.told(ClientEventKind.CONNECTION_CLOSED)) == 1


@pytest.mark.parametrize("kind", [JoinGroupRequest, SyncGroupRequest])
def test_it_waits_before_it_joins_again(
    kind: type[JoinGroupRequest] | type[SyncGroupRequest],
) -> None:
    """Of sarama: `Consumer.Group.Rebalance.Retry.Backoff`, whatever passing error it was."""

    def joined_ms(wait_ms: int | None, error: ErrorCode) -> int:
        world = World(1)
        world.faults[kind] = [error]
        app = world.start("only", rejoin_backoff_ms=wait_ms)
        for passed_ms in range(LATE_MS, 20_000, LATE_MS):
            world.run(LATE_MS)
            if app.callbacks:
                return passed_ms
        raise AssertionError("it never joined")

    for error in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS):
        later_ms = joined_ms(8_000, error) - joined_ms(None, error)
        assert 7_000 <= later_ms <= 8_300, error


def test_a_heartbeat_that_is_repeated_at_once_is_soon_one_too_many() -> None:
    """Of sarama: the connection is refused each time, and nobody looks for another coordinator."""
    for at_once in (True, False):
        world, app = alone(**COUNTING, repeats_at_once=at_once)
        world.kill_broker(0)
        world.move()
        world.settle(20_000)
        assert (CallbackKind.LOST in [one.kind for one in app.callbacks]) is at_once


def test_what_comes_too_late_need_not_count() -> None:
    """Of franz-go: only a broken connection does."""
    settings = {"tolerated_losses": 0, "request_timeout_ms": 1_000}
    for counts_late in (True, False):
        world, app = alone(**settings, counts_late=counts_late)
        world.lost.append(HeartbeatRequest)
        assert (lost_after_ms(world, app, 2 * BEAT_MS) is None) is not counts_late
        assert not world.lost
