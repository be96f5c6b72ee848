"""`kgroups doctor` on the embedded cluster with a live member, and on files."""

import re
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kgroups.cli import lag_times
from kgroups.core.lag.captures.collector import write_capture
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
from tests.support.cli.terminal_run import run_on_terminal
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import commit_offsets, produce
from tests.support.lag.made_fleet import fleet

OVER = ("--over", "300ms")
LONG = ("REBALANCE_STUCK", "SLOW_REVOCATION")
NO_QUOTAS = {"THROTTLED": "requires brokers of Kafka 2.6 or later"}


def reasons(item: dict[str, Any]) -> dict[str, str]:
    """Codes that were not examined, and why."""
    return {each["code"]: each["reason"] for each in item["not_examined"]}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A live member that is stuck in one of its partitions, and two groups without members."""
    with Sandbox(brokers=1, topics={"t": 2}) as sandbox:
        produce(sandbox.bootstrap_servers, {("t", 0): 5, ("t", 1): 5})
        read = {("t", 0): 5, ("t", 1): 5}
        commits = {"app": {**read, ("t", 1): 2}, "late": {**read, ("t", 0): 1}, "done": read}
        commit_offsets(sandbox.bootstrap_servers, commits)
        with LiveGroup(sandbox.bootstrap_servers, "app", [MemberSpec("stuck", ("t",))]) as group:
            group.wait_stable(2)
            yield sandbox.bootstrap_servers


def test_a_stuck_partition(address: str) -> None:
    """By name, with its owner; over so short a time it may be a pause, and exits with 0."""
    outcome = run("doctor", "app", "done", *OVER, "-b", address, "-o", "json")
    assert outcome.exit_code == 0
    app, done = outcome.document["items"]
    (finding,) = app["findings"]
    assert (finding["code"], finding["level"]) == ("STALLED_PARTITION", "info")
    assert {name: finding["where"][name] for name in ("topic", "partition", "client_id")} == {
        "topic": "t",
        "partition": 1,
        "client_id": "stuck",
    }
    assert finding["evidence"]["lag"] == 3
    assert (app["facts"]["lag"], app["facts"]["member_count"]) == (3, 1)
    assert done["findings"] == []
    assert reasons(done) == dict.fromkeys(LONG, "requires --over 30s") | NO_QUOTAS


def test_captures_take_the_place_of_waiting(address: str, tmp_path: Path) -> None:
    """The same finding, over the time since the capture; for all groups too."""
    folder = str(tmp_path / "captures")
    assert run("-b", address, "lag", "collect", folder).exit_code == 0
    for words, orphans in ((("app", "done"), []), (("--all-groups",), ["ORPHAN_CONFIG"])):
        words = ("doctor", *words, "--captures", folder, "--fail-on-level", "info")
        outcome = run(*words, "-b", address, "-o", "json")
        assert outcome.exit_code == 6, outcome.stderr
        items = {item["group"]: item for item in outcome.document["items"]}
        assert [found["code"] for found in items["app"]["findings"]] == ["STALLED_PARTITION"]
        assert items["app"]["findings"][0]["evidence"]["over_seconds"] > 0
        assert items["done"]["findings"] == []
        # the embedded cluster lists none
        assert set(reasons(items["done"])) == {*orphans, *LONG, *NO_QUOTAS}
    late = run("doctor", "app", "--captures", folder, "--over", "100ms", "-b", address)
    assert late.exit_code == 5
    assert "no captures in the window" in late.stderr


def test_captures_of_another_cluster(address: str, tmp_path: Path) -> None:
    """One sentence; of a history too."""
    write_capture(tmp_path, fleet(1, at_ms=time.time_ns() // 1_000_000))
    for command in ("doctor", "history"):
        outcome = run(command, "app", "--captures", str(tmp_path), "-b", address)
        assert outcome.exit_code == 2
        (cluster,) = re.findall(r"not of cluster `([\w-]+)`", outcome.stderr)
        told = f"error: captures in `{tmp_path}` are of `c1`, not of cluster `{cluster}`\n"
        assert outcome.stderr.startswith(told)


def test_a_snapshot_file_beside_captures(tmp_path: Path) -> None:
    """Rates and history come from them, and nothing is asked of a cluster."""
    now_ms = time.time_ns() // 1_000_000
    taken = [stuck(now_ms - ago_ms) for ago_ms in (60_000, 30_000, 1_000)]
    for each in taken:
        write_capture(tmp_path / "captures", each)
    write_snapshot(taken[-1], tmp_path / "g.json")
    words = ("--from", str(tmp_path / "g.json"), "--captures", str(tmp_path / "captures"))
    outcome = run("doctor", "g", *words, "-o", "json")
    (item,) = outcome.document["items"]
    assert [found["code"] for found in item["findings"]] == ["STALLED_PARTITION"]
    assert item["findings"][0]["evidence"]["over_seconds"] == 59.0
    lacking = {each["reason"] for each in item["not_examined"]}
    assert lacking == {"a snapshot file has no history", "a snapshot file does not record it"}


def stuck(at_ms: int) -> ClusterSnapshot:
    """A group whose only member does not move on, though records come in."""
    member = Member("a", "app", "/h", subscription=("t",), assignment={"t": (0,)}, generation=3)
    offsets = {"t": {0: CommittedOffset(5)}}
    group = Group("g", "classic", "Stable", assignor="range", members=(member,), offsets=offsets)
    logs = {0: PartitionLog(0, 100 + at_ms // 1_000, leader=1)}
    return ClusterSnapshot(at_ms, (group,), {"t": Topic("t", logs)}, cluster_id="c1")


def test_levels(address: str) -> None:
    """A group that waits for its consumer is worth knowing, and no failure."""
    words = ("doctor", "late", "-b", address)
    assert run(*words).exit_code == 0
    outcome = run(*words, "--fail-on-level", "info", "-o", "json")
    assert outcome.exit_code == 6
    (item,) = outcome.document["items"]
    assert [finding["code"] for finding in item["findings"]] == ["NO_CONSUMER"]
    codes = ("STALLED_PARTITION", "FALLING_BEHIND", "PHANTOM_LAG", "THROTTLED")
    short = dict.fromkeys(codes, "requires --over or --captures")
    assert reasons(item) == short | dict.fromkeys(LONG, "requires --over 30s")


def test_a_group_that_vanishes_meanwhile(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is there at the first look and gone at the second; the other one is examined."""
    commit_offsets(address, {"gone": {("t", 0): 5}})
    looks_between = lag_times._looks_between

    def deleted(*words: Any) -> Any:
        assert run("delete", "gone", "--yes", "-b", address).exit_code == 0
        return looks_between(*words)

    monkeypatch.setattr(lag_times, "_looks_between", deleted)
    outcome = run("doctor", "gone", "done", *OVER, "-b", address, "-o", "json")
    assert outcome.exit_code == 5
    assert outcome.stderr.startswith("error: `gone`: the group was deleted while it was watched\n")
    assert [item["group"] for item in outcome.document["items"]] == ["done"]


def log_of(address: str, path: Path, *, days: float = 0, generation: int = 0) -> str:
    """A broker's log with the last generation of the group, at another time or of another one."""
    items = run("history", "app", "-b", address, "-o", "json").document["items"]
    last = [item for item in items if item["kind"] == "rebalance"][-1]
    moment = datetime.fromisoformat(last["at"]) + timedelta(days=days)
    path.write_text(
        f"[{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1_000:03}] INFO [GroupCoordinator 1]:"
        f" Assignment received from leader {last['leader']} for group app for generation"
        f" {generation or last['generation']}. (kafka.coordinator.group.GroupCoordinator)\n"
    )
    return str(path)


NO_LINE = "no line matches these changes; check its cluster and its time"


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ({}, "1 line matches; its clock agrees with the records"),
        ({"days": 0.25}, "1 line matches; its clock is 6h00m ahead of the records"),
        ({"days": -1}, "1 line matches; its clock is 24h00m behind the records"),
        ({"days": -3}, NO_LINE),
        ({"generation": 99}, NO_LINE),
    ],
    ids=["right", "hours apart", "a day apart", "of another day", "of another cluster"],
)
def test_logs(address: str, tmp_path: Path, made: dict[str, Any], told: str) -> None:
    """What a log is worth is said in a note; the group is examined in any case."""
    log = log_of(address, tmp_path / "server.log", **made)
    outcome = run("doctor", "app", "--log", log, "-b", address, "-o", "json")
    assert outcome.exit_code == 0, outcome.stderr
    notes = [each["message"] for each in outcome.document["notes"] if "LOG" in each["code"]]
    assert notes == [f"`{log}`: {told}"]
    assert [item["group"] for item in outcome.document["items"]] == ["app"]


def test_a_group_that_is_not_there(address: str) -> None:
    """The others are examined all the same."""
    outcome = run("doctor", "done", "nope", "-b", address, "-o", "json")
    assert outcome.exit_code == 5
    assert [item["group"] for item in outcome.document["items"]] == ["done"]
    assert outcome.document["errors"][0]["target"] == "nope"


@pytest.mark.share(32)
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_finding_is_whole_however_narrow_the_terminal_is(width: int) -> None:
    """Object, impact, figures and the command: folded between words, the command not at all."""
    words = ("doctor", "billing", "--from", "shop.json", "--quiet")
    code, written = run_on_terminal(*words, COLUMNS=str(width))
    assert code == 6
    facts, _, finding = written.partition("\x1b[1;31merror[DATA_LOST]\x1b[0m")
    told = "billing: orders-2 (bill-2) these records were never processed (certain)"
    assert " ".join(finding.split()).startswith(told)
    assert "lost 40, committed_offset 10" in finding
    assert "  next: kgroups describe billing --topic orders" in finding.splitlines()
    assert all(len(line) <= max(width, 50) for line in finding.splitlines())
    assert "billing" in facts
    piped = run(*words).stdout.partition("error[DATA_LOST]")[2]
    assert width != 200 or finding == piped


@pytest.mark.usefixtures("files")
def test_a_snapshot_has_no_history() -> None:
    """What cannot be examined in a file is named; nothing can be added to it."""
    outcome = run("doctor", "billing", "--from", "shop.json", "-o", "json")
    assert set(reasons(outcome.document["items"][0]).values()) == {
        "requires --over or --captures",
        "requires --over 30s",
        "a snapshot file has no history",
        "a snapshot file does not record it",
    }
    assert run("doctor", "billing", "--from", "shop.json", *OVER).exit_code == 2
    assert run("doctor", "billing", "--from", "shop.json", "--log", "x.log").exit_code == 2
