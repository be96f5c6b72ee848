"""`--lag-time`, `--record-times` and `--over` on records whose times are known."""

import time
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.support.cli.runner import run
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import commit_offsets, create_topics

pytestmark = pytest.mark.kafka

TOPIC, GROUP = "ages-t", "ages-g"
AGES_S = (90_000, 3_600, 30)
"""Of the records of partition 0, oldest first; partition 1 has one, which is read; 2 has none."""
LONG = ("--timeout", "60s")
SLOW_S = 600
"""What a busy machine may take for a test, at the most."""


@pytest.fixture(scope="module")
def address(cluster_address: str) -> str:
    """A group that has read the first of three records of known times, and all else."""
    create_topics(cluster_address, {TOPIC: 3})
    producer = Producer({"bootstrap.servers": cluster_address})
    now_ms = time.time_ns() // 1_000_000
    for age_s in AGES_S:
        stamp = now_ms - age_s * 1_000
        producer.produce(TOPIC, b"x", partition=0, timestamp=stamp)
    producer.produce(TOPIC, b"x", partition=1, timestamp=now_ms)
    assert producer.flush(60) == 0
    offsets = {(TOPIC, 0): 1, (TOPIC, 1): 1, (TOPIC, 2): 0}
    commit_offsets(cluster_address, {GROUP: offsets, f"{GROUP}-new": offsets | {(TOPIC, 0): 2}})
    return cluster_address


def described(address: str, group: str, *options: str) -> dict[str, Any]:
    """A group's item."""
    outcome = run("-b", address, *LONG, "describe", group, *options, "-o", "json")
    assert outcome.exit_code == 0, outcome.stderr
    (item,) = outcome.document["items"]
    assert isinstance(item, dict)
    return item


@pytest.mark.parametrize(
    ("option", "method"), [("--lag-time", "bisected"), ("--record-times", "record")]
)
def test_lag_in_seconds(address: str, option: str, method: str) -> None:
    """The age of the next record; none for what is read; both ways agree."""
    item = described(address, GROUP, option)
    rows = {row["partition"]: row for row in item["offsets"]}
    assert 3_600 * 0.99 <= rows[0]["lag_seconds"] <= (3_600 + SLOW_S) * 1.01
    assert rows[0]["lag_seconds_method"] == method
    for number in (1, 2):
        assert (rows[number]["lag_seconds"], rows[number]["lag_seconds_method"]) == (0, "at_head")
    assert item["lag_seconds"] == rows[0]["lag_seconds"]
    assert item["lag_seconds_method"] == method
    assert "rate_in" not in item


def test_two_looks(address: str) -> None:
    """Rates, and no time to catch up for who stands still."""
    item = described(address, GROUP, "--over", "200ms")
    assert (item["rate_in"], item["rate_out"], item["catch_up_seconds"]) == (0, 0, None)
    rows = {row["partition"]: row["catch_up_seconds"] for row in item["offsets"]}
    assert rows == {0: None, 1: 0, 2: 0}
    assert "lag_seconds" not in item


def test_in_a_table(address: str) -> None:
    """Columns behind the others, sorted rows included."""
    line = ("describe", GROUP, "--lag-time", "--over", "100ms", "--sort", "lag", "-o", "csv")
    header, first, *_ = run("-b", address, *LONG, *line).stdout.splitlines()
    names, cells = header.split(","), first.split(",")
    assert names[-5:] == [
        "lag_seconds",
        "lag_seconds_method",
        "rate_in",
        "rate_out",
        "catch_up_seconds",
    ]
    assert cells[names.index("lag")] == "2"
    assert float(cells[names.index("lag_seconds")]) >= 3_000


def test_conditions_on_time(address: str) -> None:
    """They ask for ages by themselves; rates must be asked for."""
    at = ("-b", address, *LONG)
    both = ("check", GROUP, f"{GROUP}-new", "-o", "json", "--fail-on")
    outcome = run(*at, *both, "lag_seconds > 50m")
    verdicts = {item["group"]: item["verdict"] for item in outcome.document["items"]}
    assert verdicts == {GROUP: "failed", f"{GROUP}-new": "ok"}
    assert run(*at, *both, "lag_seconds > 50m", "--record-times").exit_code == 6
    assert run(*at, *both, "rate_in > 0 or rate_out > 0", "--over", "100ms").exit_code == 0
    never = run(*at, *both, "catch_up_seconds > 1h", "--over", "100ms")
    assert never.exit_code == 6, "who stands still never catches up"
    bare = run(*at, *both, "catch_up_seconds > 1h")
    assert (bare.exit_code, "--over 10s" in bare.stderr) == (2, True)
    where = run(*at, "describe", "--where", "lag_seconds > 50m", "-o", "json")
    # Other tests of the cluster may have left old records unread.
    found = {item["group"] for item in where.document["items"]}
    assert found & {GROUP, f"{GROUP}-new"} == {GROUP}


def test_in_a_list(address: str) -> None:
    """The figures of whole groups, equal to those of describe; in conditions too."""
    at = ("-b", address, *LONG, "list", f"{GROUP}*", "-o", "json")
    items = {i["group"]: i for i in run(*at, "--lag-time", "--over", "100ms").document["items"]}
    old, new = items[GROUP], items[f"{GROUP}-new"]
    assert 3_600 * 0.99 <= old["lag_seconds"] <= (3_600 + SLOW_S) * 1.01
    assert 30 * 0.99 <= new["lag_seconds"] <= (30 + SLOW_S) * 1.01
    assert (old["rate_in"], old["catch_up_seconds"]) == (0, None)
    late = run(*at, "--where", "lag_seconds > 50m").document["items"]
    assert [item["group"] for item in late] == [GROUP]
    assert "rate_in" not in late[0]
    table = run("-b", address, *LONG, "list", GROUP, "--lag-time").stdout
    assert "LAG-SECONDS" in table


def test_wait_for_time(address: str) -> None:
    """A wait may be for an age, and for a rate since the look before."""
    at = ("-b", address, *LONG, "wait", f"{GROUP}-new", "--until")
    assert run(*at, "lag_seconds < 50m").exit_code == 0
    assert run(*at, "rate_in = 0", "--deadline", "10m").exit_code == 0


REFUSED = [
    ("describe g --lag-time --record-times", "cannot be used together"),
    ("describe g --lag-time --state", "require --offsets"),
    ("describe g --over soon", "is not a duration"),
    ("list --where 'rate_in > 5'", "--over 10s"),
    ("check g --fail-on 'lag_seconds > 5' --lag-time --from f.json", "require a cluster"),
]


@pytest.mark.parametrize(("line", "says"), REFUSED)
def test_refused(address: str, line: str, says: str) -> None:
    """Before anything is asked."""
    import shlex

    outcome = run("-b", address, *shlex.split(line))
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert says in outcome.stderr


def test_a_group_is_simulated_with_the_load_it_has(address: str) -> None:
    """Two looks at a live group: nothing came, nobody was behind, and both are told."""
    with LiveGroup(address, f"{GROUP}-live", [MemberSpec("m", (TOPIC,))]) as group:
        group.wait_stable(3)
        line = ("simulate", "--from-group", group.group, "--over", "100ms", "--until", "60s")
        outcome = run("-b", address, *LONG, *line)
    assert outcome.exit_code == 0, outcome.stderr
    assert f"measured: `{TOPIC}` receives 0 records per second over " in outcome.stderr
    assert "no member was behind, so it could not be measured" in outcome.stderr
