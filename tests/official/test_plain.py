"""`-o plain` of our own commands is, to the byte, what the official line prints on stdout."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.official_tools import WarmTools
from tests.support.kafka.workload import Offsets, commit_offsets, create_topics, produce
from tests.support.official.normal import normal

pytestmark = pytest.mark.kafka

START: Mapping[str, Offsets] = {
    "plain-a": {("reset-a", 0): 40, ("reset-b", 1): 50},
    "plain-b": {("reset-a", 0): 1},
}
# ours, the official line, groups whose commits both change
LINES = (
    ("describe empty-odd", "--describe --group empty-odd"),
    ("describe live-classic --verbose", "--describe --group live-classic --verbose"),
    ("describe live-kip848 --members", "--describe --group live-kip848 --members"),
    (
        "describe live-static --members --verbose",
        "--describe --group live-static --members --verbose",
    ),
    ("describe live-kip848 --state", "--describe --group live-kip848 --state"),
    ("list --state empty --type classic", "--list --state Empty --type classic"),
    (
        "reset-offsets plain-a plain-b --topic reset-a --to 60 --dry-run",
        "--reset-offsets --group plain-a --group plain-b --topic reset-a --to-offset 60 --dry-run",
    ),
    (
        "reset-offsets plain-a --all-topics --to latest --yes --no-undo",
        "--reset-offsets --group plain-a --all-topics --to-latest --execute",
    ),
    (
        "delete-offsets plain-a --topic reset-a:0 --yes --no-undo",
        "--delete-offsets --group plain-a --topic reset-a:0",
    ),
    ("delete plain-b plain-a --yes", "--delete --group plain-b --group plain-a"),
)


@pytest.mark.slow("a broker with groups of every kind; layouts: tests/official/test_layouts.py")
@pytest.mark.parametrize(("ours", "theirs"), LINES, ids=[ours for ours, _ in LINES])
def test_same_layout(full: KafkaCluster, official: WarmTools, ours: str, theirs: str) -> None:
    """Both on the same groups, which stand at the same offsets before each of them."""
    set_up(full)
    wanted = official.groups_tool(full.bootstrap, *theirs.split())
    set_up(full)
    told = run("-b", full.bootstrap, *ours.split(), "-o", "plain")
    assert told.exit_code == 0, told
    assert normal(told.stdout) == normal(wanted.stdout)


def set_up(full: KafkaCluster) -> None:
    """The groups as they were."""
    with ClusterAdmin(ClientSettings(full.bootstrap)) as admin:
        admin.delete_groups(list(START))
    commit_offsets(full.bootstrap, START)


@pytest.mark.slow("a broker with groups of every kind")
def test_records(full: KafkaCluster, official: WarmTools, tmp_path: Path) -> None:
    """Deleted records are told line by line, as kafka-delete-records.sh does, in some order."""
    topics = {"plain-ours": 2, "plain-theirs": 2}
    create_topics(full.bootstrap, topics)
    produce(full.bootstrap, {(topic, number): 5 for topic in topics for number in (0, 1)})
    rows = [{"topic": "plain-theirs", "partition": number, "offset": 3} for number in (0, 1)]
    file = tmp_path / "records.json"
    file.write_text(json.dumps({"partitions": rows}))
    line = ("--bootstrap-server", full.bootstrap, "--offset-json-file", str(file))
    wanted = official.run("delete-records", *line).stdout.replace("theirs", "ours")
    start = ("-b", full.bootstrap, "-o", "plain", "delete-records", "plain-ours")
    planned = run(*start, "--before", "3", "--dry-run")
    assert planned.stdout.splitlines() == sorted(wanted.splitlines()[2:])
    told = run(*start, "--before", "3", "--yes")
    assert (told.exit_code, normal(told.stdout)) == (0, normal(wanted))


@pytest.mark.slow("a broker with groups of every kind")
def test_refusals(full: KafkaCluster) -> None:
    """What was refused is on stderr in our words; stdout holds what was done."""
    set_up(full)
    start = ("-b", full.bootstrap, "-o", "plain")
    told = run(*start, "delete", "plain-a", "live-classic", "--yes", "--keep-going")
    done = "\nThese consumer groups were deleted successfully: 'plain-a'\n"
    assert (told.exit_code, told.stdout) == (4, done)
    assert "live-classic" in told.stderr
    told = run(*start, "delete", "live-classic", "--yes")
    assert (told.exit_code, told.stdout) == (4, "")
    line = ("--topic", "reset-a:0", "--yes", "--no-undo", "--keep-going")
    told = run(*start, "delete-offsets", "plain-b", "live-classic", *line)
    assert told.exit_code == 4
    assert told.stdout.startswith("Request succeeded for deleting offsets from group plain-b.\n")
    assert "live-classic" not in told.stdout
    told = run(*start, "reset-offsets", "live-classic", "--all-topics", "--to", "latest", "--yes")
    assert told.exit_code == 4
    assert told.stdout.split() == ["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"]


@pytest.mark.slow("a broker with groups of every kind")
def test_plans(full: KafkaCluster) -> None:
    """What the official tool cannot try is told as a plan: names, partitions."""
    set_up(full)
    start = ("-b", full.bootstrap, "-o", "plain")
    told = run(*start, "delete", "plain-a", "plain-b", "--dry-run")
    assert (told.exit_code, told.stdout) == (0, "plain-a\nplain-b\n")
    told = run(*start, "delete-offsets", "plain-a", "--topic", "reset-a", "--dry-run")
    assert told.stdout.splitlines()[-1].split() == ["reset-a", "0", "Planned"]
