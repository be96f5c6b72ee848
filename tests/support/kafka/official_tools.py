"""Kafka's own tools, to compare with: in a fresh JVM as a shell would, or in a warm one."""

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tests.support.kafka.child import run_program
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import java_command
from tests.support.kafka.line_process import LineProcess
from tests.support.kafka.waiting import DeadlinePassed

Tool = Literal["consumer-groups", "groups", "share-groups", "streams-groups", "delete-records"]
MAIN_CLASSES: dict[Tool, str] = {
    "consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "groups": "org.apache.kafka.tools.GroupsCommand",
    "share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    "streams-groups": "org.apache.kafka.tools.streams.StreamsGroupCommand",
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
    done = run_program(fresh_command(tool, arguments), timeout_s=timeout_s)
    return Answer(done.stdout, done.stderr, done.returncode)


class WarmTools(LineProcess):
    """The tools in one JVM that stays: milliseconds a call instead of seconds.

    Calls come one after another; a lock makes it safe to share.
    """

    def __init__(self) -> None:
        super().__init__(java_command(class_path(), "WarmTools"))
        self._lock = threading.Lock()

    def run(self, tool: Tool, *arguments: str, timeout_s: float = 120.0) -> Answer:
        """What the tool prints for these arguments, and the status it would have ended with.

        Raises:
            RuntimeError: the JVM is gone.
            DeadlinePassed: no answer came in time; the JVM was ended.
        """
        with self._lock:
            self.say(json.dumps({"tool": tool, "args": arguments}))
            try:
                line = self.hear(timeout_s=timeout_s)
            except DeadlinePassed:
                self.kill()  # its answer would be taken for that of the next call
                raise
        if not line:
            raise RuntimeError(f"the warm JVM ended during {tool} {' '.join(arguments)}")
        said = json.loads(line)
        return Answer(said["stdout"], said["stderr"], said["status"])

    def groups_tool(self, bootstrap: str, *arguments: str) -> Answer:
        """`kafka-consumer-groups.sh --bootstrap-server BOOTSTRAP ARGUMENTS`."""
        return self.run("consumer-groups", "--bootstrap-server", bootstrap, *arguments)
