"""KIP-848 with a real client: `group.protocol=consumer` on the embedded cluster."""

import pytest
from confluent_kafka import ConsumerGroupState, ConsumerGroupType
from confluent_kafka.admin import AdminClient

from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.kafka.waiting import wait_until
from tests.support.sandbox.frame_client import WireClient
from tests.support.sandbox.librdkafka_members import Member, members, produce, wait_for_shares

NEW = {"group_protocol": "consumer"}


@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_join_share_leave(cluster: Sandbox, assignor: str) -> None:
    """Two members share, a third joins, one leaves; nobody gives up what it keeps."""
    servers = cluster.bootstrap_servers
    group = f"new-{assignor}"
    setting = {**NEW, "group_remote_assignor": assignor}
    with members(servers, group, ["t"], ["a", "b"], **setting) as (first, second):
        wait_for_shares([2, 2], first, second)
        with Member(servers, group, ["t"], "c", **setting) as third:
            wait_for_shares([1, 1, 2], first, second, third)
            second.leave()
            wait_for_shares([2, 2], first, third)
        wait_for_shares([4], first)


def test_offsets_and_listing(cluster: Sandbox) -> None:
    """It reads, commits under its member epoch, and is listed as a consumer group."""
    servers = cluster.bootstrap_servers
    cluster.create_topic("new-read", 4)
    produce(servers, "new-read", 40)
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    with Member(servers, "new-read", ["new-read"], "m", **NEW) as member:
        wait_until(lambda: len(member.values) == 40, what="40 records")
        listed = {group.group_id: group for group in admin.list_consumer_groups().result(60).valid}
        assert listed["new-read"].type is ConsumerGroupType.CONSUMER
        described = admin.describe_consumer_groups(["new-read"])["new-read"].result(60)
        assert described.state is ConsumerGroupState.STABLE
        assert described.partition_assignor == "uniform"
        (one,) = described.members
        assert len(one.assignment.topic_partitions) == 4
    produce(servers, "new-read", 8)
    with Member(servers, "new-read", ["new-read"], "m", **NEW) as member:
        wait_until(lambda: len(member.values) == 8, what="8 records after the commit")


def test_pattern(cluster: Sandbox) -> None:
    """A pattern is resolved by the broker; a topic that appears is read."""
    servers = cluster.bootstrap_servers
    cluster.create_topic("rx.a", 1)
    with Member(servers, "new-rx", ["^rx\\..*"], "m", **NEW) as member:
        produce(servers, "rx.a", 3, partitions=1)
        wait_until(lambda: len(member.values) == 3, what="records of the first topic")


def test_the_group_moves_with_its_members(cluster: Sandbox) -> None:
    """Another broker takes the group over from its records: epochs and members go on."""
    servers = cluster.bootstrap_servers
    cluster.create_topic("new-move", 4)
    with members(servers, "new-move", ["new-move"], ["a", "b"], **NEW) as (first, second):
        wait_for_shares([2, 2], first, second)
        had = first.partitions()
        cluster.move_coordinator("new-move")
        produce(servers, "new-move", 8)
        wait_until(lambda: len(first.values) + len(second.values) == 8, what="8 records")
        assert first.partitions() == had


def test_classic_and_new_members_in_one_group(cluster: Sandbox) -> None:
    """An upgrade: a classic member shares with a new one, then the new one is alone."""
    servers = cluster.bootstrap_servers
    cluster.create_topic("both", 4)
    with Member(servers, "both", ["both"], "old") as old:
        wait_for_shares([4], old)
        with Member(servers, "both", ["both"], "new", **NEW) as new:
            wait_for_shares([2, 2], old, new)
            old.leave()
            wait_for_shares([4], new)


def test_member_expires(cluster: Sandbox) -> None:
    """A member that is put out notices, loses its partitions and joins again."""
    servers = cluster.bootstrap_servers
    with members(servers, "new-expires", ["t"], ["a", "b"], **NEW) as (first, second):
        wait_for_shares([2, 2], first, second)
        cluster.expire_member("new-expires", "a")
        wait_until(lambda: any(event[0] == "lost" for event in first.events), what="loss noticed")
        wait_for_shares([2, 2], first, second)


def test_not_offered_before_3_7() -> None:
    """An imitated 3.6 has no such protocol, and says so to whoever asks all the same."""
    body = {
        "group_id": "g",
        "member_id": "m",
        "member_epoch": 0,
        "instance_id": None,
        "rack_id": None,
        "rebalance_timeout_ms": 30_000,
        "subscribed_topic_names": ["t"],
        "subscribed_topic_regex": None,
        "server_assignor": None,
        "topic_partitions": [],
    }
    with (
        Sandbox(brokers=1, topics={"t": 1}, as_version="3.6") as cluster,
        WireClient(cluster.bootstrap_servers) as client,
    ):
        offered = client.ask(Api.API_VERSIONS, 0)["api_keys"]
        assert Api.CONSUMER_GROUP_HEARTBEAT not in {row["api_key"] for row in offered}
        answer = client.ask(Api.CONSUMER_GROUP_HEARTBEAT, 1, body)
        assert answer["error_code"] == 35
