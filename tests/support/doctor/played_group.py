"""Groups of real clients of any library, and what is done to their members."""

import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Self

from confluent_kafka import (
    ConsumerGroupState,
    KafkaException,
)

from tests.support.fidelity.driven_group import all_at_once
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.hosts.process import HostFailed, HostProcess
from tests.support.kafka.waiting import Deadline, DeadlinePassed, wait_until
from tests.support.kafka.workload import (
    admin_of,
    create_topics,
    end_offsets,
    fetch_offsets,
    produce,
)
from tests.support.simulation_truth.asking import asked_of, topic_of
from tests.support.simulation_truth.producer import SteadyProducer
from tests.support.simulation_truth.rows import Row

PARTITIONS: Final = 6
RECORDS: Final = 50
"""In each partition before one looks."""
WAIT_S: Final = 240.0
JOIN_S: Final = 90.0
"""A first join that takes longer is stuck: members are started anew, as operators would."""
NUDGE_S: Final = 20.0


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

    def member_count(self, group: str) -> int | None:
        """Members of a group at rest; None where it is not."""
        try:
            found = self._admin.describe_consumer_groups([group])[group].result(60)
        except KafkaException:
            return None
        at_rest = found.state in (ConsumerGroupState.STABLE, ConsumerGroupState.EMPTY)
        return len(found.members) if at_rest else None

    def _hear(self, event: Mapping[str, Any]) -> None:
        owned = self.owned.setdefault(event["name"], set())
        if event["event"] in ("got", "gave"):
            places = {(topic, number) for topic, number in event["partitions"]}
            (owned.update if event["event"] == "got" else owned.difference_update)(places)


class PlayedGroup:
    """One group; its members are called `m-1`, `m-2`, …

    Args:
        row: what its members are.
        program: of its library, which holds its members; empty: each has a program of its own.
    """

    def __init__(self, place: Place, row: Row, name: str, *, program: str = "") -> None:
        self.place, self.row, self.group = place, row, name
        self.topic = topic_of(name)
        self._program = program
        self._hosts: dict[str, HostProcess] = {}

    def create_topic(self) -> None:
        """What it reads."""
        create_topics(self.place.servers, {self.topic: PARTITIONS})

    @property
    def members(self) -> list[str]:
        """Those that are there, in the order in which they came."""
        return list(self._hosts)

    def start(self, members: int) -> None:
        """Let members join, and read the first records.

        What is committed while members still come is refused, and only records bring more.
        """
        self.join_all(members)
        try:
            self.settle(timeout_s=JOIN_S)
        except DeadlinePassed as stuck:
            sys.stdout.write(f"{stuck}; {self._state()}: started anew\n")
            for name in self.members:
                self.leave(name) if self._program else self.crash(name)
            self.join_all(members)
            self.settle()
        self.produce(RECORDS)
        self.read_all()

    def join_all(self, members: int) -> None:
        """So many members."""
        all_at_once(self.join, [f"m-{number + 1}" for number in range(members)])

    def settle(self, topic: str = "", *, timeout_s: float = WAIT_S) -> None:
        """Wait until the members own every partition, and each has some if there are enough.

        Args:
            topic: all of them, if given, of this one.
        """

        def is_whole() -> bool:
            owned = [self.place.owned[f"{self.group}/{name}"] for name in self._hosts]
            holders, places = sum(map(bool, owned)), sum(map(len, owned))
            busy = min(len(owned), PARTITIONS)
            named = set().union(*owned)
            is_right = not topic or {name for name, _ in named} == {topic}
            return places == len(named) == PARTITIONS and holders == busy and is_right

        wait_until(is_whole, f"{self.group} is whole", timeout_s=timeout_s)

    def produce(self, records: int) -> None:
        """So many to each partition."""
        produce(self.place.servers, {(self.topic, at): records for at in range(PARTITIONS)})

    def read_all(self) -> None:
        """Wait until every record is committed.

        A commit that a rebalance refused is only made good by the next: a record brings it.
        """
        again = Deadline(NUDGE_S)

        def is_read() -> bool:
            nonlocal again
            if self.committed() == self.end():
                return True
            if not again.left():
                self.produce(1)
                again = Deadline(NUDGE_S)
            return False

        wait_until(is_read, f"{self.group} has read everything", timeout_s=WAIT_S, pause_s=0.5)

    def committed(self) -> int:
        """Records of its topic that are committed."""
        return sum(fetch_offsets(self.place.servers, self.group).values())

    def end(self) -> int:
        """Records of its topic."""
        places = [(self.topic, at) for at in range(PARTITIONS)]
        return sum(end_offsets(self.place.servers, places).values())

    def join(self, name: str, *, topic: str = "") -> None:
        """Let a member join, or come back.

        Args:
            topic: that it reads instead of the group's.
        """
        pool, library = self.place.pool, self.row.library
        host = pool.shared(library, self._program) if self._program else pool.alone(library)
        self._hosts[name] = host
        self.place.owned[f"{self.group}/{name}"] = set()
        asked = asked_of(self.row, name, servers=self.place.servers, group=self.group, store="")
        host.ask("open", **{**asked, **({"topics": [topic]} if topic else {})})

    def leave(self, name: str) -> None:
        """Let a member go; a static one stays in the group."""
        self._hosts.pop(name).ask("close", name=f"{self.group}/{name}")

    def crash(self, name: str) -> None:
        """End a member that has a program of its own without a word to the broker."""
        self._hosts.pop(name).kill()

    def freeze(self, name: str) -> None:
        """A member that has a program of its own stands still, heartbeats included."""
        self._hosts[name].signal(signal.SIGSTOP)

    def go_on(self, name: str) -> None:
        """A member that stood still goes on."""
        self._hosts[name].signal(signal.SIGCONT)

    def slow(self, name: str, seconds: float) -> None:
        """The next records of a member take so much longer."""
        ms = round(seconds * 1_000)
        self._hosts[name].ask("slow", name=f"{self.group}/{name}", ms=ms)

    def wish(self, name: str, what: str, **more: object) -> None:
        """The application does something with its consumer before it polls again."""
        self._hosts[name].ask("wish", name=f"{self.group}/{name}", wish={"what": what, **more})

    def wait_members(self, count: int) -> None:
        """Wait until the broker has so many members, and the group rests."""
        wait_until(
            lambda: self.place.member_count(self.group) == count,
            f"{self.group} has {count} members",
            timeout_s=WAIT_S,
            pause_s=0.5,
        )

    def _state(self) -> str:
        told = {}
        for name, host in self._hosts.items():
            try:
                told[name] = host.ask("owned", names=[f"{self.group}/{name}"])
            except (HostFailed, TimeoutError) as failure:
                told[name] = {"failed": repr(failure)}
        return str(told)

    def close(self) -> None:
        """Let all go."""
        self.place.producer.end(self.topic)
        for name, host in list(self._hosts.items()):
            if not self._program:
                host.kill()
                continue
            with suppress(HostFailed, TimeoutError):
                self.leave(name)
        self._hosts.clear()
