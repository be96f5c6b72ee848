"""The cluster that the benchmarks share: started and filled when the first one asks."""

import sys
from contextlib import ExitStack
from typing import Self

from bench.far_way import FarWay
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.kafka.broker import KafkaCluster, free_ports
from tests.support.kafka.broker_config import ClusterSpec, SecurityProtocol
from tests.support.kafka.workload import commit_offsets, create_topics, many_commits, produce
from tests.support.sandbox.sandbox_process import SandboxProcess

GROUPS, PARTITIONS, RECORDS = 2_000, 24, 100
TOPIC = "events"
ONE_GROUP = "group-1000"


def say(text: str) -> None:
    """Progress, on stderr."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Stage:
    """What benchmarks run against; a context manager that takes it all down."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._cluster: KafkaCluster | None = None
        self._far = ""
        self._embedded: str | None = None
        self._hosts: HostPool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    @property
    def cluster(self) -> KafkaCluster:
        """One real broker with 2,000 groups that committed 24 partitions each."""
        if self._cluster is None:
            say(f"starting a broker with {GROUPS:,} groups x {PARTITIONS} committed partitions")
            (port,) = free_ports(1)
            way = self._held.enter_context(FarWay())
            way.broker_port = port
            spec = ClusterSpec(protocols=("SSL",), detours={port: way.port})
            cluster = self._held.enter_context(KafkaCluster(spec))
            self._far = f"127.0.0.1:{way.port}"
            create_topics(cluster.bootstrap, {TOPIC: PARTITIONS})
            produce(cluster.bootstrap, {(TOPIC, number): RECORDS for number in range(PARTITIONS)})
            self._cluster = cluster
            self.fill()
        return self._cluster

    @property
    def bootstrap(self) -> str:
        """The address of its plain listener."""
        return self.cluster.bootstrap

    def connection(self, protocol: SecurityProtocol, *, is_far: bool = False) -> list[str]:
        """The options, of either tool, that lead to it; or to it behind a `FarWay`."""
        cluster = self.cluster
        if is_far:
            return ["--bootstrap-server", self._far]
        words = ["--bootstrap-server", cluster.addresses(protocol)]
        if protocol == "PLAINTEXT":
            return words
        file = cluster.folder / f"client-{protocol}.properties"
        settings = cluster.java_settings(protocol)
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        return [*words, "--command-config", str(file)]

    @property
    def embedded(self) -> str:
        """Address of an embedded cluster without topics and groups of its own."""
        if self._embedded is None:
            self._embedded = self._held.enter_context(SandboxProcess()).bootstrap_servers
        return self._embedded

    @property
    def hosts(self) -> HostPool:
        """Programs that hold live members."""
        if self._hosts is None:
            self._hosts = self._held.enter_context(HostPool())
        return self._hosts

    def fill(self) -> None:
        """Commit everything as it was, whatever has been written or deleted since."""
        commit_offsets(self.bootstrap, many_commits(GROUPS, TOPIC, PARTITIONS))
