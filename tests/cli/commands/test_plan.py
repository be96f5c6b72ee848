"""`kgroups plan` with assignors of the user's own that misbehave, and the fleet's report."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from kgroups.assignors.registry import CLASSES
from kgroups.assignors.user import user_defined
from kgroups.cli.commands.plan.plan_report import shared_notes
from kgroups.core.snapshot import Group
from kgroups.core.snapshot_file import write_snapshot
from tests.core.planning.test_rack_settings import dealt
from tests.support.cli import clusters
from tests.support.cli.process import finish
from tests.support.cli.runner import check_document, run

MISBEHAVING = {
    "Raises": ("`raises` raised ValueError: no way",),
    "Hangs": ("`hangs` took more than 300 ms",),
    "Unknown": ("`unknown`", "`nobody`"),
    "TwiceToOne": ("`twice-to-one`", "orders-0 twice"),
    "TwiceToTwo": ("`twice-to-two`", "orders-0", "`app-1`", "`app-2`"),
    "NoSuchPartition": ("`no-such-partition`", "orders-99, which does not exist"),
    "Nonsense": ("`nonsense` returned int",),
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", MISBEHAVING)
def test_an_assignor_that_misbehaves_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1, one clear sentence, and no traceback unless it is asked for."""
    # Nobody waits ten seconds for one that hangs; the others may be kept from a processor longer.
    limit_ms = 300 if name == "Hangs" else 60_000
    monkeypatch.setattr(user_defined.GuardedAssignor.__init__, "__defaults__", (limit_ms,))
    monkeypatch.setattr(user_defined.load_assignor, "__kwdefaults__", {"limit_ms": limit_ms})
    line = ("plan", "orders-app", "--from", "scenario.yaml", "--assignor", f"own_assignors:{name}")
    outcome = run(*line)
    assert outcome.exit_code == 1
    for part in MISBEHAVING[name]:
        assert part in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert "hint:" in outcome.stderr
    assert "Traceback" in run(*line, "--verbose").stderr


@pytest.mark.usefixtures("files")
def test_verbose_shows_where_it_raised() -> None:
    """The traceback goes down to the line of the user's own file."""
    outcome = run("plan", "orders-app", "--from", "scenario.yaml", "--verbose",
                  "--assignor", "own_assignors:Raises")  # fmt: skip
    assert 'raise ValueError("no way")' in outcome.stderr
    assert "own_assignors.py" in outcome.stderr


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("plan --all-groups --report --from shop.json --conf x=1", "`--conf x` is not a setting"),
        ("plan billing --from shop.json --conf spark.x=1", "`--conf` require `--all-groups"),
        ("simulate deploy.yaml --conf spark.x=1", "`--conf` requires `--master`"),
        ("simulate deploy.yaml --master local[1] --conf x=1", "`--conf x` is not a setting"),
    ],
)
def test_settings_of_spark_that_make_no_sense(line: str, says: str) -> None:
    """Usage errors, before Spark is started."""
    outcome = run(*line.split())
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert says in outcome.stderr


@pytest.mark.slow("starts of Spark; on one session: tests/core/lag/fleet/test_fleet_plan.py")
@pytest.mark.spark
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "line",
    ["plan --all-groups --report --from shop.json", "simulate deploy.yaml --master local[1]"],
)
def test_settings_of_spark_are_obeyed(line: str) -> None:
    """A JVM with so little memory does not start."""
    code, stdout, stderr = finish(*line.split(), "--conf", "spark.driver.memory=60m")
    assert (code, stdout) == (1, "")
    assert "give the driver more memory" in stderr


@pytest.mark.slow("starts of Spark; on one session: tests/core/lag/fleet/test_fleet_plan.py")
@pytest.mark.spark
@pytest.mark.usefixtures("files")
def test_the_fleet_is_planned_inside_spark() -> None:
    """Every group of the file after the changes, lag before and after, with its assignors."""
    line = "plan --all-groups --report --by group --from shop.json -o json --add-members 1:zz"
    code, stdout, stderr = finish(*line.split())
    assert code in (0, 1), stderr
    document: dict[str, Any] = json.loads(stdout)
    check_document(document)
    assert document["schema"] == "kgroups.lag.report/1"
    rows = {(item["group"], item["assignor"]): item for item in document["items"]}
    assert ("billing", "range") in rows
    for item in rows.values():
        assert item["planned_member_count"] == item["member_count"] + 1
        assert item["planned_partitions"] >= item["partitions"]
    assert "members join with ids that were drawn" in stderr
    assert "left as it is, without members: 1 group" in stderr


def test_groups_that_have_no_plans(files: Path) -> None:
    """Beside others a share group is left out with a note, or refused if named; alone it has."""
    shop = clusters.shop()
    share = Group("fans", "share", "Stable", members=())
    write_snapshot(replace(shop, groups=(*shop.groups, share)), files / "mixed.json")
    everything = run("plan", "--all-groups", "--from", "mixed.json", "-o", "json")
    assert everything.exit_code == 0
    assert "fans" not in {item["group"] for item in everything.document["items"]}
    assert "left out: `fans` is a share group" in everything.stderr
    beside = run("plan", "fans", "billing", "--from", "mixed.json")
    assert (beside.exit_code, "hint: kgroups plan fans" in beside.stderr) == (4, True)
    alone = run("plan", "fans", "--from", "mixed.json", "-o", "json")
    check_document(alone.document)
    assert (alone.exit_code, alone.document["items"][0]["member_count"]) == (0, 0)


def test_what_is_said_of_many_groups_is_said_once() -> None:
    """The first few are named; what is said of few has a line for each of them."""
    names = [f"g{number:02}" for number in range(30)]
    told = [(name, "is empty") for name in names for _ in "ab"] + [
        ("g00", "moves"),
        ("g01", "moves"),
    ]
    assert [note.message for note in shared_notes(told)] == [
        "`g00`, `g01`, `g02` and 27 more: is empty",
        "`g00`: moves",
        "`g01`: moves",
    ]


def test_the_user_says_whether_franz_go_balances_racks(tmp_path: Path) -> None:
    """A leader that follows shows neither; one word of `--as` says it."""
    write_snapshot(dealt("range", False), tmp_path / "s.json")
    line = ("plan", "--from", str(tmp_path / "s.json"), "--remove-member", "c-1", "-o", "json")
    shares = []
    for leader in ("Franz-Go", "franz-go:racks", "franz-go:no-racks"):
        (item,) = json.loads(run(*line, "--as", leader).stdout)["items"]
        assert item["confidence"] == ("outcomes" if leader == "Franz-Go" else "exact")
        shares.append([member["assignment"] for member in item["members"]])
    assert shares[1] != shares[2]
    assert "`x` is not a setting of `--as franz-go`" in run(*line, "--as", "franz-go:x").stderr


STATIC: Final = """\
topics: {orders: {partitions: 4, racks: [[a], [b], [a], [b]]}}
groups:
  app:
    assignor: org.apache.kafka.clients.consumer.RangeAssignor
    members:
      m1: {topics: [orders], rack: b, instance_id: z}
      m2: {topics: [orders], rack: a, instance_id: y}
"""


def test_the_release_of_the_leader(tmp_path: Path) -> None:
    """Former Java leaders knew no racks, or no static members; an unknown release is refused."""
    file = tmp_path / "s.yaml"
    file.write_text(STATIC)
    line = ("plan", "--from", str(file), "--as")
    given = []
    for leader in ("java", "java:3.4.1", "java:2.3:all"):
        (item,) = run(*line, leader, "-o", "json").document["items"]
        given.append(item["members"][0]["assignment"]["orders"])
    assert given == [[1, 3], [2, 3], [0, 1]]
    assert "a java client (2.3, as given)" in run(*line, "java:2.3").stderr
    explained = run(*line, "java:2.3", "--explain", "orders:0").stdout
    assert "in the order of member ids, make 2 each" in explained
    for leader, known in (
        ("java:2.9", "known: 1.0 and 1.1, 2.0 to 2.8"),
        ("librdkafka:1.9", "known: librdkafka 2.16"),
    ):
        outcome = run(*line, leader)
        assert (outcome.exit_code, known in outcome.stderr) == (2, True)
    sticky = run(*line, "java:2.8", "--assignor", "sticky")
    assert (sticky.exit_code, "from 3.8 on" in sticky.stderr) == (2, True)


@pytest.mark.parametrize("name", CLASSES)
def test_classes_of_kafka_by_name(name: str, tmp_path: Path) -> None:
    """As `partition.assignment.strategy` and `group.consumer.assignors` name them."""
    file = tmp_path / "s.yaml"
    file.write_text(STATIC)
    (item,) = run("plan", "--from", str(file), "--assignor", name, "-o", "json").document["items"]
    assert item["assignor"] == CLASSES[name]
    near = run("plan", "--from", str(file), "--assignor", "CooperativeStickyAssignor")
    assert "did you mean `cooperative-sticky`?" in near.stderr
