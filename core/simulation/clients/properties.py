"""Properties of the libraries that are configured by them: what each is, or that nobody has it."""

import json
import re
from collections.abc import Iterable, Mapping
from math import inf
from pkgutil import get_data
from typing import Final, Literal

from kgroups.core.errors import meant
from kgroups.core.simulation.clients.own_names import OWN_NAMES

PropertyKind = Literal["flag", "whole", "number", "text"]

_FLAGS: Final = {"true": True, "false": False}
_WHOLE: Final = re.compile(r"[+-]?\d{1,19}")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

EXPECTED: Final[dict[PropertyKind, str]] = {
    "flag": "true or false",
    "whole": "a whole number",
    "number": "a number",
    "text": "text",
}


def plain_value(kind: PropertyKind, text: str) -> object | None:
    """The value that a client reads from this text; None where it would not start."""
    text = text.strip()
    if kind == "flag":
        return _FLAGS.get(text.lower())
    if kind == "whole":
        return int(text) if _WHOLE.fullmatch(text) else None
    if kind == "number":
        return float(text) if _NUMBER.fullmatch(text) else None
    return text


def out_of_range(name: str, value: object) -> str | None:
    """The bound of the Java consumer that a number violates; None if it would start with it."""
    least, most = JAVA_RANGES.get(name, (-inf, None))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value < least:
        return f"expected at least {least}, found {value}"
    return None if most is None or value <= most else f"expected at most {most}, found {value}"


Table = Mapping[str, tuple[PropertyKind, str | None]]

# Library that is configured by properties -> name -> (what its value is, default; None for none).
TABLES: Final[Mapping[str, Table]] = json.loads(get_data(__package__, "properties.json") or b"")
# The Java consumer's property -> least and greatest value with which it starts; None for any.
JAVA_RANGES: Final[Mapping[str, tuple[float, float | None]]] = json.loads(
    get_data(__package__, "java_ranges.json") or b""
)
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


WAKEUP: Final = "wakeup"
# What is no setting of a simulated member -> what to write in its place.
HINTS: Final[Mapping[str, str]] = {
    WAKEUP: "`wakeup()` only ends a poll: write `scale_in` for a consumer that is closed then",
    "consumer.id": "a member's name in `members` stands for it",
    "zookeeper.connect": "the simulation has a ZooKeeper: write `protocol: zookeeper` of the group",
}


def hint_of(name: str) -> str | None:
    """The name to write in the place of a word that is known otherwise."""
    library = next((owner for owner, names in OWN_NAMES.items() if name in names), None)
    if library is None:
        return HINTS.get(name)
    return f"{library} calls it so: write `{OWN_NAMES[library][name]}`"


def unknown_property(name: str, library: str, accepted: Iterable[str]) -> tuple[str, str | None]:
    """The message on a property that is not accepted, and a hint."""
    what = f"unknown property `{name[:60]}` of {SHOWN.get(library, library)}"
    for other, table in TABLES.items():
        if name in table and other != library:
            return what, f"it is a property of {SHOWN[other]}: `client: {other}`"
    hint = hint_of(name)
    if hint is not None:
        return what, hint
    return what, meant(name[:60], accepted)
