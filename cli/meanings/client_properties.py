"""Consumer properties that matter to groups: meaning, defaults, and what they do to a rebalance.

Defaults of today are those that simulations know; the Java consumer's former ones are those of
its ConsumerConfig from 0.10.2 on.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from kgroups.cli.meanings.meaning import Default, Meaning
from kgroups.core.simulation.clients.libraries import LIBRARIES, VERSIONS, Library
from kgroups.core.simulation.clients.own_names import OWN_NAMES
from kgroups.core.simulation.clients.properties import IDENTITY, JAVA_NAMES, NOT_OF_GROUPS, TABLES
from kgroups.core.simulation.scenario.member_settings import LIBRARY_DEFAULTS, SETTINGS

_NO_EFFECT: Final = "none by itself"

# Property -> meaning, effect on a rebalance.
PROPERTIES: Final[Mapping[str, tuple[str, str]]] = {
    "group.id": (
        "the group that the consumer joins and commits in",
        "consumers with the same one share the partitions",
    ),
    "group.instance.id": (
        "makes it a static member, which keeps its partitions over a restart",
        "a restart within the session timeout causes none; two consumers with one id fence each "
        "other",
    ),
    "group.protocol": (
        "classic: members assign; consumer: the broker does (KIP-848)",
        "with `consumer` members move one by one, and nobody waits for all to rejoin",
    ),
    "group.remote.assignor": (
        "the broker's assignor that a member of a consumer group asks for: uniform or range",
        "the one that most members ask for decides; without any, the broker's first",
    ),
    "partition.assignment.strategy": (
        "assignors of the classic protocol, in order of preference",
        "one that all members have decides; where all prefer cooperative-sticky only partitions "
        "that move are revoked, else every member stops",
    ),
    "session.timeout.ms": (
        "a member without a heartbeat for so long is removed from its classic group; of consumer "
        "groups the broker's group.consumer.session.timeout.ms decides",
        "a member that dies keeps its partitions, unread, until then",
    ),
    "heartbeat.interval.ms": (
        "how often a classic member sends heartbeats; at most a third of the session timeout",
        "members learn of one by their next heartbeat, so it begins so much later",
    ),
    "max.poll.interval.ms": (
        "a member that does not poll for so long leaves its group",
        "also the rebalance timeout of Java and librdkafka: so long a classic group waits for a "
        "member that is busy",
    ),
    "max.poll.records": (
        "most records that one poll returns",
        "a Java member rejoins when it polls again: fewer records, a shorter wait for it",
    ),
    "rebalance.timeout.ms": (
        "how long the coordinator waits for members to rejoin; Java and librdkafka use "
        "max.poll.interval.ms",
        "members that rejoin later lose their place",
    ),
    "internal.leave.group.on.close": (
        "whether a consumer leaves its group on close; Kafka Streams sets it to false",
        "false: none when it stops, until its session is over",
    ),
    "enable.auto.commit": (
        "whether the consumer commits what it has returned, on its own",
        "commits before it gives up partitions, so little is read again",
    ),
    "auto.commit.interval.ms": (
        "how often it does",
        "a member that dies has its last so many milliseconds read again",
    ),
    "auto.offset.reset": (
        "where to start without a commit, or with one outside the log; also by_duration:P7D from "
        "Kafka 4.0 on",
        "a partition without a commit starts there for its new owner; with latest, records "
        "before that are skipped",
    ),
    "isolation.level": ("whether records of open and aborted transactions are read", _NO_EFFECT),
    "exclude.internal.topics": (
        "whether a subscription pattern leaves out topics such as __consumer_offsets",
        "false: a pattern may match them",
    ),
    "allow.auto.create.topics": (
        "whether asking for an unknown topic may create it, if brokers allow it",
        "a topic that appears causes one",
    ),
    "client.id": (
        "a name for logs and quotas; a classic member id begins with it",
        "where assignors sort by member id, it decides who comes first",
    ),
    "client.rack": (
        "the rack that the consumer is in, to read from the nearest replica",
        "rack-aware assignors prefer partitions with a replica there",
    ),
    "metadata.max.age.ms": (
        "how often metadata are refreshed at least",
        "new topics and partitions are seen so much later; in consumer groups the broker sees them",
    ),
    "request.timeout.ms": (
        "how long an answer is waited for",
        "JoinGroup has max.poll.interval.ms and 5 s more in Java",
    ),
    "default.api.timeout.ms": (
        "how long calls such as commitSync and position may take",
        "a commit in a rebalance listener delays it by so much at most",
    ),
    "retry.backoff.ms": ("pause before a request is repeated", "rejoining after a failure waits"),
    "retry.backoff.max.ms": ("the longest such pause", "likewise"),
    "reconnect.backoff.ms": ("pause before connecting again", "finding a moved coordinator waits"),
    "reconnect.backoff.max.ms": ("the longest such pause", "likewise"),
    "socket.connection.setup.timeout.ms": ("how long connecting may take", _NO_EFFECT),
    "socket.connection.setup.timeout.max.ms": ("how long it may take after failures", _NO_EFFECT),
    "metadata.recovery.strategy": (
        "whether a client that knows no living broker starts over from its bootstrap servers",
        _NO_EFFECT,
    ),
    "connections.max.idle.ms": ("idle connections are closed after so long", _NO_EFFECT),
    "fetch.min.bytes": ("a fetch is answered when there are so many bytes", _NO_EFFECT),
    "fetch.max.bytes": ("most bytes of one answer", _NO_EFFECT),
    "max.partition.fetch.bytes": ("most bytes of one partition in it", _NO_EFFECT),
    "fetch.max.wait.ms": (
        "or when so long has passed",
        "libraries that share one connection send heartbeats behind it",
    ),
    "zookeeper.connect": ("of Kafka 0.8: where its ZooKeeper is", _NO_EFFECT),
    "consumer.id": (
        "of Kafka 0.8: the name of a consumer in ZooKeeper, made by it where it is not set",
        "consumers are sorted by it, and get blocks of partitions in that order",
    ),
    "rebalance.max.retries": (
        "of Kafka 0.8: how often a consumer tries to claim its partitions",
        "after that it gives up, and its partitions stay unread",
    ),
    "rebalance.backoff.ms": ("of Kafka 0.8: pause between two tries", "each try waits so long"),
    "zookeeper.session.timeout.ms": (
        "of Kafka 0.8: a consumer that is silent for so long loses its place",
        "a consumer that dies keeps its partitions until then",
    ),
    "zookeeper.sync.time.ms": (
        "of Kafka 0.8: how far a ZooKeeper follower may be behind",
        "the default of rebalance.backoff.ms",
    ),
}

# Of the Java consumer: in which release a property came, and what its default was up to a release.
SINCE: Final[Mapping[str, str]] = {
    "allow.auto.create.topics": "2.3",
    "client.rack": "2.4",
    "default.api.timeout.ms": "2.0",
    "group.instance.id": "2.3",
    "group.protocol": "3.7",
    "group.remote.assignor": "3.7",
    "isolation.level": "0.11",
    "metadata.recovery.strategy": "3.8",
    "reconnect.backoff.max.ms": "0.11",
    "retry.backoff.max.ms": "3.7",
    "socket.connection.setup.timeout.max.ms": "2.7",
    "socket.connection.setup.timeout.ms": "2.7",
}
FORMER: Final[Mapping[str, tuple[str, str, str]]] = {
    "metadata.recovery.strategy": ("none", "3.9", "4.0"),
    "partition.assignment.strategy": ("range", "2.8", "3.0"),
    "request.timeout.ms": ("305000", "1.1", "2.0"),
    "session.timeout.ms": ("10000", "2.8", "3.0"),
    "socket.connection.setup.timeout.max.ms": ("127000", "2.7", "2.8"),
}
"""Value, the last release that had it, the first with today's."""

# Of the old consumer, which ZooKeeper's groups had.
OF_0_8: Final[Mapping[str, str | None]] = {
    "consumer.id": None,
    "zookeeper.connect": None,
    "rebalance.max.retries": "4",
    "rebalance.backoff.ms": "2000",
    "zookeeper.session.timeout.ms": "6000",
    "zookeeper.sync.time.ms": "2000",
}
FIRST: Final = "0.10.2"
"""The first release whose defaults were read."""
_NO_SUCH: Final = "there is no such property"

# What simulations assume in place of a default that is none, or is something else.
_ASSUMED: Final = frozenset(
    {
        ("aiokafka", "max.poll.records"),
        *((library, name) for library in OWN_NAMES for name in IDENTITY),
        ("kafkajs", "enable.auto.commit"),
        ("kafkajs", "auto.commit.interval.ms"),
    }
)


def defaults_of(name: str) -> Iterator[Default]:
    """Default of a property, by library and version."""
    if name in OF_0_8:
        yield Default("java", "0.8.2", OF_0_8[name])
    if name == "internal.leave.group.on.close":  # which is not documented, so in no table
        yield Default("java", f"{FIRST} to {VERSIONS['java']}", "true")
    for library, version in VERSIONS.items():
        value = _default_of(name, library)
        if value == _NO_SUCH:
            continue
        if library == "java":
            start = SINCE.get(name, FIRST)
            if name in FORMER:
                former, last, today = FORMER[name]
                yield Default("java", start if start == last else f"{start} to {last}", former)
                start = today
            version = f"{start} to {version}"
        yield Default(library, version, value)


def _default_of(name: str, library: Library) -> str | None:
    """Today's default; `_NO_SUCH` where the library has no such property."""
    table = TABLES.get(library)
    default: str | None
    if table is None:
        if name not in OWN_NAMES[library].values() or (library, name) in _ASSUMED:
            return _NO_SUCH
        value = getattr(LIBRARY_DEFAULTS[library], SETTINGS[name][0] or "auto_offset_reset")
        default = str(value).lower() if isinstance(value, bool) else str(value)
    else:
        names = (name, *(own for own, java in JAVA_NAMES.items() if java == name))
        own = [s for s in names if s in table and s not in NOT_OF_GROUPS[library]]
        if not own:
            return _NO_SUCH
        default = table[own[0]][1]
    if name == "partition.assignment.strategy":
        traits = LIBRARIES[library]
        default = "cooperative-sticky" if traits.default_protocol == "cooperative" else ""
        default = default or ", ".join(traits.eager)
    return default or None


def _aliases() -> Mapping[str, str]:
    aliases = {name: java for name, java in JAVA_NAMES.items() if java in PROPERTIES}
    for names in OWN_NAMES.values():
        aliases |= {own: java for own, java in names.items() if java in PROPERTIES}
    return aliases


ALIASES: Final = _aliases()
"""A library's own name of a property -> Kafka's name."""

CONSUMER_PROPERTIES: Final = tuple(
    Meaning(name, "consumer property", meaning, None, None, effect, tuple(defaults_of(name)))
    for name, (meaning, effect) in PROPERTIES.items()
)
