"""Kafka's classes as the JVM maps them: a broker starts with two thirds of the processor time.

`python -m tests.support.kafka.class_archives` makes the archives once: that of brokers by starting
one and stopping it, those of the coordinators of other releases by asking them something. Without
them everything runs as well, only later.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from kgroups.core.coordinator.releases import RELEASES
from kgroups.core.errors import KgroupsError
from tests.support.coordinator.oracle_process import Oracle
from tests.support.coordinator.random_scripts import World
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.jars import class_path, oracle_class_path
from tests.support.kafka.java import class_archive

OPERATIONS = 100


def make_archives() -> None:
    """Write those of the newest Kafka and of other coordinators, as far as they are not there."""
    _make(class_path(), _run_broker)
    for release in map(str, RELEASES):
        _make(oracle_class_path(release), partial(_ask_oracle, release))


def _make(path: str, run: Callable[[str], None]) -> None:
    """Write the archive of a class path, if it is not there.

    Args:
        run: a JVM with this option.
    """
    archive = class_archive(path)
    if archive.exists():
        return
    unfinished: Path = archive.with_suffix(".unfinished")
    run(f"-XX:ArchiveClassesAtExit={unfinished}")
    unfinished.rename(archive)


def _run_broker(option: str) -> None:
    with KafkaCluster(options=(option,)) as cluster:
        cluster.stop()


def _ask_oracle(release: str, option: str) -> None:
    with Oracle(release, options=(option,)) as oracle:
        for shape in ("classic", "mixed"):
            World(oracle.ask, shape, 0).run(OPERATIONS)


if __name__ == "__main__":
    try:
        make_archives()
    except (KgroupsError, OSError) as failure:
        print(f"set-up: no archive of Kafka's classes: {failure}", file=sys.stderr)
