"""Captures of a real broker, driven at known rates, and the report over them."""

import json
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import read_settings
from kgroups.core.lag.captures.collector import collect
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.process import finish
from tests.support.cli.runner import check_document, run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.hung_transactions import left_open
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    end_offsets,
    produce,
)

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

TOPIC = "driven"
GROUPS = ("driven-keeps-up", "driven-slow", "driven-stopped")
BEATS = 60
BEAT_S = 1.0
PER_BEAT, SLOW_PER_BEAT = 200, 50
STOPS_AFTER = 20


def answered(*line: str) -> dict[str, Any]:
    """The document that the program prints, as a process of its own."""
    code, stdout, stderr = finish(*line)
    assert code == 0, stderr
    document: dict[str, Any] = json.loads(stdout)
    check_document(document)
    return document


def drive(bootstrap: str, folder: Path) -> list[ClusterSnapshot]:
    """A minute of records and commits; the captures, one every other beat."""
    create_topics(bootstrap, {TOPIC: 1})
    cell = (TOPIC, 0)
    begun = time.monotonic()
    taken: list[ClusterSnapshot] = []

    def take() -> ClusterSnapshot:
        taken.append(admin.snapshot(GROUPS))
        return taken[-1]

    with ClusterAdmin(read_settings(bootstrap, None)) as admin:
        for beat in range(1, BEATS + 1):
            produce(bootstrap, {cell: PER_BEAT})
            end = beat * PER_BEAT
            commits = {"driven-keeps-up": {cell: end}, "driven-slow": {cell: beat * SLOW_PER_BEAT}}
            if beat <= STOPS_AFTER:
                commits["driven-stopped"] = {cell: end}
            commit_offsets(bootstrap, commits)
            if beat % 2 == 0:
                (capture,) = collect(take, folder)
                assert capture.error is None
            # The rate is the point: records must come at a pace of wall-clock time.
            threading.Event().wait(max(begun + beat * BEAT_S - time.monotonic(), 0))
    return taken


def end_of(snapshot: ClusterSnapshot) -> int:
    """Where the log ended in a capture."""
    end = snapshot.topics[TOPIC].partitions[0].log_end_offset
    assert end is not None
    return end


def behind_s(captures: list[ClusterSnapshot], offset: int, now_ms: float) -> tuple[float, float]:
    """At least and at most how long ago the log ended at an offset: between two captures."""
    times = [(end_of(capture), capture.captured_at_ms) for capture in captures]
    after = max(at_ms for end, at_ms in times if end <= offset)
    before = min(at_ms for end, at_ms in times if end > offset)
    return (now_ms - before) / 1000, (now_ms - after) / 1000


@pytest.mark.slow("a minute of records; the same from captures of one moment is quicker")
def test_rates_lag_in_seconds_and_verdicts(kafka: KafkaCluster, tmp_path: Path) -> None:
    """What was driven for a minute, by the times of the captures; each group called by its name."""
    captures = drive(kafka.bootstrap, tmp_path)
    first, last = captures[0], captures[-1]
    ended_ms = last.captured_at_ms
    since, until = (
        datetime.fromtimestamp(at_ms / 1000, UTC).isoformat()
        for at_ms in (first.captured_at_ms, ended_ms + 1)
    )
    document = answered(
        *("lag", "report", "--captures", str(tmp_path), "--since", since, "--until", until),
        *("--html", str(tmp_path / "lag.html"), "-o", "json"),
    )
    assert "Lag over time" in (tmp_path / "lag.html").read_text()
    rows = {row["group"]: row for row in document["items"]}
    assert set(rows) == set(GROUPS)
    beats_a_second = (BEATS - 2) / ((ended_ms - first.captured_at_ms) / 1000)
    for row in rows.values():
        assert row["rate_in"] == pytest.approx(PER_BEAT * beats_a_second, rel=1e-3)
    keeps_up, slow, stopped = (rows[name] for name in GROUPS)
    assert keeps_up["lag"] == 0
    assert keeps_up["rate_out"] == pytest.approx(PER_BEAT * beats_a_second, rel=1e-3)
    assert (keeps_up["verdict"], keeps_up["lag_seconds_method"]) == ("OK", "at_head")
    assert slow["lag"] == BEATS * (PER_BEAT - SLOW_PER_BEAT)
    assert slow["rate_out"] == pytest.approx(SLOW_PER_BEAT * beats_a_second, rel=1e-3)
    assert (slow["verdict"], slow["trend"]) == ("WARN", "growing")
    assert slow["lag_seconds_method"] == "interpolated"
    assert slow["catch_up_seconds"] is None
    assert stopped["lag"] == (BEATS - STOPS_AFTER) * PER_BEAT
    assert (stopped["verdict"], stopped["verdict_rule"]) == ("STOP", "commits_stopped")
    stands = {"driven-slow": BEATS * SLOW_PER_BEAT, "driven-stopped": STOPS_AFTER * PER_BEAT}
    for name, offset in stands.items():
        least, most = behind_s(captures, offset, ended_ms)
        assert least - 0.001 <= rows[name]["lag_seconds"] <= most + 0.001
    # The records themselves say the same, as old as they are by then.
    asked_ms = time.time() * 1000
    document = answered(
        *("lag", "report", *GROUPS, "--record-times", "-b", kafka.bootstrap, "-o", "json"),
        *("--sql", "lag_seconds >= 0"),
    )
    answered_ms = time.time() * 1000
    by_record = {row["group"]: row for row in document["items"]}
    assert by_record["driven-keeps-up"]["lag_seconds_method"] == "at_head"
    for name, offset in stands.items():
        row = by_record[name]
        assert row["lag_seconds_method"] == "record"
        least, _ = behind_s(captures, offset, asked_ms)
        _, most = behind_s(captures, offset, answered_ms)
        assert least <= row["lag_seconds"] <= most


def test_collect_and_compact_commands(kafka: KafkaCluster, tmp_path: Path) -> None:
    """Twice two captures a second apart, each two in one file; the files merged into one."""
    create_topics(kafka.bootstrap, {"collected": 2})
    commit_offsets(kafka.bootstrap, {"collected": {("collected", 0): 0, ("collected", 1): 0}})
    folder, broker = str(tmp_path / "captures"), ("-b", kafka.bootstrap, "-o", "json")
    for _ in range(2):
        line = ("lag", "collect", folder, "--every", "1s", "--count", "2", *broker)
        document = run(*line).document
        check_document(document)
        assert document["summary"] == {"done": 2, "failed": 0}
        assert all(item["partitions"] >= 2 for item in document["items"])
    document = run("lag", "compact", folder, "--today", "-o", "json").document
    merged = {item["table"]: item["files"] for item in document["items"]}
    assert merged.keys() >= {"captures", "rows", "topics"}  # others' groups may have members
    assert set(merged.values()) == {2}
    nothing = dict.fromkeys(("rolled_up", "late", "removed"), 0)
    assert document["summary"] == nothing | {"merged": 2 * len(merged)}


def test_collecting_from_a_broker_that_is_not_there(tmp_path: Path) -> None:
    """Each capture fails and is told; the exit code is that of an unreachable cluster."""
    outcome = run(
        *("lag", "collect", str(tmp_path), "--every", "1s", "--count", "2", "-o", "json"),
        *("-b", "127.0.0.1:1", "--timeout", "2s"),
    )
    assert outcome.exit_code == 3
    document = outcome.document
    assert [item["result"] for item in document["items"]] == ["failed", "failed"]
    assert "127.0.0.1:1" in document["errors"][0]["message"]
    assert "Traceback" not in outcome.stderr


@pytest.mark.parametrize(
    ("args", "code", "named"),
    [
        (["--over", "1h"], 2, "require `--captures DIR`"),
        (["--captures", "nowhere"], 5, "does not exist"),
        (["--captures", ".", "--over", "1x"], 2, "`1x` is not a duration"),
        (["--captures", ".", "--since", "yesterday"], 2, "`yesterday` is not a time"),
        (
            ["--captures", ".", "--since", "2026-01-02T00:00Z", "--until", "2026-01-01T00:00Z"],
            2,
            "is empty",
        ),
        (
            ["--captures", ".", "--since", "2026-01-02T00:00Z", "--over", "1h"],
            2,
            "cannot be used together",
        ),
        (["--captures", ".", "--since", "2026-01-02T00:00"], 2, "has no zone"),
        (["--captures", ".", "--over", "99999999999w"], 2, "is not a duration"),
        (["--captures", ".", "--record-times"], 2, "cannot be used with"),
        (["--captures", ".", "--over", "1h"], 5, "no captures in the window"),
        (["--captures", ".", "--assignor", "range", "--by", "topic"], 2, "planned assignments"),
    ],
)
def test_bad_windows_end_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], code: int, named: str
) -> None:
    """One sentence, before Spark is started."""
    monkeypatch.chdir(tmp_path)
    outcome = run("lag", "report", *args)
    assert (outcome.exit_code, outcome.stdout) == (code, "")
    assert named in outcome.stderr
    assert "Traceback" not in outcome.stderr


@pytest.mark.slow("a start of Spark; reports over captures are in every run")
def test_history_out_of_the_offsets_topic(kafka: KafkaCluster) -> None:
    """Every commit of two groups, with its age, out of a broker that nobody collected."""
    create_topics(kafka.bootstrap, {"remembered": 2})
    produce(kafka.bootstrap, {("remembered", 0): 50, ("remembered", 1): 50})
    for offset in (1, 2, 3, 40):
        commits = {("remembered", 0): offset, ("remembered", 1): 50}
        commit_offsets(kafka.bootstrap, {"remembers": commits, "remembers too": commits})
    document = answered(
        *("lag", "history", "remembers*", "--by", "partition", "--over", "1h", "-o", "json"),
        *("--record-times", "--ends", "6", "-b", kafka.bootstrap),
    )
    rows = {(r["group"], r["partition"]): r for r in document["items"]}
    assert set(rows) == {(g, p) for g in ("remembers", "remembers too") for p in (0, 1)}
    for (_, partition), row in rows.items():
        assert row["commits"] == 4
        assert row["lag"] == (10 if partition == 0 else 0)
        assert 0 <= row["commit_age_seconds"] < 120
        assert row["lag_seconds_method"] == ("record" if partition == 0 else "at_head")
        assert 0 <= row["lag_seconds"] < 120
    records = document["summary"]["records"]
    assert records["commit"] == 16
    assert records["broken"] == 0


def test_history_of_a_cluster_that_is_not_there() -> None:
    """One sentence with the address, before Spark is started."""
    outcome = run("lag", "history", "-b", "127.0.0.1:1", "--timeout", "2s")
    assert (outcome.exit_code, outcome.stdout) == (3, "")
    assert "127.0.0.1:1" in outcome.stderr
    assert "starting Spark" not in outcome.stderr


@dataclass(frozen=True)
class HeldBack:
    """A group of which open and aborted transactions hold partitions back, as two files show it."""

    group: str
    captures: Path
    snapshot: Path


@pytest.fixture(scope="module")
def held_back(kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> HeldBack:
    """Ten records, then transactions.

    Partition 0 has three more in one that stays open, partition 1 two in one that was aborted (and
    its marker), partition 2 nothing.
    """
    group = topic = "held-back"
    at = [(topic, number) for number in range(3)]
    create_topics(kafka.bootstrap, {topic: 3})
    produce(kafka.bootstrap, dict.fromkeys(at, 10))
    commit_offsets(kafka.bootstrap, {group: {at[0]: 4, at[1]: 4, at[2]: 10}})
    aborted = left_open(kafka.bootstrap, "held-back-aborted", {at[1]: 2})
    aborted.abort_transaction(60)
    marked = "the marker of the aborted transaction is in the log"
    wait_until(lambda: end_offsets(kafka.bootstrap, [at[1]]) == {at[1]: 13}, marked)
    open_ = left_open(kafka.bootstrap, "held-back-open", {at[0]: 3})
    assert end_offsets(kafka.bootstrap, at) == {at[0]: 13, at[1]: 13, at[2]: 10}
    folder = tmp_path_factory.mktemp("held-back")
    found = HeldBack(group, folder / "captures", folder / "s.json")
    try:
        for command in (
            ("lag", "collect", str(found.captures)),
            ("snapshot", "save", str(found.snapshot)),
        ):
            outcome = run(*command, "-b", kafka.bootstrap)
            assert outcome.exit_code == 0, outcome.stderr
    finally:
        open_.abort_transaction(60)
    return found


HELD_LAGS = {
    "read_uncommitted": {0: 13 - 4, 1: 13 - 4, 2: 0},
    "read_committed": {0: 10 - 4, 1: 13 - 4, 2: 0},
}


@pytest.mark.slow("a start of Spark for each case")
@pytest.mark.parametrize("isolation", HELD_LAGS)
@pytest.mark.parametrize("source", ["captures", "snapshot"])
def test_open_transactions_hold_reports_back(
    held_back: HeldBack, isolation: str, source: str
) -> None:
    """To the last stable offset from captures and from a snapshot, all the same."""
    where = {
        "captures": ("--captures", str(held_back.captures), "--over", "1h"),
        "snapshot": ("--from", str(held_back.snapshot)),
    }
    document = answered(
        *("lag", "report", "--sql", f"group = '{held_back.group}'", "--by", "partition"),
        *(*where[source], "--isolation", isolation, "-o", "json"),
    )
    assert {row["partition"]: row["lag"] for row in document["items"]} == HELD_LAGS[isolation]


@pytest.mark.parametrize("isolation", HELD_LAGS)
def test_open_transactions_hold_descriptions_back(held_back: HeldBack, isolation: str) -> None:
    """The same lag, and the last stable offset where it counts."""
    options = ("--from", str(held_back.snapshot), "--isolation", isolation)
    (item,) = run("describe", held_back.group, *options, "-o", "json").document["items"]
    assert {row["partition"]: row["lag"] for row in item["offsets"]} == HELD_LAGS[isolation]
    has_stable = isolation == "read_committed"
    assert all(("last_stable_offset" in row) is has_stable for row in item["offsets"])


def test_sources_without_last_stable_offsets_are_refused(
    kafka: KafkaCluster, tmp_path: Path
) -> None:
    """What an older version left: exit 2 with the reason, and no empty column."""
    create_topics(kafka.bootstrap, {"unheld": 1})
    commit_offsets(kafka.bootstrap, {"unheld": {("unheld", 0): 0}})
    folder, file = tmp_path / "captures", tmp_path / "s.json"
    with ClusterAdmin(read_settings(kafka.bootstrap, None)) as admin:
        snapshot = admin.snapshot(["unheld"])
    (capture,) = collect(lambda: snapshot, folder)
    assert capture.error is None
    write_snapshot(snapshot, file)
    for command, where in (
        (("lag", "report", "--captures", str(folder), "--over", "1h"), "1 of 1 captures"),
        (("lag", "report", "--from", str(file)), f"`{file}`"),
        (("describe", "unheld", "--from", str(file)), f"`{file}`"),
    ):
        outcome = run(*command, "--isolation", "read_committed")
        assert (outcome.exit_code, outcome.stdout) == (2, "")
        assert where in outcome.stderr
        assert "requires last stable offsets" in outcome.stderr
        assert "hint: " in outcome.stderr
