"""Writes that are interrupted: members that come in between, kill -9, Ctrl-C in the middle."""

import csv
import os
import pty
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kgroups.cli.commands.writes.batches import BATCH
from tests.support.cli.process import start
from tests.support.cli.runner import Outcome, run
from tests.support.hostile.tampering import HeldAnswers, TamperingProxy
from tests.support.kafka.child import WAIT_S, Child
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.protocols import PROTOCOLS
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    delete_topics,
    fetch_offsets,
    produce,
)

pytestmark = pytest.mark.kafka

TOPIC = "stop-t"
LONG = ("--timeout", "60s")
MANY = int(os.environ.get("KGROUPS_MANY_GROUPS", str(3 * BATCH + 100)))


@pytest.fixture(scope="module")
def address(cluster_address: str) -> str:
    """A topic with records."""
    create_topics(cluster_address, {TOPIC: 2})
    produce(cluster_address, {(TOPIC, 0): 50, (TOPIC, 1): 50})
    return cluster_address


@contextmanager
def asked(*line: str) -> Iterator[tuple[Child, int]]:
    """A command that has asked its question; the answer is written to the number."""
    leader, follower = pty.openpty()
    try:
        with start(*line, stdin=follower) as process:
            process.text_until("?", stream="stderr")
            yield process, leader
    finally:
        os.close(leader)
        os.close(follower)


WRITES = {
    "reset-offsets": ("--to", "earliest", "--all-topics", "--no-undo"),
    "delete-offsets": ("--all-topics", "--no-undo"),
    "delete": (),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("command", WRITES)
def test_a_member_joins_between_preview_and_apply(
    address: str, command: str, protocol: str
) -> None:
    """The broker refuses the group, which is shown with its member and host: exit code 4."""
    group, other = f"stop-{command}-{protocol}", f"stop-{command}-{protocol}-other"
    commit_offsets(address, {group: {(TOPIC, 0): 10}, other: {(TOPIC, 0): 10}})
    line = ("-b", address, command, group, other, *WRITES[command])
    with asked(*line) as (process, answer):
        members = [MemberSpec(f"stop-{command}", (TOPIC,))]
        with LiveGroup(address, group, members, protocol=protocol) as live:  # type: ignore[arg-type]
            live.wait_stable(2)
            os.write(answer, b"y\n")
            stdout, stderr = process.communicate(timeout=WAIT_S)
            assert process.returncode == 4, stderr
            assert f"1 member: stop-{command} on /127.0.0.1" in stderr
            assert fetch_offsets(address, group) == {(TOPIC, 0): 10}
    rows = {line.split()[0]: line for line in stdout.splitlines()[1:]}
    assert " refused" in rows[group]
    assert " done" in rows[other]
    left = {} if command != "reset-offsets" else {(TOPIC, 0): 0}
    assert fetch_offsets(address, other) == left


@pytest.mark.share(3)
@pytest.mark.parametrize("command", ["reset-offsets", "copy-offsets", "apply"])
def test_a_topic_is_recreated_between_preview_and_apply(
    address: str, tmp_path: Path, command: str
) -> None:
    """Offsets of the old topic mean nothing in the new one: its rows are refused, exit code 4."""
    topic, group, copy = (f"stop-{command}-{what}" for what in ("topic", "g", "copy"))
    create_topics(address, {topic: 1})
    produce(address, {(topic, 0): 50})
    commit_offsets(address, {group: {(topic, 0): 10, (TOPIC, 0): 10}})
    reset = ("reset-offsets", group, "--to", "+5", "--all-topics")
    lines = {
        "reset-offsets": reset,
        "copy-offsets": ("copy-offsets", "--from", group, "--to", copy),
        "apply": ("apply", str(tmp_path / "plan.json")),
    }
    if command == "apply":
        saved = run("-b", address, *reset, "--dry-run", "--plan", str(tmp_path / "plan.json"))
        assert saved.exit_code == 0
    with asked("-b", address, *LONG, *lines[command], "--no-undo", "-o", "csv") as (
        process,
        answer,
    ):
        delete_topics(address, [topic])
        create_topics(address, {topic: 1})
        os.write(answer, b"y\n")
        stdout, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 4, stderr
    assert "the topic was deleted or recreated meanwhile" in stderr
    assert stdout.count(",refused,") == stdout.count(",done,") == 1
    name, offset = (copy, 10) if command == "copy-offsets" else (group, 15)
    assert fetch_offsets(address, name) == {(TOPIC, 0): offset}


def csv_rows(outcome: Outcome) -> list[dict[str, str]]:
    """The rows of a CSV: thousands of items of JSON take long to be held to their schema."""
    return list(csv.DictReader(outcome.stdout.splitlines()))


def held(address: str) -> dict[str, int]:
    """Where each of the killed groups stands."""
    found = csv_rows(run("-b", address, "describe", "stop-killed-*", "-o", "csv"))
    return {row["group"]: int(row["committed_offset"]) for row in found if row["committed_offset"]}


def test_killed_while_it_writes(address: str, tmp_path: Path) -> None:
    """Each group stands where it stood or where it should; what is left is done by --resume.

    The target is a shift, which the same command would make twice.
    """
    names = [f"stop-killed-{number:04}" for number in range(BATCH + 100)]
    commit_offsets(address, {name: {(TOPIC, 0): 10} for name in names})
    line = ("reset-offsets", "stop-killed-*", "--to", "+7", "--all-topics", "--yes")
    with start("-b", address, *LONG, *line, "--undo-dir", str(tmp_path)) as process:
        wait_until(lambda: bool(list(tmp_path.glob("*.json"))), "the undo file is there")
        process.kill()
    (undo,) = tmp_path.glob("*.json")
    offsets = held(address)
    assert set(offsets.values()) <= {10, 17}
    told = run("-b", address, "reset-offsets", "--undo", str(undo), "--dry-run", "-o", "csv")
    done = {row["group"] for row in csv_rows(told) if row["result"] == "planned"}
    assert done == {name for name, offset in offsets.items() if offset == 17}
    again = ("reset-offsets", "--resume", str(undo), "--yes", "--no-undo")
    rest = run("-b", address, *LONG, *again)
    assert rest.exit_code == 0
    assert held(address) == dict.fromkeys(names, 17)
    assert run("-b", address, *LONG, "delete", "stop-killed-*", "--yes").exit_code == 0


def test_ctrl_c_among_many(address: str) -> None:
    """It stops after the batch and says how far it came; what it says is true; again ends it."""
    names = [f"stop-many-{number:05}" for number in range(MANY)]
    commit_offsets(address, {name: {(TOPIC, 0): 1} for name in names})
    line = ("delete", "stop-many-*", "--yes", "-o", "csv")
    second = HeldAnswers(passed=1)
    with (
        TamperingProxy(address, {"delete_groups": second}) as proxy,
        start("-b", proxy.address, *LONG, *line) as process,
    ):
        process.text_until(f"deleting, {BATCH} of {MANY:,} groups\n", stream="stderr")
        process.send_signal(signal.SIGINT)
        process.text_until("stopping after this batch", stream="stderr")
        second.let_go()
        stdout, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130
    sent = 2 * BATCH
    assert f"interrupted: {sent:,} of {MANY:,} groups were sent" in stderr
    assert stdout.count(",done,") == sent
    assert stdout.count(",skipped,") == MANY - sent
    left = csv_rows(run("-b", address, "list", "stop-many-*", "-o", "csv"))
    assert [row["group"] for row in left] == names[sent:]
    again = run("-b", address, *LONG, *line)
    assert again.exit_code == 0
    assert again.stdout.count(",done,") == MANY - sent
    assert f"deleting, 0 of {MANY - sent:,} groups\n" in again.stderr


def test_a_second_ctrl_c_stops_at_once(address: str) -> None:
    """Who cannot wait for the batch need not."""
    names = [f"stop-twice-{number:05}" for number in range(BATCH + 1)]
    commit_offsets(address, {name: {(TOPIC, 0): 1} for name in names})
    line = ("delete", "stop-twice-*", "--yes")
    first = HeldAnswers()
    with (
        TamperingProxy(address, {"delete_groups": first}) as proxy,
        start("-b", proxy.address, *LONG, *line) as process,
    ):
        process.text_until("groups\n", stream="stderr")
        process.send_signal(signal.SIGINT)
        process.text_until("stops at once\n", stream="stderr")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WAIT_S)
        first.let_go()
    assert process.returncode == 130
    assert run("-b", address, *LONG, *line).exit_code == 0
