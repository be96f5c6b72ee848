"""Making a session: what it needs, what it says, and that it says nothing else."""

import dataclasses
import os
import sys
import textwrap
from pathlib import Path

import pytest

from kgroups.core.errors import ClusterError, KgroupsError, UsageError
from kgroups.core.spark.java_discovery import ClassArchive, find_java, java_version
from kgroups.core.spark.session import SessionOptions, first_line, spark_session
from tests.support.kafka.broker import free_ports
from tests.support.kafka.child import run_program

REPORT = textwrap.dedent(
    """
    import sys
    from pathlib import Path

    from kgroups.core.lag.report import LagQuery, lag_report
    from kgroups.core.spark.session import SessionOptions
    from tests.support.lag.made_fleet import fleet

    conf = {"spark.driver.extraJavaOptions": sys.argv[2]} if len(sys.argv) > 2 else {}
    options = SessionOptions(cache_dir=Path(sys.argv[1]), memory="512m", conf=conf)
    say = lambda text: print("progress:", text, file=sys.stderr)
    report = lag_report([fleet(1)], LagQuery(top=1), session=options, progress=say)
    print(report.summary["groups"])
    """
)


def run_report(*args: str) -> tuple[str, list[str]]:
    """A report in a process of its own: its stdout and the lines of its stderr."""
    done = run_program([sys.executable, "-c", REPORT, *args])
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.splitlines()


@pytest.mark.slow("two JVMs that keep their classes")
@pytest.mark.spark
def test_nothing_of_spark_reaches_the_screen_and_classes_are_kept(tmp_path: Path) -> None:
    """Only our progress; the first run leaves an archive of classes, and the second maps it."""
    out, told = run_report(str(tmp_path))
    assert out.strip().isdigit()
    assert all(line.startswith("progress: ") for line in told), told
    assert any("once" in line for line in told)
    (archive,) = tmp_path.iterdir()
    assert archive.suffix == ".jsa"
    # With -Xshare:on the JVM refuses to start unless it can map the archive.
    again, told = run_report(str(tmp_path), "-Xshare:on")
    assert again == out
    assert all(line.startswith("progress: ") for line in told), told
    assert not any("once" in line for line in told)
    assert list(tmp_path.iterdir()) == [archive]


def test_that_classes_are_kept_is_said_once_a_folder(tmp_path: Path) -> None:
    """By the first run of all; each kind of report keeps an archive of its own."""
    first = ClassArchive.of(find_java(), tmp_path, "snapshot")
    assert first is not None
    assert (first.is_new, first.is_first) == (True, True)
    first.path.touch()
    for kind, is_new in (("history", True), ("snapshot", False)):
        later = ClassArchive.of(find_java(), tmp_path, kind)
        assert later is not None
        assert (later.is_new, later.is_first) == (is_new, False)


def test_archives_that_nothing_uses_any_more_are_removed(tmp_path: Path) -> None:
    """When a new one is kept; each run that uses one says so."""
    gone, used = (tmp_path / f"spark-{name}-0123456789abcdef.jsa" for name in ("plan", "page"))
    own = ClassArchive.of(find_java(), tmp_path)
    assert own is not None
    own.path.touch()
    for path in (gone, used, own.path):
        path.touch()
        os.utime(path, (0, 0))
    os.utime(used)
    assert ClassArchive.of(find_java(), tmp_path) == dataclasses.replace(
        own, is_new=False, is_first=False
    )
    new = ClassArchive.of(find_java(), tmp_path, "snapshot")
    assert new is not None
    new.path.with_suffix(f".{os.getpid()}").touch()
    new.keep()
    assert {path.name for path in tmp_path.iterdir()} == {used.name, own.path.name, new.path.name}


@pytest.mark.spark
def test_a_jvm_that_does_not_start_is_one_sentence(tmp_path: Path) -> None:
    """What the JVM said, and how to see more; in a process of its own."""
    done = run_program([sys.executable, "-c", REPORT, str(tmp_path), "-agentlib:nosuch"])
    assert "KgroupsError: Spark did not start: " in done.stderr
    assert "nosuch" in done.stderr.strip().splitlines()[-1]


@pytest.mark.slow("one more JVM that does not start")
@pytest.mark.spark
def test_too_little_memory_is_one_sentence(tmp_path: Path) -> None:
    """For the driver: what is missing, and the setting that gives more."""
    program = textwrap.dedent(
        """
        from kgroups.core.errors import KgroupsError
        from kgroups.core.spark.session import SessionOptions, spark_session
        conf = {"spark.driver.memory": "60m"}
        try:
            with spark_session(SessionOptions(class_archive=False, conf=conf)):
                pass
        except KgroupsError as error:
            print(error.message, error.hint, sep="\\n")
        """
    )
    done = run_program([sys.executable, "-c", program], cwd=tmp_path)
    message, hint = done.stdout.splitlines()
    assert message.startswith("Spark did not start: ")
    assert "must be at least" in message
    assert hint == "give the driver more memory: --conf spark.driver.memory=1g"


@pytest.mark.slow("a JVM of its own, for two lines of settings")
@pytest.mark.spark
def test_a_machine_s_settings_come_before_ours(tmp_path: Path) -> None:
    """`spark-defaults.conf` says which master and memory, `--conf` has the last word."""
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.master local[1]\nspark.driver.memory 600m\nspark.sql.shuffle.partitions 7\n"
    )
    program = textwrap.dedent(
        """
        from kgroups.core.spark.session import SessionOptions, spark_session
        conf = {"spark.sql.shuffle.partitions": "9"}
        with spark_session(SessionOptions(class_archive=False, conf=conf)) as session:
            names = ("spark.master", "spark.driver.memory", "spark.sql.shuffle.partitions")
            print([session.conf.get(name) for name in names])
        """
    )
    done = run_program(
        [sys.executable, "-c", program], env=os.environ | {"SPARK_CONF_DIR": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['local[1]', '600m', '9']\n"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (SessionOptions(master="local", remote="sc://h"), UsageError, "cannot be used together"),
        (SessionOptions(remote="sc://127.0.0.1:99999"), UsageError, "sc://127.0.0.1:99999"),
        (SessionOptions(master="spark://127.0.0.1:99999"), UsageError, "127.0.0.1:99999"),
        (SessionOptions(remote="http://h"), UsageError, "is not the address of a Spark Connect"),
        (SessionOptions(master="mesos://h"), UsageError, "is not a Spark master URL"),
        (SessionOptions(master="locally"), UsageError, "is not a Spark master URL"),
        (
            SessionOptions(master=f"k8s://https://127.0.0.1:{free_ports(1)[0]}"),
            ClusterError,
            "Kubernetes API server `127.0.0.1:",
        ),
        (
            SessionOptions(remote=f"sc://127.0.0.1:{free_ports(1)[0]}"),
            ClusterError,
            "Spark Connect server `127.0.0.1:",
        ),
        (
            SessionOptions(master=f"spark://127.0.0.1:{free_ports(1)[0]}"),
            ClusterError,
            "Spark master `127.0.0.1:",
        ),
    ],
    ids=[
        "both",
        "no Connect port",
        "no master port",
        "not sc",
        "mesos",
        "not quite local",
        "no Kubernetes",
        "no connect server",
        "no master",
    ],
)
def test_bad_addresses_fail_at_once(
    options: SessionOptions, error: type[KgroupsError], message: str
) -> None:
    """Before any JVM is started, with the address."""
    with pytest.raises(error, match=message), spark_session(options):
        pytest.fail("a session")


def fake_java(home: Path, version: str) -> Path:
    """A JAVA_HOME whose release file names a version."""
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\n")
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


def test_java_that_is_missing_or_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named, with what to install."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(KgroupsError, match="was not found") as caught:
        find_java()
    assert caught.value.code == "JAVA_MISSING"
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "11.0.2")))
    with pytest.raises(KgroupsError, match="is version 11") as caught:
        find_java()
    assert caught.value.code == "JAVA_TOO_OLD"
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KgroupsError, match="`java` was not found"):
        find_java()


@pytest.mark.parametrize(("version", "feature"), [("17.0.15", 17), ("21", 21), ("1.8.0_402", 8)])
def test_java_version_is_read_from_the_release_file(
    tmp_path: Path, version: str, feature: int
) -> None:
    """Without running java."""
    assert java_version(fake_java(tmp_path / "jdk", version) / "bin" / "java") == feature


def test_java_version_of_the_installed_java() -> None:
    """The real one is new enough."""
    assert (java_version(find_java()) or 0) >= 17


@pytest.mark.parametrize("end", ["", "\n SQLSTATE: 38000"], ids=["a JVM of our own", "Connect"])
def test_what_failed_on_a_worker_is_said(end: str) -> None:
    """The last line of the worker's traceback; Connect writes a code below it."""
    text = "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
    text += '  File "reader.py", line 1, in read\nOSError: capture `a` cannot be read: no header'
    assert first_line(RuntimeError(text + end)) == "OSError: capture `a` cannot be read: no header"


SEVERAL = """An error occurred while calling o68.collectToPython.
: org.apache.spark.SparkException: [STAGE_MATERIALIZATION_MULTIPLE_FAILURES] Multiple failures (2) \
in stage materialization:\x20
  1. SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file a.parquet. \
SQLSTATE: KD001
  2. PythonException: An exception was thrown from the Python worker: Traceback:
  OSError: no header
 SQLSTATE: 38000 SQLSTATE: XX000
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.multiFailures(Errors.scala:2043)
"""


def test_one_of_several_stages_that_failed_is_said() -> None:
    """Spark's first line only counts them."""
    first, rest = SEVERAL.split("  1. ")
    one, two = rest.split("  2. ")
    read = "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file a.parquet"
    assert first_line(RuntimeError(SEVERAL)) == read
    swapped = f"{first}  1. {two.rsplit(' SQLSTATE', 2)[0]}\n  2. {one}"
    assert first_line(RuntimeError(swapped)) == "OSError: no header"
    assert first_line(RuntimeError(first.splitlines()[1])).startswith(": org.apache.spark")


def test_what_py4j_raises_is_not_logged() -> None:
    """A signal that comes while it waits for the JVM, or talks to it; others' errors still are."""
    logged = """
import logging
from contextlib import suppress
from py4j.java_gateway import GatewayClient
from py4j.protocol import Py4JNetworkError
from kgroups.core.spark.session import py4j_unlogged

class Lost:
    def __init__(self, error):
        self.error = error
    def send_command(self, command):
        raise self.error
    def close(self, reset=False):
        pass

with py4j_unlogged():
    for error in (Py4JNetworkError("reentrant call"), KeyboardInterrupt()):
        client = GatewayClient()
        client._get_connection = lambda: Lost(error)
        with suppress(BaseException):
            client.send_command("c")
    try:
        raise ValueError
    except ValueError:
        logging.exception("while sending")
"""
    run = run_program([sys.executable, "-c", logged], timeout_s=300)
    assert run.returncode == 0
    assert "py4j" not in run.stderr
    assert "KeyboardInterrupt" not in run.stderr
    assert "ValueError" in run.stderr
