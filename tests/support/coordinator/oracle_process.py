"""Kafka's own coordinator as a process of the test: JSON lines in, JSON lines out."""

import json
from collections.abc import Callable, Iterable

from kgroups.core.coordinator.releases import RELEASES
from tests.support.coordinator.oracle_json import Json
from tests.support.kafka.jars import oracle_class_path
from tests.support.kafka.java import java_command
from tests.support.kafka.line_process import LineProcess

FIRST_RELEASE = str(RELEASES[0])
"""Of Kafka, whose coordinator recorded most traces; later ones have cases of their own."""
MAIN = "org.apache.kafka.coordinator.group.CoordinatorOracle"


class Oracle(LineProcess):
    """One JVM; each `config` operation begins a new coordinator in it.

    Args:
        version: of Kafka.
        options: of its JVM, as for `java_command`.
    """

    def __init__(self, version: str = FIRST_RELEASE, options: Iterable[str] | None = None) -> None:
        path = oracle_class_path(version)
        super().__init__(java_command(path, MAIN, log_level="OFF", options=options))

    def ask(self, op: Json) -> Json:
        """What Kafka says to this operation.

        Raises:
            EOFError: the JVM has ended.
        """
        self.say(json.dumps(op, ensure_ascii=False, separators=(",", ":")))
        answer = self.hear()
        if not answer:
            raise EOFError("the coordinator oracle has ended")
        out: Json = json.loads(answer)
        return out


Oracles = Callable[[str], Oracle]
"""A running one of each release."""
