"""MirrorMaker 2 in a JVM of its own: from one cluster, which it calls `east`, to `west`."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.kafka.child import Child
from tests.support.kafka.jars import JarSet, kafka_jars
from tests.support.kafka.java import java_command
from tests.support.kafka.releases import LOG4J

VERSION: Final = "4.3.1"
"""The newest that is published with its dependencies; it speaks to older and newer brokers."""
MIRROR: Final = JarSet(
    f"kafka-mirror-{VERSION}",
    (
        ("org.apache.kafka", "connect-mirror", VERSION),
        ("com.fasterxml.jackson.dataformat", "jackson-dataformat-yaml", "2.21.2"),
        *LOG4J,
    ),
    f"MirrorMaker {VERSION} (60 jars, 60 MB; one to three minutes, once)",
)
INTERNAL: Final = (
    "checkpoints.topic",
    "heartbeats.topic",
    "offset-syncs.topic",
    "offset.storage",
    "status.storage",
    "config.storage",
)


@contextmanager
def mirror_maker(east: str, west: str, topics: str) -> Iterator[Child]:
    """It, while it copies what is in the topics that fit the pattern, as `east.TOPIC`."""
    settings = {
        "clusters": "east, west",
        "east.bootstrap.servers": east,
        "west.bootstrap.servers": west,
        "east->west.enabled": "true",
        "west->east.enabled": "false",
        "topics": topics,
        "tasks.max": "1",
        "replication.factor": "1",
        "refresh.topics.interval.seconds": "2",
        "refresh.groups.interval.seconds": "2",
        "emit.checkpoints.interval.seconds": "2",
        "emit.heartbeats.enabled": "false",
        "sync.topic.configs.enabled": "false",
        **{f"{name}.replication.factor": "1" for name in INTERNAL},
    }
    with tempfile.TemporaryDirectory(prefix="kgroups-mirror-") as folder:
        file = Path(folder) / "mm2.properties"
        file.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
        command = java_command(
            f"{kafka_jars(MIRROR)}/*",
            "org.apache.kafka.connect.mirror.MirrorMaker",
            *(str(file), "--clusters", "west"),
            log_level="ERROR",
        )
        with (
            (Path(folder) / "log").open("w") as log,
            Child(command, stdout=log, stderr=subprocess.STDOUT) as child,
        ):
            yield child
            child.terminate()
            child.wait(60)
