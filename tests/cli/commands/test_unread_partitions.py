"""What nobody reads counts: partitions without owner or commit, commits beyond the log end."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.runner import run
from tests.support.kafka.workload import commit_offsets, produce


@pytest.fixture
def grown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A snapshot: a topic grew from 2 to 4 partitions with records, of which the group knows 2."""
    log = PartitionLog(0, 100, leader=1)
    members = (Member("m", "c", "/h", subscription=("orders",), assignment={"orders": (0, 1)}),)
    commits = {"orders": {0: CommittedOffset(100), 1: CommittedOffset(100)}}
    behind = {"orders": {number: CommittedOffset(120) for number in range(4)}}
    groups = (
        Group("app", "classic", "Stable", members=members, offsets=commits),
        Group("beyond", "classic", "Empty", members=(), offsets=behind),
        Group("new", "classic", "Stable", members=members, offsets={}),
    )
    topics = {"orders": Topic("orders", dict.fromkeys(range(4), log))}
    monkeypatch.chdir(tmp_path)
    write_snapshot(ClusterSnapshot(1, groups, topics, cluster_id="c1"), Path("grown.json"))
    return "grown.json"


def test_describe(grown: str) -> None:
    """Each is a row without an owner, and is counted; where nothing is known sums are null."""
    document = run("describe", "app", "--from", grown, "-o", "json").document
    (item,) = document["items"]
    columns = ("partition", "lag_status", "member_id")
    rows = [tuple(row[name] for name in columns) for row in item["offsets"]]
    assert rows == [(0, "ok", "m"), (1, "ok", "m"), (2, "no_commit", None), (3, "no_commit", None)]
    counts = {"unknown_partitions": 2, "unowned_partitions": 2, "beyond_end_partitions": 0}
    assert item.items() >= {"lag": 0, "lag_max": 0, "lost": 0, **counts}.items()
    assert document["summary"] == {
        "groups": 1,
        "partitions": 4,
        "lag": 0,
        "lost": 0,
        "held_partitions": None,
        **counts,
    }
    summary = run("describe", "new", "--from", grown, "-o", "json").document["summary"]
    assert (summary["lag"], summary["lost"]) == (None, None)
    plain = run("describe", "app", "--from", grown, "-o", "plain").stdout
    assert (
        len(plain.split("\n\n")[-1].strip().splitlines()) == 3
    )  # as Kafka's tool: a head, two rows


@pytest.mark.parametrize(
    ("group", "condition", "exit_code"),
    [
        ("app", "lag > 0 or unknown_partitions > 0", 6),
        ("app", "unowned_partitions > 1", 6),
        ("app", "unowned_partitions > 50%", 0),
        ("app", "beyond_end_partitions > 0", 0),
        ("beyond", "beyond_end_partitions > 0", 6),
        ("beyond", "lag > 0", 0),
    ],
)
def test_check(grown: str, group: str, condition: str, exit_code: int) -> None:
    """They can be gated."""
    outcome = run("check", group, "--from", grown, "--fail-on", condition)
    assert outcome.exit_code == exit_code, outcome


def test_metrics(grown: str) -> None:
    """Dashboards see them."""
    text = run("describe", "--all-groups", "--from", grown, "-o", "openmetrics").stdout
    name = "kafka_consumergroup_group"
    assert f'{name}_unowned_partitions{{cluster_name="c1",group="app"}} 2' in text
    assert f'{name}_beyond_end_partitions{{cluster_name="c1",group="beyond"}} 4' in text


@pytest.fixture(scope="module")
def cluster() -> Iterator[Sandbox]:
    """A group that has read one partition of two, while records wait in the other."""
    with Sandbox(brokers=1, topics={"t": 2}) as sandbox:
        produce(sandbox.bootstrap_servers, {("t", 0): 5, ("t", 1): 500})
        commit_offsets(sandbox.bootstrap_servers, {"app": {("t", 0): 5}})
        yield sandbox


def test_where_the_leader_s_log_ends(cluster: Sandbox) -> None:
    """With --verbose only; one broker has no replica that lags behind."""
    words = ("describe", "app", "-b", cluster.bootstrap_servers, "-o", "json")
    plain, verbose = (json.loads(run(*words, *more).stdout) for more in ((), ("--verbose",)))
    assert "leader_end_offset" not in plain["items"][0]["offsets"][0]
    ends = [row["leader_end_offset"] for row in verbose["items"][0]["offsets"]]
    assert ends == [row["log_end_offset"] for row in verbose["items"][0]["offsets"]] == [5, 500]


def test_wait_until_caught_up(cluster: Sandbox) -> None:
    """It has not."""
    words = ("wait", "app", "--until", "caught-up", "-b", cluster.bootstrap_servers)
    assert run(*words, "--deadline", "1s").exit_code == 7
    commit_offsets(cluster.bootstrap_servers, {"app": {("t", 1): 500}})
    assert run(*words, "--deadline", "2m").exit_code == 0
