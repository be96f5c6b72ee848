"""The layouts, byte by byte, on groups that no cluster is needed for."""

from dataclasses import replace
from pathlib import Path

import pytest

from kgroups.cli.official import layouts
from kgroups.core.snapshot import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.cli.runner import run

MEMBER = Member("c-1", "app-1", "/10.0.0.5", assignment={"orders": (0, 1), "audit": (0,)})
GROUP = Group(
    "g1",
    "classic",
    "Stable",
    "consumer",
    "range",
    1,
    members=(MEMBER,),
    offsets={"orders": {0: CommittedOffset(90), 2: CommittedOffset(500, 3)}},
)
SNAPSHOT = ClusterSnapshot(
    0,
    (GROUP,),
    {
        "orders": Topic("orders", {n: PartitionLog(0, 100, leader=1) for n in range(3)}),
        "audit": Topic("audit", {0: PartitionLog(error="LEADER_NOT_AVAILABLE")}),
    },
    (Broker(1, "kafka1", 9092),),
)

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("view", ["offsets", "members", "state"])
def test_view(view: str) -> None:
    """Lag is end minus commit, unclamped; the leaderless partition has none."""
    expected = (GOLDEN / f"{view}.txt").read_text(encoding="utf-8")
    assert layouts.group_text(SNAPSHOT, GROUP, view, verbose=False) == expected


def test_verbose_has_its_columns_in_place() -> None:
    """LEADER-EPOCH after PARTITION; epochs and assignments at the end; epochs before #MEMBERS."""
    texts = [
        layouts.group_text(SNAPSHOT, GROUP, view, verbose=True).splitlines()[1].split()
        for view in ("offsets", "members", "state")
    ]
    assert texts[0][2:5] == ["PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET"]
    assert texts[1][5:] == [
        "CURRENT-EPOCH",
        "CURRENT-ASSIGNMENT",
        "TARGET-EPOCH",
        "TARGET-ASSIGNMENT",
    ]
    assert texts[2][-3:] == ["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS"]


def test_nothing_to_show() -> None:
    """No rows: no table of partitions, but the members' header."""
    empty = replace(GROUP, members=(), offsets={}, state="Empty")
    assert layouts.group_text(SNAPSHOT, empty, "offsets", verbose=False) == ""
    assert layouts.group_text(SNAPSHOT, empty, "members", verbose=False).count("\n") == 2
    assert layouts.notice(empty) == "Consumer group 'g1' has no active members."


def test_widths_count_as_java_counts() -> None:
    """A sign outside the basic plane is two."""
    assert [layouts.java_length(text) for text in ("abc", "グ", "🎉")] == [3, 1, 2]


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
    assert run("coordinator", "g", "--partitions", "5", "-o", "plain").exit_code == 2
    assert (
        run(
            "describe", "--all-groups", "--top", "1", "--from", "shop.json", "-o", "plain"
        ).exit_code
        == 2
    )
