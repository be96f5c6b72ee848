"""Kafka 0.8.2's broker, consumers and ZooKeeper as a process of the test."""

import os
import queue
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.support.kafka.child import run_program
from tests.support.kafka.jars import KAFKA_082, harness_jar, kafka_jars
from tests.support.kafka.java import QUICK_START
from tests.support.kafka.line_process import LineProcess
from tests.support.kafka.waiting import Deadline, DeadlinePassed

SOURCES = Path(__file__).parent / "java"
# For one question, with all that it makes happen; well below the limit of a test.
PATIENCE_S = 120.0


class Op(NamedTuple):
    """A request as the ZooKeeper server carried it out; `watch` and `failed` are marks."""

    session: str
    api: str
    path: str
    watch: bool
    failed: bool


class Said(NamedTuple):
    """What a consumer, or its ZkClient, logged."""

    thread: str
    message: str
    thrown: str


class Era:
    """The process. Commands are those of EraWorld.java.

    Attributes:
        lines: what has happened, in order.
    """

    def __init__(self, folder: Path) -> None:
        self.lines: list[Op | Said] = []
        self._folder = folder

    def __enter__(self) -> "Era":
        path = os.pathsep.join((str(harness_jar(KAFKA_082, SOURCES)), f"{kafka_jars(KAFKA_082)}/*"))
        self._folder.mkdir(parents=True, exist_ok=True)
        self._errors = (self._folder / "stderr.log").open("w")
        self._out: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process = LineProcess(
            ["java", *QUICK_START, "-cp", path, "EraWorld", str(self._folder)],
            heard=self._out.put,
            stderr=self._errors,
        )
        self._wait("its start", Deadline(PATIENCE_S))
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()
        self._errors.close()

    def do(self, command: str, deadline: Deadline | None = None) -> None:
        """Carry out a command; what happens meanwhile is added to `lines`.

        Args:
            deadline: of more than this command; its own when None.
        Raises:
            AssertionError: it failed.
            DeadlinePassed: it was not done in time, however much happened meanwhile; with what all
                threads of the process were doing.
        """
        self._process.say(command)
        self._wait(command, deadline or Deadline(PATIENCE_S))

    def since(
        self,
        *commands: str,
        until: Callable[[list[Op | Said]], bool] = lambda lines: True,
        quiet_ms: int = 400,
    ) -> list[Op | Said]:
        """What happens from these commands on: until this holds, and nothing happens for a while.

        Raises:
            DeadlinePassed: all of it together was not done, or did not hold, in time.
        """
        first = len(self.lines)
        deadline = Deadline(PATIENCE_S)
        for command in commands:
            self.do(command, deadline)
        self.do(f"quiet {quiet_ms}", deadline)
        while not until(self.lines[first:]):
            if not deadline.left():
                raise self._late(f"what {commands} should bring about", deadline, first)
            self.do("pause 100", deadline)
            self.do(f"quiet {quiet_ms}", deadline)
        return self.lines[first:]

    def _late(self, what: str, deadline: Deadline, first: int = 0) -> DeadlinePassed:
        """A failure that tells what happened last, and where every thread is."""
        last = "\n".join(str(line) for line in self.lines[first:][-20:])
        stacks = run_program(["jstack", str(self._process.pid)]).stdout
        return DeadlinePassed(f"after {deadline.seconds:g} s still not: {what}; {last}\n{stacks}")

    def _wait(self, what: str, deadline: Deadline) -> None:
        while True:
            left = deadline.left()
            try:
                line = self._out.get(timeout=left) if left else ""
            except queue.Empty:
                left = 0
            if not left:
                raise self._late(what, deadline)
            assert line, f"the process ended: {(self._folder / 'stderr.log').read_text()[-2000:]}"
            kind, *fields = line.rstrip("\n").split("\t")
            if kind == "done":
                assert len(fields) == 1, f"{fields[0]} failed: {fields[1]}"
                return
            if kind == "op":
                session, api, path, watch, error = fields
                self.lines.append(Op(session, api, path, bool(watch), bool(error)))
            else:
                thread, message, thrown = fields
                self.lines.append(Said(thread, message, thrown))
