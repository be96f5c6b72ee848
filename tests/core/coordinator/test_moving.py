"""Partitions of `__consumer_offsets` that are elsewhere, being loaded, or taken away."""

from typing import Any

import pytest

from kgroups.core.coordinator.admin_messages import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    ListGroupsRequest,
)
from kgroups.core.coordinator.classic.messages import JoinGroupResponse
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.kip848.messages import ConsumerGroupDescribeRequest
from kgroups.core.coordinator.offsets.messages import (
    OffsetDeleteRequest,
    OffsetFetchGroup,
    OffsetFetchTopic,
)
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.topology import BrokerEndpoint, Topology
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.coordinator_driver import TOPICS, Harness
from tests.support.coordinator.default_requests import (
    commit,
    commit_in_transaction,
    fetch,
    heartbeat,
    join,
    leave,
    stable_group,
    sync,
)

NOBODY = JoinGroupResponse(ErrorCode.NONE, "m", 1)
PARTITION_OF_G = 3
REQUESTS: list[Request] = [
    join(),
    sync(NOBODY),
    heartbeat(NOBODY),
    leave("m"),
    commit({0: 1}),
    commit_in_transaction({0: 1}, 7),
    fetch(0),
    fetch(0, version=1),
    OffsetDeleteRequest(version=0, group_id="g", topics=()),
    DescribeGroupsRequest(version=5, groups=("g",)),
    ConsumerGroupDescribeRequest(version=0, group_ids=("g",)),
    DeleteGroupsRequest(version=2, groups_names=("g",)),
]


def only_code(value: Any) -> int:
    """The one error code, other than 0, that an answer holds; 0 if there is none."""
    found: set[int] = set()

    def walk(one: Any) -> None:
        if isinstance(one, ErrorCode):
            found.add(int(one))
        elif isinstance(one, tuple):
            for item in one:
                walk(item)
        elif hasattr(one, "__slots__"):
            for name in one.__slots__:
                walk(getattr(one, name))

    walk(value)
    (code,) = (found - {0}) or {0}
    return code


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: type(one).__name__)
def test_another_broker_is_the_coordinator(request_: Request) -> None:
    """16 to every request about a group of a partition that is not ours."""
    harness = Harness()
    harness.coordinator.resign(harness.now_ms, PARTITION_OF_G)
    assert only_code(harness.ask(request_)) == 16


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: type(one).__name__)
def test_while_loading_only_heartbeats_are_fine(request_: Request) -> None:
    """14 to every request but Heartbeat."""
    harness = Harness()
    harness.coordinator.begin_loading(PARTITION_OF_G)
    expected = 0 if type(request_).__name__ == "HeartbeatRequest" else 14
    assert only_code(harness.ask(request_)) == expected


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: type(one).__name__)
def test_a_coordinator_that_has_shut_down_is_not_available(request_: Request) -> None:
    """15 to every request."""
    harness = Harness()
    harness.coordinator.shut_down(harness.now_ms)
    assert only_code(harness.ask(request_)) == 15


def test_groups_of_other_partitions_are_served() -> None:
    """Moving is by partition."""
    harness = Harness()
    harness.coordinator.resign(harness.now_ms, PARTITION_OF_G)
    answer = harness.ask(join("test"))
    assert answer.error_code is ErrorCode.NONE


def test_listing_waits_for_loading_and_leaves_out_what_moved() -> None:
    """ListGroups is about all partitions here."""
    harness = Harness()
    for group_id in ("g", "test"):
        harness.ask(commit({0: 1}, group_id))
    listing = ListGroupsRequest(version=5)
    assert [one.group_id for one in harness.ask(listing).groups] == ["g", "test"]
    harness.coordinator.resign(harness.now_ms, PARTITION_OF_G)
    assert [one.group_id for one in harness.ask(listing).groups] == ["test"]
    harness.coordinator.begin_loading(PARTITION_OF_G)
    assert harness.ask(listing).error_code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    harness.coordinator.shut_down(harness.now_ms)
    assert harness.ask(listing).error_code is ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_who_waits_is_told_that_the_coordinator_moved() -> None:
    """Parked joins and syncs get 16; timers of the group are gone."""
    harness = Harness(CoordinatorConfig(classic_initial_rebalance_delay_ms=1000))
    joining = harness.send(join())
    harness.send(join(version=4))
    harness.coordinator.resign(harness.now_ms, PARTITION_OF_G)
    harness.collect()
    assert harness.replies[joining].error_code is ErrorCode.NOT_COORDINATOR
    assert harness.state_of("g") is None

    harness = Harness()
    leader, follower = stable_group(harness, 2)
    tokens = [harness.send(join(member_id=one.member_id)) for one in (leader, follower)]
    syncing = harness.send(sync(harness.replies[tokens[1]]))
    harness.coordinator.resign(harness.now_ms, PARTITION_OF_G)
    harness.collect()
    assert harness.replies[syncing].error_code is ErrorCode.NOT_COORDINATOR
    harness.advance(1_000_000)
    assert not harness.waiting


def test_a_group_too_large_for_its_new_coordinator_rebalances() -> None:
    """The limit may have been lowered since."""
    harness = Harness()
    stable_group(harness, 3)
    small = Harness(CoordinatorConfig(classic_max_size=2))
    coordinator = small.coordinator
    coordinator.begin_loading(PARTITION_OF_G)
    for record in harness.coordinator.durable_records():
        coordinator.replay(record)
    coordinator.finish_loading(small.now_ms, PARTITION_OF_G)
    assert coordinator.group_states()["g"] == ("classic", "PreparingRebalance")


def test_sessions_begin_anew_where_a_group_was_loaded() -> None:
    """Whoever is not heard of for a session is out."""
    harness = Harness()
    (member,) = stable_group(harness)
    records = harness.coordinator.durable_records()
    harness.advance(9_000)
    harness.coordinator.resign(harness.now_ms, PARTITION_OF_G)
    for record in records:
        harness.coordinator.replay(record)
    harness.coordinator.finish_loading(harness.now_ms, PARTITION_OF_G)
    harness.collect()
    harness.advance(9_999)
    assert harness.ask(heartbeat(member)).error_code is ErrorCode.NONE
    harness.advance(10_000)
    assert harness.state_of("g") == "Empty"


def test_expiry_passes_over_partitions_that_are_elsewhere() -> None:
    """Its groups are somebody else's now."""
    config = CoordinatorConfig(offsets_retention_ms=1000)
    harness = Harness(config)
    for group_id in ("g", "test"):
        harness.ask(commit({0: 1}, group_id))
    harness.advance(5000)
    harness.coordinator.begin_loading(PARTITION_OF_G)
    harness.coordinator.expire_offsets(harness.now_ms)
    harness.collect()
    assert (harness.state_of("g"), harness.state_of("test")) == ("Empty", None)
    harness.advance(600_000)
    assert harness.state_of("g") == "Empty"


LEADERS = Topology(
    topics=TOPICS.topics,
    brokers={1: BrokerEndpoint(1, "a", 9092), 2: BrokerEndpoint(2, "b", 9093)},
    offsets_leaders={3: 2, 48: 1, 12: 5},
)


@pytest.mark.parametrize(
    ("key", "key_type", "found"),
    [
        ("g", 0, (2, "b", 9093, 0)),
        ("test", 0, (1, "a", 9092, 0)),
        ("my-group", 0, (-1, "", -1, 15)),
        ("orders-consumer", 0, (-1, "", -1, 15)),
        ("g", 1, (-1, "", -1, 42)),
    ],
    ids=["leader 2", "leader 1", "leader not alive", "no leader", "a transaction's"],
)
def test_a_coordinator_is_found_by_the_groups_hash(
    key: str, key_type: int, found: tuple[int, str, int, int]
) -> None:
    """The leader of the group's partition, or 15."""
    harness = Harness(topology=LEADERS)
    answer = harness.ask(FindCoordinatorRequest(version=4, keys=(key,), key_type=key_type))
    (one,) = answer.coordinators
    assert (one.node_id, one.host, one.port, int(one.error_code)) == found
    assert (one.error_message is None) == (one.error_code is ErrorCode.NONE)


def test_a_group_without_an_id_is_told_first() -> None:
    """24 for null, in the answers of administrators and of OffsetFetch."""
    harness = Harness()
    described = harness.ask(DescribeGroupsRequest(version=5, groups=("x", None)))
    assert [int(one.error_code) for one in described.groups] == [24, 0]
    deleted = harness.ask(DeleteGroupsRequest(version=2, groups_names=("x", None)))
    assert {int(one.error_code) for one in deleted.results} == {24, 69}
    nameless = (OffsetFetchGroup(None, (OffsetFetchTopic("t", (0,)),)),)
    (group,) = harness.ask(fetch(groups=nameless)).groups
    assert group.error_code is ErrorCode.INVALID_GROUP_ID


def test_a_group_as_a_value_shows_what_it_holds() -> None:
    """Members in Kafka's order, who waits for what, and the offsets."""
    harness = Harness()
    leader, follower = stable_group(harness, 2)
    harness.ask(commit({1: 4, 0: 5}, member_id=leader.member_id, generation_id_or_member_epoch=2))
    waiting = harness.send(join(member_id=leader.member_id))
    (group,) = harness.coordinator.snapshot()
    assert (group.kind, group.state, group.epoch) == ("classic", "PreparingRebalance", 2)
    assert group.leader == leader.member_id
    assert {one.member_id: one.waiting_for for one in group.members} == {
        leader.member_id: "join",
        follower.member_id: None,
    }
    offsets = {n: value.offset for n, value in group.offsets["t"].items()}
    assert list(offsets.items()) == [(0, 5), (1, 4)]
    assert waiting in harness.waiting
