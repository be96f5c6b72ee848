"""Ways to brokers: dead bootstrap servers, many addresses, IPv6, bad advertised names."""

import socket
from asyncio.selector_events import BaseSelectorEventLoop
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kio.schema.create_topics.v7.request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kio.schema.create_topics.v7.response import CreateTopicsResponse
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i16, i32

from kgroups.core.errors import UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import CANONICAL, read_settings
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster, free_ports
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import admin_of, commit_offsets
from tests.support.requirements import requires

pytestmark = pytest.mark.kafka

LOST = "kafka-3.invalid"
NAME = "brokers.test"


class Names:
    """Answers of a name server, in front of the real one: the only thing that is not real here."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, known: dict[str, list[str]]) -> None:
        self._known, self._real = known, socket.getaddrinfo
        self.asked: list[str] = []
        monkeypatch.setattr(socket, "getaddrinfo", self._look_up)

    def _look_up(self, host: Any, *args: Any, **how: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if how.get("flags", 0) & socket.AI_NUMERICHOST and name in self._known:
            raise socket.gaierror(socket.EAI_NONAME, "a name is no number")
        self.asked.append(name)
        places = self._known.get(name, [host])
        return [found for place in places for found in self._real(place, *args, **how)]


def cluster_id(servers: str, **properties: str) -> str | None:
    """What the cluster says that it is."""
    named = {name.replace("_", "."): value for name, value in properties.items()}
    with ClusterAdmin(read_settings(servers, None, named), timeout_ms=60_000) as admin:
        return admin.list_groups().cluster_id


def test_dead_bootstrap_servers(kafka: KafkaCluster) -> None:
    """A closed port and an unknown name before the one that answers; `ping` names both."""
    closed = f"127.0.0.1:{free_ports(1)[0]}"
    servers = f"{closed},{LOST}:9092,{kafka.address()}"
    assert cluster_id(servers) == kafka.cluster_id
    outcome = run("ping", "-b", servers, "--timeout", "60s", "-o", "json")
    assert outcome.exit_code == 0, outcome
    steps = {(item["step"], item["target"]): item for item in outcome.document["items"]}
    assert steps["name resolution", LOST]["status"] == "warning"
    assert steps["TCP", closed]["status"] == "warning"
    assert steps["TCP", kafka.address()]["status"] == "ok"
    none = run("list", "-b", f"{LOST}:9092", "--timeout", "60s")
    assert (none.exit_code, none.stdout) == (3, "")
    assert none.stderr == (
        f"error: {LOST}:9092 cannot be reached: the host name is not known\n\n"
        "hint: check the spelling\n"
    )


def test_all_addresses_of_a_name(kafka: KafkaCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is dead."""
    Names(monkeypatch, {NAME: ["127.0.0.9", "127.0.0.1"]})
    port = kafka.address().rpartition(":")[2]
    assert cluster_id(f"{NAME}:{port}", client_dns_lookup="use_all_dns_ips") == kafka.cluster_id


def test_an_address_that_never_answers(
    kafka: KafkaCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Does not keep the next address of the same name from being tried."""
    Names(monkeypatch, {NAME: ["127.0.0.9", "127.0.0.1"]})
    connect = BaseSelectorEventLoop.sock_connect
    held: list[str] = []

    async def hold(loop: Any, sock: socket.socket, address: Any) -> None:
        if address[0] == "127.0.0.9":
            held.append(address[0])
            await loop.create_future()  # as packets that a firewall drops
        await connect(loop, sock, address)

    monkeypatch.setattr(BaseSelectorEventLoop, "sock_connect", hold)
    servers = f"{NAME}:{kafka.address().rpartition(':')[2]}"
    assert cluster_id(servers) == kafka.cluster_id
    assert held


def test_canonical_names(
    kafka: KafkaCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each address of a bootstrap server is reached under the name that it is known by."""
    port = kafka.address().rpartition(":")[2]
    names = Names(monkeypatch, {NAME: ["127.0.0.1"]})
    found = socket.getnameinfo(("127.0.0.1", 0), 0)[0]
    assert cluster_id(f"{NAME}:{port}", client_dns_lookup=CANONICAL) == kafka.cluster_id
    assert names.asked[:2] == [NAME, found]
    file = tmp_path / "p"
    file.write_text(f"bootstrap.servers={NAME}:{port}\nclient.dns.lookup={CANONICAL}\n")
    outcome = run("ping", "--command-config", str(file), "--timeout", "60s", "-o", "json")
    targets = [item["target"] for item in outcome.document["items"] if item["step"] == "TCP"]
    assert targets == [f"{found}:{port}"]


def test_a_look_up_that_does_not_exist() -> None:
    """Those that do are named."""
    with pytest.raises(UsageError) as refused:
        read_settings("here:1", None, {"client.dns.lookup": "default"})
    assert "`client.dns.lookup` is `default`" in refused.value.message
    assert refused.value.hint == f"expected use_all_dns_ips or {CANONICAL}"


@pytest.fixture(scope="module")
def spread() -> Iterator[KafkaCluster]:
    """Three brokers in three racks: one on IPv4, one on IPv6, one that tells a bad name."""
    hosts = {2: "::1", 3: LOST}
    with KafkaCluster(ClusterSpec(brokers=3, racks=("a", "b", "c"), hosts=hosts)) as cluster:
        yield cluster


SLOW = pytest.mark.slow("starts three brokers; the cases above share one that runs")


@SLOW
@requires("IPv6")
def test_ipv6(spread: KafkaCluster) -> None:
    """As a bootstrap server and as an advertised address; racks are those of each broker."""
    address = spread.address(2)
    assert address.startswith("[::1]:")
    with ClusterAdmin(read_settings(address), timeout_ms=60_000) as admin:
        listing = admin.list_groups()
    assert listing.cluster_id == spread.cluster_id
    told = {broker.id: (broker.host, broker.rack) for broker in listing.brokers}
    assert told == {1: ("127.0.0.1", "a"), 2: ("::1", "b"), 3: (LOST, "c")}
    outcome = run("ping", "-b", address, "--timeout", "60s", "-o", "json")
    steps = {item["step"]: item for item in outcome.document["items"]}
    assert steps["TCP"]["target"] == address
    assert steps["TCP"]["status"] == "ok"


def create_topic(address: str, name: str) -> None:
    """One partition on broker 1, asked of the broker at this address.

    librdkafka would ask the broker that metadata call the controller: any, the lost one too.
    """
    placed = CreatableReplicaAssignment(partition_index=i32(0), broker_ids=(BrokerId(1),))
    topic = CreatableTopic(
        name=TopicName(name),
        num_partitions=i32(-1),
        replication_factor=i16(-1),
        assignments=(placed,),
        configs=(),
    )
    with WireConnection(address, timeout_s=60) as connection:
        connection.ask(CreateTopicsRequest(topics=(topic,)), CreateTopicsResponse)
    admin = admin_of(address)

    def is_led() -> bool:
        known = admin.list_topics(name, timeout=60).topics[name]
        return known.error is None and known.partitions[0].leader == 1

    wait_until(is_led, f"{name} has its leader")


@SLOW
@requires("IPv6")
def test_an_advertised_name_that_nobody_knows(spread: KafkaCluster) -> None:
    """Which name and which broker; what the others coordinate is there."""
    create_topic(spread.address(1), "spread")
    names = [f"spread-{number}" for number in range(20)]
    with ClusterAdmin(read_settings(spread.address(1)), timeout_ms=60_000) as admin:
        placed = admin.coordinators(names).coordinators
    near = next(name for name in names if placed[name].id == 1)
    far = next(name for name in names if placed[name].id == 3)
    commit_offsets(spread.address(1), {near: {("spread", 0): 0}})
    outcome = run("describe", near, far, "-b", spread.address(1), "--timeout", "60s", "-o", "json")
    assert outcome.exit_code == 3
    assert [item["group"] for item in outcome.document["items"]] == [near]
    port = spread.address(3).rpartition(":")[2]
    (error,) = outcome.document["errors"]
    assert (error["target"], error["code"]) == (far, "BROKER_NOT_AVAILABLE")
    assert error["message"] == (
        f"broker 3 advertises `{LOST}:{port}`, and the host name `{LOST}` is not known here"
    )
    listed = run("list", "-b", spread.address(1), "--timeout", "60s", "-o", "json")
    assert listed.exit_code == 3
    assert near in [item["group"] for item in listed.document["items"]]
    assert f"the host name `{LOST}` is not known here" in listed.document["errors"][0]["message"]


def test_a_controllers_listener(kafka: KafkaCluster) -> None:
    """Its address is no way in, and is called what it is."""
    address = f"127.0.0.1:{kafka.controller_port()}"
    outcome = run("-b", address, "list")
    assert (outcome.exit_code, outcome.stdout) == (3, "")
    assert f"{address} is a controller's listener" in outcome.stderr
    assert "use the address of a broker" in outcome.stderr
