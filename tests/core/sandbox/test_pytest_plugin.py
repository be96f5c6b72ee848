"""The fixtures that other projects get with the package."""

import os
import sys
from pathlib import Path

from tests.support.kafka.child import run_program

THEIR_TESTS = """
import socket


def reach(cluster):
    host, port = cluster.bootstrap_servers.split(",")[0].rsplit(":", 1)
    socket.create_connection((host, int(port)), timeout=60).close()


def test_one(kafka_sandbox):
    kafka_sandbox.create_topic("orders", 12)
    assert len(kafka_sandbox.log_end_offsets("orders")) == 12
    reach(kafka_sandbox)


def test_each_test_has_its_own(kafka_sandbox):
    kafka_sandbox.create_topic("orders", 3)


def test_several(new_kafka_sandbox):
    old, new = new_kafka_sandbox(brokers=2, as_version="2.8"), new_kafka_sandbox(topics={"t": 1})
    assert len(old.brokers) == 2
    reach(old)
    reach(new)
"""


def test_another_projects_tests(tmp_path: Path) -> None:
    """A project with nothing but the package writes tests against clusters of its own.

    pytest finds the fixtures by the package's entry point, which is what `-p` names.
    """
    (tmp_path / "test_theirs.py").write_text(THEIR_TESTS)
    done = run_program(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "kgroups", "test_theirs.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        timeout_s=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
