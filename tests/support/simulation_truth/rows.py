"""The scenarios that are carried out for real and simulated: a table, and each as a file's text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from kgroups.core.simulation.clients.libraries import LIBRARIES, Library
from kgroups.core.simulation.scenario.member_settings import LIBRARY_DEFAULTS, Protocol
from kgroups.core.simulation.scenario.scenario_model import Scenario
from tests.support.simulation.sample_scenarios import scenario

# An event comes so long after the group was whole, for real and simulated: so much of the time
# until the next heartbeats and commits has passed.
REST_MS: Final = 6_500
ALSO_MS: Final = 3_000
APART_MS: Final = 20
# What an application wants is done at its next poll.
POLLS_WITHIN_MS: Final = 500
PARTITIONS: Final = 6
RATE: Final = 30
OTHER_PARTITIONS: Final = 3
GROUP: Final = "g"
CLUSTER: Final[Mapping[str, str]] = {
    "group.initial.rebalance.delay.ms": "3000",
    "group.consumer.session.timeout.ms": "10000",
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.consumer.assignment.interval.ms": "1000",
}
SHORT: Final[Mapping[str, int]] = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 1_000}
COMMIT: Final[Mapping[str, Any]] = {"auto.commit.interval.ms": 1_000}
FRESH: Final[Mapping[str, int]] = {"metadata.max.age.ms": 5_000}

JAVA: Final[tuple[Library, ...]] = ("java",)
BOTH: Final[tuple[Library, ...]] = ("java", "librdkafka")
PYTHON: Final[tuple[Library, ...]] = ("kafka-python", "aiokafka")
ALL: Final[tuple[Library, ...]] = tuple(LIBRARIES)
STATIC: Final = tuple(name for name in ALL if LIBRARIES[name].static)
COOPERATIVE: Final = tuple(name for name in ALL if LIBRARIES[name].cooperative)
KIP848: Final = tuple(name for name in ALL if LIBRARIES[name].kip848)
ASSIGN: Final = tuple(name for name in ALL if LIBRARIES[name].assigns)
RESUBSCRIBE: Final = tuple(name for name in ALL if LIBRARIES[name].resubscribes)
UNSUBSCRIBE: Final = tuple(name for name in ALL if LIBRARIES[name].unsubscribes)
SEEK: Final = tuple(name for name in ALL if LIBRARIES[name].seeks)
# The others wait for every commit that an application makes.
ASYNC: Final[tuple[Library, ...]] = (*BOTH, "kafka-python", "franz-go")
PATTERNS: Final = tuple(name for name in ALL if LIBRARIES[name].patterns == "follow")


def other_topic(topic: str) -> str:
    """What a group that changes its subscription reads beside its topic."""
    return f"{topic}-other"


def paused_ms(event_ms: int, for_ms: int) -> range:
    """When every member has paused what it has."""
    return range(event_ms + POLLS_WITHIN_MS, event_ms + for_ms - POLLS_WITHIN_MS)


def share(name: str) -> tuple[int, ...]:
    """The partitions that a member names itself: every third, from its number on."""
    return tuple(range(int(name.rpartition("-")[2]) - 1, PARTITIONS, 3))


@dataclass(frozen=True)
class Kind:
    """What happens, whatever the library.

    Args:
        event: key of the event and its fields, without the group.
        lasts_s: how long is looked at, from the event on, or from when the broker is back.
        session: whether the short session and heartbeats are set; else they are the defaults.
        listener: of its members, in ms.
        commit: how its applications commit; empty: auto-commit.
        rate: of the topic, in records a second.
        record_ms: what a record takes.
        room: how many records a poll gives at most; 0: the library's default.
        also: another event, `ALSO_MS` after the first.
        named: whether members have client ids of their own, in whose order they are assigned
            partitions; else what goes to whom is chance.
        assigned: whether members name their partitions themselves, each its share.
        keys: of the topic's records, as a scenario has them; empty: partitions take turns.
        chance: whether chance has a part in it: when metadata are looked at, which connection is
            made first.
        races: whether what comes first decides: the session of who is frozen or cut off ends when
            heartbeats of the others, which began with its own, arrive.
    """

    name: str
    event: Mapping[str, Mapping[str, Any]]
    libraries: tuple[Library, ...] = ALL
    protocol: Protocol = "eager"
    lasts_s: int = 30
    members: int = 3
    static: bool = False
    session: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    listener: int = 0
    commit: str = ""
    rate: int = RATE
    record_ms: int = 1
    room: int = 0
    also: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    named: bool = False
    assigned: bool = False
    keys: Mapping[str, Any] = field(default_factory=dict)
    pattern: bool = False
    chance: bool = False
    races: bool = False


def _cut(name: str, for_s: int, libraries: tuple[Library, ...], **more: Any) -> Kind:
    event = {"network_partition": {"member": "m-1", "for": f"{for_s}s", **more}}
    chance, races = for_s > 30, for_s > 40
    lasts_s = for_s + 60
    return Kind(name, event, libraries, lasts_s=lasts_s, session=False, chance=chance, races=races)


_OUT: Final = {"scale_out": {"count": 1}}
_LAST: Final = {"scale_out": {"like": "m-4"}}
_IN: Final = {"scale_in": {"members": ["m-2"]}}
_CRASH: Final = {"crash": {"member": "m-1"}}
_ROLL: Final = {"rolling_restart": {"down": "3s", "pause": "6s"}}
_FREEZE: Final = {"gc_pause": {"member": "m-1", "for": "20s"}}
_WITHIN: Final = {"pause": {"for": "10s"}}
_OTHER: Final[Mapping[str, Mapping[str, Any]]] = {"subscribe": {}}
_LEAVE: Final = {"unsubscribe": {"member": "m-1"}}
_AGAIN: Final = {"seek": {"member": "m-1", "to": "beginning"}}
_SLOW: Final = {"poison_record": {"member": "m-1", "for": "25s"}}

KINDS: Final[tuple[Kind, ...]] = (
    Kind("scale out", _OUT),
    Kind("scale in", _IN),
    Kind("crash", _CRASH),
    Kind("rolling restart", _ROLL, lasts_s=50),
    Kind("static restart", _ROLL, STATIC, static=True, lasts_s=45),
    Kind("cooperative scale out", _OUT, COOPERATIVE, "cooperative"),
    Kind("cooperative crash", _CRASH, COOPERATIVE, "cooperative"),
    Kind("consumer protocol, scale out", _OUT, KIP848, "consumer"),
    Kind("consumer protocol, scale in", _IN, KIP848, "consumer"),
    Kind("consumer protocol, crash", _CRASH, KIP848, "consumer"),
    Kind("consumer protocol, rolling restart", _ROLL, KIP848, "consumer", lasts_s=45),
    Kind(
        "slow poll", _SLOW, (*BOTH, *PYTHON), lasts_s=50, settings={"max.poll.interval.ms": 10_000}
    ),
    Kind("frozen process", _FREEZE, lasts_s=45, chance=True, races=True),
    Kind("partitions added", {"add_partitions": {"partitions": 9}}, settings=FRESH, chance=True),
    Kind(
        "new topic matches a pattern",
        {"create_topic": {"partitions": 3, "rate": 15}},
        PATTERNS,
        settings=FRESH,
        pattern=True,
        chance=True,
        races=True,
    ),
    Kind("slow listener", _OUT, BOTH, listener=2_000, lasts_s=35),
    Kind("commit after each poll", _CRASH, ASYNC, settings={"enable.auto.commit": False}),
    Kind("commits waited for", _CRASH, commit="sync"),
    Kind("offsets outside Kafka", _CRASH, commit="outside"),
    Kind("assigned by hand, rolling restart", _ROLL, ASSIGN, lasts_s=45, assigned=True),
    Kind("partitions paused", _WITHIN),
    Kind("partitions paused, records wait", _WITHIN, rate=300, record_ms=40, room=5),
    Kind("partitions paused, a member comes", _WITHIN, also=_LAST, named=True),
    Kind(
        "cooperative, partitions paused, a member comes",
        _WITHIN,
        COOPERATIVE,
        "cooperative",
        also=_LAST,
        named=True,
    ),
    Kind("another subscription", _OTHER, RESUBSCRIBE),
    Kind("cooperative, another subscription", _OTHER, COOPERATIVE, "cooperative"),
    Kind("consumer protocol, another subscription", _OTHER, KIP848, "consumer"),
    Kind("a member unsubscribes", _LEAVE, UNSUBSCRIBE),
    Kind("consumer protocol, a member unsubscribes", _LEAVE, BOTH, "consumer"),
    Kind("a member seeks the first record", _AGAIN, SEEK),
    Kind(
        "records with keys, a member seeks the first", _AGAIN, SEEK, keys={"count": 20}, named=True
    ),
    Kind(
        "broker restart", {"broker_down": {"broker": 0, "failover": "0s"}}, lasts_s=45, chance=True
    ),
    _cut("cut of 10 s, dropped", 10, ALL),
    _cut("cut of 40 s, dropped", 40, ALL),
    _cut("cut of 120 s, dropped", 120, ALL),
    _cut("cut of 10 s, stalled", 10, BOTH, stall=True),
    _cut("cut of 40 s, stalled", 40, BOTH, stall=True),
    _cut("cut of 120 s, stalled", 120, BOTH, stall=True),
    _cut("requests cut for 40 s", 40, BOTH, lost="requests"),
    _cut("answers cut for 40 s", 40, BOTH, lost="answers"),
)


@dataclass(frozen=True)
class Row:
    """A scenario: what happens, to members of a library."""

    kind: Kind
    library: Library

    @property
    def name(self) -> str:
        """For people, and to choose it by."""
        return f"{self.kind.name}: {self.library}"

    @property
    def slug(self) -> str:
        """As it may stand in the name of a group or a topic."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower())

    @property
    def event(self) -> str:
        """Key of its event."""
        (key,) = self.kind.event
        return key

    @property
    def own_broker(self) -> bool:
        """Whether what happens is felt by every group of the cluster."""
        return self.event == "broker_down"

    @property
    def strategy(self) -> str:
        """Assignor that its members are told to use."""
        if self.kind.protocol == "consumer":
            return "uniform"
        if self.kind.protocol == "cooperative":
            return "cooperative-sticky"
        return LIBRARIES[self.library].eager[0]

    @property
    def settings(self) -> Mapping[str, Any]:
        """Properties of its members, by Java's names."""
        given: dict[str, Any] = {}
        if self.library != "kafkajs":  # it commits what it has read of each fetch
            given |= COMMIT
        if self.kind.session and self.kind.protocol != "consumer":
            given |= SHORT
        given.update(self.kind.settings)
        if self.kind.commit:
            given["enable.auto.commit"] = False
        if self.kind.room and LIBRARY_DEFAULTS[self.library].max_poll_records > 1:
            given["max.poll.records"] = self.kind.room
        if self.library == "librdkafka" and "metadata.max.age.ms" in given:
            given["topic.metadata.refresh.interval.ms"] = given.pop("metadata.max.age.ms")
        return given

    def text(self, *, topic: str, event_ms: int, down_s: float = 0.0) -> str:
        """The file that `kgroups simulate` reads.

        Args:
            event_ms: when the event comes.
            down_s: how long the broker was away.
        """
        kind = self.kind
        fields = dict(kind.event[self.event])
        if self.event not in ("add_partitions", "create_topic", "broker_down"):
            fields["group"] = GROUP
        if self.event == "add_partitions":
            fields["topic"] = topic
        if self.event == "create_topic":
            fields["topic"] = f"{topic}-new"
        topics: dict[str, Any] = {topic: {"partitions": PARTITIONS, "rate": kind.rate}}
        if kind.keys:
            topics[topic]["keys"] = dict(kind.keys)
        if self.event == "subscribe":
            fields["topics"] = [topic, other_topic(topic)]
            topics[other_topic(topic)] = {"partitions": OTHER_PARTITIONS, "rate": RATE}
        if down_s:
            fields["for"] = f"{round(down_s * 1_000)}ms"
        members = self._members(topic)
        also = [
            {"at": f"{event_ms + ALSO_MS}ms", key: {"group": GROUP, **more}}
            for key, more in kind.also.items()
        ]
        settings = {**self.settings, "auto.offset.reset": "earliest"}
        if kind.protocol == "eager":
            settings["partition.assignment.strategy"] = self.strategy
        return yaml.safe_dump(
            {
                "until": f"{event_ms + round(1_000 * (kind.lasts_s + down_s))}ms",
                "cluster": dict(CLUSTER),
                **({"network": {"latency": {"exponential": "1ms"}}} if kind.races else {}),
                "topics": topics,
                "groups": {
                    GROUP: {
                        "protocol": kind.protocol,
                        "members": members,
                        "settings": settings,
                    }
                },
                "events": [{"at": f"{event_ms}ms", self.event: fields}, *also],
            },
            sort_keys=False,
        )

    def _members(self, topic: str) -> dict[str, Any]:
        kind = self.kind
        like = {
            "client": self.library,
            "processing": f"{kind.record_ms}ms",
            "static": kind.static,
            **({"listener": f"{kind.listener}ms"} if kind.listener else {}),
            **({"commit": kind.commit} if kind.commit else {}),
        }
        names = [f"m-{n + 1}" for n in range(kind.members)]
        if kind.assigned:
            return {name: {**like, "assign": {topic: list(share(name))}} for name in names}
        if kind.named:
            comes = {f"m-{kind.members + 1}": {**like, "topics": [topic], "count": 0}}
            return {name: {**like, "topics": [topic]} for name in names} | comes
        reads = {"pattern": f"{topic}.*"} if kind.pattern else {"topics": [topic]}
        # Their metadata are refreshed some ms apart, as they begin.
        apart = {"every": f"{APART_MS}ms"} if kind.pattern else {}
        return {"m": {"count": kind.members, **like, **reads, **apart}}

    def scenario(self, *, event_ms: int, down_s: float = 0.0) -> Scenario:
        """The same, parsed."""
        return scenario(self.text(topic="t", event_ms=event_ms, down_s=down_s))


ROWS: Final[tuple[Row, ...]] = tuple(
    Row(kind, library) for kind in KINDS for library in kind.libraries
)
