"""The audit log: who wrote what, when, why, and what became of it."""

import json
import os
import pwd
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgroups.cli.audit_log import outcome_of
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.faults.fault_rules import Fault
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.workload import commit_offsets
from tests.support.official.running import run_ours

NON_EMPTY_GROUP = 68


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """An embedded cluster with a topic."""
    with Sandbox(topics={"t": 2}) as made:
        yield made


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("KGROUPS_UNDO_DIR", raising=False)
    return tmp_path


def entries(state: Path) -> list[dict[str, Any]]:
    """The lines of the log."""
    log = state / "kgroups" / "audit.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def write(sandbox: Sandbox, *words: str, **env: str) -> Outcome:
    """The end of a command on the cluster."""
    return run(*words, "-b", sandbox.bootstrap_servers, env=env)


def test_a_reset(sandbox: Sandbox, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything about it is in one line, which only its owner may read."""
    commit_offsets(sandbox.bootstrap_servers, {"a": {("t", 0): 1, ("t", 1): 1}})
    monkeypatch.setattr("sys.argv", ["kgroups", "reset-offsets", "a", "--to", "earliest"])
    words = ("reset-offsets", "a", "--to", "earliest", "--all-topics", "--yes")
    assert write(sandbox, *words, "--reason", "OPS-7: ü").exit_code == 0
    (entry,) = entries(state)
    (undo,) = (state / "kgroups").glob("undo-*.json")
    assert entry["user"] == pwd.getpwuid(os.getuid()).pw_name
    assert entry["cluster"] == {"id": sandbox.cluster_id, "bootstrap": sandbox.bootstrap_servers}
    assert entry["command"] == ["reset-offsets", "a", "--to", "earliest"]
    assert (entry["reason"], entry["undo_file"]) == ("OPS-7: ü", str(undo))
    assert (entry["results"], entry["outcome"]) == ({"done": 2}, "done")
    assert (state / "kgroups" / "audit.jsonl").stat().st_mode & 0o777 == 0o600
    shown = run("audit", "-o", "json")
    assert shown.document["items"] == [entry]
    assert "OPS-7: ü" in run("audit").stdout


def test_what_is_not_in_it(sandbox: Sandbox, state: Path) -> None:
    """Plans, refusals, and groups that are not there: nothing was sent."""
    commit_offsets(sandbox.bootstrap_servers, {"b": {("t", 0): 1}})
    assert write(sandbox, "delete", "b", "--dry-run").exit_code == 0
    assert write(sandbox, "delete", "nobody", "--yes").exit_code == 5
    assert write(sandbox, "delete", "b", "--yes", KGROUPS_READ_ONLY="1").exit_code == 4
    assert write(sandbox, "describe", "b").exit_code == 0
    assert entries(state) == []
    assert write(sandbox, "delete", "b", "--yes", KGROUPS_NO_AUDIT="1").exit_code == 0
    assert entries(state) == []
    assert run("audit", env={"KGROUPS_NO_AUDIT": "1"}).exit_code == 2
    empty = run("audit", "-o", "json")
    assert (empty.exit_code, empty.document["items"]) == (0, [])


def test_a_write_that_failed(sandbox: Sandbox, state: Path) -> None:
    """It was sent, so it is in the log, with what became of it."""
    commit_offsets(sandbox.bootstrap_servers, {"c": {("t", 0): 1}})
    sandbox.add_fault(Fault(api=Api.DELETE_GROUPS, action=NON_EMPTY_GROUP, times=None))
    try:
        ended = write(sandbox, "delete", "c", "--yes", KGROUPS_REASON="by the environment")
    finally:
        sandbox.clear_faults()
    assert ended.exit_code == 4
    (entry,) = entries(state)
    assert (entry["results"], entry["outcome"]) == ({"refused": 1}, "failed")
    assert entry["reason"] == "by the environment"


def test_the_official_grammar(
    sandbox: Sandbox, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its writes are in the log, too."""
    monkeypatch.setenv("KGROUPS_REASON", "nightly")
    commit_offsets(sandbox.bootstrap_servers, {"d": {("t", 0): 1, ("t", 1): 1}})
    at = ("--bootstrap-server", sandbox.bootstrap_servers, "--group", "d")
    reset = ("--reset-offsets", "--all-topics", "--to-earliest")
    for line in ((*reset, "--dry-run"), (*reset, "--execute"),
                 ("--delete-offsets", "--topic", "t:0"), ("--delete",)):  # fmt: skip
        assert run_ours([*line, *at]).status == 0
    found = entries(state)
    assert [entry["results"] for entry in found] == [{"done": 2}, {"done": 1}, {"done": 1}]
    assert {entry["reason"] for entry in found} == {"nightly"}
    assert found[0]["undo_file"] is not None
    assert found[0]["command"][:2] == ["--reset-offsets", "--all-topics"]


def test_a_log_that_cannot_be_written(sandbox: Sandbox, state: Path) -> None:
    """A warning; the write itself is done as ever."""
    commit_offsets(sandbox.bootstrap_servers, {"e": {("t", 0): 1}})
    (state / "kgroups").write_text("a file is in the way")
    ended = write(sandbox, "delete", "e", "--yes")
    assert ended.exit_code == 0
    assert "warning: the audit log" in ended.stderr


def test_lines_that_are_none(state: Path) -> None:
    """They are left out, with a note that says where they are."""
    log = state / "kgroups" / "audit.jsonl"
    log.parent.mkdir()
    entry = {
        "at": "2026-11-21T01:02:03.456Z",
        "user": "ops",
        "host": "h",
        "cluster": {"id": "x", "bootstrap": "b:1"},
        "context": None,
        "command": ["delete", "a b"],
        "reason": None,
        "undo_file": None,
        "results": {"done": 1},
        "outcome": "done",
    }
    old = {**entry, "at": "2020-01-01T00:00:00.000Z"}
    log.write_text("torn {\n" + "\n".join(map(json.dumps, (old, entry, [], 7))) + "\n")
    outcome = run("audit", "-o", "json")
    assert [item["at"] for item in outcome.document["items"]] == [old["at"], entry["at"]]
    assert "at line 1, 4, 5" in outcome.stderr
    assert "delete 'a b'" in run("audit").stdout
    assert run("audit", "--last", "1", "-o", "json").document["items"] == [entry]
    recent = run("audit", "--since", "2026-11-20T00:00Z", "-o", "json")
    assert recent.document["items"] == [entry]
    log.unlink()
    log.mkdir()
    assert run("audit").exit_code == 2


def test_many_at_once(sandbox: Sandbox, state: Path) -> None:
    """Each line is whole, whoever else writes."""
    from kgroups.cli.audit_log import audited
    from kgroups.core.kafka.admin import ClusterAdmin
    from kgroups.core.kafka.config.settings import ClientSettings

    def one() -> None:
        with ClusterAdmin(ClientSettings(sandbox.bootstrap_servers)) as admin:
            admin.has_written, admin.known_id = True, "x" * 20_000
            with audited(admin):
                pass

    threads = [threading.Thread(target=one) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a line is written"
    assert len(entries(state)) == 20


@pytest.mark.parametrize(
    ("results", "error", "outcome"),
    [
        ({"done": 2}, None, "done"),
        ({"done": 2, "skipped": 1}, None, "done"),
        ({"done": 2, "failed": 1}, None, "partial"),
        ({"done": 2}, KeyboardInterrupt(), "partial"),
        ({"refused": 1}, None, "failed"),
        ({"done": 1, "unknown": 1}, None, "unknown"),
        ({}, KeyboardInterrupt(), "interrupted"),
        ({}, RuntimeError(), "unknown"),
    ],
)
def test_outcomes(results: dict[str, int], error: BaseException | None, outcome: str) -> None:
    """In a word."""
    assert outcome_of(results, error) == outcome
