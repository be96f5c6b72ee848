"""Kafka's own coordinator as a process of the test: JSON lines in, JSON lines out."""

import json
import subprocess
from types import TracebackType

from tests.core.coordinator.oracle_json import Json
from tests.kafka.jars import class_path
from tests.kafka.java import java_command

MAIN = "org.apache.kafka.coordinator.group.CoordinatorOracle"


class Oracle:
    """One JVM; each `config` operation begins a new coordinator in it."""

    def __enter__(self) -> "Oracle":
        self._process = subprocess.Popen(
            java_command(class_path(), MAIN, log_level="OFF"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(20)

    def ask(self, op: Json) -> Json:
        """What Kafka says to this operation.

        Raises:
            EOFError: the JVM has ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps(op, ensure_ascii=False, separators=(",", ":"))
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise EOFError("the coordinator oracle has ended")
        out: Json = json.loads(answer)
        return out
