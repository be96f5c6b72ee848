"""A log that refuses records: the change is taken back and the client told otherwise."""

from dataclasses import replace

import pytest

from kgroups.core.coordinator.admin_messages import DeleteGroupsRequest
from kgroups.core.coordinator.append_errors import append_error
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.effects import Write
from kgroups.core.coordinator.kip848.messages import ConsumerGroupHeartbeatRequest
from kgroups.core.coordinator.offsets.messages import OffsetDeleteRequest, OffsetDeleteTopic
from kgroups.core.errors import UsageError
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.coordinator_driver import START_MS, TOPICS, Harness
from tests.support.coordinator.default_requests import (
    commit,
    commit_in_transaction,
    fetched,
    heartbeat,
    join,
    stable_group,
    sync,
)

REPLICAS = ErrorCode.NOT_ENOUGH_REPLICAS
NOT_AVAILABLE = ErrorCode.COORDINATOR_NOT_AVAILABLE

TOLD = [
    (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NOT_AVAILABLE),
    (ErrorCode.NOT_ENOUGH_REPLICAS, NOT_AVAILABLE),
    (ErrorCode.REQUEST_TIMED_OUT, NOT_AVAILABLE),
    (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
    (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
    (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
    (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
    (ErrorCode.INVALID_FETCH_SIZE, ErrorCode.UNKNOWN_SERVER_ERROR),
    (ErrorCode.NETWORK_EXCEPTION, ErrorCode.NETWORK_EXCEPTION),
]


@pytest.mark.parametrize(("error", "told"), TOLD)
def test_a_client_is_told_what_kafka_makes_of_the_error(error: ErrorCode, told: ErrorCode) -> None:
    """The log's own errors mean nothing to a group member."""
    harness = Harness()
    harness.refusal = error
    answer = harness.ask(commit({0: 5}))
    assert [code for topic in answer.topics for _, code in topic.partitions] == [told]


def test_a_network_error_in_a_transaction_says_try_again() -> None:
    """Loading: the producer comes back."""
    assert append_error(ErrorCode.NETWORK_EXCEPTION, transactional=True) is (
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    )


def test_a_refused_first_commit_leaves_no_group() -> None:
    """The group that was made for it goes with it."""
    harness = Harness()
    harness.refusal = REPLICAS
    harness.ask(commit({0: 5, 1: 6}))
    assert harness.state_of("g") is None
    assert fetched(harness, 0, 1) == {0: (-1, 0), 1: (-1, 0)}


def test_a_refused_commit_leaves_the_one_before() -> None:
    """Partitions that were committed keep their offset, others none."""
    harness = Harness()
    harness.ask(commit({0: 5}))
    harness.refusal = REPLICAS
    harness.ask(commit({0: 9, 1: 9}))
    assert fetched(harness, 0, 1) == {0: (5, 0), 1: (-1, 0)}
    harness.assert_replica_is_equal()


def test_a_refused_transactional_commit_is_not_pending() -> None:
    """Nor does it take away what the transaction committed before."""
    harness = Harness()
    harness.ask(commit_in_transaction({0: 5}, 7))
    harness.refusal = REPLICAS
    answer = harness.ask(commit_in_transaction({0: 6, 1: 6}, 7))
    assert {code for topic in answer.topics for _, code in topic.partitions} == {NOT_AVAILABLE}
    harness.refusal = REPLICAS
    harness.ask(commit_in_transaction({2: 6}, 8))
    stable = fetched(harness, 0, 1, 2, require_stable=True)
    assert stable == {0: (-1, 88), 1: (-1, 0), 2: (-1, 0)}


def test_a_refused_deletion_brings_offsets_and_pending_ones_back() -> None:
    """OffsetDelete takes both along, and a refusal returns both."""
    harness = Harness()
    harness.ask(commit({0: 5}))
    harness.ask(commit_in_transaction({0: 6}, 7))
    harness.ask(commit_in_transaction({0: 6, 1: 6}, 8))
    harness.refusal = REPLICAS
    topics = (OffsetDeleteTopic("t", (0,)),)
    answer = harness.ask(OffsetDeleteRequest(version=0, group_id="g", topics=topics))
    assert answer.error_code is NOT_AVAILABLE
    assert fetched(harness, 0) == {0: (5, 0)}
    assert fetched(harness, 0, 1, require_stable=True) == {0: (-1, 88), 1: (-1, 88)}
    assert harness.ask(OffsetDeleteRequest(version=0, group_id="g", topics=topics)).error_code is (
        ErrorCode.NONE
    )
    assert fetched(harness, 0, 1, require_stable=True) == {0: (-1, 0), 1: (-1, 88)}


def test_a_refused_delete_groups_brings_the_group_back() -> None:
    """With its offsets."""
    harness = Harness()
    harness.ask(commit({0: 5}))
    harness.refusal = REPLICAS
    answer = harness.ask(DeleteGroupsRequest(version=2, groups_names=("g", "nobody")))
    assert [(one.group_id, one.error_code) for one in answer.results] == [
        ("nobody", ErrorCode.GROUP_ID_NOT_FOUND),
        ("g", NOT_AVAILABLE),
    ]
    assert harness.state_of("g") == "Empty"
    assert fetched(harness, 0) == {0: (5, 0)}


def test_a_group_whose_creation_is_refused_does_not_exist() -> None:
    """Who joined it is told, an id handed out is worth nothing."""
    harness = Harness(CoordinatorConfig())
    harness.refusal = REPLICAS
    parked = harness.send(join())
    assert harness.replies[parked].error_code is NOT_AVAILABLE
    assert harness.state_of("g") is None
    harness.refusal = REPLICAS
    handed_out = harness.ask(join(version=4))
    assert handed_out.error_code is ErrorCode.MEMBER_ID_REQUIRED
    assert harness.state_of("g") is None
    harness.advance(600_000)
    assert not harness.waiting


def test_a_refused_assignment_begins_a_rebalance() -> None:
    """Everybody who synced is told, has nothing, and must join again."""
    harness = Harness()
    leader, follower = stable_group(harness, 2)
    again = [harness.send(join(member_id=one.member_id)) for one in (leader, follower)]
    leader, follower = (harness.replies[token] for token in again)
    waiting = harness.send(sync(follower))
    harness.refusal = REPLICAS
    assert harness.ask(sync(leader)).error_code is NOT_AVAILABLE
    assert harness.replies[waiting].error_code is NOT_AVAILABLE
    assert harness.state_of("g") == "PreparingRebalance"
    assert harness.ask(heartbeat(follower)).error_code is ErrorCode.REBALANCE_IN_PROGRESS
    (group,) = harness.coordinator.snapshot()
    assert [one.assignment for one in group.members] == [b"", b""]
    harness.assert_replica_is_equal()


def test_a_refused_replacement_brings_the_old_member_back() -> None:
    """The static member that was there is there again; who came is told to try again."""
    harness = Harness()
    (old,) = stable_group(harness, 1, version=5, group_instance_id="i")
    harness.refusal = REPLICAS
    answer = harness.ask(join(version=9, group_instance_id="i", session_timeout_ms=30_000))
    assert (answer.error_code, answer.member_id) == (NOT_AVAILABLE, "")
    assert harness.ask(heartbeat(old, group_instance_id="i")).error_code is ErrorCode.NONE
    (group,) = harness.coordinator.snapshot()
    assert [(one.member_id, one.session_timeout_ms) for one in group.members] == [
        (old.member_id, 10_000)
    ]
    assert group.leader == old.member_id
    harness.assert_replica_is_equal()


def test_a_refused_heartbeat_leaves_the_group_as_it_was() -> None:
    """The member is told, and everything the batch did is undone."""
    harness = Harness(CoordinatorConfig(consumer_assignment_interval_ms=0))
    joins = [
        ConsumerGroupHeartbeatRequest(
            version=1,
            group_id="g",
            member_id=name,
            member_epoch=0,
            rebalance_timeout_ms=5_000,
            subscribed_topic_names=("t",),
            subscribed_topic_regex="u.*",
            topic_partitions=(),
        )
        for name in "ab"
    ]
    epochs = [harness.ask(one).member_epoch for one in joins]
    before = harness.coordinator.snapshot()
    harness.refusal = REPLICAS
    beat = replace(joins[0], member_epoch=epochs[0], subscribed_topic_names=("u",))
    assert harness.ask(beat).error_code is NOT_AVAILABLE
    assert harness.coordinator.snapshot() == before
    assert harness.ask(beat).error_code is ErrorCode.NONE
    harness.assert_replica_is_equal()


def test_an_empty_generation_that_is_not_written_stays_in_memory() -> None:
    """Nobody waits for it; the log keeps the generation before."""
    harness = Harness()
    (member,) = stable_group(harness)
    harness.refusal = REPLICAS
    harness.advance(10_000)
    assert harness.state_of("g") == "Empty"
    (follower,) = harness.replica.snapshot()
    assert follower.members[0].member_id == member.member_id
    harness.assert_replica_is_equal()


def test_writes_after_the_refused_one_are_taken_back_too() -> None:
    """A series is carried out in order, so what follows a refusal cannot stand."""
    coordinator = Coordinator(CoordinatorConfig(), TOPICS, lambda: None, now_ms=START_MS)  # type: ignore[arg-type, return-value] # no id is drawn
    coordinator.submit(START_MS, "a", commit({0: 1}))
    coordinator.submit(START_MS, "b", commit({0: 2, 1: 2}))
    first = next(one for one in coordinator.take() if isinstance(one, Write))
    coordinator.write_failed(START_MS, first, REPLICAS)
    assert coordinator.durable_records() == []
    with pytest.raises(UsageError, match="can no longer be taken back"):
        coordinator.write_failed(START_MS, first, REPLICAS)


def test_it_is_too_late_once_something_else_was_asked() -> None:
    """Effects that were taken count as carried out with the next request."""
    coordinator = Coordinator(CoordinatorConfig(), TOPICS, lambda: None, now_ms=START_MS)  # type: ignore[arg-type, return-value] # no id is drawn
    coordinator.submit(START_MS, "a", commit({0: 1}))
    write = next(one for one in coordinator.take() if isinstance(one, Write))
    coordinator.advance(START_MS + 1)
    with pytest.raises(UsageError, match="can no longer be taken back"):
        coordinator.write_failed(START_MS, write, REPLICAS)
