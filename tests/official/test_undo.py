"""What an official reset replaces is saved first, and can be put back."""

import json
import re
from pathlib import Path

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.workload import commit_offsets, fetch_offsets
from tests.support.official.running import run_ours

pytestmark = pytest.mark.kafka

BEFORE = {
    "undo-a": {("reset-a", 0): 40, ("reset-a", 1): 41, ("reset-b", 0): 7},
    "undo-b": {("reset-b", 1): 50},
    "undo-new": {},
}
RESET = ("--reset-offsets", "--group", "undo-a", "--group", "undo-b", "--group", "undo-new")


@pytest.fixture
def undoable(full: KafkaCluster) -> str:
    """A cluster where the groups stand as `BEFORE` says."""
    with ClusterAdmin(ClientSettings(full.bootstrap)) as admin:
        admin.delete_groups(list(BEFORE))
    commit_offsets(full.bootstrap, {name: offsets for name, offsets in BEFORE.items() if offsets})
    return full.bootstrap


def test_reset_and_back(undoable: str, undo_dir: Path) -> None:
    """The file holds every commit that was replaced; our own `--undo` puts them back."""
    start = ("--bootstrap-server", undoable)
    told = run_ours([*start, *RESET, "--topic", "reset-b", "--to-latest", "--execute"])
    assert told.status == 0
    (named,) = re.findall(r"^undo file: (.*)$", told.stderr, re.MULTILINE)
    file = Path(named)
    assert file.parent == undo_dir
    assert file.stat().st_mode & 0o777 == 0o600
    saved = {
        (row["group"], topic, number): offset
        for row in json.loads(file.read_text())["rows"]
        for topic, columns in row["commits"].items()
        for number, offset in zip(columns["partition"], columns["offset"], strict=True)
    }
    assert saved == {
        ("undo-a", "reset-b", 0): 7,
        ("undo-a", "reset-b", 1): None,
        ("undo-b", "reset-b", 0): None,
        ("undo-b", "reset-b", 1): 50,
        ("undo-new", "reset-b", 0): None,
        ("undo-new", "reset-b", 1): None,
    }
    assert fetch_offsets(undoable, "undo-new") == {("reset-b", 0): 50, ("reset-b", 1): 50}
    back = run_ours([*start, "reset-offsets", "--undo", named, "--yes", "--no-undo"])
    assert back.status == 0, back
    assert {name: fetch_offsets(undoable, name) for name in BEFORE} == BEFORE


@pytest.mark.parametrize("mode", ["--dry-run", "--export"])
def test_no_file_where_nothing_is_written(undoable: str, undo_dir: Path, mode: str) -> None:
    """A plan replaces nothing."""
    before = set(undo_dir.iterdir())
    told = run_ours(
        ["--bootstrap-server", undoable, *RESET, "--topic", "reset-b", "--to-latest", mode]
    )
    assert (told.status, "undo file" in told.stderr) == (0, False)
    assert set(undo_dir.iterdir()) == before


def test_nothing_is_written_without_the_file(
    undoable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that cannot be made stops the reset; `KGROUPS_NO_UNDO` does without."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KGROUPS_UNDO_DIR", str(tmp_path / "file" / "below"))
    line = ["--bootstrap-server", undoable, *RESET, "--topic", "reset-b", "--to-latest"]
    told = run_ours([*line, "--execute"])
    assert (told.status, told.stdout) == (1, "")
    assert "cannot be written" in told.stderr
    assert "hint: set KGROUPS_UNDO_DIR to another folder" in told.stderr
    assert {name: fetch_offsets(undoable, name) for name in BEFORE} == BEFORE
    monkeypatch.setenv("KGROUPS_NO_UNDO", "1")
    told = run_ours([*line, "--execute"])
    assert (told.status, told.stderr) == (0, "")
    assert fetch_offsets(undoable, "undo-b") == {("reset-b", 0): 50, ("reset-b", 1): 50}
