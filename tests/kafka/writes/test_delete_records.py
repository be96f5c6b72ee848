"""`delete-records` in our own words: every target, what is lost, refusals, and the look back."""

import json
from pathlib import Path

import pytest

from tests.support.cli.runner import Outcome, run
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    expire_records,
    produce,
    start_offsets,
)

pytestmark = pytest.mark.kafka


@pytest.fixture
def topic(cluster_address: str, request: pytest.FixtureRequest) -> str:
    """A topic of this test's own: partitions that hold 10..50, 0..30 and nothing."""
    name = f"erase-{abs(hash(request.node.name))}"
    create_topics(cluster_address, {name: 3})
    produce(cluster_address, {(name, 0): 50, (name, 1): 30})
    expire_records(cluster_address, {(name, 0): 10})
    return name


def erase(address: str, *args: str) -> Outcome:
    """The end of a deletion, as JSON."""
    return run("-b", address, "delete-records", *args, "-o", "json")


def starts(address: str, topic: str) -> dict[int, int]:
    """First offset of each partition's log, as the cluster says it."""
    found = start_offsets(address, [(topic, number) for number in range(3)])
    return {number: start for (_, number), start in found.items()}


CASES: dict[str, tuple[str, dict[int, int]]] = {
    "latest": ("", {0: 50, 1: 30, 2: 0}),
    "25": ("", {0: 25, 1: 25, 2: 0}),
    "40": (":0", {0: 40, 1: 0, 2: 0}),
    "+5": (":0-1", {0: 15, 1: 5, 2: 0}),
    "-5": ("", {0: 45, 1: 25, 2: 0}),
    "1h": ("", {0: 10, 1: 0, 2: 0}),
    "2101-01-01T00:00:00Z": (":1", {0: 10, 1: 30, 2: 0}),
}


@pytest.mark.parametrize("target", CASES)
def test_target(cluster_address: str, topic: str, target: str) -> None:
    """The logs start where the target says; a dry run counted the same losses before."""
    scope, wanted = CASES[target]
    line = (topic + scope, "--before", target)
    planned = erase(cluster_address, *line, "--dry-run")
    assert starts(cluster_address, topic) == {0: 10, 1: 0, 2: 0}
    lost = sum(wanted.values()) - 10
    assert planned.document["summary"]["deleted_records"] == lost
    outcome = erase(cluster_address, *line, "--yes")
    assert (outcome.exit_code, outcome.document["errors"]) == (0, [])
    assert starts(cluster_address, topic) == wanted
    assert outcome.document["summary"]["deleted_records"] == lost
    assert outcome.document["summary"]["done"] == planned.document["summary"]["planned"]
    found = outcome.by("partition")
    assert {n: row["new_start"] for n, row in found.items()} == {n: wanted[n] for n in found}


def test_beyond_the_end(cluster_address: str, topic: str) -> None:
    """An offset after the last record is moved to the end of the log, and the row says so."""
    found = erase(cluster_address, topic, "--before", "35", "--yes").by("partition")
    assert [found[n]["clamped"] for n in range(3)] == [False, True, True]
    assert found[1]["note"] == "35 requested, the log ends at 30"
    assert [found[n]["deleted_records"] for n in range(3)] == [25, 30, 0]
    assert starts(cluster_address, topic) == {0: 35, 1: 30, 2: 0}


def test_what_a_group_has_read(cluster_address: str, topic: str) -> None:
    """What stays is what the group has not read; who is behind it is named with the count."""
    name = f"erase-{topic}"
    behind = f"{name}-behind"
    commit_offsets(
        cluster_address,
        {name: {(topic, 0): 30, (topic, 1): 5}, behind: {(topic, 0): 4, (topic, 1): 5}},
    )
    outcome = erase(cluster_address, topic, "--before", f"group:{name}", "--yes")
    found = outcome.by("partition")
    assert [found[n]["result"] for n in range(3)] == ["done", "done", "skipped"]
    assert found[0]["note"] == f"unread by {behind} (20)"
    assert found[1]["note"] is None
    assert starts(cluster_address, topic) == {0: 30, 1: 5, 2: 0}
    assert erase(cluster_address, topic, "--before", "group:erase-nobody", "--yes").exit_code == 5


def test_file(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """Offsets come from a file, of Kafka's form too; one that names groups is refused."""
    path = tmp_path / "offsets.csv"
    path.write_text(f"{topic},0,20\n{topic},1,7\n")
    assert erase(cluster_address, "--before", f"file:{path}", "--yes").exit_code == 0
    assert starts(cluster_address, topic) == {0: 20, 1: 7, 2: 0}
    partition = {"topic": topic, "partition": 0, "offset": 21}
    path.write_text(json.dumps({"version": 1, "partitions": [partition]}))
    assert erase(cluster_address, "--before", f"file:{path}", "--yes").exit_code == 0
    assert starts(cluster_address, topic) == {0: 21, 1: 7, 2: 0}
    path.write_text('{"partitions": 1}')
    outcome = erase(cluster_address, "--before", f"file:{path}", "--yes")
    assert (outcome.exit_code, "Expected JSON array" in outcome.stderr) == (2, True)
    path.write_text(f"g,{topic},0,20\n")
    assert erase(cluster_address, "--before", f"file:{path}", "--yes").exit_code == 2


def test_nothing_is_deleted_if_a_part_cannot_be(
    cluster_address: str, topic: str, tmp_path: Path
) -> None:
    """A partition that is not there keeps the others; --keep-going does them."""
    outcome = erase(cluster_address, f"{topic}:0,9", "--before", "latest", "--yes")
    assert outcome.exit_code == 5
    path = tmp_path / "offsets.csv"
    path.write_text(f"{topic},0,20\n{topic},9,7\n")
    line = ("--before", f"file:{path}", "--yes")
    outcome = erase(cluster_address, *line)
    assert outcome.exit_code == 5
    assert set(outcome.results) == {"skipped", "failed"}
    assert starts(cluster_address, topic) == {0: 10, 1: 0, 2: 0}
    assert erase(cluster_address, *line, "--keep-going").exit_code == 5
    assert starts(cluster_address, topic) == {0: 20, 1: 0, 2: 0}


@pytest.mark.parametrize(("answer", "code"), [("n\n", 130), ("y\n", 0)])
def test_preview_on_a_terminal(cluster_address: str, topic: str, answer: str, code: int) -> None:
    """The losses are shown and counted before the question; no is no."""
    line = ("delete-records", topic, "--before", "20")
    found = run("-b", cluster_address, *line, answer=answer)
    assert found.exit_code == code
    assert "DELETED" in found.stderr
    assert "Delete 30 records of 2 partitions? This cannot be undone." in found.stderr
    moved = {0: 20, 1: 20, 2: 0}
    assert starts(cluster_address, topic) == (moved if code == 0 else {0: 10, 1: 0, 2: 0})


@pytest.mark.parametrize(
    "args",
    [
        ["t", "--yes"],
        ["--before", "latest", "--yes"],
        ["t", "--before", "earliest", "--yes"],
        ["t", "--before", "current", "--yes"],
        ["t:x", "--before", "latest", "--yes"],
    ],
)
def test_usage(args: list[str]) -> None:
    """What cannot be meant is refused before any cluster is asked."""
    assert run("-b", "127.0.0.1:1", "delete-records", *args).exit_code == 2
