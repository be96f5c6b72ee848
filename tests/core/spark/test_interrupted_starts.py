"""No JVM outlives the program that started it, whenever and however that is ended."""

import signal
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from kgroups.core.spark.java_discovery import ClassArchive, find_java
from tests.support.kafka.child import run_program
from tests.support.kafka.waiting import wait_until

# A JVM that was left alone ends when its input does, on a busy machine not at once.
END_S = 240.0

# Ends itself by a signal as soon as the JVM runs, or once there is a session.
PROGRAM = textwrap.dedent(
    """
    import os, sys, threading, time
    from pathlib import Path

    import psutil

    from kgroups.core.spark.session import SessionOptions, spark_session

    folder, number, in_session, archive = Path(sys.argv[1]), *map(int, sys.argv[2:])

    def is_started():
        try:
            children = psutil.Process().children(recursive=True)
            return any(f"-Djava.io.tmpdir={folder}" in one.cmdline() for one in children)
        except psutil.Error:  # it ended while it was looked at
            return False

    def strike():
        while not is_started():
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    if not in_session:
        threading.Thread(target=strike, daemon=True).start()
    options = SessionOptions(
        cache_dir=folder, memory="512m", small=True, class_archive=bool(archive),
        conf={"spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder}"},
    )
    with spark_session(options) as session:
        session.range(1).collect()
        os.kill(os.getpid(), number)
        time.sleep(60)
    """
)


def interrupted(folder: Path, number: int, *, in_session: bool, archive: bool) -> int:
    """The exit status of a program that ends so; returns when nothing of it is left."""
    words = (str(int(word)) for word in (number, in_session, archive))
    done = run_program([sys.executable, "-c", PROGRAM, str(folder), *words])
    try:
        wait_until(lambda: not _left(folder), f"every JVM of {folder} has ended", timeout_s=END_S)
    finally:
        for process in _left(folder):
            process.kill()
    return done.returncode


def _left(folder: Path) -> list[psutil.Process]:
    """Processes that name the folder."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if any(str(folder) in word for word in process.info["cmdline"] or ())
    ]


@pytest.mark.share(2)
@pytest.mark.spark
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda one: one.name)
def test_a_program_that_ends_while_its_jvm_starts(number: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C then takes away the place where the JVM says that it listens."""
    assert interrupted(tmp_path, number, in_session=False, archive=False) == -number


@pytest.mark.spark
@pytest.mark.slow("a whole start of Spark; one that is killed before is above")
def test_a_killed_program_takes_its_jvm_along(tmp_path: Path) -> None:
    """At once: the JVM has no time to write the archive of its classes."""
    assert interrupted(tmp_path, signal.SIGKILL, in_session=True, archive=True) == -signal.SIGKILL
    assert list(tmp_path.glob("spark-*.jsa")) == list(tmp_path.glob("spark-*.[0-9]*")) == []


@pytest.mark.spark
@pytest.mark.slow("a JVM that notes all its classes: 15 seconds")
def test_ctrl_c_does_not_wait_for_the_archive_of_classes(tmp_path: Path) -> None:
    """And leaves none of its 100 MB."""
    assert interrupted(tmp_path, signal.SIGINT, in_session=True, archive=True) == -signal.SIGINT
    assert list(tmp_path.glob("*.jsa*")) + list(tmp_path.glob("spark-*.*")) == []


def test_archives_of_programs_that_were_killed_are_removed(tmp_path: Path) -> None:
    """Nobody gives them their name any more."""
    ended = run_program([sys.executable, "-c", "import os; print(os.getpid())"])
    theirs = tmp_path / f"spark-0123456789abcdef.{ended.stdout.strip()}"
    ours = tmp_path / f"spark-0123456789abcdef.{psutil.Process().pid}"
    named = tmp_path / "spark-0123456789abcdef.jsa"
    for path in (theirs, ours, named):
        path.touch()
    assert ClassArchive.of(find_java(), tmp_path) is not None
    assert sorted(tmp_path.iterdir()) == sorted([ours, named])
