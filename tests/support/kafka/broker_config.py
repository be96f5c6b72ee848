"""What a test cluster is made of, and the properties file of each of its brokers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.support.kafka.releases import NEWEST, RELEASES

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SASL_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
STORE_PASSWORD = "kgroups-test"

# Every broker has these; a spec's own properties come after and win.
BASE_PROPERTIES: Mapping[str, str] = {
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "50",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "4",
    # One that gets no processor for 9 s, the default, would be fenced, and topics that are made
    # then go to the other brokers alone; those that are stopped say so.
    "broker.session.timeout.ms": "60000",
    # One that comes back is refused until its old session is over, and ends itself after a minute.
    "initial.broker.registration.timeout.ms": "240000",
    # Records of long ago would be removed half a minute after the start, and every five minutes.
    "log.retention.ms": "-1",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    # KIP-848 at its default pace takes 15 s to settle: heartbeats every 200 ms make it one second
    "group.consumer.heartbeat.interval.ms": "200",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.share.heartbeat.interval.ms": "200",
    "group.share.min.heartbeat.interval.ms": "100",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.cleaner.threads": "1",
    "queued.max.requests": "100",
}


@dataclass(frozen=True)
class ClusterSpec:
    """A cluster to start.

    Args:
        brokers: how many; the first is the controller too.
        controllers: how many of them, the first ones, are controllers.
        protocols: secure listeners beside the plain one.
        users: name -> password, known to every SASL mechanism from the first start.
        client_certificates: whether the TLS listeners demand one.
        certificates: listener -> one of `certificates.ODD`, which it shows instead of its own.
        acls: whether the ACL authorizer runs; the plain listener's anonymous user and `admin`
            may do everything then, everyone else only what an ACL allows.
        racks: rack of each broker, in order; empty = none.
        detours: port -> advertised port of further plain listeners of node 1: clients that come in
            by one are sent to what listens on its advertised port.
        properties: broker properties that win over the ones of `BASE_PROPERTIES`.
        system_properties: of the JVMs.
        hosts: what brokers advertise instead of 127.0.0.1, by id; of these `::1` is bound, too.
        release: one of `RELEASES`; SCRAM and ACLs are for the newest.
        formatting: more arguments of the storage tool, which formats the folder of each broker.
    """

    brokers: int = 1
    controllers: int = 1
    protocols: tuple[SecurityProtocol, ...] = ()
    users: Mapping[str, str] = field(default_factory=lambda: {"alice": "alice-secret"})
    client_certificates: bool = False
    certificates: Mapping[SecurityProtocol, str] = field(default_factory=dict)
    acls: bool = False
    racks: tuple[str, ...] = ()
    detours: Mapping[int, int] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    system_properties: Mapping[str, str] = field(default_factory=dict)
    release: str = NEWEST
    hosts: Mapping[int, str] = field(default_factory=dict)
    formatting: tuple[str, ...] = ()

    def bound(self, node_id: int) -> str:
        """The address that a broker binds, an IPv6 one in brackets."""
        return "[::1]" if self.hosts.get(node_id) == "::1" else "127.0.0.1"

    def advertised(self, node_id: int) -> str:
        """The host that a broker tells."""
        host = self.hosts.get(node_id, "127.0.0.1")
        return f"[{host}]" if ":" in host else host

    @property
    def listeners(self) -> tuple[SecurityProtocol, ...]:
        """The plain listener and the secure ones; a listener is named as its protocol."""
        return ("PLAINTEXT", *(each for each in self.protocols if each != "PLAINTEXT"))

    @property
    def uses_zookeeper(self) -> bool:
        """Whether the first broker's JVM runs a ZooKeeper, on the port of the controller."""
        return RELEASES[self.release].zookeeper

    @property
    def uses_tls(self) -> bool:
        """Whether any listener needs certificates."""
        return any(each in ("SSL", "SASL_SSL") for each in self.listeners)


@dataclass(frozen=True)
class BrokerPorts:
    """Ports of one broker: one a listener, and the controller's."""

    listeners: Mapping[SecurityProtocol, int]
    controller: int


def _sasl_properties(spec: ClusterSpec, listener: SecurityProtocol) -> dict[str, str]:
    """JAAS settings of one SASL listener: PLAIN has its users here, SCRAM in the metadata log."""
    name = listener.lower()
    plain = " ".join(f'user_{user}="{password}"' for user, password in spec.users.items())
    login = "org.apache.kafka.common.security"
    settings = {
        f"listener.name.{name}.sasl.enabled.mechanisms": ",".join(SASL_MECHANISMS),
        f"listener.name.{name}.plain.sasl.jaas.config": (
            f"{login}.plain.PlainLoginModule required {plain};"
        ),
    }
    for mechanism in SASL_MECHANISMS[1:]:
        settings[f"listener.name.{name}.{mechanism.lower()}.sasl.jaas.config"] = (
            f"{login}.scram.ScramLoginModule required;"
        )
    return settings


def broker_properties(
    spec: ClusterSpec, node_id: int, every_port: Mapping[int, BrokerPorts], folder: Path
) -> dict[str, str]:
    """The properties file of one broker.

    Args:
        node_id: the first ones are controllers too.
        every_port: of all brokers, by their id.
        folder: holds `data/` of this broker; the cluster's stores are in `../tls`.
    """
    ports = every_port[node_id]
    voters = {each: every_port[each].controller for each in range(1, spec.controllers + 1)}
    host, told = spec.bound(node_id), spec.advertised(node_id)
    listeners = [f"{name}://{host}:{port}" for name, port in ports.listeners.items()]
    advertised = [f"{name}://{told}:{port}" for name, port in ports.listeners.items()]
    controller = [f"CONTROLLER://127.0.0.1:{voters[node_id]}"] if node_id in voters else []
    mapped = [f"{name}:{name}" for name in spec.listeners]
    for number, (port, shown) in enumerate(spec.detours.items() if node_id == 1 else ()):
        listeners.append(f"DETOUR{number}://127.0.0.1:{port}")
        advertised.append(f"DETOUR{number}://127.0.0.1:{shown}")
        mapped.append(f"DETOUR{number}:PLAINTEXT")
    settings = {
        **BASE_PROPERTIES,
        **RELEASES[spec.release].properties,
        "listeners": ",".join(listeners),
        "advertised.listeners": ",".join(advertised),
        "listener.security.protocol.map": ",".join(("CONTROLLER:PLAINTEXT", *mapped)),
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(folder / "data"),
    }
    if spec.uses_zookeeper:
        settings |= {
            "broker.id": str(node_id),
            "zookeeper.connect": f"127.0.0.1:{voters[1]}",
            "zookeeper.connection.timeout.ms": "60000",
        }
    else:
        settings |= {
            "node.id": str(node_id),
            "process.roles": "broker,controller" if node_id in voters else "broker",
            "controller.quorum.voters": ",".join(f"{i}@127.0.0.1:{at}" for i, at in voters.items()),
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join((*listeners, *controller)),
        }
    if spec.racks:
        settings["broker.rack"] = spec.racks[node_id - 1]
    if spec.uses_tls:
        tls = folder.parent / "tls"
        settings |= {
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.location": str(tls / "broker.p12"),
            "ssl.keystore.password": STORE_PASSWORD,
            "ssl.key.password": STORE_PASSWORD,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(tls / "ca.pem"),
            "ssl.client.auth": "required" if spec.client_certificates else "none",
        }
    for listener, name in spec.certificates.items():
        store = f"listener.name.{listener.lower()}.ssl.keystore"
        settings |= {
            f"{store}.type": "PKCS12",
            f"{store}.location": str(folder.parent / "tls" / f"{name}.p12"),
            f"{store}.password": STORE_PASSWORD,
            f"listener.name.{listener.lower()}.ssl.key.password": STORE_PASSWORD,
        }
    for listener in spec.listeners:
        if listener.startswith("SASL"):
            settings |= _sasl_properties(spec, listener)
    if spec.acls:
        settings |= {
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS;User:admin",
        }
    return settings | dict(spec.properties)


def zookeeper_properties(port: int, folder: Path) -> str:
    """The properties file of the ZooKeeper that old brokers need."""
    return (
        f"clientPort={port}\nclientPortAddress=127.0.0.1\ndataDir={folder}/zookeeper\n"
        "tickTime=1000\nmaxClientCnxns=0\nadmin.enableServer=false\n"
    )


def format_arguments(spec: ClusterSpec, cluster_id: str, properties: Path) -> list[str]:
    """Arguments of the storage tool for a broker's first start; SCRAM users are made here."""
    arguments = ["format", f"--cluster-id={cluster_id}", "--config", str(properties)]
    arguments += spec.formatting
    if any(each.startswith("SASL") for each in spec.listeners):
        for user, password in spec.users.items():
            for mechanism in SASL_MECHANISMS[1:]:
                arguments += ["--add-scram", f"{mechanism}=[name={user},password={password}]"]
    return arguments
