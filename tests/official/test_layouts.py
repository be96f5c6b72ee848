"""`-o plain` of our own commands, on groups that no cluster is needed for."""

from pathlib import Path

import pytest

from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.cli.runner import run


def test_plain_output_of_our_own_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-o plain` prints the official layouts; a command that Kafka's tool lacks has none."""
    write_snapshot(clusters.shop(), tmp_path / "shop.json")
    monkeypatch.chdir(tmp_path)
    listed = run("list", "--from", "shop.json", "-o", "plain")
    assert listed.exit_code == 0
    assert "billing\n" in listed.stdout.splitlines(keepends=True)
    described = run("describe", "billing", "--from", "shop.json", "-o", "plain")
    assert described.stdout.startswith(
        "\nGROUP           TOPIC           PARTITION  CURRENT-OFFSET"
    )
    states = run("list", "--state", "stable", "--from", "shop.json", "-o", "plain")
    assert states.stdout.startswith("GROUP                     STATE               \n")
    told = run("coordinator", "g", "--partitions", "5", "-o", "plain")
    assert told.exit_code == 2
    assert "`plain` is not available here: Kafka's tool has no layout for it" in told.stderr
    line = ("describe", "--all-groups", "--top", "1", "--from", "shop.json", "-o", "plain")
    assert run(*line).exit_code == 2
