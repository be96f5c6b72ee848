"""Programs that hold members: one for a library, for a group, or for a member alone."""

import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Self

from tests.support.fidelity.hosts.process import HostProcess
from tests.support.fidelity.hosts.settings import called, driven_settings
from tests.support.fidelity.libraries import Library
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import java_command
from tests.support.kafka.releases import NEWEST
from tests.support.sandbox.foreign_clients import FOUND, build

PYTHON_LIBRARIES: tuple[Library, ...] = ("librdkafka", "kafka-python", "aiokafka")
PYTHON = [sys.executable, "-m", "tests.support.fidelity.hosts.host"]


def present_libraries() -> tuple[Library, ...]:
    """The libraries whose programs are here."""
    found: tuple[Library, ...] = ("java", "librdkafka", "kafka-python", "aiokafka")
    others: tuple[Library, ...] = ("sarama", "franz-go", "kafkajs")
    return (*found, *(name for name in others if name in FOUND))


class HostPool:
    """The programs, started when they are first asked for; a context manager that ends them.

    Args:
        told: called with what members tell unasked.
        release: of kafka-clients, one of `RELEASES`.
    """

    def __init__(
        self, told: Callable[[Mapping[str, Any]], None] | None = None, release: str = NEWEST
    ) -> None:
        self._told, self._release = told, release
        self._lock = threading.Lock()
        self._shared: dict[str, HostProcess] = {}
        self._commands: dict[Library, list[str]] = {}
        self._all: list[HostProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for host in self._all:
            host.kill()
        for host in self._all:
            host.end()

    def shared(self, library: Library, group: str) -> HostProcess:
        """The program of members of this library, for this group where Python runs it.

        What librdkafka does wrong may end the process: then it is the end of one group.
        """
        place = f"{library}/{group}" if library in PYTHON_LIBRARIES else library
        with self._lock:
            if place not in self._shared:
                self._shared[place] = self._start(library)
            return self._shared[place]

    def give_up(self, group: str) -> None:
        """End the programs that were this group's alone."""
        with self._lock:
            own = [self._shared.pop(f"{library}/{group}", None) for library in PYTHON_LIBRARIES]
        for host in own:
            if host is not None:
                host.kill()

    def alone(self, library: Library) -> HostProcess:
        """A program for one member."""
        with self._lock:
            return self._start(library)

    def _start(self, library: Library) -> HostProcess:
        if library not in self._commands:
            self._commands[library] = _command(library, self._release)
        host = HostProcess(self._commands[library], self._told)
        self._all.append(host)
        return host


def _command(library: Library, release: str) -> list[str]:
    if library == "java":
        return java_command(class_path(release), "LiveConsumers", log_level="ERROR")
    if library not in PYTHON_LIBRARIES:
        return build(library)
    return [*PYTHON, library]


JAVA_ASSIGNORS: Mapping[str, str] = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}


def java_settings(
    asked: Mapping[str, Any], given: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Properties of a Java consumer from what every host is asked for.

    Args:
        given: settings besides; None: those of a member that is not watched.
    """
    given = driven_settings(asked) if given is None else given
    config = {
        "bootstrap.servers": asked["servers"],
        "group.id": asked["group"],
        "group.protocol": asked["protocol"],
        "auto.offset.reset": "earliest",
        **{name: str(value).lower() for name, value in given.items()},
        **called(asked),
    }
    if asked["protocol"] == "consumer":
        return config | {"group.remote.assignor": asked["strategy"]}
    assignor = JAVA_ASSIGNORS[asked["strategy"]]
    assignor = f"org.apache.kafka.clients.consumer.{assignor}"
    return config | {"partition.assignment.strategy": assignor}
