"""Each fault has its effect, on the wire and on a real client that must live with it."""

import socket
import time
from typing import Any

import pytest

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.faults.fault_rules import Drop, Fault, LoseRequest
from kgroups.core.sandbox.sandbox import Sandbox
from tests.core.sandbox.test_server import HEARTBEAT
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, fetch_offsets
from tests.support.sandbox.frame_client import WireClient, join_body
from tests.support.sandbox.librdkafka_members import Member, members, produce, wait_for_shares

PROTOCOLS = ("classic", "consumer")
NOT_COORDINATOR, LOADING, UNKNOWN_MEMBER = 16, 14, 25
RETRY = {
    "reconnect_backoff_max_ms": 200,
    "reconnect_backoff_ms": 50,
    "retry_backoff_ms": 50,
    "topic_metadata_refresh_interval_ms": 500,
}


def test_error_code_for_some_requests(one: Sandbox) -> None:
    """The rule is for two requests, skips one, and then everything is as before."""
    rule = one.add_fault(Fault(api=Api.HEARTBEAT, action=NOT_COORDINATOR, times=2, skip=1))
    with WireClient(one.bootstrap_servers) as client:
        codes = [client.ask(Api.HEARTBEAT, 4, HEARTBEAT)["error_code"] for _ in range(5)]
    assert codes == [25, NOT_COORDINATOR, NOT_COORDINATOR, 25, 25]
    assert rule.hits == 2


FILTERS = [
    ("by group", Fault(group="none"), True),
    ("by another group", Fault(group="other"), False),
    ("by client", Fault(client="wire"), True),
    ("by another client", Fault(client="other"), False),
    ("by broker", Fault(broker=1), True),
    ("by another broker", Fault(broker=2), False),
    ("by API", Fault(api=Api.HEARTBEAT), True),
    ("by another API", Fault(api=Api.FETCH), False),
]


@pytest.mark.parametrize(
    ("fault", "hit"), [case[1:] for case in FILTERS], ids=[case[0] for case in FILTERS]
)
def test_filters(one: Sandbox, fault: Fault, hit: bool) -> None:
    """A rule is for the requests that it names."""
    fault.action = LOADING
    one.add_fault(fault)
    with WireClient(one.bootstrap_servers) as client:
        code = client.ask(Api.HEARTBEAT, 4, HEARTBEAT)["error_code"]
    assert (code == LOADING) is hit


def test_delay(one: Sandbox) -> None:
    """The answer comes late, and is the right one."""
    one.add_fault(Fault(api=Api.HEARTBEAT, delay_ms=300))
    with WireClient(one.bootstrap_servers) as client:
        started = time.monotonic()
        assert client.ask(Api.HEARTBEAT, 4, HEARTBEAT)["error_code"] == 25
        assert time.monotonic() - started >= 0.29


def test_dropped_connection(one: Sandbox) -> None:
    """The connection ends, once; the next one is served."""
    one.add_fault(Fault(api=Api.HEARTBEAT, action=Drop()))
    with WireClient(one.bootstrap_servers) as client:
        client.send(Api.HEARTBEAT, 4, HEARTBEAT)
        assert client.is_closed()
    with WireClient(one.bootstrap_servers) as client:
        assert client.ask(Api.HEARTBEAT, 4, HEARTBEAT)["error_code"] == 25


def test_lost_request(one: Sandbox) -> None:
    """Nothing comes back and nothing was done, while others are served."""
    one.add_fault(Fault(api=Api.DELETE_TOPICS, action=LoseRequest()))
    body = {"topic_names": ["t"], "timeout_ms": 1000}
    with WireClient(one.bootstrap_servers) as client, WireClient(one.bootstrap_servers) as other:
        client.send(Api.DELETE_TOPICS, 1, body)
        client.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            client.socket.recv(1)
        assert other.ask(Api.HEARTBEAT, 4, HEARTBEAT)["error_code"] == 25
    assert one.log_end_offsets("t")


def test_rules_can_be_taken_back(one: Sandbox) -> None:
    """A rule without end ends when it is removed."""
    rule = one.add_fault(Fault(api=Api.HEARTBEAT, action=LOADING, times=None))
    with WireClient(one.bootstrap_servers) as client:
        for _ in range(3):
            assert client.ask(Api.HEARTBEAT, 4, HEARTBEAT)["error_code"] == LOADING
        one.remove_fault(rule)
        assert client.ask(Api.HEARTBEAT, 4, HEARTBEAT)["error_code"] == 25
        one.add_fault(Fault(action=LOADING, times=None, api=Api.HEARTBEAT))
        one.clear_faults()
        assert client.ask(Api.HEARTBEAT, 4, HEARTBEAT)["error_code"] == 25


STORMS = [
    ("errors of the coordinator", Fault(group="storm", action=LOADING, times=6)),
    ("joins refused", Fault(api=Api.JOIN_GROUP, action=NOT_COORDINATOR, times=3)),
    ("metadata errors", Fault(api=Api.METADATA, action=5, times=2)),
    ("fetches refused", Fault(api=Api.FETCH, action=6, times=4)),
    ("connections dropped", Fault(client="storm-0", action=Drop(), times=4, skip=4)),
    ("slow answers", Fault(client="storm-1", delay_ms=30, times=30)),
]


@pytest.mark.parametrize("fault", [case[1] for case in STORMS], ids=[case[0] for case in STORMS])
def test_real_client_comes_through(fault: Fault) -> None:
    """librdkafka lives with the fault: the group settles and every record is read."""
    with Sandbox(brokers=2, topics={"t": 4}) as cluster:
        servers = cluster.bootstrap_servers
        produce(servers, "t", 40)
        cluster.add_fault(fault)
        names = ["storm-0", "storm-1"]
        with members(servers, "storm", ["t"], names, **RETRY) as (first, second):
            wait_until(
                lambda: {*first.values, *second.values} >= {f"v{n}" for n in range(40)},
                what="all records",
            )
            wait_for_shares([2, 2], first, second)
        assert fault.hits > 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_coordinator_moves(cluster: Sandbox, protocol: str) -> None:
    """The old broker answers 16, the members go over and keep their partitions."""
    servers, name = cluster.bootstrap_servers, f"moves-{protocol}"
    settings: dict[str, Any] = {**RETRY, "group_protocol": protocol}
    cluster.create_topic(name, 4)
    with members(servers, name, [name], ["a", "b"], **settings) as (first, second):
        wait_for_shares([2, 2], first, second)
        had = first.partitions()
        events = len(first.events)
        moved_to = cluster.move_coordinator(name)
        old = next(broker for broker in cluster.brokers if broker.id != moved_to)
        with WireClient(f"{old.host}:{old.port}") as client:
            beat = {**HEARTBEAT, "group_id": name}
            assert client.ask(Api.HEARTBEAT, 4, beat)["error_code"] == NOT_COORDINATOR
        produce(servers, name, 8)
        wait_until(lambda: len(first.values) + len(second.values) == 8, what="8 records")
        assert first.partitions() == had
        assert len(first.events) == events, "no rebalance: the group came with its members"


def test_broker_goes_and_comes_back() -> None:
    """Partitions and groups of a broker that is down move to others, and back when it is up."""
    with Sandbox(brokers=3, topics={"t": 6}) as cluster:
        servers = cluster.bootstrap_servers
        with Member(servers, "down", ["t"], "m", **RETRY) as member:
            wait_for_shares([6], member)
            cluster.stop_broker(2)
            produce(servers, "t", 12, partitions=6)
            wait_until(lambda: len(member.values) == 12, what="12 records on two brokers")
            cluster.start_broker(2)
            produce(servers, "t", 12, partitions=6)
            wait_until(lambda: len(member.values) == 24, what="12 more on three")
        with WireClient(servers) as client:
            asked = {"topics": [{"name": "t"}]}
            (row,) = client.ask(Api.METADATA, 1, asked)["topics"]
            assert {partition["leader_id"] for partition in row["partitions"]} == {1, 2, 3}


def test_all_brokers_of_a_partition_down() -> None:
    """A partition whose only replica is down has no leader and error 5; nobody gets its port."""
    with Sandbox(brokers=2, topics={"t": 2}, replication_factor=1) as cluster:
        cluster.stop_broker(2)
        with WireClient(cluster.bootstrap_servers) as client:
            (row,) = client.ask(Api.METADATA, 7, {
                "topics": [{"name": "t"}], "allow_auto_topic_creation": False,
            })["topics"]  # fmt: skip
        leaders = {one["leader_id"]: one["error_code"] for one in row["partitions"]}
        assert leaders == {1: 0, -1: 5}
        address = cluster.brokers[1]
        with socket.socket() as other, pytest.raises(OSError, match="already in use"):
            other.bind((address.host, address.port))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((address.host, address.port), timeout=30)
        with pytest.raises(NotFoundError, match="no broker 3"):
            cluster.stop_broker(3)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_member_expires(cluster: Sandbox, protocol: str) -> None:
    """A member whose session is ended loses its partitions to the others, then joins again."""
    servers, group = cluster.bootstrap_servers, f"expires-{protocol}"
    settings: dict[str, Any] = {**RETRY, "group_protocol": protocol}
    with members(servers, group, ["t"], ["a", "b"], **settings) as (first, second):
        wait_for_shares([2, 2], first, second)
        cluster.expire_member(group, "a")
        wait_until(lambda: any(event[0] == "lost" for event in first.events), what="loss noticed")
        wait_for_shares([2, 2], first, second)
        with pytest.raises(NotFoundError, match="no member"):
            cluster.expire_member(group, "nobody")


@pytest.mark.parametrize("topic", ["t", "other"])
def test_by_topic(topic: str) -> None:
    """A rule for a topic hits who names it, by name or by id, and nobody else."""
    with Sandbox(brokers=1, topics={"t": 1, "other": 1}) as cluster:
        rules = {
            api: cluster.add_fault(Fault(api=api, topic=topic, delay_ms=1, times=None))
            for api in (Api.PRODUCE, Api.FETCH, Api.OFFSET_COMMIT, Api.OFFSET_FETCH, Api.METADATA)
        }
        produce(cluster.bootstrap_servers, "t", 5, partitions=1)
        with Member(cluster.bootstrap_servers, "g", ["t"], "m") as member:
            wait_until(lambda: len(member.values) == 5, what="5 records")
        hit = {api for api, rule in rules.items() if rule.hits}
    assert hit == (set(rules) if topic == "t" else set())


def test_the_clock_is_set_forward() -> None:
    """A commit expires and a session ends without waiting for either."""
    with Sandbox(brokers=1, topics={"t": 2}) as cluster:
        servers = cluster.bootstrap_servers
        commit_offsets(servers, {"nobody": {("t", 0): 5}})
        with WireClient(servers) as client:
            joined = client.ask(Api.JOIN_GROUP, 3, join_body("idle", session_timeout_ms=60_000))
            beat = {
                "group_id": "idle",
                "generation_id": joined["generation_id"],
                "member_id": joined["member_id"],
            }
            assert client.ask(Api.HEARTBEAT, 2, beat)["error_code"] == 0
            cluster.advance_clock(61_000)
            assert client.ask(Api.HEARTBEAT, 2, beat)["error_code"] == UNKNOWN_MEMBER
            assert fetch_offsets(servers, "nobody") == {("t", 0): 5}
            cluster.advance_clock(8 * 86_400_000)
            assert fetch_offsets(servers, "nobody") == {}
        with pytest.raises(UsageError, match="cannot go back"):
            cluster.advance_clock(-1)


def test_a_clock_that_stands_ends_no_session() -> None:
    """What is due stays due for later; when the clock goes on, so do the timers."""
    with Sandbox(brokers=1, topics={"t": 2}) as cluster:
        cluster.freeze_clock()
        with WireClient(cluster.bootstrap_servers) as client:
            body = join_body("slow", session_timeout_ms=6_000)
            joined = client.ask(Api.JOIN_GROUP, 3, body)
            beat = {
                "group_id": "slow",
                "generation_id": joined["generation_id"],
                "member_id": joined["member_id"],
            }
            cluster.advance_clock(5_999)
            assert client.ask(Api.HEARTBEAT, 2, beat)["error_code"] == 0
            cluster.advance_clock(5_999)
            cluster.freeze_clock(frozen=False)
            wait_until(
                lambda: "session" in "\n".join(str(line) for line in cluster.events),
                what="the session has ended",
            )
