"""A group of real librdkafka consumers, and who owned what when: the truth for the simulation."""

import json
import sys
import threading
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from confluent_kafka import Consumer, TopicPartition

from kgroups.core.coordinator.log.record_codec import decode_record
from kgroups.core.coordinator.log.records import GroupMetadataKey, GroupMetadataValue
from kgroups.core.coordinator.placement import offsets_partition
from tests.support.kafka.child import Child
from tests.support.kafka.waiting import LIFE_S, wait_for_thread
from tests.support.own_waiting import withheld_ms

SESSION_MS, HEARTBEAT_MS = 15_000, 300
PARTITIONS = 10


def clock_ms() -> int:
    """Milliseconds that all processes of the machine share."""
    return round(time.monotonic() * 1_000)


class Owners:
    """Which members own each partition, and how long each had no owner.

    Attributes:
        longest_ms: the longest such time.
        longest_free_ms: the longest, less what a busy machine may have made of it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owners: dict[int, set[str]] = {n: set() for n in range(PARTITIONS)}
        self._free_since: dict[int, tuple[int, float]] = {}
        self.forget_times()

    def forget_times(self) -> None:
        """Measure from now on."""
        self.longest_ms, self.longest_free_ms = 0.0, 0.0

    def note(self, at_ms: int, name: str, partitions: Iterable[int], owned: bool) -> None:
        """A member got partitions or gave them up."""
        with self._lock:
            withheld = withheld_ms()
            for partition in partitions:
                owners = self._owners[partition]
                if owned:
                    owners.add(name)
                    since_ms, withheld_then = self._free_since.pop(partition, (at_ms, withheld))
                    free_ms = at_ms - since_ms
                    self.longest_ms = max(self.longest_ms, free_ms)
                    own_ms = free_ms - (withheld - withheld_then)
                    self.longest_free_ms = max(self.longest_free_ms, own_ms)
                elif name in owners:
                    owners.discard(name)
                    if not owners:
                        self._free_since[partition] = (at_ms, withheld)

    def forget(self, name: str) -> None:
        """A member is gone, with whatever it owned."""
        self.note(clock_ms(), name, range(PARTITIONS), False)

    def complete(self, members: int) -> bool:
        """Every partition has one owner, and so many members have some."""
        with self._lock:
            sets = list(self._owners.values())
            holders = {name for owners in sets for name in owners}
            return all(len(owners) == 1 for owners in sets) and len(holders) == members


def run_member(settings: dict[str, str], topic: str, tell: "Tell", stop: threading.Event) -> None:
    """Poll until told to stop, then close; tell of every partition that comes or goes."""

    def numbers(found: list[TopicPartition]) -> list[int]:
        return [one.partition for one in found]

    consumer = Consumer(settings)
    consumer.subscribe(
        [topic],
        on_assign=lambda _, found: tell(numbers(found), True),
        on_revoke=lambda _, found: tell(numbers(found), False),
        on_lost=lambda _, found: tell(numbers(found), False),
    )
    while not stop.is_set():
        consumer.poll(0.05)
    consumer.close()


class Tell:
    """What a member calls when partitions come or go."""

    def __init__(self, owners: Owners, name: str) -> None:
        self._owners, self._name = owners, name

    def __call__(self, partitions: list[int], owned: bool) -> None:
        """Note it."""
        self._owners.note(clock_ms(), self._name, partitions, owned)


class Print(Tell):
    """For a member in a process of its own: a line of JSON for its parent."""

    def __init__(self) -> None:
        """Nothing to know."""

    def __call__(self, partitions: list[int], owned: bool) -> None:
        """Print it."""
        print(json.dumps([clock_ms(), partitions, owned]), flush=True)


class RealMember:
    """A member in a thread (closed properly) or in a process (killed)."""

    def __init__(
        self, settings: dict[str, str], topic: str, owners: Owners, name: str, *, mortal: bool
    ) -> None:
        self.name, self._owners = name, owners
        self._stop = threading.Event()
        self._process: Child | None = None
        if mortal:
            line = [sys.executable, "-m", "tests.support.simulation.real_group"]
            self._process = Child([*line, json.dumps(settings), topic], stderr=None)
            self._thread = threading.Thread(target=self._listen, args=(self._process,))
        else:
            tell = Tell(owners, name)
            self._thread = threading.Thread(
                target=run_member, args=(settings, topic, tell, self._stop)
            )
        self._thread.daemon = True
        self._thread.start()

    def _listen(self, process: Child) -> None:
        while line := process.line(LIFE_S):
            at_ms, partitions, owned = json.loads(line)
            self._owners.note(at_ms, self.name, partitions, owned)

    def end(self) -> None:
        """Close a thread's member, kill a process's."""
        self._stop.set()
        if self._process is not None:
            self._process.kill()
            self._process.wait(60)
        else:
            wait_for_thread(self._thread)
        self._owners.forget(self.name)
        wait_for_thread(self._thread)
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()


class RealGroup:
    """So many members of one group on a cluster.

    Args:
        static: whether they are static members.
        mortal: name of the one that can be killed.
    """

    def __init__(
        self, servers: str, group: str, topic: str, *, static: bool, mortal: str | None = None
    ) -> None:
        self._servers, self.group, self._topic = servers, group, topic
        self.static, self._mortal = static, mortal
        self.owners = Owners()
        self.members: dict[str, RealMember] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for name in list(self.members):
            self.end(name)

    def start(self, name: str) -> None:
        """A member joins."""
        settings = {
            "bootstrap.servers": self._servers,
            "group.id": self.group,
            "client.id": name,
            "session.timeout.ms": str(SESSION_MS),
            "heartbeat.interval.ms": str(HEARTBEAT_MS),
            "auto.offset.reset": "earliest",
            "log_level": "0",
        }
        if self.static:
            settings["group.instance.id"] = name
        mortal = name == self._mortal
        self.members[name] = RealMember(settings, self._topic, self.owners, name, mortal=mortal)

    def end(self, name: str) -> None:
        """A member is closed, or killed."""
        self.members.pop(name).end()

    def generation(self, partitions: int) -> int:
        """The newest generation in `__consumer_offsets`, of so many partitions.

        A group's record is written whenever its leader has synced.
        """
        reader = Consumer(
            {
                "bootstrap.servers": self._servers,
                "group.id": f"{self.group}-reader",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": "false",
                "enable.partition.eof": "true",
                "log_level": "0",
            }
        )
        newest = 0
        place = TopicPartition("__consumer_offsets", offsets_partition(self.group, partitions), 0)
        reader.assign([place])
        while True:
            message = reader.poll(30)
            assert message is not None, "the log does not answer"
            if message.error() is not None:
                break
            key, value = message.key(), message.value()
            record = decode_record(key, value) if isinstance(key, bytes) else None
            if record is not None and record.key == GroupMetadataKey(self.group):
                assert isinstance(record.value, GroupMetadataValue | None)
                newest = max(newest, record.value.generation if record.value is not None else 0)
        reader.close()
        return newest


if __name__ == "__main__":
    run_member(json.loads(sys.argv[1]), sys.argv[2], Print(), threading.Event())
