"""Undo and resume of a reset when things have moved on since: topics, commits, groups."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.lookups.topic_bounds import topics_with_bounds
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    delete_topics,
    fetch_offsets,
    produce,
)

pytestmark = pytest.mark.kafka


@pytest.fixture
def topic(cluster_address: str, request: pytest.FixtureRequest) -> str:
    """A topic of this test's own with 50 records in each of two partitions."""
    name = f"undo-{abs(hash(request.node.nodeid)):x}"
    make(cluster_address, name, 50)
    return name


def make(address: str, topic: str, records: int) -> None:
    """A topic with two partitions."""
    create_topics(address, {topic: 2})
    produce(address, {(topic, 0): records, (topic, 1): records})


def was_reset(address: str, topic: str, folder: Path, to: str = "earliest") -> tuple[str, str]:
    """A group that stood at 40 and 41 and was reset: its name, and the undo file."""
    group = f"{topic}-g"
    commit_offsets(address, {group: {(topic, 0): 40, (topic, 1): 41}}, metadata="memo")
    line = ("reset-offsets", group, "--to", to, "--all-topics", "--yes", "-o", "json")
    done = run("-b", address, *line, "--undo-dir", str(folder))
    assert done.exit_code == 0
    return group, done.document["summary"]["undo_file"]


def put_back(address: str, *more: str) -> Outcome:
    """The end of an undo or a resume."""
    return run("-b", address, "reset-offsets", *more, "--yes", "--no-undo", "-o", "json")


def test_the_file_holds_the_topics_ids(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """As the brokers tell them, and through librdkafka the same."""
    _, file = was_reset(cluster_address, topic, tmp_path)
    document = json.loads(Path(file).read_text())
    assert document["schema"] == "kgroups.undo/3"
    for through in (False, True):
        settings = ClientSettings(cluster_address)
        with ClusterAdmin(replace(settings, through_librdkafka=through)) as admin:
            there = topics_with_bounds(admin, [topic]).topics[topic]
        assert document["topic_ids"] == {topic: there.topic_id}


@pytest.mark.parametrize("way", ["--undo", "--resume"])
@pytest.mark.parametrize("records", [3, 60])
def test_a_topic_created_anew(
    cluster_address: str, topic: str, tmp_path: Path, way: str, records: int
) -> None:
    """Offsets of the topic that was deleted are not committed to the one that has its name now."""
    other = f"{topic}-other"
    make(cluster_address, other, 50)
    commit_offsets(cluster_address, {f"{topic}-g": {(other, 0): 30}})
    group, file = was_reset(cluster_address, topic, tmp_path)
    if way == "--resume":  # as if it had been cut off
        commit_offsets(cluster_address, {group: {(other, 0): 30}})
    delete_topics(cluster_address, [topic])
    make(cluster_address, topic, records)
    before = fetch_offsets(cluster_address, group)
    outcome = put_back(cluster_address, way, file)
    assert outcome.exit_code == 4, outcome.stderr
    told = {(item["topic"], item["partition"]): item for item in outcome.document["items"]}
    assert {told[topic, n]["result"] for n in (0, 1)} == {"refused"}
    assert {told[topic, n]["error"] for n in (0, 1)} == {"INCONSISTENT_TOPIC_ID"}
    assert told[other, 0]["result"] == "done"
    after = fetch_offsets(cluster_address, group)
    assert after == before | {(other, 0): 30 if way == "--undo" else 0}
    assert "recreated" in outcome.stderr


def test_a_topic_that_is_gone(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """Its rows are refused with the reason; those of the other topics are done."""
    other = f"{topic}-other"
    make(cluster_address, other, 50)
    commit_offsets(cluster_address, {f"{topic}-g": {(other, 0): 30}})
    group, file = was_reset(cluster_address, topic, tmp_path)
    delete_topics(cluster_address, [topic])
    commit_offsets(cluster_address, {group: {(other, 1): 1}})
    outcome = put_back(cluster_address, "--undo", file)
    assert outcome.exit_code == 4, outcome.stderr
    results = {(item["topic"], item["result"]) for item in outcome.document["items"]}
    assert results == {(topic, "refused"), (other, "done")}
    assert "was deleted since the file was written" in outcome.stderr
    assert fetch_offsets(cluster_address, group)[other, 0] == 30


def test_ids_that_are_not_known(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """With a note; what a topic created anew looks like is refused even so."""
    group, file = was_reset(cluster_address, topic, tmp_path)
    document = json.loads(Path(file).read_text())
    old = tmp_path / "old.json"
    old.write_text(json.dumps({**document, "topic_ids": {topic: None}}))
    outcome = put_back(cluster_address, "--undo", str(old))
    assert outcome.exit_code == 0
    assert "note: the undo file has no topic ids" in outcome.stderr
    assert fetch_offsets(cluster_address, group) == {(topic, 0): 40, (topic, 1): 41}
    delete_topics(cluster_address, [topic])
    make(cluster_address, topic, 3)
    outcome = put_back(cluster_address, "--undo", str(old))
    assert outcome.exit_code == 4
    assert {row["error"] for row in outcome.by("partition").values()} == {"OFFSET_OUT_OF_RANGE"}


@pytest.mark.parametrize(("way", "target"), [("--undo", 40), ("--resume", 0)])
def test_progress_made_since(
    cluster_address: str, topic: str, tmp_path: Path, way: str, target: int
) -> None:
    """A row that moved since is refused, the other one is done; `--overwrite-moved` does it too."""
    group, file = was_reset(cluster_address, topic, tmp_path)
    other = {"--undo": 41, "--resume": 0}[way]
    moved = {(topic, 0): 47} | ({(topic, 1): 41} if way == "--resume" else {})
    commit_offsets(cluster_address, {group: moved})
    dry = run("-b", cluster_address, "reset-offsets", way, file, "--dry-run")
    (shown,) = [line for line in dry.stdout.splitlines() if " 47 " in line]
    assert f" {target} " in shown
    assert "committed since: it was 40, and 0 was written" in shown
    outcome = put_back(cluster_address, way, file)
    assert outcome.exit_code == 4
    assert fetch_offsets(cluster_address, group) == {(topic, 0): 47, (topic, 1): other}
    found = outcome.by("partition")
    assert (found[0]["result"], found[0]["error"]) == ("refused", "OFFSET_MOVED")
    assert found[1]["result"] == "done"
    assert "hint: use --overwrite-moved to write it anyway" in outcome.stderr
    assert put_back(cluster_address, way, file, "--overwrite-moved").exit_code == 0
    assert fetch_offsets(cluster_address, group) == {(topic, 0): target, (topic, 1): other}


def test_the_preview_shows_what_moved(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """Who is asked sees the refused row with its three offsets, and what is done is the rest."""
    group, file = was_reset(cluster_address, topic, tmp_path)
    commit_offsets(cluster_address, {group: {(topic, 0): 47}})
    line = ("reset-offsets", "--undo", file, "--no-undo")
    found = run("-b", cluster_address, *line, answer="y\n")
    code, stderr = found.exit_code, found.stderr
    assert code == 4, stderr
    (shown,) = [row for row in stderr.splitlines() if " 47 " in row and row.startswith(group)]
    assert " 40 " in shown
    assert "committed since: it was 40, and 0 was written" in shown
    assert "Reset offsets of 1 partition in 1 group?" in stderr
    assert fetch_offsets(cluster_address, group) == {(topic, 0): 47, (topic, 1): 41}


@pytest.mark.parametrize("how", ["delete", "delete-offsets"])
def test_a_group_that_is_gone(cluster_address: str, topic: str, tmp_path: Path, how: str) -> None:
    """Undo makes it again, and that is a success."""
    group, file = was_reset(cluster_address, topic, tmp_path)
    if how == "delete":
        assert run("-b", cluster_address, "delete", group, "--yes").exit_code == 0
    else:
        line = ("delete-offsets", group, "--all-topics", "--yes", "--undo-dir", str(tmp_path))
        gone = run("-b", cluster_address, *line, "-o", "json")
        assert gone.exit_code == 0
        file = gone.document["summary"]["undo_file"]
    wait_until(lambda: not fetch_offsets(cluster_address, group), "the group is gone")
    outcome = put_back(cluster_address, "--undo", file)
    assert (outcome.exit_code, outcome.document["errors"]) == (0, []), outcome.stderr
    assert set(outcome.results) == {"done"}
    wanted = {(topic, 0): 40, (topic, 1): 41} if how == "delete" else {(topic, 0): 0, (topic, 1): 0}
    assert fetch_offsets(cluster_address, group) == wanted


def test_the_newest_file_of_the_cluster(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """`--undo last` says which it takes; those of other clusters and broken ones do not count."""
    group, first = was_reset(cluster_address, topic, tmp_path)
    cluster_id = run("-b", cluster_address, "list", "-o", "json").document["cluster"]["id"]
    other = Path(first).read_text().replace(cluster_id, "another")
    (tmp_path / "undo-99980101T000000000Z-1.json").write_text(other)
    (tmp_path / "undo-99990101T000000000Z-1.json").write_text("{")
    last = ("reset-offsets", "--undo", "last", "--undo-dir", str(tmp_path), "--yes", "-o", "json")
    undone = run("-b", cluster_address, *last)
    assert undone.exit_code == 0
    (note,) = (note for note in undone.document["notes"] if note["code"] == "UNDOES")
    assert note["target"] == first
    moved = undone.by("partition")[0]
    assert (moved["skipped_records"], moved["read_again"]) == (40, 0)
    assert undone.document["summary"]["skipped_records"] == 81
    assert fetch_offsets(cluster_address, group) == {(topic, 0): 40, (topic, 1): 41}
    for file in (first, undone.document["summary"]["undo_file"]):
        Path(file).unlink()
    assert run("-b", cluster_address, *last).exit_code == 5
    assert run("-b", cluster_address, *last, "--wait-empty", "1s").exit_code == 2


def test_only_with_a_file(cluster_address: str) -> None:
    """`--overwrite-moved` is about undo files."""
    line = ("reset-offsets", "g", "--to", "earliest", "--all-topics", "--overwrite-moved")
    assert run("-b", cluster_address, *line).exit_code == 2


def test_a_resumed_undo_restores_all_of_a_commit(
    cluster_address: str, topic: str, tmp_path: Path
) -> None:
    """The file of an undo holds what its commits are to be, with epoch and metadata."""
    group, file = was_reset(cluster_address, topic, tmp_path / "first")
    undo = ("--undo", file, "--yes", "--undo-dir", str(tmp_path / "second"))
    assert run("-b", cluster_address, "reset-offsets", *undo).exit_code == 0
    (second,) = (tmp_path / "second").iterdir()
    settings = ClientSettings(cluster_address)
    with ClusterAdmin(settings) as admin:
        before = admin.snapshot([group]).needed(group).offsets
        assert before is not None
        assert {commit.metadata for commit in before[topic].values()} == {"memo"}
        assert (
            run("-b", cluster_address, "delete-offsets", group, "--all-topics", "--yes").exit_code
            == 0
        )
        assert put_back(cluster_address, "--resume", str(second)).exit_code == 0
        assert admin.snapshot([group]).needed(group).offsets == before
