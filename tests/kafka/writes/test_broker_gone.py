"""The real broker goes down between the question and the write, for good or for a while."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kafka.writes.test_interrupted import asked
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.child import WAIT_S
from tests.support.kafka.waiting import wait_for_thread
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "a broker that goes; an embedded one: tests/core/sandbox/faults/test_broken_writes.py"
    ),
]

NAMES = [f"gone-{number}" for number in range(20)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[KafkaCluster]:
    """A broker of this module's own, with twenty groups."""
    with KafkaCluster() as running:
        create_topics(running.bootstrap, {"t": 1})
        produce(running.bootstrap, {("t", 0): 50})
        commit_offsets(running.bootstrap, {name: {("t", 0): 10} for name in NAMES})
        yield running


def test_a_broker_that_goes_and_comes(cluster: KafkaCluster, tmp_path: Path) -> None:
    """Gone for good: a failed row each, exit code 3. Back within --timeout: everything is done."""
    line = ("-b", cluster.bootstrap, "reset-offsets", "gone-*", "--to", "+5", "--all-topics")
    more = ("--undo-dir", str(tmp_path), "-o", "csv")
    with asked(*line, *more, "--timeout", "20s") as (process, answer):
        cluster.stop()
        os.write(answer, b"y\n")
        stdout, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3, stderr
    assert stdout.count(",failed,") == len(NAMES)
    cluster.start()
    assert fetch_offsets(cluster.bootstrap, NAMES[0]) == {("t", 0): 10}
    with asked(*line, *more, "--timeout", "400s") as (process, answer):
        cluster.stop()
        os.write(answer, b"y\n")
        back = threading.Thread(target=cluster.start)
        back.start()
        stdout, stderr = process.communicate(timeout=WAIT_S)
        wait_for_thread(back, timeout_s=WAIT_S)
    assert process.returncode == 0, stderr
    assert stdout.count(",done,") == len(NAMES)
    assert all(fetch_offsets(cluster.bootstrap, name) == {("t", 0): 15} for name in NAMES)
