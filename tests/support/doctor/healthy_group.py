"""Groups of real clients that nothing is wrong with, and what happens to them while one looks."""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from confluent_kafka import ConsumerGroupTopicPartitions

from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.hosts.process import HostFailed, HostProcess
from tests.support.fidelity.libraries import TRAITS, Library
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import admin_of, produce
from tests.support.simulation_truth.asking import asked_of, topic_of
from tests.support.simulation_truth.producer import SteadyProducer
from tests.support.simulation_truth.rows import Kind, Row

PARTITIONS: Final = 6
RECORDS: Final = 50
"""In each partition before anybody reads."""
RATE: Final = 12
BATCHES: Final = 4
"""Programs of a library: each holds the members of every fourth group."""
READ_S: Final = 180.0


@dataclass(frozen=True)
class Life:
    """What a healthy group goes through.

    Args:
        members: that are there when one looks.
        rate: of its topic while one looks, in records a second.
        begins: whether they join only when one begins to look; else they have read everything.
        ends: whether they have left again.
        static: whether they have instance ids.
        happens: while one looks.
    """

    name: str
    members: int = 2
    rate: int = 0
    begins: bool = False
    ends: bool = False
    static: bool = False
    happens: Callable[["HealthyGroup"], None] | None = None


class Place:
    """Where groups live; a context manager that ends their programs.

    Attributes:
        owned: partitions by group and member, as members tell.
    """

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self.owned: dict[str, set[tuple[str, int]]] = {}
        self.pool = HostPool(self._hear)
        self.producer = SteadyProducer(servers)
        self._admin = admin_of(servers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.producer.close()
        self.pool.__exit__(None, None, None)

    def committed(self, group: str) -> int:
        """Records of a group's topic that it has committed."""
        asked = [ConsumerGroupTopicPartitions(group)]
        found = self._admin.list_consumer_group_offsets(asked)[group].result(60)
        return sum(max(0, each.offset) for each in found.topic_partitions)

    def _hear(self, event: Mapping[str, Any]) -> None:
        owned = self.owned.setdefault(event["name"], set())
        if event["event"] in ("got", "gave"):
            places = {(topic, number) for topic, number in event["partitions"]}
            (owned.update if event["event"] == "got" else owned.difference_update)(places)


class HealthyGroup:
    """One group.

    Args:
        number: of its library's groups; decides protocol, program and how it commits.
    """

    def __init__(self, place: Place, library: Library, life: Life, number: int) -> None:
        self.place, self.life = place, life
        kip848 = TRAITS[library].server and number % 3 == 2
        cooperative = "cooperative-sticky" in TRAITS[library].strategies and number % 3 == 1
        # What is committed between the two rebalances of a cooperative group is refused.
        by_hand = {"enable.auto.commit": False} if number % 2 and not cooperative else {}
        # The row's own interval is a test's: the libraries' is 5 s.
        interval = {} if library == "kafkajs" else {"auto.commit.interval.ms": 5_000}
        kind = Kind(
            life.name,
            {"rolling_restart": {}},
            protocol="consumer" if kip848 else "cooperative" if cooperative else "eager",
            static=life.static and TRAITS[library].static,
            session=False,
            settings={**interval, **by_hand},
        )
        self.row = Row(kind, library)
        self.group = f"healthy-{library}-{number}-{life.name.replace(' ', '-')}"
        self.topic = topic_of(self.group)
        self._number = number
        self._open: dict[str, HostProcess] = {}

    def prepare(self) -> None:
        """Its past: everything is read, or records wait for members that have only to come."""
        life, place = self.life, self.place
        records = {(self.topic, number): RECORDS for number in range(PARTITIONS)}
        if not life.begins:
            for number in range(life.members):
                self.join(number)
            # What is committed while members still come is refused, and only records bring another.
            wait_until(self.is_whole, f"{self.group} is whole", timeout_s=READ_S)
        produce(place.servers, records)
        if life.begins:
            return
        wait_until(
            lambda: place.committed(self.group) == PARTITIONS * RECORDS,
            f"{self.group} has read everything",
            timeout_s=READ_S,
        )
        if life.ends:
            self.close()

    def is_whole(self) -> bool:
        """Whether its members own every partition."""
        owned = [self.place.owned[f"{self.group}/{name}"] for name in self._open]
        holders = sum(map(bool, owned))
        places = sum(map(len, owned))
        return places == len(set().union(*owned)) == PARTITIONS and holders == min(
            self.life.members, PARTITIONS
        )

    def look(self) -> None:
        """One begins to look."""
        life = self.life
        if life.rate:
            self.place.producer.begin(self.topic, PARTITIONS, life.rate)
        if life.begins:
            for number in range(life.members):
                self.join(number)
        if life.happens is not None:
            life.happens(self)

    def join(self, number: int) -> None:
        """Let a member join, or come back."""
        name, row, place = f"m-{number + 1}", self.row, self.place
        batch = f"healthy-{self._number % BATCHES}"
        self._open[name] = place.pool.shared(row.library, batch)
        place.owned[f"{self.group}/{name}"] = set()
        asked = asked_of(row, name, servers=place.servers, group=self.group, store="")
        self._open[name].ask("open", **asked)

    def leave(self, number: int) -> None:
        """Let a member go; a static one stays in the group."""
        name = f"m-{number + 1}"
        self._open.pop(name).ask("close", name=f"{self.group}/{name}")

    def close(self) -> None:
        """Let all go."""
        self.place.producer.end(self.topic)
        for number in [int(name.removeprefix("m-")) - 1 for name in self._open]:
            with suppress(HostFailed, TimeoutError):
                self.leave(number)


def deploy(group: HealthyGroup) -> None:
    """Members are restarted one after the other."""
    for number in range(group.life.members):
        group.leave(number)
        threading.Event().wait(0.5)
        group.join(number)
        threading.Event().wait(2.0)


def scale_out(group: HealthyGroup) -> None:
    """One member more."""
    group.join(group.life.members)


def scale_in(group: HealthyGroup) -> None:
    """The last member leaves."""
    group.leave(group.life.members - 1)


LIVES: Final = (
    Life("steady", rate=RATE),
    Life("read to the end"),
    Life("idle at night", ends=True),
    Life("just started", rate=RATE, begins=True),
    Life("deploy", members=3, rate=RATE, happens=deploy),
    Life("static deploy", rate=RATE, static=True, happens=deploy),
    Life("scaled out", rate=RATE, happens=scale_out),
    Life("scaled in", members=3, rate=RATE, happens=scale_in),
    Life("members in reserve", members=PARTITIONS + 1, rate=RATE),
)


def healthy(place: Place, library: Library, count: int) -> list[HealthyGroup]:
    """So many groups of a library, of every life in turn; static ones where it has such members."""
    return [
        HealthyGroup(place, library, replace(LIVES[number % len(LIVES)]), number)
        for number in range(count)
    ]
