"""Kafka's classes as the JVM maps them: a broker starts with two thirds of the processor time.

`python -m tests.support.kafka.class_archives` makes the archive once, by starting a broker and
stopping it. Without it everything runs as well, only later.
"""

import sys

from kgroups.core.errors import KgroupsError
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import class_archive


def make_archive() -> None:
    """Write the archive of the newest Kafka, if it is not there."""
    archive = class_archive(class_path())
    if archive.exists():
        return
    unfinished = archive.with_suffix(".unfinished")
    with KafkaCluster(options=(f"-XX:ArchiveClassesAtExit={unfinished}",)) as cluster:
        cluster.stop()
    unfinished.rename(archive)


if __name__ == "__main__":
    try:
        make_archive()
    except (KgroupsError, OSError) as failure:
        print(f"set-up: no archive of Kafka's classes: {failure}", file=sys.stderr)
