"""The releases of Kafka whose brokers the tests start: what they are made of.

`KGROUPS_KAFKA_RELEASE=2.8` runs a suite against another release than 4.4, the newest whose tools
are published too; `make versions` does so for each of them.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

NEWEST: Final = "4.4"
_RELOAD4J: Final = (
    ("ch.qos.reload4j", "reload4j", "1.2.25"),
    ("org.slf4j", "slf4j-reload4j", "1.7.36"),
)
LOG4J: Final = (("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),)


@dataclass(frozen=True)
class Release:
    """One release, as its brokers are started here.

    Args:
        version: of the jars.
        logging: artifacts that its log needs.
        zookeeper: whether its brokers need ZooKeeper.
        properties: of its brokers, beside those of every release.
    """

    version: str
    logging: tuple[tuple[str, str, str], ...] = _RELOAD4J
    zookeeper: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def number(self) -> tuple[int, ...]:
        """To compare: `(2, 8)`."""
        return tuple(int(part) for part in self.version.split(".")[:2])


def _protocols(names: str) -> Mapping[str, str]:
    return {"group.coordinator.rebalance.protocols": names}


RELEASES: Final[Mapping[str, Release]] = {
    "2.8": Release("2.8.2", zookeeper=True),
    "3.3": Release("3.3.2"),
    "3.9": Release("3.9.1", properties=_protocols("classic")),
    "3.9 with KIP-848": Release("3.9.1", properties=_protocols("classic,consumer")),
    "4.0": Release("4.0.0", LOG4J, properties=_protocols("classic,consumer")),
    "4.2": Release("4.2.0", LOG4J, properties=_protocols("classic,consumer,share,streams")),
    "4.3": Release("4.3.0", LOG4J, properties=_protocols("classic,consumer,share,streams")),
    "4.4": Release("4.4.0", LOG4J, properties=_protocols("classic,consumer,share,streams")),
}
"""Oldest first. 3.9 has two coordinators: Scala's, and the new one with KIP-848 as early access."""


def chosen_release() -> str:
    """The release of the brokers that a session shares.

    Raises:
        KeyError: `KGROUPS_KAFKA_RELEASE` names none of them.
    """
    name = os.environ.get("KGROUPS_KAFKA_RELEASE") or NEWEST
    RELEASES[name]
    return name


def serves(name: str, protocol: str) -> bool:
    """Whether the brokers of a release serve a protocol here: `consumer`, `share`, `streams`."""
    served = RELEASES[name].properties.get("group.coordinator.rebalance.protocols", "")
    return protocol in served.split(",")


def offers(name: str, since: str) -> bool:
    """Whether a release is not older than another; KIP-848 needs the new coordinator, too."""
    if since == "KIP-848":
        return serves(name, "consumer")
    return RELEASES[name].number >= tuple(int(part) for part in since.split("."))
