"""`delete-offsets` on the real broker: scopes, refusals, and the way back."""

from pathlib import Path

import pytest

from tests.support.cli.runner import Outcome, run
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce

pytestmark = pytest.mark.kafka

ONE, TWO = "forget-one", "forget-two"
START = {(ONE, 0): 20, (ONE, 1): 0, (TWO, 0): 1}


@pytest.fixture(scope="module")
def address(cluster_address: str) -> str:
    """Two topics, one of which holds records."""
    create_topics(cluster_address, {ONE: 3, TWO: 1})
    produce(cluster_address, {(ONE, 0): 50, (TWO, 0): 1})
    return cluster_address


@pytest.fixture
def group(address: str, request: pytest.FixtureRequest) -> str:
    """An empty group that committed three partitions."""
    name = f"forget {abs(hash(request.node.name))}"
    commit_offsets(address, {name: START}, metadata="memo")
    return name


def forget(address: str, folder: Path, *args: str) -> Outcome:
    """The end of a deletion, as JSON."""
    return run("-b", address, "delete-offsets", *args, "--undo-dir", str(folder), "-o", "json")


@pytest.mark.parametrize(
    ("scope", "left"),
    [
        (["--topic", ONE], {(TWO, 0)}),
        (["--topic", f"{ONE}:1"], {(ONE, 0), (TWO, 0)}),
        (["--topic", f"{ONE}:0", "--topic", TWO], {(ONE, 1)}),
        (["--all-topics"], set()),
    ],
)
def test_scope(
    address: str, group: str, tmp_path: Path, scope: list[str], left: set[tuple[str, int]]
) -> None:
    """What is named is gone, the rest stays, and undo puts it back with its metadata."""
    dry = forget(address, tmp_path, group, *scope, "--dry-run")
    assert set(dry.results) == {"planned"}
    assert fetch_offsets(address, group) == START
    outcome = forget(address, tmp_path, group, *scope, "--yes")
    assert outcome.exit_code == 0
    assert set(outcome.results) == {"done"}
    assert {row["new_offset"] for row in outcome.document["items"]} == {None}
    undo = outcome.document["summary"]["undo_file"]
    if not left:  # a group that committed nothing more is on its way out: commit to keep it
        commit_offsets(address, {group: {(ONE, 2): 0}})
        left = {(ONE, 2)}
    now = fetch_offsets(address, group)
    assert set(now) == left
    back = run("-b", address, "reset-offsets", "--undo", undo, "--no-undo", "--yes", "-o", "json")
    assert back.exit_code == 0
    assert fetch_offsets(address, group) == START | now


@pytest.mark.parametrize("scope", [f"{ONE}:2", "forget-nope", f"{ONE}:9"])
def test_nothing_committed_there(address: str, group: str, tmp_path: Path, scope: str) -> None:
    """What was never committed is not found, and nothing else is deleted."""
    line = (group, "--topic", scope, "--topic", TWO, "--yes")
    outcome = forget(address, tmp_path, *line)
    assert (outcome.exit_code, outcome.document["items"]) == (5, [])
    assert "committed nothing for" in outcome.stderr
    assert fetch_offsets(address, group) == START
    assert list(tmp_path.iterdir()) == []
    assert forget(address, tmp_path, *line, "--keep-going").exit_code == 0
    assert set(fetch_offsets(address, group)) == {(ONE, 0), (ONE, 1)}


def test_refusals(address: str, group: str, tmp_path: Path) -> None:
    """A group with members and one that is not there keep the empty one from being written."""
    line = ("--topic", TWO, "--yes")
    unknown = forget(address, tmp_path, group, "forget-unknown", *line)
    assert unknown.exit_code == 5
    members = [MemberSpec("forget-app", (ONE,))]
    with LiveGroup(address, "forget-alive", members) as live:
        live.wait_stable(3).members[0].commit({(ONE, 0): 3})
        outcome = forget(address, tmp_path, group, live.group, *line)
        assert outcome.exit_code == 4
        assert "1 member: forget-app on /127.0.0.1" in outcome.stderr
        assert fetch_offsets(address, live.group) == {(ONE, 0): 3}
    assert fetch_offsets(address, group) == START
    assert list(tmp_path.iterdir()) == []
