"""A coordinator dies: what is said of every row is true, and writes start from the last commit."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chaos.trio import Trio
from tests.support.cli.process import start
from tests.support.cli.runner import run
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    commit_offsets,
    coordinators_of,
    create_topics,
    fetch_offsets,
    produce,
)

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "three brokers; embedded ones: tests/core/sandbox/faults/test_broken_writes.py"
    ),
]

NAMES = [f"failover-{number:03}" for number in range(60)]
TOPIC = "failover"
AT = (TOPIC, 0)


@pytest.fixture(scope="module", autouse=True)
def records(trio: Trio) -> None:
    """The topic is on the first broker alone."""
    trio.heal()
    alone = {"min.insync.replicas": "1"}
    create_topics(trio.bootstrap, {TOPIC: 1}, replicas={TOPIC: [[1]]}, config=alone)
    produce(trio.bootstrap, {AT: 50})


def stands(cluster: Trio) -> dict[str, int]:
    """Where each group stands."""
    line = ("-b", cluster.bootstrap, "describe", "failover-*", "--timeout", "60s", "-o", "json")

    def look() -> dict[str, int]:
        outcome = run(*line)
        items = outcome.document["items"] if outcome.stdout else []
        found = {
            item["group"]: row["committed_offset"] for item in items for row in item["offsets"]
        }
        return found if len(found) == len(NAMES) else {}

    return wait_until(look, "every group is shown", timeout_s=240)


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("victim", "timeout"),
    [
        (3, "6s"),
        pytest.param(2, "240s", marks=pytest.mark.slow("minutes, if the takeover is a slow one")),
    ],
)
def test_a_coordinator_dies(trio: Trio, tmp_path: Path, victim: int, timeout: str) -> None:
    """`done` is written, `failed` is not, `unknown` is either; a resume ends it."""
    commit_offsets(trio.bootstrap, {name: {AT: 10} for name in NAMES})
    assert set(stands(trio).values()) == {10}
    line = ("reset-offsets", "failover-*", "--to", "+7", "--all-topics", "--yes", "-o", "json")
    more = ("--undo-dir", str(tmp_path), "--timeout", timeout)
    with start("-b", trio.bootstrap, *line, *more) as process:
        wait_until(lambda: bool(list(tmp_path.glob("*.json"))), "the undo file is there")
        trio.kill(victim)
        stdout, stderr = process.communicate(timeout=400)
    try:
        items = json.loads(stdout)["items"]
        assert {item["group"] for item in items} == set(NAMES)
        said = {item["group"]: item["result"] for item in items}
        assert set(said.values()) <= {"done", "failed", "unknown"}, stderr
        # Acknowledged, and read from the old coordinator until the time was over: either may stand.
        stale = {item["group"] for item in items if item["error"] == "NOT_VERIFIED"}
        ends = {0} if set(said.values()) == {"done"} else {1} if stale else {3}
        assert process.returncode in ends, stderr
        if timeout == "240s":
            assert set(said.values()) == {"done"}, stderr
        held = stands(trio)
        wrong = {
            name: (said[name], held[name])
            for name in NAMES
            if name not in stale
            and held[name] not in {"done": (17,), "failed": (10,)}.get(said[name], (10, 17))
        }
        assert wrong == {}
    finally:
        trio.heal()
    (undo,) = tmp_path.glob("*.json")
    resume = ("reset-offsets", "--resume", str(undo), "--yes", "--no-undo", "--timeout", "240s")
    assert run("-b", trio.bootstrap, *resume).exit_code == 0
    assert fetch_offsets(trio.bootstrap, NAMES[0]) == {AT: 17}
    assert set(stands(trio).values()) == {17}


@pytest.fixture(scope="module")
def late() -> Iterator[Trio]:
    """Three brokers of which whoever takes over does not know yet what was committed last.

    Brokers that copy a log wait up to `replica.fetch.wait.max.ms` for the next records, and hear
    only with them how far it is committed.
    """
    waits = {"replica.fetch.wait.max.ms": "20000", "replica.lag.time.max.ms": "60000"}
    with Trio(waits) as cluster:
        create_topics(cluster.bootstrap, {TOPIC: len(cluster.node_ids)})
        produce(cluster.bootstrap, {AT: 50})
        yield cluster


@pytest.mark.slow("three more brokers; an embedded cluster that answers late is in every run")
@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_a_shift_after_a_takeover(late: Trio, tmp_path: Path, end: str) -> None:
    """It starts from the last commit, not from the one before; and so does its undo file."""
    group = f"taken-{end}"
    for offset in (10, 20):
        commit_offsets(late.bootstrap, {group: {AT: offset}})
    (address,) = coordinators_of(late.bootstrap, [group])
    (node,) = (node for node in late.node_ids if late.address(node) == address)
    if end == "killed":
        late.kill(node)
    else:
        late.stop_brokers([node])
    try:
        line = ("-b", late.bootstrap, "reset-offsets", "--yes", "--timeout", "240s")
        shift = (group, "--all-topics", "--to", "+1", "--undo-dir", str(tmp_path))
        # Somebody has taken over; readers do not make it catch up.
        reader = ("-b", late.bootstrap, "describe", group)
        wait_until(lambda: run(*reader).exit_code == 0, "a coordinator answers", timeout_s=240)
        assert run(*line, *shift).exit_code == 0
        assert fetch_offsets(late.bootstrap, group) == {AT: 21}
        (undo,) = tmp_path.glob("*.json")
        assert run(*line, "--undo", str(undo)).exit_code == 0
        assert fetch_offsets(late.bootstrap, group) == {AT: 20}
    finally:
        late.heal()
