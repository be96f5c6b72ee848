"""Kafka's own jars and our compiled Java classes, in a cache outside the checkout.

`python -m tests.support.kafka.jars` does it and prints the folder; with `--newer-tools` it says
whether Kafka's tools of a later release than ours can be fetched. The Ivy that PySpark ships
resolves them from its default repository: Java and the installed Python packages are all it takes.
Run again it answers at once; an interrupted run leaves nothing that looks finished.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from kgroups.core.coordinator.releases import RELEASES as RULES_SINCE
from kgroups.core.errors import ClusterError, KgroupsError
from tests.support.kafka.child import Child, run_program
from tests.support.kafka.java import require_java
from tests.support.kafka.releases import LOG4J, NEWEST, RELEASES
from tests.support.kafka.waiting import Deadline

KAFKA_VERSION = RELEASES[NEWEST].version


@dataclass(frozen=True)
class JarSet:
    """Jars that are fetched together.

    Args:
        name: of their folder in the cache.
        artifacts: organisation, name and version of what they are the dependencies of.
        size: what is fetched and how long it takes, for people.
        alone: without what the artifacts depend on.
    """

    name: str
    artifacts: tuple[tuple[str, str, str], ...]
    size: str
    alone: bool = False


KAFKA = JarSet(
    f"kafka-tools-{KAFKA_VERSION}",
    (
        ("org.apache.kafka", "kafka_2.13", KAFKA_VERSION),
        ("org.apache.kafka", "kafka-tools", KAFKA_VERSION),
        ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
    ),
    f"Kafka {KAFKA_VERSION} (92 jars, 55 MB; one to three minutes, once)",
)
# The last release whose consumers had no coordinator; its broker runs on today's Java too.
KAFKA_082 = JarSet(
    "kafka-0.8.2.2",
    (("org.apache.kafka", "kafka_2.11", "0.8.2.2"),),
    "Kafka 0.8.2.2 (17 jars, 14 MB; half a minute, once)",
)
# Kafka's definitions of its messages, from which `core/protocol/tables` are generated.
MESSAGES = JarSet(
    "definitions-4.4.0",
    (
        ("org.apache.kafka", "kafka-clients", "4.4.0"),
        ("org.apache.kafka", "kafka-group-coordinator", "4.4.0"),
        ("org.apache.kafka", "kafka-share-coordinator", "4.4.0"),
    ),
    "Kafka 4.4.0's message definitions (3 jars, 12 MB; some seconds, once)",
    alone=True,
)


def coordinator_jars(version: str) -> JarSet:
    """What Kafka's coordinator of another version than the newest's is made of: `4.4.0`."""
    if version == KAFKA_VERSION:
        return KAFKA
    artifacts = (
        ("org.apache.kafka", "kafka-group-coordinator", version),
        # How log4j reads our settings; the other is of the version that Kafka brings.
        ("com.fasterxml.jackson.dataformat", "jackson-dataformat-yaml", "2.21.2"),
        *LOG4J,
    )
    size = f"the group coordinator of Kafka {version} (half a minute, once)"
    return JarSet(f"coordinator-{version}", artifacts, size)


def broker_jars(release: str) -> JarSet:
    """What the brokers of a release are made of; of the newest, its tools too."""
    if release == NEWEST:
        return KAFKA
    found = RELEASES[release]
    return version_jars(found.version, found.logging)


def version_jars(
    version: str, logging: tuple[tuple[str, str, str], ...] = RELEASES[NEWEST].logging
) -> JarSet:
    """What the brokers of a version are made of, without tools: `4.4.0`."""
    artifacts = (("org.apache.kafka", "kafka_2.13", version), *logging)
    size = f"Kafka {version} (about 40 jars, 60 MB; one to three minutes, once)"
    return JarSet(f"kafka-{version}", artifacts, size)


JAVA_SOURCES = Path(__file__).parent / "java"
ORACLE = "CoordinatorOracle.java"
# What is elsewhere, or is given less, before 4.4: in the source of the oracle.
BEFORE_4_4 = (
    ("common.utils.internals.BufferSupplier", "common.utils.BufferSupplier"),
    ("common.utils.internals.LogContext", "common.utils.LogContext"),
    ("new GroupConfigManager(config, ", "new GroupConfigManager(Map.of(), config, "),
    ("StatePersister(), wheel, null, Optional.empty(), clock);", "StatePersister(), wheel, null);"),
)
STAMP = ".done"
HARNESS = "harness.jar"


def cache_folder() -> Path:
    """Where kgroups keeps what its tests download: `$XDG_CACHE_HOME/kgroups`."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "kgroups"


def say(text: str) -> None:
    """Tell on stderr what is being waited for."""
    print(f"kafka: {text}", file=sys.stderr, flush=True)


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Hold the cache's lock, so that two set-ups at once do the work once."""
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _finished(folder: Path, make: Callable[[Path], None]) -> Path:
    """`folder`, filled by `make` in a neighbouring one and renamed when it is whole."""
    if (folder / STAMP).exists():
        return folder
    with _one_at_a_time(folder.parent):
        if (folder / STAMP).exists():  # made while we waited
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as made:
            unfinished = Path(made) / "whole"
            unfinished.mkdir()
            make(unfinished)
            (unfinished / STAMP).touch()
            unfinished.rename(folder)
    return folder


def _ivy_jar() -> Path:
    """The Ivy that the installed PySpark brings."""
    spec = find_spec("pyspark")
    found = sorted(Path(spec.origin).parent.glob("jars/ivy-*.jar")) if spec and spec.origin else []
    if not found:
        raise ClusterError(
            "PySpark's Ivy jar is not there, and Kafka's jars are fetched with it",
            hint="run `make setup` again, or `pip install 'pyspark[connect]'`",
        )
    return found[-1]


def _ivy_file(wanted_set: JarSet) -> str:
    """The Ivy module whose dependencies are the artifacts."""
    transitive = str(not wanted_set.alone).lower()
    wanted = "".join(
        f'<dependency org="{org}" name="{name}" rev="{revision}" conf="default->default"'
        f' transitive="{transitive}"/>'
        for org, name, revision in wanted_set.artifacts
    )
    return (
        '<ivy-module version="2.0"><info organisation="kgroups" module="test-broker"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{wanted}</dependencies></ivy-module>"
    )


def _fetch(wanted: JarSet, folder: Path) -> None:
    """Resolve and copy the jars into `folder`, with progress on stderr.

    Raises:
        ClusterError: Ivy could not reach its repository, or not find an artifact.
    """
    ivy, scratch = _ivy_jar(), folder.parent
    (scratch / "ivy.xml").write_text(_ivy_file(wanted))
    say(f"fetching {wanted.size}")
    command = [
        *("java", "-jar", str(ivy), "-cache", str(scratch / "ivy-cache")),
        *("-ivy", str(scratch / "ivy.xml"), "-types", "jar", "bundle"),
        *("-retrieve", f"{folder}/[artifact]-[revision](-[classifier]).[ext]"),
    ]
    log: list[str] = []
    fetched = 0
    deadline = Deadline(1_200)  # for all of it: a registry that hangs must not hang us
    with Child(command, stderr=subprocess.STDOUT) as child:
        while line := child.line(deadline):
            log.append(line)
            if "[SUCCESSFUL ]" in line:
                fetched += 1
                if fetched % 15 == 0:
                    say(f"{fetched} jars fetched")
    if child.returncode != 0 or not any(folder.glob("kafka*.jar")):
        kept = cache_folder() / "ivy.log"
        kept.write_text("".join(log))
        raise ClusterError(
            f"{wanted.name} could not be fetched (Ivy ended with {child.returncode})",
            hint=f"the first set-up needs the network; Ivy's own words are in {kept}",
        )


def kafka_jars(wanted: JarSet = KAFKA) -> Path:
    """Folder with a Kafka's jars, fetched when it is not there yet.

    Raises:
        JavaMissing: there is no JDK to fetch and run them with.
        ClusterError: they could not be fetched.
    """
    folder = cache_folder() / wanted.name
    if not (folder / STAMP).exists():
        require_java()
    return _finished(folder, lambda unfinished: _fetch(wanted, unfinished))


def harness_jar(wanted: JarSet = KAFKA, sources_in: Path = JAVA_SOURCES) -> Path:
    """A jar of our compiled Java classes; a changed source gives another one.

    Args:
        wanted: the jars that they are compiled against.
        sources_in: folder of the sources.
    """
    sources = sorted(sources_in.glob("*.java"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    jars = kafka_jars(wanted)

    def compile_into(folder: Path) -> None:
        require_java()
        say("compiling the Java harness of the tests")
        made = folder / "classes"
        command = ["javac", "-nowarn", "-cp", f"{jars}/*", "-d", str(made), *map(str, sources)]
        done = run_program(command)
        if done.returncode != 0:
            raise ClusterError(f"javac refused the test harness: {done.stderr}")
        with ZipFile(folder / HARNESS, "w") as jar:  # the JVM keeps no classes of folders
            for file in sorted(made.rglob("*.class")):
                jar.write(file, file.relative_to(made))
        shutil.rmtree(made)

    name = wanted.name.replace("kafka", "harness-jars", 1)
    return _finished(cache_folder() / f"{name}-{digest}", compile_into) / HARNESS


def oracle_class_path(version: str) -> str:
    """Class path of Kafka's own coordinator of a version: of another than the newest, it alone."""
    wanted = coordinator_jars(version)
    if wanted == KAFKA:
        return class_path()
    text = (JAVA_SOURCES / ORACLE).read_text(encoding="utf-8")
    for old, new in BEFORE_4_4 if tuple(map(int, version.split("."))) < (4, 4, 0) else ():
        text = text.replace(old, new)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]

    def write_into(folder: Path) -> None:
        (folder / ORACLE).write_text(text, encoding="utf-8")

    sources = _finished(cache_folder() / f"oracle-source-{digest}", write_into)
    return os.pathsep.join((str(harness_jar(wanted, sources)), f"{kafka_jars(wanted)}/*"))


def class_path(release: str = NEWEST) -> str:
    """Class path of every JVM of the tests: our classes and the jars of a release of Kafka."""
    return os.pathsep.join((str(harness_jar()), f"{kafka_jars(broker_jars(release))}/*"))


def tell_newer_tools() -> int:
    """Say of each release after the newest whose tools we have whether its own can be fetched."""
    for name in list(RELEASES)[list(RELEASES).index(NEWEST) + 1 :]:
        version = RELEASES[name].version
        tools = (("org.apache.kafka", "kafka-tools", version),)
        wanted = JarSet(f"tools-{version}", tools, f"Kafka {version}'s tools", alone=True)
        try:
            kafka_jars(wanted)
        except ClusterError:
            print(f"versions: the tools of Kafka {version} cannot be fetched: not published yet?")
        else:
            print(f"versions: the tools of Kafka {version} are published: see CONTRIBUTING.md")
    return 0


def main(every_release: bool = False) -> int:
    """Fetch and compile; print the jars' folder. 0, or 2 when that cannot be done.

    Args:
        every_release: those too that `make test` does not start.
    """
    try:
        require_java()
        jars = kafka_jars()
        harness_jar()
        kafka_jars(MESSAGES)
        for release in RULES_SINCE:
            oracle_class_path(str(release))
        if every_release:
            for wanted in (KAFKA_082, *map(broker_jars, RELEASES)):
                kafka_jars(wanted)
    except KgroupsError as failure:
        hint = f"\n\nhint: {failure.hint}" if failure.hint else ""
        print(f"error: {failure.message}{hint}", file=sys.stderr)
        return 2
    print(jars)
    return 0


if __name__ == "__main__":
    if "--newer-tools" in sys.argv[1:]:
        sys.exit(tell_newer_tools())
    sys.exit(main("--every-release" in sys.argv[1:]))
