"""Kafka's own assignor classes in one JVM: cases in, answers out, as JSON lines.

`KGROUPS_ASSIGNORS_OF=4.4.0` asks those of that version.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kgroups.core.errors import ClusterError
from tests.support.kafka.child import run_program
from tests.support.kafka.jars import KAFKA, KAFKA_VERSION, cache_folder, kafka_jars, version_jars
from tests.support.kafka.java import require_java

Json = Any

SOURCES = Path(__file__).parent / "java"
VERSION = os.environ.get("KGROUPS_ASSIGNORS_OF", KAFKA_VERSION)
QUIET = ("-Dorg.apache.logging.log4j.level=OFF", "-Dlog4j2.statusLoggerLevel=OFF")


# Thousands of small groups are done before the optimising compiler has earned its time.
QUICK = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


def _jars() -> Path:
    return kafka_jars(KAFKA if VERSION == KAFKA_VERSION else version_jars(VERSION))


def oracle_classes() -> Path:
    """Folder with our compiled Java sources; a changed source gives another folder."""
    sources = sorted(SOURCES.glob("*.java"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    folder = cache_folder() / f"assignors-{VERSION}-{digest}"
    if folder.exists():
        return folder
    require_java()
    jars = _jars()
    with tempfile.TemporaryDirectory(dir=cache_folder()) as scratch:
        made = Path(scratch) / "classes"
        command = ["javac", "-nowarn", "-XDignore.symbol.file", "-cp", f"{jars}/*", "-d", str(made)]
        done = run_program([*command, *map(str, sources)])
        if done.returncode != 0:
            raise ClusterError(f"javac refused the assignor oracle: {done.stderr}")
        if not folder.exists():  # another run may have been quicker
            shutil.move(made, folder)
    return folder


def java_command(main: str, *arguments: str, options: Iterable[str] = ("-Xmx512m",)) -> list[str]:
    """Command line of one of our Java programs."""
    path = os.pathsep.join((str(oracle_classes()), f"{_jars()}/*"))
    return ["java", *options, *QUIET, "-cp", path, main, *arguments]


def ask_java(cases: Iterable[Json], main: str = "AssignorOracle") -> list[Json]:
    """The cases with the answers of one of our Java programs in `java`."""
    asked = list(cases)
    lines = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in asked)
    command = java_command(main, options=QUICK)
    done = run_program(command, input=lines, timeout_s=600)
    if done.returncode != 0:
        raise ClusterError(f"the assignor oracle failed: {done.stderr[-2000:]}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [case | {"java": answer["java"]} for case, answer in zip(asked, answers, strict=True)]
