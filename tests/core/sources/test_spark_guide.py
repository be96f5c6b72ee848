"""The examples of docs/spark.md run, each as a reader would run it."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from kgroups.core.kafka.config.settings import read_settings
from kgroups.core.kafka.librdkafka.offsets_topic import OffsetsTopic
from kgroups.core.lag.frames import lag_report, read_captures
from kgroups.core.lag.report import LagQuery
from kgroups.core.lag.window.commit_log import parse_record
from kgroups.core.lag.window.window_report import lag_report_over
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.kafka.child import WAIT_S, Child, run_program
from tests.support.kafka.workload import commit_offsets, produce
from tests.support.lag.made_history import START_MS, STEP_MS, captures, write_rows

pytestmark = pytest.mark.spark

GUIDE = Path(__file__).parents[3] / "docs" / "spark.md"
# Of a few rows 200 tasks, as Spark makes of each shuffle by itself, take most of a minute.
SUBMIT = "--master local[2] --conf spark.sql.shuffle.partitions=2 --conf spark.ui.enabled=false"
ENVIRONMENT = os.environ | {
    "PYSPARK_PYTHON": sys.executable,
    "PYSPARK_SUBMIT_ARGS": f"{SUBMIT} pyspark-shell",
    "SPARK_LOCAL_IP": "127.0.0.1",
}
EXAMPLES = dict(
    re.findall(r"^## ([^\n]+)\n(?:(?!^## ).)*?```python\n(.*?)```", GUIDE.read_text(), re.M | re.S)
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster with commits of two groups."""
    with Sandbox(brokers=1, topics={"t": 2}) as cluster:
        place = cluster.bootstrap_servers
        commit_offsets(place, {name: {("t", 0): 0, ("t", 1): 0} for name in ("a", "b")})
        yield place


def shown(title: str, capsys: pytest.CaptureFixture[str], address: str = "") -> list[list[str]]:
    """The cells of the table that an example shows."""
    source = EXAMPLES[title].replace("localhost:9092", address)
    exec(compile(source, str(GUIDE), "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]


def test_each_example_has_a_test() -> None:
    """Four sections with code."""
    assert len(EXAMPLES) == 4


@pytest.mark.slow("the longest of the examples")
def test_report_on_captures(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The example shows what the command reports; so does each grouping."""
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "captures", captures(8, 8))
    heading, *rows = shown("Report on captures", capsys)
    assert heading == ["topic", "lag", "lag_peak", "verdict"]
    span = {"since_ms": START_MS, "until_ms": START_MS + 7 * STEP_MS}
    frame = read_captures(spark, tmp_path / "captures", **span)
    for by in ("topic", "partition"):
        query = LagQuery(by=by, top=1000)
        told = lag_report_over(
            tmp_path / "captures",
            query,
            session=spark,
            since_ms=span["since_ms"],
            until_ms=span["until_ms"],
        )
        found = [row.asDict() for row in lag_report(frame, by=by).collect()]
        assert told.items
        assert in_order(found) == in_order(told.items)
        if by == "topic":
            lags = ["NULL" if item["lag"] is None else str(item["lag"]) for item in told.items]
            assert sorted(row[1] for row in rows) == sorted(lags)


def in_order(items: list[dict[str, Any]]) -> list[list[tuple[str, Any]]]:
    """Rows in an order of their own; sums of fractions differ in their last digits."""
    return sorted(
        (
            [
                (key, round(value, 6) if isinstance(value, float) else value)
                for key, value in sorted(item.items())
                if key not in ("hourly", "daily", "monthly")  # of captures alone nothing is
            ]
            for item in items
        ),
        key=lambda row: [str(value) for _key, value in row],
    )


def test_groups_now(spark: SparkSession, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Both groups, empty, at the end of their logs."""
    assert shown("Groups now", capsys, address) == [
        ["group", "state", "lag"],
        ["a", "Empty", "0"],
        ["b", "Empty", "0"],
    ]


def test_commits(spark: SparkSession, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Two commits of each."""
    assert shown("Commits, in a batch or as a stream", capsys, address) == [
        ["group", "count"],
        ["a", "2"],
        ["b", "2"],
    ]


def commits_of(address: str) -> dict[str, int]:
    """How many commits each group has in the log."""
    log, found = OffsetsTopic(read_settings(address)), dict[str, int]()
    for part in log.slices():
        for records in log.read(part):
            for record in records:
                kind, group = parse_record(record)[2:4]
                if kind == "commit":
                    found[group] = found.get(group, 0) + 1
    return found


@pytest.mark.slow("a minute: the example runs as a program twice")
def test_once_on_a_live_cluster(tmp_path: Path) -> None:
    """It ends while commits go on; the lag of commits older than what is fresh is null."""
    source = EXAMPLES["Keep lag per group and minute in a Delta table"]
    assert source.count("FRESH_MS = 60_000") == 1
    is_over = threading.Event()
    with Sandbox(brokers=1, topics={"t": 1}) as cluster, ThreadPoolExecutor(1) as pool:
        address = cluster.bootstrap_servers
        produce(address, {("t", 0): 40})
        commit_offsets(address, {"before": {("t", 0): 10}})

        def commit_on() -> None:
            while not is_over.wait(0.05):
                commit_offsets(address, {"goes on": {("t", 0): 20}})

        going = pool.submit(commit_on)
        try:
            for name, fresh, lag in (("fresh", "3_600_000", 30), ("old", "-60_000", None)):
                program, table = tmp_path / f"{name}.py", str(tmp_path / name)
                program.write_text(source.replace("FRESH_MS = 60_000", f"FRESH_MS = {fresh}"))
                words = [address, table, str(tmp_path / f"{name}-checkpoint"), "once"]
                done = run_program([sys.executable, str(program), *words], env=ENVIRONMENT)
                assert done.returncode == 0, done.stderr
                rows = DeltaTable(table).to_pyarrow_table().to_pylist()
                (before,) = [row for row in rows if row["group"] == "before"]
                assert (before["commits"], before["lag_max"]) == (1, lag)
        finally:
            is_over.set()
        going.result(WAIT_S)


@pytest.mark.slow("a minute: the example runs as a program three times, and is killed twice")
def test_a_stream_that_is_killed(tmp_path: Path) -> None:
    """With `kill -9`, its JVM too, while commits go on: each commit is counted once."""
    program = tmp_path / "job.py"
    program.write_text(EXAMPLES["Keep lag per group and minute in a Delta table"])
    table, checkpoint = str(tmp_path / "lag"), str(tmp_path / "checkpoint")
    with Sandbox(brokers=1, topics={"t": 2}) as cluster:
        address, number = cluster.bootstrap_servers, 0
        words = [sys.executable, str(program), address, table, checkpoint]
        for _killed in range(2):
            with Child([*words, "go on"], env=ENVIRONMENT, stderr=subprocess.DEVNULL) as job:
                batches = 0
                while batches < 2:
                    for _commit in range(5):
                        number += 1
                        commit_offsets(address, {f"g{number % 3}": {("t", number % 2): 0}})
                    job.line_that("batch ", timeout_s=WAIT_S)
                    batches += 1
                number += 1
                commit_offsets(address, {"g0": {("t", 0): 0}})  # while it may be writing
                descendants = psutil.Process(job.pid).children(recursive=True)
                for pid in (*(process.pid for process in descendants), job.pid):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        done = run_program([*words, "once"], env=ENVIRONMENT)
        assert done.returncode == 0, done.stderr
        found: dict[str, int] = {}
        for row in DeltaTable(table).to_pyarrow_table().to_pylist():
            found[row["group"]] = found.get(row["group"], 0) + row["commits"]
        assert found == commits_of(address)
        assert sum(found.values()) == number
