"""Groups of real clients that nothing is wrong with, and what happens to them while one looks."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.support.doctor.played_group import PARTITIONS, RECORDS, Place, PlayedGroup
from tests.support.fidelity.libraries import TRAITS, Library
from tests.support.simulation_truth.rows import Kind, Row

RATE: Final = 12
BATCHES: Final = 4
"""Programs of a library: each holds the members of every fourth group."""


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
    happens: Callable[[PlayedGroup], None] | None = None


def deploy(group: PlayedGroup) -> None:
    """Members are restarted one after the other."""
    for name in list(group.members):
        group.leave(name)
        threading.Event().wait(0.5)
        group.join(name)
        threading.Event().wait(2.0)


def scale_out(group: PlayedGroup) -> None:
    """One member more."""
    group.join("m-9")


def scale_in(group: PlayedGroup) -> None:
    """A member leaves."""
    group.leave(group.members[-1])


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


class HealthyGroup:
    """One of them.

    Args:
        number: of its library's groups; decides its life, protocol, program and how it commits.
    """

    def __init__(self, place: Place, library: Library, number: int) -> None:
        self.life = life = LIVES[number % len(LIVES)]
        # A static KIP-848 member of franz-go that restarts waits until its old session ends.
        waits = life.static and library == "franz-go"
        kip848 = TRAITS[library].server and number % 3 == 2 and not waits
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
        name = f"healthy-{library}-{number}-{life.name.replace(' ', '-')}"
        program = f"healthy-{number % BATCHES}"
        self.played = PlayedGroup(place, Row(kind, library), name, program=program)

    def prepare(self) -> None:
        """Its past: everything is read, or records wait for members that have only to come."""
        if self.life.begins:
            self.played.produce(RECORDS)
            return
        self.played.start(self.life.members)
        if self.life.ends:
            self.played.close()

    def look(self) -> None:
        """One begins to look."""
        played, life = self.played, self.life
        if life.rate:
            played.place.producer.begin(played.topic, PARTITIONS, life.rate)
        if life.begins:
            played.join_all(life.members)
        if life.happens is not None:
            life.happens(played)
