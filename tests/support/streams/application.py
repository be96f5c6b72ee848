"""`WordCount`, an application of two subtopologies, in a JVM of its own."""

import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.kafka.child import Child
from tests.support.kafka.jars import KAFKA_VERSION, JarSet, harness_jar, kafka_jars
from tests.support.kafka.java import java_command
from tests.support.kafka.releases import LOG4J

STREAMS = JarSet(
    f"kafka-streams-{KAFKA_VERSION}",
    (
        ("org.apache.kafka", "kafka-streams", KAFKA_VERSION),
        ("com.fasterxml.jackson.dataformat", "jackson-dataformat-yaml", "2.21.2"),
        *LOG4J,
    ),
    f"Kafka Streams {KAFKA_VERSION} (15 jars, 80 MB; one to three minutes, once)",
)
PROPERTIES: Mapping[str, str] = {"group.protocol": "streams", "commit.interval.ms": "500"}


@contextmanager
def word_count(
    bootstrap: str,
    group: str,
    topics: tuple[str, str],
    *,
    threads: int = 1,
    properties: Mapping[str, str] = PROPERTIES,
) -> Iterator[Child]:
    """The application while it runs; it leaves its group in order at the end.

    Args:
        topics: its input, which must exist, and its output.
        threads: members of the group.
    """
    path = f"{harness_jar(STREAMS, Path(__file__).parent / 'java')}:{kafka_jars(STREAMS)}/*"
    with tempfile.TemporaryDirectory(prefix="kgroups-streams-") as state:
        given = {
            "bootstrap.servers": bootstrap,
            "num.stream.threads": str(threads),
            "state.dir": state,
            **properties,
        }
        pairs = [f"{key}={value}" for key, value in given.items()]
        command = java_command(path, "WordCount", group, *topics, *pairs, log_level="ERROR")
        with Child(command, stdin=subprocess.PIPE, ends_itself=True) as child:
            yield child
            if child.stdin is not None:
                child.stdin.close()
            child.wait(60)
