"""Administration as tools do it: topics, partitions, records, groups, offsets, settings."""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import pytest
from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    IsolationLevel,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined] # not in its __all__
    AdminClient,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.kafka.waiting import wait_until
from tests.support.sandbox.frame_client import WireClient, connected
from tests.support.sandbox.librdkafka_members import Member, produce

SPEC: Any = OffsetSpec  # its functions have no types


@pytest.fixture(scope="module")
def admin(cluster: Sandbox) -> AdminClient:
    """One admin client for the module."""
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})


def one_result(futures: Mapping[Any, Future[Any]]) -> Any:
    """The result of the only future."""
    (future,) = futures.values()
    return future.result(60)


CREATIONS = [
    ("a topic", NewTopic("made", 3), None),
    ("with settings", NewTopic("made-with", 1, config={"retention.ms": "1000"}), None),
    ("with default numbers", NewTopic("made-default"), None),
    ("with replicas by hand", NewTopic("made-by-hand", 2, replica_assignment=[[2], [3]]), None),
    ("that exists", NewTopic("t", 1), "TOPIC_ALREADY_EXISTS"),
    ("without partitions", NewTopic("none", 0), "INVALID_PARTITIONS"),
    ("with too many replicas", NewTopic("wide", 1, 4), "INVALID_REPLICATION_FACTOR"),
    ("with a space in its name", NewTopic("a b", 1), "TOPIC_EXCEPTION"),
    ("with an unknown setting", NewTopic("odd", 1, config={"x.y": "1"}), "INVALID_CONFIG"),
    ("that is too large", NewTopic("large", 60_000), "INVALID_PARTITIONS"),
]


@pytest.mark.parametrize(
    ("topic", "error"), [case[1:] for case in CREATIONS], ids=[case[0] for case in CREATIONS]
)
def test_create_topics(admin: AdminClient, topic: NewTopic, error: str | None) -> None:
    """What can be made is there at once; what cannot has Kafka's error."""
    futures = admin.create_topics([topic])
    if error is None:
        one_result(futures)
        assert topic.topic in admin.list_topics(timeout=60).topics
    else:
        with pytest.raises(KafkaException) as raised:
            one_result(futures)
        assert raised.value.args[0].name() == error


def test_grow_and_delete_topics(cluster: Sandbox, admin: AdminClient) -> None:
    """Partitions are added, never taken away; a deleted topic is gone with its records."""
    cluster.create_topic("grows", 2)
    one_result(admin.create_partitions([NewPartitions("grows", 5)]))
    assert len(admin.list_topics("grows", timeout=60).topics["grows"].partitions) == 5
    for count in (5, 3):
        with pytest.raises(KafkaException, match="INVALID_PARTITIONS"):
            one_result(admin.create_partitions([NewPartitions("grows", count)]))
    produce(cluster.bootstrap_servers, "grows", 10, partitions=5)
    one_result(admin.delete_topics(["grows"]))
    wait_until(lambda: "grows" not in admin.list_topics(timeout=60).topics, what="no topic")
    cluster.create_topic("grows", 1)
    assert cluster.log_end_offsets("grows") == {0: 0}


def test_list_offsets(cluster: Sandbox, admin: AdminClient) -> None:
    """Earliest, latest, by time and by the latest time."""
    cluster.create_topic("bounds", 1)
    produce(cluster.bootstrap_servers, "bounds", 10, partitions=1)
    partition = TopicPartition("bounds", 0)
    one_result(admin.delete_records([TopicPartition("bounds", 0, 4)]))
    expected = {
        SPEC.earliest(): 4,
        SPEC.latest(): 10,
        SPEC.for_timestamp(0): 4,
        SPEC.for_timestamp(2**41): -1,
    }
    for spec, offset in expected.items():
        found = one_result(
            admin.list_offsets({partition: spec}, isolation_level=IsolationLevel.READ_COMMITTED)
        )
        assert found.offset == offset
    latest = one_result(admin.list_offsets({partition: SPEC.max_timestamp()}))
    assert 4 <= latest.offset <= 9


@pytest.mark.parametrize(
    ("kind", "assignor"),
    [(ConsumerGroupType.CLASSIC, "range"), (ConsumerGroupType.CONSUMER, "uniform")],
)
def test_groups(
    cluster: Sandbox, admin: AdminClient, kind: ConsumerGroupType, assignor: str
) -> None:
    """A group is listed, described, refused while it lives, and deleted when it is empty."""
    servers, protocol = cluster.bootstrap_servers, kind.name.lower()
    with Member(servers, "admin-g", ["t"], "m1", group_protocol=protocol) as member:
        wait_until(lambda: len(member.partitions()) == 4, what="the partitions")
        listing = admin.list_consumer_groups(states={ConsumerGroupState.STABLE}).result(60)
        assert {group.group_id: group.type for group in listing.valid}["admin-g"] is kind
        assert listing.errors == []
        described = one_result(admin.describe_consumer_groups(["admin-g"]))
        assert described.state is ConsumerGroupState.STABLE
        assert described.partition_assignor == assignor
        (one,) = described.members
        assert (one.client_id, one.host) == ("m1", "/127.0.0.1")
        assert len(one.assignment.topic_partitions) == 4
        with pytest.raises(KafkaException, match="NON_EMPTY_GROUP"):
            one_result(admin.delete_consumer_groups(["admin-g"]))
    wait_until(lambda: _state(admin) is ConsumerGroupState.EMPTY, what="an empty group")
    one_result(admin.delete_consumer_groups(["admin-g"]))
    with pytest.raises(KafkaException, match="GROUP_ID_NOT_FOUND"):
        one_result(admin.delete_consumer_groups(["admin-g"]))


def _state(admin: AdminClient) -> object:
    described = one_result(admin.describe_consumer_groups(["admin-g"]))
    return described.state


def test_offsets(admin: AdminClient) -> None:
    """Offsets of a group are set and read back; those of an unknown partition are refused."""
    commits = [TopicPartition("t", 0, 5), TopicPartition("t", 99, 5)]
    asked = ConsumerGroupTopicPartitions("admin-o", commits)
    answer = one_result(admin.alter_consumer_group_offsets([asked]))
    errors = {one.partition: one.error for one in answer.topic_partitions}
    assert errors[0] is None
    assert errors[99].name() == "UNKNOWN_TOPIC_OR_PART"
    listed = one_result(
        admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions("admin-o")])
    )
    found = {one.partition: one.offset for one in listed.topic_partitions}
    assert found == {0: 5}


def test_delete_offsets(cluster: Sandbox, admin: AdminClient) -> None:
    """OffsetDelete forgets one partition's commit and leaves the other."""
    asked = ConsumerGroupTopicPartitions(
        "admin-d", [TopicPartition("t", 0, 5), TopicPartition("t", 1, 6)]
    )
    one_result(admin.alter_consumer_group_offsets([asked]))
    body = {
        "group_id": "admin-d",
        "topics": [{"name": "t", "partitions": [{"partition_index": 0}]}],
    }
    with WireClient(cluster.bootstrap_servers) as client:
        where = client.ask(Api.FIND_COORDINATOR, 0, {"key": "admin-d"})
    with WireClient(f"{where['host']}:{where['port']}") as client:
        answer = client.ask(Api.OFFSET_DELETE, 0, body)
        assert answer["error_code"] == 0
        assert answer["topics"][0]["partitions"] == [{"partition_index": 0, "error_code": 0}]
    listed = one_result(
        admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions("admin-d")])
    )
    found = {one.partition: one.offset for one in listed.topic_partitions}
    assert found == {1: 6}


def test_settings(admin: AdminClient) -> None:
    """Settings of a topic, its own marked; of a broker; of an unknown topic none."""
    one_result(admin.create_topics([NewTopic("kept", 1, config={"retention.ms": "77"})]))
    topic = one_result(admin.describe_configs([ConfigResource(ResourceType.TOPIC, "kept")]))
    assert topic["retention.ms"].value == "77"
    assert topic["retention.ms"].is_default is False
    assert topic["cleanup.policy"].value == "delete"
    broker = one_result(admin.describe_configs([ConfigResource(ResourceType.BROKER, "2")]))
    assert broker["group.initial.rebalance.delay.ms"].value == "0"
    assert broker["offsets.topic.num.partitions"].value == "50"
    with pytest.raises(KafkaException, match="UNKNOWN_TOPIC_OR_PART"):
        one_result(admin.describe_configs([ConfigResource(ResourceType.TOPIC, "absent")]))


def test_describe_cluster(cluster: Sandbox, admin: AdminClient) -> None:
    """Id, controller and brokers."""
    described = admin.describe_cluster().result(60)
    assert described.cluster_id == cluster.cluster_id
    assert described.controller.id == 1
    assert {node.id for node in described.nodes} == {1, 2, 3}


def test_auto_create() -> None:
    """Off: an unknown topic stays unknown. On: asking for its metadata makes it."""
    for on in (False, True):
        with connected(auto_create_topics=on, default_partitions=2) as (_, client):
            body = {"topics": [{"name": "new"}], "allow_auto_topic_creation": True}
            (row,) = client.ask(Api.METADATA, 4, body)["topics"]
            assert row["error_code"] == (0 if on else 3)
            assert len(row["partitions"]) == (2 if on else 0)


def test_describe_topic_partitions_pages() -> None:
    """DescribeTopicPartitions stops at the limit and goes on at the cursor (KIP-966)."""
    topics = {"a": 3, "b": 4, "c": 1}
    with connected(topics=topics) as (_, client):
        cursor = None
        seen: list[tuple[str, int]] = []
        pages = 0
        while True:
            body = {
                "topics": [{"name": name} for name in topics],
                "response_partition_limit": 3,
                "cursor": cursor,
            }
            answer = client.ask(Api.DESCRIBE_TOPIC_PARTITIONS, 0, body)
            seen += [
                (topic["name"], partition["partition_index"])
                for topic in answer["topics"]
                for partition in topic["partitions"]
            ]
            pages += 1
            cursor = answer["next_cursor"]
            if cursor is None:
                break
        assert seen == [(name, index) for name, count in topics.items() for index in range(count)]
        assert pages == 3


RELEASES = ["2.4", "2.8", "3.0", "3.7", "4.0", "4.3", "4.4"]


@pytest.mark.parametrize("release", RELEASES)
def test_as_version(release: str) -> None:
    """A client joins and an admin works on every imitated release."""
    with Sandbox(brokers=1, topics={"t": 4}, as_version=release) as cluster:
        servers = cluster.bootstrap_servers
        produce(servers, "t", 20)
        with Member(servers, "g", ["t"], "m") as member:
            wait_until(lambda: len(member.values) == 20, what="20 records")
        client = AdminClient({"bootstrap.servers": servers, "log_level": 0})
        listed = client.list_consumer_groups().result(60)
        assert [group.group_id for group in listed.valid] == ["g"]
        asked = ConsumerGroupTopicPartitions("g")
        offsets = one_result(client.list_consumer_group_offsets([asked]))
        found = sum(one.offset for one in offsets.topic_partitions)
        assert found == 20
