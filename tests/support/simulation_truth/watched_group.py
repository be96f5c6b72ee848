"""A group of real clients that live through a row, and everything that they told."""

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, Final

from kgroups.core.coordinator.client.effects import TopicPartition
from tests.support.fidelity.doing import grow_topic
from tests.support.fidelity.driven_group import all_at_once
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.hosts.process import HostFailed, HostProcess
from tests.support.kafka.waiting import DeadlinePassed, wait_until
from tests.support.kafka.workload import create_topics
from tests.support.simulation_truth.asking import asked_of, topic_of
from tests.support.simulation_truth.detour import Detour
from tests.support.simulation_truth.figures import Figures, Told, count, owners_of
from tests.support.simulation_truth.group_log import GroupLog
from tests.support.simulation_truth.producer import SteadyProducer
from tests.support.simulation_truth.rows import (
    ALSO_MS,
    OTHER_PARTITIONS,
    PARTITIONS,
    RATE,
    REST_MS,
    Row,
    other_topic,
    paused_ms,
)

START_S: Final = 150.0
# Looks at a group are so much early.
MARGIN_MS: Final = 200


@dataclass(frozen=True)
class Place:
    """Where groups are carried out.

    Args:
        detours: gives out one that is free.
        restart_broker: takes it away and brings it back; when it began, and how many seconds it
            took.
    """

    servers: str
    pool: HostPool
    log: GroupLog
    producer: SteadyProducer
    detours: Callable[[], Detour] | None = None
    restart_broker: Callable[[], tuple[int, float]] | None = None


def now_ms() -> int:
    """The clock that all programs of the machine share."""
    return round(time.time() * 1_000)


def seconds(text: str) -> float:
    """Of a duration in a row."""
    assert text.endswith("s")
    return float(text.removesuffix("s"))


class WatchedGroup:
    """One row's group.

    Args:
        number: makes its names new ones.
    """

    def __init__(self, place: Place, row: Row, number: int) -> None:
        self.place, self.row = place, row
        self.group = f"{row.slug}-{number}"
        self.topic = topic_of(self.group)
        self.told: list[Told] = []
        self.down_s = 0.0
        self._start_ms = 0
        self._lock = threading.Lock()
        self._hosts: dict[str, HostProcess] = {}
        self._alone: set[str] = set()
        self._detour: Detour | None = None
        fields = next(iter(row.kind.event.values()))
        self._victim = str(fields.get("member", ""))
        self._fields: Mapping[str, Any] = fields
        self._paused_ms = range(0)
        self._store = TemporaryDirectory(prefix="kgroups-offsets-")

    # ------------------------------------------------------------------ what members tell

    def hear(self, event: Mapping[str, Any]) -> None:
        """A member's line."""
        _, _, name = event["name"].rpartition("/")
        rows = tuple(tuple(row) for row in event["partitions"])
        with self._lock:
            self.told.append(Told(event["at"], event["event"], name, rows))

    def _forget(self, name: str) -> None:
        """A member is gone with whatever it owned."""
        with self._lock:
            owned = [one for one, owner in self._owners() if owner == name]
            self.told.append(Told(now_ms(), "gave", name, tuple(owned)))

    def _owners(self) -> list[tuple[TopicPartition, str]]:
        return owners_of(sorted(self.told, key=lambda one: one.at_ms))

    def _complete(self, members: int) -> bool:
        """Every partition has one owner, and so many members have some."""
        with self._lock:
            owners = self._owners()
        places = {place for place, _ in owners}
        holders = {name for _, name in owners}
        return len(places) == len(owners) == PARTITIONS and len(holders) == members

    def _whole(self) -> int:
        """Since when that is so; 0 if it is not, or has not been for long."""
        if not self._complete(self.row.kind.members):
            return 0
        with self._lock:
            moved_ms = max(told.at_ms for told in self.told if told.kind != "read")
        return moved_ms if now_ms() - moved_ms >= REST_MS - MARGIN_MS else 0

    # ------------------------------------------------------------------ a run

    def run(self) -> Figures:
        """Carry the row out.

        Raises:
            HostFailed: a client could not be made.
            DeadlinePassed: the group did not come to be.
        """
        place = self.place
        try:
            whole_ms = self._begin()
            _wait(max(0, whole_ms + REST_MS - now_ms()) / 1_000)
            self._start_ms, epoch = now_ms(), place.log.epoch(self.group)
            HAPPENS[self.row.event](self)
            start_ms = self._start_ms
            left_s = self.row.kind.lasts_s + self.down_s - (now_ms() - start_ms) / 1_000
            threading.Event().wait(max(0.0, left_s))  # what is looked at lasts so long
            end_ms = now_ms()
            generations = place.log.epoch(self.group) - epoch
            with self._lock:
                told = list(self.told)
            paused_ms = self._paused_ms
            return count(told, start_ms, end_ms, generations=generations, paused_ms=paused_ms)
        finally:
            place.producer.end(self.topic)
            place.producer.end(other_topic(self.topic))
            self._give_up()

    def run_until_settled(self, members: int, generations: int) -> tuple[int, tuple[int, ...]]:
        """The same, without looking at the clock.

        Args:
            members: wait until so many have partitions,
            generations: and there were so many new epochs or more.

        Returns:
            How many new epochs there were, and the partitions of each member, sorted.

        Raises:
            DeadlinePassed: it does not come to that.
        """
        try:
            self._begin()
            before = self.place.log.epoch(self.group)
            HAPPENS[self.row.event](self)

            def settled() -> bool:
                epochs = self.place.log.epoch(self.group) - before
                return self._complete(members) and epochs >= generations

            try:
                wait_until(settled, f"{self.group} has settled", timeout_s=START_S)
            except DeadlinePassed as failure:
                epochs = self.place.log.epoch(self.group) - before
                with self._lock:
                    told = sorted(self.told, key=lambda one: one.at_ms)
                heard = [one for one in told if one.kind != "read"]
                failure.add_note(f"{epochs} new epochs of {generations}; heard: {heard}")
                raise
            sizes = Counter(name for _, name in self._owners())
            return self.place.log.epoch(self.group) - before, tuple(sorted(sizes.values()))
        finally:
            self.place.producer.end(self.topic)
            self._give_up()

    def _begin(self) -> int:
        """Let its members join; since when the group is whole."""
        create_topics(self.place.servers, {self.topic: PARTITIONS})
        kind = self.row.kind
        self.place.producer.begin(self.topic, PARTITIONS, kind.rate, keys=kind.keys)
        if self.row.event == "subscribe":
            other = other_topic(self.topic)
            create_topics(self.place.servers, {other: OTHER_PARTITIONS})
            self.place.producer.begin(other, OTHER_PARTITIONS, RATE)
        all_at_once(self._open, [f"m-{n + 1}" for n in range(self.row.kind.members)])
        return wait_until(self._whole, f"{self.group} is whole", timeout_s=START_S)

    def _give_up(self) -> None:
        for name, host in self._hosts.items():
            if name in self._alone:
                host.kill()
            else:
                with suppress(HostFailed, TimeoutError):
                    host.ask("close", name=f"{self.group}/{name}")
        self.place.pool.give_up(self.group)
        self._store.cleanup()
        if self._detour is not None:
            self._detour.close()

    def _open(self, name: str) -> None:
        row, pool = self.row, self.place.pool
        if name not in self._hosts:
            alone = name == self._victim and row.event in ("crash", "gc_pause")
            if alone:
                self._alone.add(name)
                self._hosts[name] = pool.alone(row.library)
            else:
                self._hosts[name] = pool.shared(row.library, self.group)
        servers = self.place.servers
        if name == self._victim and row.event == "network_partition":
            if self._detour is None:
                assert self.place.detours is not None
                self._detour = self.place.detours()
            servers = f"127.0.0.1:{self._detour.port}"
        asked = asked_of(row, name, servers=servers, group=self.group, store=self._store.name)
        self._hosts[name].ask("open", **asked)

    # ------------------------------------------------------------------ what happens

    def scale_out(self) -> None:
        self._open(f"m-{self.row.kind.members + 1}")

    def scale_in(self) -> None:
        for name in self._fields["members"]:
            self._close(name)

    def crash(self) -> None:
        self._hosts.pop(self._victim).kill()
        self._forget(self._victim)

    def roll(self) -> None:
        for name in list(self._hosts):
            self._close(name)
            _wait(seconds(self._fields["down"]))
            self._open(name)
            _wait(seconds(self._fields["pause"]))

    def freeze(self) -> None:
        host = self._hosts[self._victim]
        host.signal(signal.SIGSTOP)
        try:
            _wait(seconds(self._fields["for"]))
        finally:
            host.signal(signal.SIGCONT)

    def slow(self) -> None:
        name = f"{self.group}/{self._victim}"
        for_ms = round(seconds(self._fields["for"]) * 1_000)
        self._hosts[self._victim].ask("slow", name=name, ms=for_ms)

    def cut(self) -> None:
        assert self._detour is not None
        fields = self._fields
        self._detour.cut(
            seconds(fields["for"]),
            stalls=bool(fields.get("stall")),
            lost=fields.get("lost", "both"),
        )

    def grow(self) -> None:
        number = self._fields["partitions"]
        self._new(self.topic, range(PARTITIONS, number))
        grow_topic(self.place.servers, self.topic, number)
        self.place.producer.begin(self.topic, number, RATE)

    def create(self) -> None:
        topic, number = f"{self.topic}-new", self._fields["partitions"]
        self._new(topic, range(number))
        create_topics(self.place.servers, {topic: number})

    def pause(self) -> None:
        for_s, names = seconds(self._fields["for"]), list(self._hosts)
        self._paused_ms = paused_ms(self._start_ms, round(for_s * 1_000))
        for name in names:
            self._wish(name, "pause")
        if self.row.kind.also:
            _wait(ALSO_MS / 1_000)
            self.scale_out()
        _wait(max(0, self._start_ms + for_s * 1_000 - now_ms()) / 1_000)
        for name in names:
            self._wish(name, "resume")

    def subscribe(self) -> None:
        other = other_topic(self.topic)
        self._new(other, range(OTHER_PARTITIONS))
        for name in self._hosts:
            self._wish(name, "subscribe", topics=[self.topic, other])

    def unsubscribe(self) -> None:
        self._wish(self._victim, "unsubscribe")

    def seek(self) -> None:
        self._wish(self._victim, "seek")

    def _wish(self, name: str, what: str, **more: object) -> None:
        """The application does something with its consumer before it polls again."""
        self._hosts[name].ask("wish", name=f"{self.group}/{name}", wish={"what": what, **more})

    def broker(self) -> None:
        assert self.place.restart_broker is not None
        self._start_ms, self.down_s = self.place.restart_broker()

    def _new(self, topic: str, numbers: Iterable[int]) -> None:
        with self._lock:
            rows = tuple((topic, number) for number in numbers)
            self.told.append(Told(now_ms(), "new", "", rows))

    def _close(self, name: str) -> None:
        host = self._hosts.pop(name)
        host.ask("close", name=f"{self.group}/{name}")
        self._forget(name)


HAPPENS: Final[Mapping[str, Callable[[WatchedGroup], None]]] = {
    "scale_out": WatchedGroup.scale_out,
    "scale_in": WatchedGroup.scale_in,
    "crash": WatchedGroup.crash,
    "rolling_restart": WatchedGroup.roll,
    "gc_pause": WatchedGroup.freeze,
    "poison_record": WatchedGroup.slow,
    "network_partition": WatchedGroup.cut,
    "add_partitions": WatchedGroup.grow,
    "create_topic": WatchedGroup.create,
    "broker_down": WatchedGroup.broker,
    "pause": WatchedGroup.pause,
    "subscribe": WatchedGroup.subscribe,
    "unsubscribe": WatchedGroup.unsubscribe,
    "seek": WatchedGroup.seek,
}


def _wait(for_s: float) -> None:
    """A part of the scenario."""
    threading.Event().wait(for_s)
