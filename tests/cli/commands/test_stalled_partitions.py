"""The stuck partition by name, on the embedded cluster with a live member."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import ClusterSnapshot, PartitionLog, Topic
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.runner import run
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import commit_offsets, produce

OVER = ("--over", "300ms")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A live member that has read one partition, is stuck in another, and has a gap in a third."""
    file: Path = tmp_path_factory.mktemp("gap") / "gap.json"
    gap = Topic("gap", {0: PartitionLog(0, 100, leader=1)})
    write_snapshot(ClusterSnapshot(1, (), {"gap": gap}), file)
    with Sandbox(brokers=1, topics={"t": 2}, snapshot=file) as sandbox:
        produce(sandbox.bootstrap_servers, {("t", 0): 5, ("t", 1): 5})
        commits = {("t", 0): 5, ("t", 1): 2, ("gap", 0): 0}
        commit_offsets(sandbox.bootstrap_servers, {"app": commits, "idle": commits})
        with LiveGroup(
            sandbox.bootstrap_servers, "app", [MemberSpec("stuck", ("t", "gap"))]
        ) as group:
            group.wait_stable(3)
            yield sandbox.bootstrap_servers


def test_describe(address: str) -> None:
    """It is told with its owner; neither what is read nor a gap is stalled."""
    document = run("describe", "app", "idle", *OVER, "-b", address, "-o", "json").document
    app, idle = document["items"]
    rows = {
        (row["topic"], row["partition"]): (row["lag_status"], row["client_id"])
        for row in app["offsets"]
    }
    assert rows == {
        ("gap", 0): ("ok", "stuck"),
        ("t", 0): ("ok", "stuck"),
        ("t", 1): ("stalled", "stuck"),
    }
    assert (app["stalled_partitions"], app["rebalances"]) == (1, 0)
    assert (idle["stalled_partitions"], idle["rebalances"]) == (0, 0)


@pytest.mark.parametrize(
    ("words", "exit_code"),
    [
        (("check", "app", "--fail-on", "stalled_partitions > 0"), 6),
        (("check", "app", "--fail-on", "stalled_partitions > 50% or rebalances > 0"), 0),
        (("check", "idle", "--fail-on", "stalled_partitions > 0"), 0),
    ],
)
def test_check(address: str, words: tuple[str, ...], exit_code: int) -> None:
    """It can be gated."""
    assert run(*words, *OVER, "-b", address).exit_code == exit_code


def test_where(address: str) -> None:
    """Groups are chosen by it, and shown with it."""
    words = ("--where", "stalled_partitions > 0", *OVER, "-b", address, "-o", "json")
    (item,) = run("list", *words).document["items"]
    assert (item["group"], item["stalled_partitions"]) == ("app", 1)
    (item,) = run("describe", *words).document["items"]
    assert item["group"] == "app"


def test_wait(address: str) -> None:
    """It is measured from poll to poll."""
    words = ("wait", "app", "--until", "stalled_partitions > 0", "--deadline", "1m")
    assert run(*words, "-b", address).exit_code == 0


def test_metrics(address: str) -> None:
    """Dashboards see it."""
    text = run("describe", "app", *OVER, "-b", address, "-o", "openmetrics").stdout
    assert 'kafka_consumergroup_group_stalled_partitions{cluster_name="' in text
    assert 'group_rebalances{cluster_name="' in text


def test_it_needs_a_time(address: str) -> None:
    """As rates do."""
    ending = run("check", "app", "--fail-on", "stalled_partitions > 0", "-b", address)
    assert (ending.exit_code, ending.stderr) == (
        2,
        "error: `stalled_partitions` requires --over\n\nhint: use --over 10s\n",
    )
