"""Kafka's own tools, to compare with: in a fresh JVM as a shell would, or in a warm one."""

import json
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

from tests.kafka.jars import class_path
from tests.kafka.java import java_command

Tool = Literal["consumer-groups", "delete-records"]
MAIN_CLASSES: dict[Tool, str] = {
    "consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
}


@dataclass(frozen=True)
class Answer:
    """What one call printed and its exit status."""

    stdout: str
    stderr: str
    status: int


def fresh_command(tool: Tool, arguments: Sequence[str]) -> list[str]:
    """Command line that runs a tool in a JVM of its own, quickly started."""
    return java_command(class_path(), MAIN_CLASSES[tool], *arguments)


def run_fresh(tool: Tool, *arguments: str, timeout_s: float = 120.0) -> Answer:
    """What a tool prints in a JVM of its own."""
    done = subprocess.run(
        fresh_command(tool, arguments),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=timeout_s,
    )
    return Answer(done.stdout, done.stderr, done.returncode)


class WarmTools:
    """The tools in one JVM that stays: milliseconds a call instead of seconds.

    Calls come one after another; a lock makes it safe to share.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            java_command(class_path(), "WarmTools"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, tool: Tool, *arguments: str, timeout_s: float = 120.0) -> Answer:
        """What the tool prints for these arguments, and the status it would have ended with.

        Raises:
            RuntimeError: the JVM is gone, or was ended because no answer came in time.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with self._lock:
            watchdog = threading.Timer(timeout_s, self._process.kill)
            watchdog.start()
            try:
                stdin.write(json.dumps({"tool": tool, "args": arguments}) + "\n")
                stdin.flush()
                line = stdout.readline()
            finally:
                watchdog.cancel()
        if not line:
            raise RuntimeError(f"the warm JVM ended during {tool} {' '.join(arguments)}")
        said = json.loads(line)
        return Answer(said["stdout"], said["stderr"], said["status"])

    def consumer_groups(self, bootstrap: str, *arguments: str) -> Answer:
        """`kafka-consumer-groups.sh --bootstrap-server BOOTSTRAP ARGUMENTS`."""
        return self.run("consumer-groups", "--bootstrap-server", bootstrap, *arguments)

    def close(self) -> None:
        """End the JVM."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
