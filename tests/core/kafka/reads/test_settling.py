"""Writes after a coordinator has moved: it is asked once it knows all of its log."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.kafka.reads.settling import names_by_partition
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import run
from tests.support.hostile.late_coordinator import Commits, LateCoordinator
from tests.support.hostile.tampering import TamperingProxy, Wire, rewritten
from tests.support.kafka.workload import commit_offsets, produce
from tests.support.official.running import run_ours

OLD, NEW = 3, 5
LONG = ("--timeout", "120s")
NAMES = ["first", "second"]
LATE = {name: {"t": {0: OLD}} for name in NAMES}
GROUP_AUTHORIZATION_FAILED = 30
GONE: dict[str, Commits] = {}


@pytest.fixture
def upstream() -> Iterator[str]:
    """A cluster with two groups at an old offset."""
    one = {"offsets.topic.num.partitions": "1"}
    with Sandbox(brokers=1, topics={"t": 1}, properties=one) as cluster:
        produce(cluster.bootstrap_servers, {("t", 0): 20})
        put(cluster.bootstrap_servers, OLD)
        yield cluster.bootstrap_servers


def put(address: str, offset: int) -> None:
    """Let the groups commit."""
    commit_offsets(address, {name: {("t", 0): offset} for name in NAMES})


def offsets(address: str) -> list[str]:
    """What the groups have committed."""
    shown = run("describe", "--all-groups", "-o", "csv", "-b", address)
    assert shown.exit_code == 0, shown.stderr
    rows = csv.DictReader(shown.stdout.splitlines())
    return [f"{row['group']},{row['committed_offset']}" for row in rows]


def done(*words: str, late: LateCoordinator, upstream: str) -> str:
    """What a command prints that a late coordinator serves; it has to end well."""
    with TamperingProxy(upstream, late.conducts) as broker:
        outcome = run(*words, "--yes", "-o", "csv", *LONG, "-b", broker.address)
    assert outcome.exit_code == 0, outcome.stderr
    assert late.is_settled
    return outcome.stdout


def at(offset: int) -> list[str]:
    """Both groups there."""
    return [f"{name},{offset}" for name in NAMES]


def test_an_undo_restores_what_was_just_written(upstream: str, tmp_path: Path) -> None:
    """It is not told that all is as it was."""
    file = reset(upstream, tmp_path)
    done(
        "reset-offsets", "--undo", file, "--no-undo", late=LateCoordinator(LATE), upstream=upstream
    )
    assert offsets(upstream) == at(OLD)


def test_a_resume_writes_what_was_just_replaced(upstream: str, tmp_path: Path) -> None:
    """It is not told that all is written."""
    file = reset(upstream, tmp_path)
    put(upstream, OLD)
    late = LateCoordinator({name: {"t": {0: NEW}} for name in NAMES})
    done("reset-offsets", "--resume", file, "--no-undo", late=late, upstream=upstream)
    assert offsets(upstream) == at(NEW)


def reset(upstream: str, folder: Path) -> str:
    """Put the groups to the new offset; the undo file."""
    words = ("--to", str(NEW), "--topic", "t", "--yes", "--undo-dir", str(folder), "-b", upstream)
    assert run("reset-offsets", *NAMES, *words).exit_code == 0
    return str(next(folder.glob("undo-*.json")))


def test_a_shift_starts_from_the_last_commit(upstream: str, tmp_path: Path) -> None:
    """The undo file has that one, too."""
    put(upstream, NEW)
    words = ("reset-offsets", "*", "--all-topics", "--to", "+1", "--undo-dir", str(tmp_path))
    done(*words, late=LateCoordinator(LATE), upstream=upstream)
    assert offsets(upstream) == at(NEW + 1)
    (file,) = tmp_path.glob("undo-*.json")
    assert run("reset-offsets", "--undo", str(file), "--yes", "-b", upstream).exit_code == 0
    assert offsets(upstream) == at(NEW)


@pytest.mark.parametrize("names", [NAMES, ["*"]], ids=["named", "pattern"])
def test_groups_that_were_just_made_are_deleted(upstream: str, names: list[str]) -> None:
    """They are neither skipped nor said not to exist."""
    done("delete", *names, late=LateCoordinator(GONE), upstream=upstream)
    assert offsets(upstream) == []


@pytest.mark.parametrize("line", ["delete", "reset-offsets --to +1 --all-topics"])
def test_a_saved_plan_is_applied(upstream: str, tmp_path: Path, line: str) -> None:
    """Of groups that were just made as well."""
    plan = str(tmp_path / "plan.json")
    saved = run(*line.split(), *NAMES, "--dry-run", "--plan", plan, "-b", upstream)
    assert saved.exit_code == 0, saved.stderr
    stdout = done("apply", plan, late=LateCoordinator(GONE), upstream=upstream)
    assert stdout.count(",done,") == len(NAMES)
    assert offsets(upstream) == ([] if line == "delete" else at(OLD + 1))


def test_a_copy_is_of_the_last_commit(upstream: str) -> None:
    """Not of the one before."""
    put(upstream, NEW)
    words = ("copy-offsets", "--from", "first", "--to", "copy")
    done(*words, late=LateCoordinator(LATE), upstream=upstream)
    assert offsets(upstream) == [f"copy,{NEW}", *at(NEW)]


@pytest.mark.parametrize(
    ("words", "older", "left"),
    [
        (
            "--reset-offsets --group first --all-topics --shift-by 1 --execute",
            LATE,
            [f"first,{NEW + 1}", f"second,{NEW}"],
        ),
        ("--reset-offsets --all-groups --all-topics --shift-by 1 --execute", GONE, at(NEW + 1)),
        ("--delete --all-groups", GONE, []),
    ],
)
def test_the_official_grammar_waits_too(
    upstream: str, words: str, older: dict[str, Commits], left: list[str]
) -> None:
    """Where it reads before it writes."""
    put(upstream, NEW)
    late = LateCoordinator(older)
    with TamperingProxy(upstream, late.conducts) as broker:
        line = ("--bootstrap-server", broker.address, "--timeout", "120000")
        told = run_ours([*line, *words.split()])
    assert told.status == 0, told.stdout + told.stderr
    assert late.is_settled
    assert offsets(upstream) == left


def test_whoever_has_to_wait_asks_again(upstream: str) -> None:
    """The broker gives up waiting before the command does."""
    put(upstream, NEW)
    late = LateCoordinator(LATE, refusals=2)
    done("reset-offsets", "first", "--to", "+1", "--all-topics", late=late, upstream=upstream)
    assert offsets(upstream) == [f"first,{NEW + 1}", f"second,{NEW}"]


def test_nothing_is_planned_on_what_does_not_settle(upstream: str) -> None:
    """The command ends within its time."""
    late = LateCoordinator(LATE, refusals=1_000)
    with TamperingProxy(upstream, late.conducts) as broker:
        words = ("reset-offsets", "first", "--to", "+1", "--all-topics", "--timeout", "2s")
        outcome = run(*words, "--yes", "-b", broker.address)
    assert outcome.exit_code == 3
    assert not late.is_settled
    assert offsets(upstream) == at(OLD)


def test_a_name_for_each_partition() -> None:
    """Of as many partitions as there are."""
    for partitions in (1, 9, 50):
        assert sorted(names_by_partition(partitions)) == list(range(partitions))


def test_a_coordinator_moves_while_groups_are_listed(upstream: str) -> None:
    """It was listed nowhere, so the brokers are asked again."""
    listings: list[Wire] = []

    async def listed(wire: Wire) -> None:
        listings.append(wire)
        wire.send(wire.frame if len(listings) > 1 else rewritten(wire, nobody))

    def nobody(body: dict[str, Any]) -> None:
        body["groups"] = []

    async def placed(wire: Wire) -> None:
        wire.send(rewritten(wire, moved))

    def moved(body: dict[str, Any]) -> None:
        for topic in body["topics"]:
            for partition in topic["partitions"]:
                partition["leader_epoch"] += len(listings) > 0

    conducts = {"list_groups": listed, "metadata": placed}
    with TamperingProxy(upstream, conducts) as broker:
        outcome = run("delete", "*", "--yes", *LONG, "-b", broker.address)
    assert outcome.exit_code == 0, outcome.stderr
    assert len(listings) == 2
    assert offsets(upstream) == []


def test_a_group_that_may_not_be_asked_about(upstream: str) -> None:
    """Another one of its partition tells whether the coordinator is late."""
    put(upstream, NEW)
    late = LateCoordinator(LATE)
    fetch = late.conducts["offset_fetch"]

    def deny(body: dict[str, Any]) -> None:
        for group in body["groups"]:
            if group["group_id"] == "first":
                group.update(topics=[], error_code=GROUP_AUTHORIZATION_FAILED)

    async def denied(wire: Wire) -> None:
        if wire.settles:
            asked = late.is_settled
            await fetch(wire._replace(frame=rewritten(wire, deny)))
            late.is_settled = asked or b"second" in wire.request
        else:
            await fetch(wire)

    with TamperingProxy(upstream, late.conducts | {"offset_fetch": denied}) as broker:
        words = ("reset-offsets", *NAMES, "--to", "+1", "--all-topics", "--yes")
        outcome = run(*words, *LONG, "-b", broker.address)
    assert outcome.exit_code == 0, outcome.stderr
    assert offsets(upstream) == at(NEW + 1)
