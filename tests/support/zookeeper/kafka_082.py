"""Kafka 0.8.2's broker, consumers and ZooKeeper as a process of the test."""

import os
import queue
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from tests.support.kafka.jars import KAFKA_082, harness_classes, kafka_jars
from tests.support.kafka.java import QUICK_START
from tests.support.kafka.line_process import LineProcess

SOURCES = Path(__file__).parent / "java"
PATIENCE_S = 60.0


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
        path = os.pathsep.join(
            (str(harness_classes(KAFKA_082, SOURCES)), f"{kafka_jars(KAFKA_082)}/*")
        )
        self._folder.mkdir(parents=True, exist_ok=True)
        self._errors = (self._folder / "stderr.log").open("w")
        self._out: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process = LineProcess(
            ["java", *QUICK_START, "-cp", path, "EraWorld", str(self._folder)],
            heard=self._out.put,
            stderr=self._errors,
        )
        self._wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.close()
        self._errors.close()

    def do(self, command: str) -> None:
        """Carry out a command; what happens meanwhile is added to `lines`.

        Raises:
            AssertionError: it failed, or was not done in time.
        """
        self._process.say(command)
        self._wait()

    def since(
        self,
        *commands: str,
        until: Callable[[list[Op | Said]], bool] = lambda lines: True,
        quiet_ms: int = 400,
    ) -> list[Op | Said]:
        """What happens from these commands on: until this holds, and nothing happens for a while.

        Raises:
            AssertionError: it did not hold in time.
        """
        first = len(self.lines)
        for command in commands:
            self.do(command)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            self.do(f"quiet {quiet_ms}")
            if until(self.lines[first:]):
                return self.lines[first:]
            if time.monotonic() > deadline:
                raise AssertionError(f"after {commands} only: {self.lines[first:]}")
            self.do("pause 100")

    def _wait(self) -> None:
        while True:
            line = self._out.get(timeout=PATIENCE_S)
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
