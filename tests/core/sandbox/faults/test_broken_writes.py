"""Writes while the cluster fails in the middle of them, by fault rules and stopped brokers."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kgroups.cli.commands.writes.batches import BATCH
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.faults.fault_rules import Drop, Fault
from kgroups.core.sandbox.sandbox import Sandbox
from tests.kafka.writes.test_interrupted import csv_rows
from tests.support.cli.process import start
from tests.support.cli.runner import run
from tests.support.kafka.child import WAIT_S
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, fetch_offsets, produce

GROUPS = 2 * BATCH + 100
NAMES = [f"broken-{number:04}" for number in range(GROUPS)]


@pytest.fixture
def cluster() -> Iterator[Sandbox]:
    """One broker with many groups, each at offset 10."""
    with Sandbox(brokers=1, topics={"t": 1}) as running:
        produce(running.bootstrap_servers, {("t", 0): 50})
        commit_offsets(running.bootstrap_servers, {name: {("t", 0): 10} for name in NAMES})
        yield running


@contextmanager
def second_batch(
    cluster: Sandbox, folder: Path, *more: str, delay_ms: int = 600_000, times: int | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """A reset of all groups by +5 whose second batch is on its way, and arrives late."""
    late = Fault(api=Api.OFFSET_COMMIT, skip=BATCH, delay_ms=delay_ms, times=times)
    fault = cluster.add_fault(late)
    line = ("reset-offsets", "broken-*", "--to", "+5", "--all-topics", "--yes", "-o", "csv")
    long = ("-b", cluster.bootstrap_servers, "--timeout", "60s")
    with start(*long, *line, "--undo-dir", str(folder), *more) as process:
        wait_until(lambda: fault.hits > 0, "the second batch is on its way")
        yield process


def held(cluster: Sandbox) -> dict[str, int]:
    """Where each group stands."""
    found = csv_rows(run("-b", cluster.bootstrap_servers, "describe", "broken-*", "-o", "csv"))
    return {row["group"]: int(row["committed_offset"]) for row in found}


def test_killed_in_the_second_batch(cluster: Sandbox, tmp_path: Path) -> None:
    """The first batch is written, the others are not; the undo file tells which; resume ends it."""
    with second_batch(cluster, tmp_path) as process:
        process.kill()
    cluster.clear_faults()
    (undo,) = tmp_path.iterdir()
    before = held(cluster)
    assert sorted(before.values()) == [10] * (GROUPS - BATCH) + [15] * BATCH
    line = ("-b", cluster.bootstrap_servers, "--timeout", "60s", "reset-offsets")
    told = csv_rows(run(*line, "--undo", str(undo), "--dry-run", "-o", "csv"))
    done = {row["group"] for row in told if row["result"] == "planned"}
    assert done == {name for name, offset in before.items() if offset == 15}
    rest = run(*line, "--resume", str(undo), "--yes", "--undo-dir", str(tmp_path), "-o", "csv")
    assert rest.exit_code == 0
    assert rest.stdout.count(",done,") == GROUPS - BATCH
    assert set(held(cluster).values()) == {15}
    assert run(*line, "--undo", str(undo), "--yes", "--no-undo").exit_code == 0
    assert set(held(cluster).values()) == {10}


def test_ctrl_c_in_the_second_batch(cluster: Sandbox, tmp_path: Path) -> None:
    """The batch is ended, the third is not begun; the note names the file that resumes it."""
    with second_batch(cluster, tmp_path, delay_ms=500, times=1) as process:
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130
    assert f"interrupted: {2 * BATCH:,} of {GROUPS:,} groups were sent" in stderr
    (undo,) = tmp_path.iterdir()
    assert f"`kgroups reset-offsets --resume {undo}` finishes the rest" in stderr
    assert stdout.count(",skipped,") == GROUPS - 2 * BATCH
    assert sorted(held(cluster).values()) == [10] * (GROUPS - 2 * BATCH) + [15] * 2 * BATCH


def test_the_broker_is_gone_for_good(cluster: Sandbox, tmp_path: Path) -> None:
    """What was written is done, what was sent is unknown, the rest failed: exit code 3; resume
    settles it.
    """
    with second_batch(cluster, tmp_path, "--timeout", "20s") as process:
        cluster.stop_broker(1)
        stdout, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3, stderr
    assert stdout.count(",done,") == BATCH
    assert stdout.count(",unknown,") == BATCH
    assert stdout.count(",failed,") == GROUPS - 2 * BATCH
    assert "not sent: the cluster is unreachable" in stderr
    cluster.clear_faults()
    cluster.start_broker(1)
    assert sorted(held(cluster).values()) == [10] * (GROUPS - BATCH) + [15] * BATCH
    (undo,) = tmp_path.iterdir()
    line = ("reset-offsets", "--resume", str(undo), "--yes", "--no-undo", "--timeout", "60s")
    assert run("-b", cluster.bootstrap_servers, *line).exit_code == 0
    assert set(held(cluster).values()) == {15}


def test_the_broker_comes_back_in_time(cluster: Sandbox, tmp_path: Path) -> None:
    """Requests are sent again within --timeout, and everything is done."""
    with second_batch(cluster, tmp_path, "--timeout", "60s") as process:
        cluster.stop_broker(1)
        cluster.clear_faults()
        cluster.start_broker(1)
        _, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, stderr
    assert set(held(cluster).values()) == {15}


def test_a_dropped_deletion_is_sent_again(one: Sandbox) -> None:
    """A connection that is closed instead of an answer costs no group."""
    commit_offsets(one.bootstrap_servers, {name: {("t", 0): 10} for name in NAMES[:10]})
    one.add_fault(Fault(api=Api.DELETE_GROUPS, action=Drop(), times=1))
    line = ("-b", one.bootstrap_servers, "delete", "broken-*", "--yes", "-o", "json")
    outcome = run(*line)
    assert outcome.exit_code == 0
    assert outcome.document["summary"]["done"] == 10
    assert fetch_offsets(one.bootstrap_servers, NAMES[0]) == {}
