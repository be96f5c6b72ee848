"""Saved plans: written by a dry run, and applied to what still stands as it did, or refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from kgroups.cli.write_files import save_plan
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    delete_topics,
    expire_records,
    fetch_offsets,
    produce,
)

pytestmark = pytest.mark.kafka

OFFSETS = ("reset-offsets", "copy-offsets", "delete-offsets")


@pytest.fixture
def topic(cluster_address: str, request: pytest.FixtureRequest) -> str:
    """A topic of this test's own with 50 records in each of two partitions, and a group at 40."""
    name = f"apply-{abs(hash(request.node.nodeid)):x}"
    create_topics(cluster_address, {name: 2})
    produce(cluster_address, {(name, 0): 50, (name, 1): 50})
    commit_offsets(cluster_address, {f"{name}-g": {(name, 0): 40, (name, 1): 41}}, metadata="memo")
    return name


def line_of(command: str, topic: str) -> tuple[str, ...]:
    """A command line that changes both partitions."""
    group = f"{topic}-g"
    lines = {
        "reset-offsets": (group, "--to", "earliest", "--all-topics"),
        "copy-offsets": ("--from", group, "--to", f"{topic}-h"),
        "delete-offsets": (group, "--all-topics"),
        "delete": (group,),
        "delete-records": (topic, "--before", "20"),
    }
    return command, *lines[command]


def saved(address: str, folder: Path, *line: str) -> Path:
    """The plan of a command, which has changed nothing."""
    file = folder / "plan.json"
    outcome = run("-b", address, *line, "--dry-run", "--plan", str(file), "-o", "json")
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.document["summary"]["plan_file"] == str(file)
    assert "`kgroups apply " in outcome.stderr
    return file


def apply(address: str, file: Path, *more: str) -> Outcome:
    """The end of `apply`; its undo file lies beside the plan."""
    line = ("apply", str(file), "--yes", "-o", "json", *more)
    return run("-b", address, *line, env={"KGROUPS_UNDO_DIR": str(file.parent)})


def held(address: str, topic: str) -> dict[str, Any]:
    """Everything that these commands change."""
    with ClusterAdmin(ClientSettings(address)) as admin:
        names = [group.group for group in admin.list_groups().groups]
        looked = admin.snapshot([f"{topic}-g"] if f"{topic}-g" in names else [])
    return {
        "groups": sorted(name for name in names if name.startswith(topic)),
        "offsets": {name: fetch_offsets(address, f"{topic}-{name}") for name in "gh"},
        "logs": {
            number: log.log_start_offset for number, log in looked.topics[topic].partitions.items()
        }
        if topic in looked.topics
        else {},
    }


WANTED: dict[str, dict[str, Any]] = {
    "reset-offsets": {"g": {0: 0, 1: 0}, "h": {}},
    "copy-offsets": {"g": {0: 40, 1: 41}, "h": {0: 40, 1: 41}},
    "delete-offsets": {"g": {}, "h": {}},
    "delete": {"g": {}, "h": {}},
    "delete-records": {"g": {0: 40, 1: 41}, "h": {}},
}


@pytest.mark.parametrize("command", WANTED)
def test_as_reviewed(cluster_address: str, topic: str, tmp_path: Path, command: str) -> None:
    """What was planned is done, once; the same plan again changes nothing."""
    before = held(cluster_address, topic)
    line = line_of(command, topic)
    file = saved(cluster_address, tmp_path, *line)
    dry = run("-b", cluster_address, *line, "--dry-run", "-o", "json").document
    assert "plan_file" not in dry["summary"]
    again = apply(cluster_address, file, "--dry-run").document
    assert (again["items"], again["schema"]) == (dry["items"], f"kgroups.{command}/1")
    assert held(cluster_address, topic) == before
    outcome = apply(cluster_address, file)
    assert (outcome.exit_code, set(outcome.results)) == (0, {"done"}), outcome.stderr
    after = held(cluster_address, topic)
    wanted = {
        name: {(topic, number): offset for number, offset in offsets.items()}
        for name, offsets in WANTED[command].items()
    }
    assert after["offsets"] == wanted
    if command == "delete-records":
        assert after["logs"] == {0: 20, 1: 20}
    assert (outcome.document["summary"]["undo_file"] is not None) == (command in OFFSETS)
    repeated = apply(cluster_address, file)
    assert (repeated.exit_code, set(repeated.results)) == (0, {"skipped"}), repeated.stderr
    assert held(cluster_address, topic) == after


def test_the_undo_file_takes_it_back(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """With epoch and metadata, as after the command itself."""
    file = saved(cluster_address, tmp_path, *line_of("reset-offsets", topic))
    undo = apply(cluster_address, file).document["summary"]["undo_file"]
    back = run("-b", cluster_address, "reset-offsets", "--undo", undo, "--yes", "--no-undo")
    assert back.exit_code == 0
    assert fetch_offsets(cluster_address, f"{topic}-g") == {(topic, 0): 40, (topic, 1): 41}


@pytest.mark.parametrize("command", WANTED)
@pytest.mark.parametrize("drift", ["refuse", "accept", "skip"])
def test_drift(cluster_address: str, topic: str, tmp_path: Path, command: str, drift: str) -> None:
    """What has changed is told, and nothing is written unless `--drift` says otherwise."""
    file = saved(cluster_address, tmp_path, *line_of(command, topic))
    group = f"{topic}-h" if command == "copy-offsets" else f"{topic}-g"
    if command == "delete-records":
        expire_records(cluster_address, {(topic, 0): 10})
    else:
        commit_offsets(cluster_address, {group: {(topic, 0): 47}})
    before = held(cluster_address, topic)
    outcome = apply(cluster_address, file, "--drift", drift)
    after = held(cluster_address, topic)
    told = "10" if command == "delete-records" else "47"
    assert told in outcome.stderr + json.dumps(outcome.document)
    items = outcome.document["items"]
    if drift == "refuse":
        assert (outcome.exit_code, after) == (4, before)
        assert set(outcome.results) <= {"refused", "skipped"}
        assert "when the plan was saved" in outcome.stderr or "since the plan" in outcome.stderr
        assert "hint: use --drift accept to write it anyway" in outcome.stderr
        return
    assert outcome.exit_code == 0, outcome.stderr
    assert items[0]["result"] == ("done" if drift == "accept" else "skipped")
    assert after != before or (command, drift) == ("delete", "skip")
    assert all(item["result"] == "done" for item in items[1:])
    if drift == "skip" and command in OFFSETS:
        assert fetch_offsets(cluster_address, group)[topic, 0] == 47
        assert "47" in items[0]["note"]


@pytest.mark.parametrize("command", ["reset-offsets", "copy-offsets"])
@pytest.mark.parametrize("drift", ["refuse", "accept", "skip"])
def test_what_was_in_place_has_moved(
    cluster_address: str, topic: str, tmp_path: Path, command: str, drift: str
) -> None:
    """A row that needed nothing is a part of what was reviewed."""
    group, at = f"{topic}-g", (topic, 0)
    line: tuple[str, ...] = ("reset-offsets", group, "--to", "40", "--topic", f"{topic}:0")
    if command == "copy-offsets":
        group = f"{topic}-h"
        commit_offsets(cluster_address, {group: {at: 40, (topic, 1): 41}}, metadata="memo")
        line = line_of(command, topic)
    file = saved(cluster_address, tmp_path, *line)
    unmoved = apply(cluster_address, file)
    assert (unmoved.exit_code, set(unmoved.results)) == (0, {"skipped"}), unmoved.stderr
    commit_offsets(cluster_address, {group: {at: 7}})
    outcome = apply(cluster_address, file, "--drift", drift)
    expected = {"refuse": (4, "refused"), "accept": (0, "done"), "skip": (0, "skipped")}
    first = outcome.document["items"][0]["result"]
    assert (outcome.exit_code, first) == expected[drift], outcome.stderr
    assert fetch_offsets(cluster_address, group)[at] == (40 if drift == "accept" else 7)


@pytest.mark.parametrize("drift", ["accept", "skip"])
@pytest.mark.parametrize("command", ["reset-offsets", "delete-records"])
def test_another_topic_of_that_name(
    cluster_address: str, topic: str, tmp_path: Path, command: str, drift: str
) -> None:
    """Offsets of a topic that was deleted are never written to the one that has its name now."""
    file = saved(cluster_address, tmp_path, *line_of(command, topic))
    delete_topics(cluster_address, [topic])
    create_topics(cluster_address, {topic: 2})
    produce(cluster_address, {(topic, 0): 60, (topic, 1): 60})
    commit_offsets(cluster_address, {f"{topic}-g": {(topic, 0): 40, (topic, 1): 41}})
    before = held(cluster_address, topic)
    outcome = apply(cluster_address, file, "--drift", drift)
    assert outcome.exit_code == (4 if drift == "accept" else 0), outcome.stderr
    assert held(cluster_address, topic) == before
    assert "recreated since the plan was saved" in json.dumps(outcome.document)


def test_a_group_with_members_now(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """It is refused as by the command itself; `--drift skip` leaves it out."""
    plans = {name: tmp_path / name for name in ("reset-offsets", "delete")}
    for name, folder in plans.items():
        folder.mkdir()
        plans[name] = saved(cluster_address, folder, *line_of(name, topic))
    with LiveGroup(cluster_address, f"{topic}-g", [MemberSpec("apply", (topic,))]) as live:
        live.wait_stable(2)
        for file in plans.values():
            refused = apply(cluster_address, file, "--drift", "accept")
            assert (refused.exit_code, set(refused.results)) == (4, {"refused"})
            skipped = apply(cluster_address, file, "--drift", "skip")
            assert (skipped.exit_code, set(skipped.results)) == (0, {"skipped"}), skipped.stderr


def test_members(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """A static member that came back under another id is not the one that was reviewed."""
    name = f"{topic}-live"
    line = ("remove-members", name, "--instance", "till-0", "--reason", "gone")
    spec = MemberSpec("apply", (topic,), "till-0")
    with LiveGroup(cluster_address, name, [spec]) as live:
        live.wait_stable(2)
        file = saved(cluster_address, tmp_path, *line)
        live.remove(live.members[0])
        live.add(spec)
        live.wait_stable(2)
        refused = apply(cluster_address, file)
        assert (refused.exit_code, set(refused.results)) == (4, {"refused"}), refused.stderr
        assert "instance `till-0` is member `" in refused.stderr
        skipped = apply(cluster_address, file, "--drift", "skip")
        assert (skipped.exit_code, set(skipped.results)) == (0, {"skipped"})
        live.remove(live.members[0])
        done = apply(cluster_address, saved(cluster_address, tmp_path, *line))
        assert (done.exit_code, set(done.results)) == (0, {"done"}), done.stderr
        gone = apply(cluster_address, file)
        assert (gone.exit_code, set(gone.results)) == (0, {"skipped"})


def test_another_cluster(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """One sentence, exit 4, nothing written."""
    file = saved(cluster_address, tmp_path, *line_of("reset-offsets", topic))
    save_plan(file, "reset-offsets", [], cluster_id="another", topic_ids={})
    outcome = apply(cluster_address, file, "--drift", "accept")
    assert (outcome.exit_code, outcome.document["items"]) == (4, [])
    assert "error: the plan is for cluster `another`, this is `" in outcome.stderr
    assert fetch_offsets(cluster_address, f"{topic}-g") == {(topic, 0): 40, (topic, 1): 41}


def test_edited_by_hand(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """One sentence, exit 2, nothing written; another layout is no change."""
    file = saved(cluster_address, tmp_path, *line_of("reset-offsets", topic))
    document = json.loads(file.read_text())
    file.write_text(json.dumps(document, indent=2))
    assert apply(cluster_address, file, "--dry-run").exit_code == 0
    document["rows"][0]["commits"][topic]["new_offset"][0] = 5
    file.write_text(json.dumps(document))
    outcome = apply(cluster_address, file)
    assert (outcome.exit_code, outcome.document["items"]) == (2, [])
    assert "its checksum does not match" in outcome.stderr
    assert fetch_offsets(cluster_address, f"{topic}-g") == {(topic, 0): 40, (topic, 1): 41}


def test_what_cannot_be_done_is_not_saved(cluster_address: str, topic: str, tmp_path: Path) -> None:
    """Unless `--keep-going` plans the rest."""
    file = tmp_path / "plan.json"
    line = ("delete", f"{topic}-g", f"{topic}-none", "--dry-run", "--plan", str(file))
    refused = run("-b", cluster_address, *line, "-o", "json")
    assert (refused.exit_code, refused.document["summary"]["plan_file"]) == (5, None)
    assert not file.exists()
    assert run("-b", cluster_address, *line, "--keep-going").exit_code == 5
    assert [row["group"] for row in json.loads(file.read_text())["rows"]] == [f"{topic}-g"]
