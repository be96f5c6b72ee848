"""The client libraries of the measure: which strategies each has, and what its members can do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kgroups.core.planning.changes.kinds import Dialect

Library = Literal["java", "librdkafka", "kafka-python", "aiokafka", "sarama", "franz-go", "kafkajs"]
Protocol = Literal["classic", "consumer"]

EAGER = ("range", "roundrobin")


@dataclass(frozen=True)
class Traits:
    """What members of a library can do.

    Args:
        strategies: of the classic protocol.
        server: whether it speaks KIP-848.
        static: whether it has static members.
        patterns: whether its members find topics by a pattern, and go on finding them.
        resubscribes: whether a member can subscribe to something else.
        lonely: strategies that keep what a member has in the class: each member needs a process.
        versions: of Kafka that it is told to be made for, where it sends other bytes then.
        dialect: of the patterns, where they are spoken of to a plan.
        unnamed: whether its program can leave the client id to the library.
    """

    strategies: tuple[str, ...]
    server: bool = False
    static: bool = True
    patterns: bool = True
    resubscribes: bool = True
    lonely: tuple[str, ...] = ()
    versions: tuple[str, ...] = ("",)
    dialect: Dialect = "java"
    unnamed: bool = False


TRAITS: Mapping[Library, Traits] = {
    "java": Traits((*EAGER, "sticky", "cooperative-sticky"), server=True, unnamed=True),
    "librdkafka": Traits(
        (*EAGER, "cooperative-sticky"), server=True, dialect="librdkafka", unnamed=True
    ),
    "kafka-python": Traits((*EAGER, "sticky", "cooperative-sticky"), unnamed=True),
    "aiokafka": Traits((*EAGER, "sticky"), lonely=("sticky",), unnamed=True),
    "sarama": Traits(
        (*EAGER, "sticky", "cooperative-sticky"), patterns=False, versions=("2.8.0", "3.6.0")
    ),
    "franz-go": Traits((*EAGER, "sticky", "cooperative-sticky"), server=True),
    "kafkajs": Traits(("RoundRobinAssigner",), static=False, patterns=False, resubscribes=False),
}

SERVER_STRATEGIES = ("uniform", "range")


def strategies_of(library: Library, protocol: Protocol) -> tuple[str, ...]:
    """What a group of this library can be assigned by."""
    if protocol == "consumer":
        return SERVER_STRATEGIES if TRAITS[library].server else ()
    return TRAITS[library].strategies
