"""When commits expire, and which groups are idle, as a cluster's own log tells it."""

from typing import Any

import pytest

from tests.support.cli.runner import Outcome, run
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.protocols import PROTOCOLS
from tests.support.kafka.workload import commit_offsets, create_topics

pytestmark = pytest.mark.kafka

WEEK_S = 7 * 86_400


@pytest.fixture
def topic(cluster_address: str, request: pytest.FixtureRequest) -> str:
    """A topic of this test's own, and one that nobody reads."""
    name = f"expiry-{abs(hash(request.node.nodeid)):x}"
    create_topics(cluster_address, {name: 2, f"{name}-other": 1})
    return name


def described(address: str, group: str) -> dict[str, Any]:
    """The one item of `describe --expiry`."""
    outcome = run("-b", address, "describe", group, "--expiry", "-o", "json")
    assert outcome.exit_code == 0, outcome.stderr
    (item,) = outcome.document["items"]
    return dict(item)


def listed(address: str, topic: str, *more: str) -> Outcome:
    """The groups of a test."""
    return run("-b", address, "list", f"{topic}*", *more)


def test_a_group_that_only_commits(cluster_address: str, topic: str) -> None:
    """A week after the commit, by the brokers' default."""
    commit_offsets(cluster_address, {f"{topic}-g": {(topic, 0): 1, (topic, 1): 2}})
    item = described(cluster_address, f"{topic}-g")
    assert item["expiry"] == "expires"
    assert 0 < WEEK_S - item["expires_in_seconds"] < 600
    assert [row["expiry"] for row in item["offsets"]] == ["expires", "expires"]
    assert item["last_commit_at"] == max(row["committed_at"] for row in item["offsets"])
    assert item["expires_at"] == min(row["expires_at"] for row in item["offsets"])
    commit_offsets(cluster_address, {f"{topic}-g": {(topic, 0): 5}})
    later = described(cluster_address, f"{topic}-g")
    assert later["offsets"][0]["committed_at"] >= item["last_commit_at"]
    table = run("-b", cluster_address, "describe", f"{topic}-g", "--expiry").stdout
    assert table.count("in 6d") == 2


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_members_keep_what_they_read(cluster_address: str, topic: str, protocol: Any) -> None:
    """A commit of a topic that nobody reads goes; when the members leave, the others go too."""
    group = f"{topic}-live"
    spec = MemberSpec(topic, (topic,))
    with LiveGroup(cluster_address, group, [spec], protocol=protocol) as live:
        live.wait_stable(2)
        live.members[0].commit({(topic, 0): 1, (f"{topic}-other", 0): 1})
        words = {
            row["topic"]: row["expiry"]
            for row in described(cluster_address, group)["offsets"]
            if row["committed_offset"] is not None
        }
        assert words == {topic: "in_use", f"{topic}-other": "expires"}
        assert f"{topic}-live" not in listed(cluster_address, topic, "--idle-for", "1ms").stdout
    item = described(cluster_address, group)
    committed = [row for row in item["offsets"] if row["committed_offset"] is not None]
    assert {row["expiry"] for row in committed} == {"expires"}
    assert item["expiry"] == "expires"
    if protocol == "classic":  # from when it became empty
        (left,) = {row["expires_at"] for row in committed}
        assert left == item["expires_at"]


def test_idle_groups(cluster_address: str, topic: str) -> None:
    """Listed and deleted by how long they have been idle; the others are left alone."""
    commit_offsets(cluster_address, {f"{topic}-g": {(topic, 0): 1}, f"{topic}-h": {(topic, 0): 1}})
    assert listed(cluster_address, topic, "--idle-for", "1h", "-o", "csv").stdout.count("\n") == 1
    old = listed(cluster_address, topic, "--idle-for", "1ms", "--expiry", "-o", "json").document
    assert [item["group"] for item in old["items"]] == [f"{topic}-g", f"{topic}-h"]
    assert {item["expiry"] for item in old["items"]} == {"expires"}
    line = ("delete", f"{topic}-*", "-o", "json", "--idle-for")
    none = run("-b", cluster_address, *line, "1h", "--yes")
    assert (none.exit_code, none.document["items"]) == (0, [])
    dry = run("-b", cluster_address, *line, "1ms", "--dry-run").document
    assert [item["result"] for item in dry["items"]] == ["planned", "planned"]
    done = run("-b", cluster_address, *line, "1ms", "--yes").document
    assert [item["result"] for item in done["items"]] == ["done", "done"]


def test_only_of_a_cluster() -> None:
    """A snapshot file does not say when groups committed."""
    for line in (("list", "--idle-for", "1d"), ("describe", "g", "--expiry")):
        outcome = run(*line, "--from", "f.json")
        assert (outcome.exit_code, outcome.stdout) == (2, "")
        assert "require a cluster" in outcome.stderr
