"""librdkafka joins: eager, cooperative, static, KIP-848; it produces, commits, leaves."""

from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, expire_records
from tests.support.sandbox.librdkafka_members import FAST, Member, members, produce, wait_for_shares

PROTOCOLS = ("classic", "consumer")


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_produce_and_consume(cluster: Sandbox, compression: str) -> None:
    """What goes in comes out, in every compression, idempotent or not."""
    topic = f"through-{compression}"
    cluster.create_topic(topic, 4)
    servers = cluster.bootstrap_servers
    produce(servers, topic, 400, compression_type=compression)
    produce(servers, topic, 400, enable_idempotence=True)
    with Member(servers, f"read-{compression}", [topic], "reader") as reader:
        wait_until(lambda: len(reader.values) >= 800, what="800 records")
    assert sorted(reader.values) == sorted(2 * [f"v{number}" for number in range(400)])
    assert reader.errors == []


STRATEGIES = [
    ("classic", "range"),
    ("classic", "roundrobin"),
    ("classic", "cooperative-sticky"),
    ("consumer", "range"),
    ("consumer", "uniform"),
]


@pytest.mark.parametrize(("protocol", "strategy"), STRATEGIES)
def test_join_share_leave(cluster: Sandbox, protocol: str, strategy: str) -> None:
    """Two members share, a third joins, one leaves: every partition has one reader throughout."""
    servers = cluster.bootstrap_servers
    group = f"share-{protocol}-{strategy}"
    assignor = "partition_assignment_strategy" if protocol == "classic" else "group_remote_assignor"
    setting = {"group_protocol": protocol, assignor: strategy}
    with members(servers, group, ["t"], ["a", "b"], **setting) as (first, second):
        wait_for_shares([2, 2], first, second)
        with Member(servers, group, ["t"], "c", **setting) as third:
            wait_for_shares([1, 1, 2], first, second, third)
            second.leave()
            wait_for_shares([2, 2], first, third)
        wait_for_shares([4], first)
        kept = [event for event in first.events if event[0] == "revoked"]
    if strategy == "cooperative-sticky":
        assert all(len(partitions) < 4 for _, partitions in kept[:-1]), "nobody gave up all"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_offsets_survive_the_members(cluster: Sandbox, protocol: str) -> None:
    """What one member committed the next one does not read again."""
    topic, new = f"once-{protocol}", {"group_protocol": protocol}
    cluster.create_topic(topic, 4)
    servers = cluster.bootstrap_servers
    produce(servers, topic, 100)
    with Member(servers, topic, [topic], "first", **new) as first:
        wait_until(lambda: len(first.values) == 100, what="100 records")
    produce(servers, topic, 60)
    with Member(servers, topic, [topic], "second", **new) as second:
        wait_until(lambda: len(second.values) == 60, what="60 more records")
    assert sorted(second.values) == sorted(f"v{number}" for number in range(60))


def test_static_member_comes_back(cluster: Sandbox) -> None:
    """A restart under the same instance id keeps partitions and generation."""
    servers = cluster.bootstrap_servers
    static = {"group_instance_id": "pod-1"}
    with Member(servers, "static", ["t"], "other") as other:
        pod = Member(servers, "static", ["t"], "pod", **static)
        wait_for_shares([2, 2], other, pod)
        had = pod.partitions()
        rebalances = len(other.events)
        pod.leave()
        with Member(servers, "static", ["t"], "pod", **static) as again:
            wait_until(lambda: again.partitions() == had, what="the same partitions again")
        assert len(other.events) == rebalances, "the other member noticed nothing"


def test_static_member_is_fenced(cluster: Sandbox) -> None:
    """A second process with the same instance id takes over; the first gets a fatal error."""
    servers = cluster.bootstrap_servers
    with members(servers, "fenced", ["t"], ["one"], group_instance_id="pod") as (first,):
        wait_for_shares([4], first)
        with Member(servers, "fenced", ["t"], "two", group_instance_id="pod") as second:
            wait_for_shares([4], second)
            wait_until(
                lambda: any(error.name() == "_FATAL" for error in first.errors),
                what="the first member's fatal error",
            )


def test_commit_by_hand(cluster: Sandbox) -> None:
    """A commit comes back, with its metadata (past whose end confluent-kafka reads on)."""
    consumer = Consumer(
        {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "by-hand", "log_level": 0}
        | FAST
    )
    consumer.commit(
        offsets=[TopicPartition("t", 1, 42, metadata="m"), TopicPartition("t", 2, 7)],
        asynchronous=False,
    )
    asked = [TopicPartition("t", partition) for partition in range(3)]
    found = consumer.committed(asked, timeout=60)
    assert [one.offset for one in found] == [-1001, 42, 7]
    assert (found[1].metadata or "").startswith("m")
    consumer.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_subscription_to_a_pattern(cluster: Sandbox, protocol: str) -> None:
    """A topic that appears later and fits the pattern is read; under KIP-848 the broker matches."""
    servers, logs = cluster.bootstrap_servers, f"{protocol}-logs"
    cluster.create_topic(f"{logs}.a", 1)
    fresh: dict[str, Any] = {"topic_metadata_refresh_interval_ms": 300, "metadata_max_age_ms": 300}
    fresh["group_protocol"] = protocol
    with Member(servers, logs, [f"^{logs}\\..*"], "reader", **fresh) as reader:
        produce(servers, f"{logs}.a", 3, partitions=1)
        wait_until(lambda: len(reader.values) == 3, what="records of the first topic")
        if protocol == "classic":  # a broker looks for new topics every ten seconds
            cluster.create_topic(f"{logs}.b", 1)
            produce(servers, f"{logs}.b", 3, partitions=1)
            wait_until(lambda: len(reader.values) == 6, what="records of the new topic")


START_POSITIONS = [
    ("earliest", 10),
    ("latest", 0),
]


@pytest.mark.parametrize(("reset", "old"), START_POSITIONS)
def test_start_positions(cluster: Sandbox, reset: str, old: int) -> None:
    """Without a commit reading begins where auto.offset.reset says, with one after it."""
    topic = f"start-{reset}"
    cluster.create_topic(topic, 1)
    servers = cluster.bootstrap_servers
    produce(servers, topic, 10, partitions=1)
    settings = {"auto_offset_reset": reset}

    def fetches() -> int:
        return sum(cluster.request_counts().get("Fetch", {}).values())

    before = fetches()
    with Member(servers, topic, [topic], "first", **settings) as first:
        # It fetches when it knows from where. The cluster is asked, not the consumer: in another
        # thread than that of its polls its watermarks can take half a minute.
        wait_until(lambda: fetches() > before, what="the first fetch")
        produce(servers, topic, 5, partitions=1)
        wait_until(lambda: len(first.values) == old + 5, what=f"{old + 5} records")
    produce(servers, topic, 4, partitions=1)
    with Member(servers, topic, [topic], "second", **settings) as second:
        wait_until(lambda: len(second.values) == 4, what="4 records after the commit")


def test_offset_out_of_range_starts_anew(cluster: Sandbox) -> None:
    """A commit whose records were deleted: reading goes on by auto.offset.reset."""
    cluster.create_topic("cut", 1)
    servers = cluster.bootstrap_servers
    produce(servers, "cut", 20, partitions=1)
    commit_offsets(servers, {"cut": {("cut", 0): 3}})
    expire_records(servers, {("cut", 0): 12})
    with Member(servers, "cut", ["cut"], "reader") as reader:
        wait_until(lambda: len(reader.values) == 8, what="what is left")
    assert reader.values == [f"v{number}" for number in range(12, 20)]


def test_transactional_producer_is_told_at_once(cluster: Sandbox) -> None:
    """What the sandbox lacks is a fatal error of the client, not a wait."""
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "transactional.id": "t1",
            "log_level": 0,
        }
    )
    with pytest.raises(KafkaException) as raised:
        producer.init_transactions(20)
    assert raised.value.args[0].fatal()


@pytest.mark.parametrize("host", ["127.0.0.2", "::1"])
def test_another_address(host: str) -> None:
    """Another address of this machine, IPv6 too, is bound and told to clients."""
    with Sandbox(brokers=2, topics={"t": 4}, host=host) as cluster:
        servers = cluster.bootstrap_servers
        produce(servers, "t", 20)
        with Member(servers, "elsewhere", ["t"], "m") as member:
            wait_until(lambda: len(member.values) == 20, what="20 records")
