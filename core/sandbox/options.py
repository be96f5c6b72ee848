"""Options of an embedded cluster."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kgroups.core.errors import UsageError
from kgroups.core.sandbox.caps import NEWEST, caps_of
from kgroups.core.sandbox.limits import Limits, limits_of
from kgroups.core.sandbox.storage.topics import name_fault

LOOPBACK = "127.0.0.1"
_WILDCARDS = ("0.0.0.0", "::")
MAX_BROKERS = 100
MAX_PARTITIONS = 100_000
MAX_PORT = 65_535


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """Shape and behaviour of the cluster.

    Args:
        brokers: how many; ids are 1, 2, ...
        topics: name to number of partitions, created at start.
        port: of the first broker, the others follow; 0 lets the system choose each.
        host: address to bind and to advertise. Only loopback unless it is asked for.
        as_version: release of Kafka whose API versions are offered, and from 4.3 on whose rules
            the coordinators follow.
        auto_create_topics: make a topic when a client asks for its metadata.
        default_partitions: of topics made without a number.
        replication_factor: of topics made without one; None for three, or as many as brokers.
        data_dir: where topics, records and offsets outlive the process; None for nowhere.
        snapshot: snapshot file whose topics, groups and offsets are there from the start.
        faults: YAML file of fault rules that are in force from the start.
        properties: broker settings about groups and about what a client may cost, by Kafka's
            names (`group.initial.rebalance.delay.ms`, `socket.request.max.bytes`); the delay is 0
            here unless it is set.
        racks: of the brokers in order; empty for none.
        cluster_id: None draws one.
        limits: what a client may cost; `properties` that are about that win over it.
    """

    brokers: int = 3
    topics: Mapping[str, int] = field(default_factory=dict)
    port: int = 0
    host: str = LOOPBACK
    as_version: str = NEWEST
    auto_create_topics: bool = False
    default_partitions: int = 1
    replication_factor: int | None = None
    data_dir: Path | None = None
    snapshot: Path | None = None
    faults: Path | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    racks: Sequence[str | None] = ()
    cluster_id: str | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def default_replication_factor(self) -> int:
        """Replicas of a topic that does not say."""
        return self.replication_factor or min(3, self.brokers)

    def settled(self) -> "SandboxOptions":
        """The same with `limits` as the properties say, and no properties but those of groups.

        Raises:
            UsageError: a property about limits is not a number that it can have.
        """
        limits, rest = limits_of(self.limits, self.properties)
        return replace(self, limits=limits, properties=rest)

    def check(self) -> None:
        """Nothing, if the cluster can be made so.

        Raises:
            UsageError: a number is out of range, or a name or version is unknown.
        """
        _in_range("number of brokers", self.brokers, 1, MAX_BROKERS)
        _in_range("port", self.port, 0, MAX_PORT)
        if self.port and self.port + self.brokers - 1 > MAX_PORT:
            raise UsageError(
                f"{self.brokers} brokers from port {self.port} on end above {MAX_PORT}"
            )
        _in_range("number of partitions", self.default_partitions, 1, MAX_PARTITIONS)
        _in_range("replication factor", self.default_replication_factor, 1, self.brokers)
        for name, partitions in self.topics.items():
            fault = name_fault(name)
            if fault is not None:
                raise UsageError(f"topic name `{name}`: {fault}")
            _in_range(f"partitions of topic `{name}`", partitions, 1, MAX_PARTITIONS)
        if self.racks and len(self.racks) != self.brokers:
            raise UsageError(f"{len(self.racks)} racks for {self.brokers} brokers")
        if not self.host:
            raise UsageError("the host is empty")
        if self.host in _WILDCARDS:
            raise UsageError(
                f"`{self.host}` is not an address that clients can connect to",
                hint="use an address of this machine that they can reach",
            )
        caps_of(self.as_version)


def _in_range(what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise UsageError(f"{what} is {value}, not {low} to {high}")


_TOPIC_OPTION = re.compile(r"(?P<name>[^=]*)(=(?P<partitions>.*))?", re.DOTALL)


def parse_topic_options(texts: Sequence[str], default_partitions: int = 1) -> dict[str, int]:
    """Topics from `name=partitions` or `name`, in order.

    Raises:
        UsageError: no number after `=`, or a topic twice.
    """
    topics: dict[str, int] = {}
    for text in texts:
        match = _TOPIC_OPTION.fullmatch(text)
        assert match is not None, "the pattern takes any text"
        name, partitions = match["name"], match["partitions"]
        if name in topics:
            raise UsageError(f"topic `{name}` is given twice")
        if partitions is None:
            topics[name] = default_partitions
        elif partitions.isascii() and partitions.isdigit():
            topics[name] = int(partitions[:9])
        else:
            raise UsageError(f"`{text}` is not TOPIC=PARTITIONS", hint="for example: orders=12")
    return topics
