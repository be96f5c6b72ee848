"""What a report on few rows asks of Spark: jobs, and calls to the JVM. Counted, not timed."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from py4j.clientserver import JavaClient
from py4j.java_gateway import GatewayClient
from pyspark.sql import SparkSession

from kgroups.cli.commands.lag.lag_options import conditions_on_rows
from kgroups.core.lag.captures.capture_window import Span
from kgroups.core.lag.engines import Asked, Given
from kgroups.core.lag.lag_query import LagQuery
from kgroups.core.lag.report import lag_report
from kgroups.core.lag.spark_engine import Spark
from kgroups.core.lag.window.window_figures import asking, figures_of
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.capture_writer import captured_row, table_of
from tests.support.lag.made_fleet import fleet
from tests.support.lag.made_history import START_MS, STEP_MS, captures, write_rows

pytestmark = pytest.mark.spark

COUNT = 35
UNTIL_MS = START_MS + (COUNT - 1) * STEP_MS

# What a report may take. Each call is some tenth of a millisecond; the first reports took 4,000.
MOST_CALLS = 750


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures of every shape, of more files than Spark lists without a job."""
    place = tmp_path_factory.mktemp("captures")
    write_rows(place, captures(3, COUNT))
    return place


@dataclass
class Cost:
    """What was asked of Spark.

    Args:
        calls: to the JVM, without those that only say that Python has forgotten an object.
    """

    jobs: int = 0
    stages: int = 0
    calls: int = 0


@contextmanager
def counted(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cost]:
    """Counts for the length of the block."""
    cost = Cost()

    def patched(original: Callable[..., Any]) -> Callable[..., Any]:
        def send(self: Any, command: str, *args: Any, **kwargs: Any) -> Any:
            cost.calls += not command.startswith("m\n")
            return original(self, command, *args, **kwargs)

        return send

    context: Any = spark.sparkContext
    context.setJobGroup("counted", "counted")
    before = len(context.statusTracker().getJobIdsForGroup("counted"))
    try:
        with monkeypatch.context() as patch:
            for client in (GatewayClient, JavaClient):
                patch.setattr(client, "send_command", patched(client.send_command))
            yield cost
        jobs = context.statusTracker().getJobIdsForGroup("counted")
        cost.jobs = len(jobs) - before
        newest = context.statusTracker().getJobInfo(max(jobs))
        cost.stages = len(newest.stageIds)
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)


QUERIES = {
    "group": LagQuery(),
    "member": LagQuery(by="member"),
    "pictures": LagQuery(pictures=True),
    "conditions": LagQuery(fail_on=conditions_on_rows(["lag > 5", "lag_max > 9"])),
    "sql": LagQuery(sql="lag > 5"),
}


@pytest.mark.share(6)
@pytest.mark.parametrize("kind", QUERIES)
def test_a_live_report_is_one_job(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Rows, totals, members, charts and conditions by one query."""
    with counted(spark, monkeypatch) as cost:
        report = lag_report([fleet(5)], QUERIES[kind], session=spark)
    assert report.items
    assert cost.jobs == 1
    assert cost.calls <= MOST_CALLS


@pytest.mark.slow("live reports, and one on captures without shuffles, are in every run")
@pytest.mark.parametrize("kind", [*QUERIES, "compare"])
def test_a_report_on_few_captures_is_one_job(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, folder: Path, kind: str
) -> None:
    """However many files they are in."""
    query = LagQuery(compare_ms=5 * STEP_MS) if kind == "compare" else QUERIES[kind]
    since_ms = UNTIL_MS - 33 * STEP_MS
    with counted(spark, monkeypatch) as cost:
        report = lag_report_over(folder, query, since_ms=since_ms, until_ms=UNTIL_MS, session=spark)
    assert report.items
    assert cost.jobs == 1
    assert cost.calls <= MOST_CALLS


def test_a_report_on_few_captures_shuffles_nothing(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """Also where Spark does not know how little it joins: it would shuffle each side before.

    There are no members, and of a table that it knows to be empty Spark makes a stage to count it.
    """
    name = "spark.sql.execution.arrow.localRelationThreshold"
    before = spark.conf.get(name)
    spark.conf.set(name, "0")
    try:
        with counted(spark, monkeypatch) as cost:
            lag_report_over(folder, since_ms=START_MS, until_ms=UNTIL_MS, session=spark)
    finally:
        spark.conf.set(name, str(before))
    assert (cost.jobs, cost.stages) == (1, 2)
    assert cost.calls <= MOST_CALLS


def test_the_series_of_a_window_are_sorted_once(spark: SparkSession) -> None:
    """All that looks at neighbours, or at the points so far, goes through them in one order."""
    engine = Spark(spark)
    questions = asking(engine, LagQuery(), UNTIL_MS)
    rows = engine.rows(table_of("rows", [captured_row(captured_at_ms=START_MS)]))
    figures = figures_of(questions, rows, {"c": Span(START_MS, UNTIL_MS)})
    frame: Any = engine.frame(figures.series)
    plan = frame._jdf.queryExecution().executedPlan().toString()
    walks = [line for line in plan.splitlines() if re.search(r"\bSort \[series#", line)]
    assert len(walks) == 1, plan


@pytest.mark.parametrize("kept", ["rows", "answer", "rows of an answer"])
def test_what_is_kept_is_computed_once(spark: SparkSession, tmp_path: Path, kept: str) -> None:
    """By one query that asks for it twice, each time within another, and by the next."""
    runs = tmp_path / "runs"

    def noted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with runs.open("a") as file:
            file.write("one\n")
        yield from batches

    engine = Spark(spark)
    try:
        rows = spark.range(0, 3, 1, 1).mapInArrow(noted, "id long")
        text = "WITH doubles AS (SELECT id * 2 AS id FROM {rows}) SELECT id FROM doubles"
        if kept == "rows":
            source = engine.keep_rows(rows)
        elif kept == "answer":
            source = engine.keep(Asked(text, {}, {"rows": Given(rows)}))
        else:
            answer = engine.frame(Asked(text, {}, {"rows": Given(spark.range(0, 3, 1, 1))}))
            source = engine.keep(Given(answer.mapInArrow(noted, "id long")))
        text = "SELECT sum(id) AS total FROM {rows}"
        sums = {name: Asked(text, {}, {"rows": source}) for name in ("first", "second")}
        halves = "SELECT total FROM {first} UNION ALL SELECT total FROM {second}"
        totals = [engine.fetch(Asked(halves, {}, sums))["total"].to_pylist() for _ in range(2)]
    finally:
        engine.release()
    assert totals == [[3, 3] if kept == "rows" else [6, 6]] * 2
    assert runs.read_text().splitlines() == ["one"]
