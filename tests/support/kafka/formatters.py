"""Records of Kafka's internal topics as Kafka's own formatters print them."""

import json
from collections.abc import Iterator
from typing import Any, Final

from tests.support.kafka.child import run_program
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import java_command

TOOLS: Final = "org.apache.kafka.tools.consumer"


def formatted(bootstrap: str, topic: str, formatter: str, *where: str) -> list[Any]:
    """What the console consumer prints of a topic.

    Args:
        formatter: its class, below `TOOLS`.
        where: to read: `--from-beginning`, or a partition and an offset.
    """
    done = run_program(
        java_command(
            class_path(),
            f"{TOOLS}.ConsoleConsumer",
            *("--bootstrap-server", bootstrap, "--topic", topic, *where),
            *("--timeout-ms", "10000", "--formatter", f"{TOOLS}.{formatter}"),
        ),
        timeout_s=180,
    )
    return list(_documents(done.stdout))


def _documents(text: str) -> Iterator[Any]:
    """JSON documents one behind the other."""
    at = text.find("{")
    while at >= 0:
        found, at = json.JSONDecoder().raw_decode(text, at)
        yield found
        at = text.find("{", at)
