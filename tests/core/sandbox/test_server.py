"""The server at the level of frames: versions, order, limits, half-open and slow clients."""

import contextlib
import socket
import struct
import time
from contextlib import ExitStack

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.limits import Limits
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.kafka.broker import free_ports
from tests.support.kafka.waiting import wait_until
from tests.support.sandbox.frame_client import (
    WireClient,
    connected,
    join_body,
    read_answer,
    request_frame,
)
from tests.support.sandbox.sandbox_process import SandboxProcess

HEARTBEAT = {"group_id": "none", "generation_id": 1, "member_id": "m", "group_instance_id": None}
UNKNOWN_MEMBER_ID, UNSUPPORTED_VERSION, REBOOTSTRAP_REQUIRED = 25, 35, 129


def test_api_versions(one: Sandbox) -> None:
    """Every offered API is in the answer, whose header is of version 0 in all versions."""
    with WireClient(one.bootstrap_servers) as client:
        for version in range(6):
            body = {"client_software_name": "t", "client_software_version": "1"}
            keys = {
                row["api_key"]: (row["min_version"], row["max_version"])
                for row in client.ask(Api.API_VERSIONS, version, body)["api_keys"]
            }
            assert keys[Api.FETCH] == (4, 18)
            assert keys[Api.JOIN_GROUP] == (0, 9)


def test_api_versions_meant_for_another_broker() -> None:
    """A broker of 4.4 tells a client that takes it for another one to begin anew (KIP-1242)."""
    with connected(as_version="4.4", cluster_id="this") as (_, client):
        said = {"client_software_name": "t", "client_software_version": "1"}
        found = {
            place: client.ask(
                Api.API_VERSIONS, 5, {**said, "cluster_id": place[0], "node_id": place[1]}
            )["error_code"]
            for place in ((None, -1), (None, 7), ("this", 1), ("this", 2), ("that", 1))
        }
        (left,) = client.ask(Api.DELETE_GROUPS, 3, {"groups_names": ["g"]})["results"]
    assert found == {
        (None, -1): 0,
        (None, 7): 0,
        ("this", 1): 0,
        ("this", 2): REBOOTSTRAP_REQUIRED,
        ("that", 1): REBOOTSTRAP_REQUIRED,
    }
    assert left == {"group_id": "g", "error_code": 69, "error_message": None}


def test_api_versions_newer_than_known(one: Sandbox) -> None:
    """An unknown version is answered in version 0, error 35, with the list."""
    with WireClient(one.bootstrap_servers) as client:
        frame = struct.pack(">hhih", Api.API_VERSIONS, 99, 5, -1) + b"\0\2x\2y\0"
        client.socket.sendall(struct.pack(">i", len(frame)) + frame)
        correlation_id, body = read_answer(Api.API_VERSIONS, 0, client.receive_frame())
        assert correlation_id == 5
        assert body["error_code"] == UNSUPPORTED_VERSION
        assert len(body["api_keys"]) > 20


def test_api_that_is_not_served(one: Sandbox) -> None:
    """An API that kgroups speaks and the sandbox has not is answered UNSUPPORTED_VERSION."""
    with WireClient(one.bootstrap_servers) as client:
        asked = {"group_ids": ["g"], "include_authorized_operations": False}
        answer = client.ask(Api.STREAMS_GROUP_DESCRIBE, 0, asked)
        assert answer["groups"][0]["error_code"] == UNSUPPORTED_VERSION


def test_version_above_a_cap() -> None:
    """A version that the imitated release does not have is answered, not left waiting."""
    with connected(as_version="2.4") as (_, client):
        asked = {"groups": [{"group_id": "g", "topics": None}], "require_stable": False}
        answer = client.ask(Api.OFFSET_FETCH, 8, asked)
        assert answer["groups"][0]["error_code"] == UNSUPPORTED_VERSION
        old = client.ask(Api.OFFSET_FETCH, 6, {"group_id": "g", "topics": None})
        assert old["error_code"] == 0


@pytest.mark.parametrize("key", [29, 9999], ids=["DescribeAcls", "none of Kafka's"])
def test_api_that_nobody_knows(one: Sandbox, key: int) -> None:
    """Nothing can be answered to an API without a table: the connection closes."""
    with WireClient(one.bootstrap_servers) as client:
        client.socket.sendall(struct.pack(">ihhih", 10, key, 0, 1, -1))
        assert client.is_closed()


def test_pipelined_requests_are_answered_in_order(one: Sandbox) -> None:
    """500 requests in one write give 500 answers in the same order."""
    with WireClient(one.bootstrap_servers) as client:
        frames = [
            request_frame(Api.HEARTBEAT, 4, HEARTBEAT, correlation_id=number)
            for number in range(500)
        ]
        client.socket.sendall(b"".join(frames))
        answers = [read_answer(Api.HEARTBEAT, 4, client.receive_frame()) for _ in frames]
        assert [number for number, _ in answers] == list(range(500))
        assert {body["error_code"] for _, body in answers} == {UNKNOWN_MEMBER_ID}


def test_a_parked_request_holds_back_its_own_connection_only(one: Sandbox) -> None:
    """A JoinGroup that waits blocks what its connection sent after it, and nobody else."""
    with WireClient(one.bootstrap_servers) as leader, WireClient(one.bootstrap_servers) as other:
        first = leader.ask(Api.JOIN_GROUP, 3, join_body("parked"))
        assert first["error_code"] == 0
        other.send(Api.JOIN_GROUP, 3, join_body("parked"))
        other.send(Api.API_VERSIONS, 0)
        beat = {**HEARTBEAT, "group_id": "parked", "generation_id": 1}
        beat["member_id"] = first["member_id"]
        wait_until(
            lambda: leader.ask(Api.HEARTBEAT, 3, beat)["error_code"] == 27, what="a rebalance"
        )
        other.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            other.socket.recv(1)
        other.socket.settimeout(20)
        leader.ask(Api.LEAVE_GROUP, 1, {"group_id": "parked", "member_id": first["member_id"]})
        assert other.receive(Api.JOIN_GROUP, 3)["generation_id"] == 2
        assert other.receive(Api.API_VERSIONS, 0)["api_keys"]


def test_a_frame_split_into_bytes(one: Sandbox) -> None:
    """A frame may arrive in as many pieces as it likes."""
    with WireClient(one.bootstrap_servers) as client:
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in request_frame(Api.HEARTBEAT, 4, HEARTBEAT):
            client.socket.sendall(bytes([byte]))
        assert client.receive(Api.HEARTBEAT, 4)["error_code"] == UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("length", [-1, 2**31 - 1, 1025])
def test_frame_limit(length: int) -> None:
    """A frame longer than the limit, or of negative length, closes the connection."""
    with connected(limits=Limits(frame_bytes=1024)) as (_, client):
        client.socket.sendall(struct.pack(">i", length))
        assert client.is_closed()


def test_a_request_that_dribbles_is_cut() -> None:
    """A frame of which a byte comes now and then is never silent, and never whole."""
    with connected(limits=Limits(frame_ms=300)) as (cluster, client):
        client.socket.sendall(struct.pack(">i", 1_000_000))
        client.socket.settimeout(0.05)
        deadline = time.monotonic() + 60
        open_still = True
        while open_still:
            assert time.monotonic() < deadline, "the connection stays open"
            try:
                client.socket.sendall(b"x")
                open_still = client.socket.recv(1) != b""
            except TimeoutError:
                continue
            except ConnectionError:
                break
        assert any("did not complete its request" in line.text for line in cluster.events)


def test_a_request_that_waits_for_its_turn_is_not_unfinished() -> None:
    """It is we who have not looked at it, for longer than a request may take to come."""
    with connected(topics={"t": 1}, limits=Limits(frame_ms=200)) as (_, client):
        waiting = request_frame(Api.FETCH, 12, fetch_body("t", wait_ms=900))
        client.socket.sendall(waiting + request_frame(Api.API_VERSIONS, 0, {}))
        assert client.receive(Api.FETCH, 12)["error_code"] == 0
        assert client.receive(Api.API_VERSIONS, 0)["error_code"] == 0


def test_unfinished_requests_of_all_together_are_bounded() -> None:
    """Who keeps most is closed; who keeps little is served, also then."""
    limits = Limits(held_bytes=1_000_000)
    part = struct.pack(">i", 30_000_000) + bytes(400_000)
    with Sandbox(brokers=1, limits=limits) as cluster, ExitStack() as stack:
        address = cluster.bootstrap_servers
        small = stack.enter_context(WireClient(address))
        frame = request_frame(Api.API_VERSIONS, 0, {})
        small.socket.sendall(frame[:-1])
        greedy = [stack.enter_context(WireClient(address)) for _ in range(6)]
        for client in greedy:
            with contextlib.suppress(ConnectionError):
                client.socket.sendall(part)
        wait_until(
            lambda: sum("held the most" in line.text for line in cluster.events) >= 4,
            what="four greedy connections closed",
        )
        small.socket.sendall(frame[-1:])
        assert small.receive(Api.API_VERSIONS, 0)["error_code"] == 0


def test_memory_of_unfinished_requests() -> None:
    """Two dozen frames of 32 MB that never end: they held 832 MB."""
    part = struct.pack(">i", 32 << 20) + bytes((32 << 20) - 100)
    with SandboxProcess() as server, ExitStack() as stack:
        normal = server.rss_bytes()
        clients = [stack.enter_context(WireClient(server.bootstrap_servers)) for _ in range(24)]
        for client in clients:
            with contextlib.suppress(ConnectionError):
                client.socket.sendall(part)
            assert server.rss_bytes() - normal < 300_000_000
        with WireClient(server.bootstrap_servers) as other:
            assert other.ask(Api.API_VERSIONS, 0)["error_code"] == 0


def test_limits_are_set_by_a_brokers_properties() -> None:
    """`socket.request.max.bytes` and the like, by Kafka's names; others stay with the groups."""
    properties = {"socket.request.max.bytes": "1024", "group.max.size": "3"}
    with connected(properties=properties) as (_, client):
        client.socket.sendall(struct.pack(">i", 1025))
        assert client.is_closed()
    for value in ("0", "-1", "many", "9" * 30):
        with pytest.raises(UsageError, match=r"max\.connections"):
            Sandbox(brokers=1, properties={"max.connections": value}).start()


def test_connection_limit() -> None:
    """Connections above the limit are closed at once; a place that is freed can be had again."""
    with Sandbox(brokers=1, limits=Limits(connections=2)) as cluster:
        address = cluster.bootstrap_servers
        with WireClient(address) as first, WireClient(address) as second:
            assert first.ask(Api.API_VERSIONS, 0)["error_code"] == 0
            assert second.ask(Api.API_VERSIONS, 0)["error_code"] == 0
            with WireClient(address) as third:
                assert third.is_closed()

        def served() -> bool:
            with WireClient(address) as again:
                again.send(Api.API_VERSIONS, 0)
                return bool(again.receive_frame())

        wait_until(served, what="a free place")


def test_half_open_connections_are_closed() -> None:
    """Who says nothing, or half a frame, is closed when the idle time is over."""
    with Sandbox(brokers=1, limits=Limits(idle_ms=300)) as cluster:
        address = cluster.bootstrap_servers
        with WireClient(address) as silent, WireClient(address) as half:
            half.socket.sendall(struct.pack(">i", 100) + b"abc")
            assert silent.is_closed()
            assert half.is_closed()


def test_a_waiting_request_is_not_idle() -> None:
    """A Fetch that waits longer than the idle time is answered."""
    with connected(topics={"t": 1}, limits=Limits(idle_ms=200)) as (_, client):
        assert client.ask(Api.FETCH, 12, fetch_body("t", wait_ms=700))["error_code"] == 0


def test_slow_reader_is_closed_and_holds_back_nobody() -> None:
    """Answers that a client does not read end its connection; others are served meanwhile."""
    limits = Limits(slow_reader_ms=500, unsent_bytes=64 * 1024)
    with Sandbox(brokers=1, topics={"t": 50}, limits=limits) as cluster:
        address = cluster.bootstrap_servers
        with WireClient(address) as slow, WireClient(address) as other:
            slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.socket.settimeout(0.5)
            frame = request_frame(Api.METADATA, 12, METADATA_ALL)
            try:
                for _ in range(20_000):
                    slow.socket.sendall(frame)
            except (TimeoutError, ConnectionError):
                pass  # the server stopped reading, which is the point
            assert other.ask(Api.API_VERSIONS, 0)["error_code"] == 0
            wait_until(
                lambda: any("does not read" in line.text for line in cluster.events),
                what="the slow reader's end",
            )


METADATA_ALL = {
    "topics": None,
    "allow_auto_topic_creation": False,
    "include_topic_authorized_operations": False,
}


def fetch_body(
    topic: str, *, wait_ms: int, offset: int = 0, min_bytes: int = 1
) -> dict[str, object]:
    """A Fetch of version 12 or below from partition 0 of a topic."""
    partition = {
        "partition": 0,
        "current_leader_epoch": -1,
        "fetch_offset": offset,
        "last_fetched_epoch": -1,
        "log_start_offset": -1,
        "partition_max_bytes": 1_000_000,
    }
    return {
        "replica_id": -1,
        "max_wait_ms": wait_ms,
        "min_bytes": min_bytes,
        "max_bytes": 1_000_000,
        "isolation_level": 0,
        "session_id": 0,
        "session_epoch": -1,
        "topics": [{"topic": topic, "partitions": [partition]}],
        "forgotten_topics_data": [],
        "rack_id": "",
    }


def test_fetch_waits_without_records(one: Sandbox) -> None:
    """An empty Fetch takes its max_wait, and then answers."""
    with WireClient(one.bootstrap_servers) as client:
        started = time.monotonic()
        answer = client.ask(Api.FETCH, 12, fetch_body("t", wait_ms=300))
        assert time.monotonic() - started >= 0.29
        assert answer["responses"][0]["partitions"][0]["records"] == b""


def test_taken_port() -> None:
    """A port that somebody has is named; what was begun is undone."""
    (port,) = free_ports(1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with pytest.raises(UsageError, match=f"port {port} of 127.0.0.1 is in use"):
            Sandbox(brokers=1, port=port).start()
    with Sandbox(brokers=1, port=port) as cluster:
        assert cluster.bootstrap_servers == f"127.0.0.1:{port}"


def test_stop_with_open_connections() -> None:
    """Stopping closes clients with requests parked and in flight, without a traceback."""
    cluster = Sandbox(brokers=2, topics={"t": 1})
    cluster.start()
    with WireClient(cluster.bootstrap_servers) as fetching:
        fetching.send(Api.FETCH, 12, fetch_body("t", wait_ms=60_000))
        cluster.stop()
        assert fetching.is_closed()
    cluster.stop()
