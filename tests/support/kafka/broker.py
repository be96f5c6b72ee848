"""A real Kafka: one or more KRaft brokers on loopback, started and stopped by the tests.

    with KafkaCluster(ClusterSpec()) as cluster:
        cluster.bootstrap  # "127.0.0.1:PORT"

The first nodes, mostly just node 1, are controllers too; each is a JVM of its own whose standard
input is a pipe from here, so that none outlives this process. Data live in a temporary folder, logs
in a folder that stays when asked.
"""

import base64
import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Self

from tests.support.kafka.broker_config import (
    STORE_PASSWORD,
    BrokerPorts,
    ClusterSpec,
    SecurityProtocol,
    broker_properties,
    format_arguments,
    zookeeper_properties,
)
from tests.support.kafka.certificates import make_certificates
from tests.support.kafka.child import Child
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import java_command, require_java
from tests.support.kafka.readiness import cluster_id_of, serves
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.waiting import DeadlinePassed, wait_until

START_TIMEOUT_S = 240.0
STOP_TIMEOUT_S = 30.0
PORTS = range(20_000, 32_000)
"""Below those of outgoing connections, which Linux takes from 32,768 on, others from 49,152."""
CLAIMS = Path(tempfile.gettempdir()) / f"kgroups-test-ports-{os.getuid()}"


class BrokerDied(RuntimeError):
    """A broker ended by itself; the message has the end of its log."""


def free_ports(count: int) -> list[int]:
    """As many different ports that nothing listens on, this process's until it ends.

    A broker that is stopped finds its port free again: nobody is given one of these by the system.
    """
    candidates = iter(random.sample(PORTS, len(PORTS)))
    return list(islice(filter(_claim, candidates), count))


def _claim(port: int) -> bool:
    """Whether a port is free and no other process of the tests was given it; open files tell."""
    CLAIMS.mkdir(exist_ok=True)
    claim = os.open(CLAIMS / str(port), os.O_CREAT | os.O_WRONLY)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
    except OSError:
        os.close(claim)
        return False
    return True


def new_cluster_id() -> str:
    """A random cluster id in Kafka's spelling: 16 bytes, URL-safe base64 without padding.

    It never starts with a dash, which the storage tool would take for an option.
    """
    while True:
        drawn = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not drawn.startswith("-"):
            return drawn


class KafkaCluster:
    """Brokers of one cluster. Start and stop them all, or one by one; data outlive a stop.

    Args:
        spec: what to start.
        logs: folder for `broker-N.log`; a temporary one when None.
        options: of the JVMs, as `java_command`'s.
    """

    def __init__(
        self,
        spec: ClusterSpec | None = None,
        *,
        logs: Path | None = None,
        options: Iterable[str] | None = None,
    ) -> None:
        self.spec = spec or ClusterSpec()
        self.cluster_id = new_cluster_id()
        self._folder: Path | None = None
        self._logs = logs
        self._options = options
        self._ports: dict[int, BrokerPorts] = {}
        self._running: dict[int, Child] = {}
        self._formatted: set[int] = set()

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def node_ids(self) -> range:
        """Ids of all brokers, running or not."""
        return range(1, self.spec.brokers + 1)

    @property
    def folder(self) -> Path:
        """The cluster's own folder: `tls/` and one folder a broker; made at the first look."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="kgroups-kafka-"))
        return self._folder

    @property
    def bootstrap(self) -> str:
        """Address of every broker's plain listener, `host:port,host:port`."""
        return self.addresses("PLAINTEXT")

    def address(self, node_id: int = 1, listener: SecurityProtocol = "PLAINTEXT") -> str:
        """`127.0.0.1:port` of one broker's listener, or what else it binds."""
        return f"{self.spec.bound(node_id)}:{self._ports[node_id].listeners[listener]}"

    def addresses(self, listener: SecurityProtocol) -> str:
        """`host:port,host:port` of one listener on every broker."""
        return ",".join(self.address(node_id, listener) for node_id in self.node_ids)

    @property
    def tls(self) -> Path:
        """Folder with `ca.pem`, `client.pem`, `client.key`, `client.p12` and `stranger.pem`."""
        return self.folder / "tls"

    def controller_port(self, node_id: int = 1) -> int:
        """Where a node's controller listens."""
        return self._ports[node_id].controller

    def log_path(self, node_id: int = 1) -> Path:
        """Where one broker's log goes, all its starts one after another."""
        return (self._logs or self.folder) / f"broker-{node_id}.log"

    def librdkafka_settings(
        self,
        listener: SecurityProtocol = "PLAINTEXT",
        *,
        mechanism: str = "PLAIN",
        user: str = "alice",
        password: str | None = None,
    ) -> dict[str, str]:
        """Client properties, in librdkafka's spelling, that get in through one listener.

        A password that is not given is the right one.
        """
        settings = {"bootstrap.servers": self.addresses(listener), "security.protocol": listener}
        if listener.startswith("SASL"):
            settings |= {
                "sasl.mechanism": mechanism,
                "sasl.username": user,
                "sasl.password": self.spec.users.get(user, "") if password is None else password,
            }
        if listener.endswith("SSL"):
            settings["ssl.ca.location"] = str(self.tls / "ca.pem")
            if self.spec.client_certificates:
                settings["ssl.certificate.location"] = str(self.tls / "client.pem")
                settings["ssl.key.location"] = str(self.tls / "client.key")
        return settings

    def java_settings(
        self,
        listener: SecurityProtocol = "PLAINTEXT",
        *,
        mechanism: str = "PLAIN",
        user: str = "alice",
    ) -> dict[str, str]:
        """The same in the Java clients' spelling, without the address, for a properties file."""
        settings: dict[str, str] = {"security.protocol": listener}
        if listener.startswith("SASL"):
            module = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
            settings["sasl.mechanism"] = mechanism
            settings["sasl.jaas.config"] = (
                f"org.apache.kafka.common.security.{module}LoginModule required"
                f' username="{user}" password="{self.spec.users[user]}";'
            )
        if listener.endswith("SSL"):
            settings |= {
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": str(self.tls / "ca.pem"),
            }
            if self.spec.client_certificates:
                settings |= {
                    "ssl.keystore.type": "PKCS12",
                    "ssl.keystore.location": str(self.tls / "client.p12"),
                    "ssl.keystore.password": STORE_PASSWORD,
                    "ssl.key.password": STORE_PASSWORD,
                }
        return settings

    def start(self) -> Self:
        """Start every broker that does not run, on the data it has, and wait until all serve.

        A controller that has seen one go lets it in again when its session is over, after a
        minute; `restart` is faster.

        Raises:
            JavaMissing: there is no JDK.
            BrokerDied: one ended by itself.
        """
        require_java()
        if not self._ports:
            self._prepare()
        wanted = [node_id for node_id in self.node_ids if node_id not in self._running]
        classes = class_path(self.spec.release) if wanted else ""
        for node_id in wanted:
            self._launch(node_id, classes)
        wait_until(self._ready, "the brokers serve", timeout_s=START_TIMEOUT_S)
        if self.spec.uses_zookeeper:  # which gave the cluster an id
            self.cluster_id = cluster_id_of(self.address(min(self._running)))
        return self

    def stop(self) -> None:
        """Stop every broker in good order; data and addresses stay for the next start."""
        self.stop_brokers(reversed(self.node_ids))

    def stop_brokers(self, node_ids: Iterable[int]) -> None:
        """Stop these brokers in good order, or by force when they do not end in time."""
        ending = [(node_id, self._running.pop(node_id, None)) for node_id in node_ids]
        for _, process in ending:
            if process is not None:
                process.send_signal(signal.SIGTERM)
        for _, process in ending:
            if process is not None:
                _end(process, STOP_TIMEOUT_S)

    def restart(self) -> None:
        """Stop those that run and start every broker, on the same data and addresses."""
        self.stop()
        self.start()

    def kill(self, node_id: int) -> None:
        """End one broker as a crash would."""
        process = self._running.pop(node_id)
        process.kill()
        _end(process, STOP_TIMEOUT_S)

    def pause(self, node_id: int) -> None:
        """Let one broker stand still: its connections stay, and nothing is answered."""
        self._running[node_id].send_signal(signal.SIGSTOP)

    def go_on(self, node_id: int) -> None:
        """Let a broker that stands still go on."""
        self._running[node_id].send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Stop everything at once, without order, and remove the data."""
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            _end(process, STOP_TIMEOUT_S)
        self._running.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _prepare(self) -> None:
        """Ports, certificates and properties files, before the first start."""
        listeners = self.spec.listeners
        ports = iter(free_ports(self.spec.brokers * (len(listeners) + 1)))
        for node_id in self.node_ids:
            named = {listener: next(ports) for listener in listeners}
            self._ports[node_id] = BrokerPorts(named, next(ports))
        if self.spec.uses_tls:
            make_certificates(self.tls, self.spec.certificates.values())
        for node_id in self.node_ids:
            own = self.folder / f"broker-{node_id}"
            (own / "data").mkdir(parents=True)
            settings = broker_properties(self.spec, node_id, self._ports, own)
            write_properties_file(own / "server.properties", settings)
        if self.spec.uses_zookeeper:
            own = self.folder / "broker-1"
            text = zookeeper_properties(self._ports[1].controller, own)
            (own / "zookeeper.properties").write_text(text)

    def _launch(self, node_id: int, classes: str) -> None:
        """Start one broker's JVM; its first start formats its storage."""
        own = self.folder / f"broker-{node_id}"
        properties = own / "server.properties"
        formatting: list[str] = []
        if node_id not in self._formatted and not self.spec.uses_zookeeper:
            formatting = format_arguments(self.spec, self.cluster_id, properties)
        command = java_command(
            classes,
            "BrokerOnALeash",
            *(str(properties), str(own), *formatting),
            log_level=os.environ.get("KGROUPS_BROKER_LOG", "INFO"),
            properties=self.spec.system_properties,
            options=self._options,
        )
        self.log_path(node_id).parent.mkdir(parents=True, exist_ok=True)
        with self.log_path(node_id).open("ab") as log:
            # a session of its own: Ctrl-C at the terminal is ours to turn into an orderly stop
            self._running[node_id] = Child(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                ends_itself=True,
            )
        self._formatted.add(node_id)

    def _ready(self) -> bool:
        """Whether each running broker knows all the others and a coordinator can be found."""
        for node_id, process in self._running.items():
            if process.poll() is not None:
                log = self.log_path(node_id)
                end = "\n".join(log.read_text(errors="replace").splitlines()[-25:])
                raise BrokerDied(f"broker {node_id} ended with {process.returncode}:\n{end}")
        running = set(self._running)
        all_run = len(running) == self.spec.brokers
        return all(
            serves(self.address(node_id), node_id, running, all_run=all_run) for node_id in running
        )


def _end(process: Child, timeout_s: float) -> None:
    """Wait for a process that was told to end; kill it when it does not."""
    try:
        process.wait(timeout_s)
    except DeadlinePassed:
        process.kill()
        process.wait(timeout_s)
    if process.stdin is not None:
        process.stdin.close()
