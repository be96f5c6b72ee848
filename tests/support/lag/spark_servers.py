"""Spark's own servers on loopback: a standalone master with workers, and a Connect server."""

import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from tests.support.kafka.broker import free_ports
from tests.support.kafka.child import Child, run_program
from tests.support.kafka.waiting import DeadlinePassed, wait_until

HOME = Path(str(pyspark.__file__)).parent
DEADLINE_S = 180.0
# For servers and executors that live for seconds.
QUICK_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


def bare_python(folder: Path) -> Path:
    """A Python for workers: PySpark and what it needs, but no kgroups.

    An environment whose packages are those of PySpark's folder; what is installed there for
    editing, as we are, is found through a `.pth` file, which counts in one's own folder only.
    """
    venv.create(folder / "bare", symlinks=True)
    python = folder / "bare" / "bin" / "python"
    (own,) = (folder / "bare").glob("lib/python*/site-packages")
    (own / "packages.pth").write_text(str(HOME.parent))
    found = run_program([python, "-c", "import pyspark, kgroups"])
    assert "No module named 'kgroups'" in found.stderr, found.stderr
    return python


@contextmanager
def _server(
    name: str, command: Sequence[str], folder: Path, ready: str, python: Path | None = None
) -> Iterator[str]:
    """A server in the foreground until the block ends; gives the part of its log that matched.

    Raises:
        AssertionError: it ended or was not ready in time; its log is in the message.
    """
    log = folder / f"{name}.log"
    environment = os.environ | {
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_DAEMON_MEMORY": "512m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK_JVM,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOG_DIR": str(folder),
        "SPARK_LOCAL_DIRS": str(folder),
        "PYSPARK_PYTHON": str(python or sys.executable),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    with log.open("wb") as file:
        process = Child(command, stdout=file, stderr=subprocess.STDOUT, env=environment, cwd=folder)
    try:
        yield _wait_for(process, log, ready)
    finally:
        process.end()


def _wait_for(process: Child, log: Path, ready: str) -> str:
    """The first group of `ready` in the log, waited for."""

    def found() -> str | None:
        text = log.read_text(errors="replace")
        assert process.poll() is None, f"{log.name} ended:\n{text}"
        matched = re.search(ready, text)
        return matched and matched[1]

    try:
        return wait_until(found, f"{ready!r} in {log.name}", timeout_s=DEADLINE_S) or ""
    except DeadlinePassed as passed:
        raise DeadlinePassed(f"{passed}:\n{log.read_text(errors='replace')[-5_000:]}") from None


@contextmanager
def standalone(folder: Path, workers: int = 2) -> Iterator[str]:
    """A standalone master with workers of one core each; gives its `spark://` address."""
    spark_class = str(HOME / "bin" / "spark-class")
    deploy = "org.apache.spark.deploy"
    with ExitStack() as stack:
        command = [spark_class, f"{deploy}.master.Master", "--host", "127.0.0.1"]
        command += ["--port", "0", "--webui-port", "0"]
        ready = r"Starting Spark master at (spark://127\.0\.0\.1:\d+)"
        master = stack.enter_context(_server("master", command, folder, ready))
        for number in range(workers):
            command = [spark_class, f"{deploy}.worker.Worker", "--host", "127.0.0.1"]
            command += ["--webui-port", "0", "--cores", "1", "--memory", "512m"]
            command += ["--work-dir", str(folder / f"work-{number}"), master]
            ready = r"Successfully registered with master (\S+)"
            stack.enter_context(_server(f"worker-{number}", command, folder, ready))
        yield master


@contextmanager
def connect_server(folder: Path, python: Path | None = None) -> Iterator[str]:
    """A Spark Connect server, its workers on `python`; gives its `sc://` address."""
    port = free_ports(1)[0]
    command = [str(HOME / "bin" / "spark-submit"), "--master", "local[2]"]
    command += ["--driver-memory", "512m", "--conf", "spark.ui.enabled=false"]
    command += ["--driver-java-options", QUICK_JVM]
    command += ["--conf", f"spark.connect.grpc.binding.port={port}"]
    command += ["--conf", "spark.connect.grpc.binding.address=127.0.0.1"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += ["spark-internal"]
    ready = r"Spark Connect server started at: (\S+)"
    with _server("connect", command, folder, ready, python):
        yield f"sc://127.0.0.1:{port}"
