"""Kafka's own scenarios for these tools, told as data, against ours."""

import shlex
from pathlib import Path

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from tests.support.cli.process import finish
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.workload import commit_offsets, fetch_offsets
from tests.support.official.running import run_ours, without_undo
from tests.support.official.scenario import Scenario
from tests.support.official.scenarios import SCENARIOS

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.suite}: {s.what}")
def test_scenario(full: KafkaCluster, scenario: Scenario) -> None:
    """Rows, words on stderr, exit code, and the commits that are left."""
    if scenario.before:
        with ClusterAdmin(ClientSettings(full.bootstrap)) as admin:
            admin.delete_groups(list(scenario.before))
        commit_offsets(full.bootstrap, {k: v for k, v in scenario.before.items() if v})
    address = ["--bootstrap-server", full.bootstrap]
    told = run_ours([*("official", *address), *shlex.split(scenario.line)])
    lines = [" ".join(line.split()) for line in told.stdout.splitlines()]
    for row in scenario.rows:
        start = row.replace("{b}", full.bootstrap)
        assert any(line.startswith(start) for line in lines), told
    assert not any(line.startswith(scenario.absent) for line in lines), told
    if scenario.count is not None:
        data = [line for line in lines if line and not line.startswith(("GROUP ", "TOPIC "))]
        assert len(data) == scenario.count, told
    said = without_undo(told.stderr)
    assert scenario.err in said
    assert bool(scenario.err) is bool(said)
    assert told.status == scenario.status
    for group, offsets in scenario.after.items():
        assert fetch_offsets(full.bootstrap, group) == dict(offsets)


def test_export_then_import(full: KafkaCluster, tmp_path: Path) -> None:
    """What is exported is taken back: three columns for one group, four for several."""
    wanted = {"conf-a": {("reset-b", 0): 11, ("reset-b", 1): 12}, "conf-b": {("reset-b", 0): 13}}
    with ClusterAdmin(ClientSettings(full.bootstrap)) as admin:
        admin.delete_groups(list(wanted))
    commit_offsets(full.bootstrap, wanted)
    start = ["official", "--bootstrap-server", full.bootstrap, "--reset-offsets"]
    for groups in (["conf-a"], ["conf-a", "conf-b"]):
        named = [word for group in groups for word in ("--group", group)]
        text = run_ours([*start, *named, "--all-topics", "--to-current", "--export", "--dry-run"])
        (tmp_path / "plan.csv").write_text(text.stdout)
        moved = run_ours([*start, *named, "--all-topics", "--to-latest", "--execute"])
        assert moved.status == 0
        assert fetch_offsets(full.bootstrap, "conf-a") == {("reset-b", 0): 50, ("reset-b", 1): 50}
        back = run_ours([*start, *named, "--from-file", str(tmp_path / "plan.csv"), "--execute"])
        assert (back.status, without_undo(back.stderr)) == (0, "")
        for group in groups:
            assert fetch_offsets(full.bootstrap, group) == wanted[group]
    # the file of both groups serves for one of them, too
    one = [*start, "--group", "conf-b"]
    assert run_ours([*one, "--all-topics", "--to-latest", "--execute"]).status == 0
    back = run_ours([*one, "--from-file", str(tmp_path / "plan.csv"), "--execute"])
    assert (back.status, without_undo(back.stderr)) == (0, "")
    assert {name: fetch_offsets(full.bootstrap, name) for name in wanted} == wanted


def test_as_a_process(full: KafkaCluster) -> None:
    """The program itself: streams and exit codes as a shell sees them, UTF-8 names included."""
    address = ("--bootstrap-server", full.bootstrap)
    status, stdout, stderr = finish(*address, "--describe", "--group", "グループ")
    assert (status, stdout.count("グループ ")) == (0, 2)
    assert stderr == "\nConsumer group 'グループ' has no active members.\n"
    assert finish(*address, "--describe", "--group", "nobody")[:2] == (1, "")
    assert finish("official", "--help")[0] == 0
    assert finish("delete-records", *address, "--offset-json-file", "/nope") == (
        1,
        "",
        "error: Unable to read file /nope\n",
    )


def test_rows_are_sorted(full: KafkaCluster) -> None:
    """The listing is in the order of Java's strings, the same in every call."""
    lines = run_ours(["--bootstrap-server", full.bootstrap, "--list"]).stdout.splitlines()
    assert lines == sorted(lines, key=lambda name: name.encode("utf-16-be"))
    assert len(lines) > 10
