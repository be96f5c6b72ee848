"""What a property is to a library: known with a kind, another's, or nobody's."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Final

from kgroups.core.simulation.clients.java_properties import JAVA_PROPERTIES
from kgroups.core.simulation.clients.librdkafka_properties import LIBRDKAFKA_PROPERTIES
from kgroups.core.simulation.clients.property_kinds import PropertyKind

Table = Mapping[str, tuple[PropertyKind, str | None]]

# Libraries that are configured by properties.
TABLES: Final[Mapping[str, Table]] = {
    "java": JAVA_PROPERTIES,
    "librdkafka": LIBRDKAFKA_PROPERTIES,
}
SHOWN: Final[Mapping[str, str]] = {"java": "the Java consumer", "librdkafka": "librdkafka"}

# librdkafka's word -> Java's for the same thing.
JAVA_NAMES: Final[Mapping[str, str]] = {
    "socket.timeout.ms": "request.timeout.ms",
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "topic.metadata.refresh.interval.ms": "metadata.max.age.ms",
    "auto.commit.enable": "enable.auto.commit",
}

# Of librdkafka's share consumer, of its producer, and of its cache: not what Java calls so.
NOT_OF_GROUPS: Final[Mapping[str, frozenset[str]]] = {
    "java": frozenset(),
    "librdkafka": frozenset({"max.poll.records", "request.timeout.ms", "metadata.max.age.ms"}),
}

# Said of a member itself.
IDENTITY: Final = ("client.id", "client.rack", "group.id", "group.instance.id", "group.protocol")


def unknown_property(name: str, library: str, accepted: Iterable[str]) -> tuple[str, str | None]:
    """What is said of a property that is not accepted, and a hint."""
    what = f"unknown property `{name[:60]}` of {SHOWN.get(library, library)}"
    for other, table in TABLES.items():
        if name in table and other != library:
            return what, f"it is a property of {SHOWN[other]}: `client: {other}`"
    close = difflib.get_close_matches(name[:60], sorted(accepted), 1)
    return what, f"did you mean `{close[0]}`?" if close else None
