"""`kgroups lag report` with a real Spark: its documents, its silence, its failures."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kgroups.cli.commands.lag.lag_answer import lag_document
from kgroups.cli.output.openmetrics import METRICS
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions
from kgroups.core.lag.lag_query import KEYS
from kgroups.core.lag.report import LagQuery, lag_report
from kgroups.core.lag.report_columns import PLANNED_KEYS, report_columns
from tests.support.cli import clusters
from tests.support.cli.metrics import read_metrics
from tests.support.cli.process import finish
from tests.support.cli.runner import check_document, run
from tests.support.lag.engines import session

__all__ = ["session"]

pytestmark = pytest.mark.spark

GROUP = "kafka_consumergroup_group"


@pytest.mark.parametrize("by", KEYS)
def test_every_grouping_keeps_to_the_schema(
    by: str, session: SparkSession | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever a row stands for, the document is as its schema says."""
    check(LagQuery(by=by), session, capsys)


@pytest.mark.slow("further plans on Spark; their columns: tests/core/lag/test_report.py")
@pytest.mark.parametrize("by", PLANNED_KEYS)
def test_every_plan_keeps_to_the_schema(
    by: str, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same with planned assignments."""
    check(LagQuery(by=by, assignors=("range", "roundrobin")), spark, capsys)


def check(
    query: LagQuery, session: SparkSession | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The document and the metrics of a report on the shop."""
    snapshot = clusters.shop()
    answer = lag_report([snapshot], query, session=session)
    assert answer.columns == report_columns(query, "snapshot")
    Printer(GlobalOptions(output="json")).show(lag_document(snapshot, query.by, answer))
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    check_document(document)
    assert document["items"]
    assert document["summary"]["lag"] == 57
    Printer(GlobalOptions(output="openmetrics"), own_forms=METRICS).show(
        lag_document(snapshot, query.by, answer)
    )
    _check_metrics(document, query.by, capsys.readouterr().out)


def _check_metrics(document: dict[str, Any], by: str, text: str) -> None:
    """Each known number of a row is a series; a group's lag has the name that others give it."""
    found = read_metrics(text)
    names = {"group": f"{GROUP}_sum_lag", "partition": f"{GROUP}_lag"}
    lags = [
        value
        for (name, _), value in found.items()
        if name == names.get(by, f"kgroups_lag_report_{by}_lag")
    ]
    rows = [row.get("lag") for row in document["items"]]
    assert sorted(lags) == sorted(lag for lag in rows if lag is not None)
    keys = {"partition"}
    numbers = [
        value
        for row in document["items"]
        for name, value in row.items()
        if isinstance(value, int | float) and name not in keys
    ]
    assert len(found) == len(numbers) + 2  # when and how it was read


@pytest.mark.slow("a start of Spark; reports on the session of the tests are in every run")
def test_table_and_progress(files: Path) -> None:
    """The table is on stdout, files beside it; stderr tells what is waited for, in our words."""
    code, stdout, stderr = finish(
        *("lag", "report", "--from", "shop.json", "--by", "topic"),
        *("--html", "lag.html", "--parquet", "lag.parquet"),
    )
    assert code == 0
    assert "Heat map of partitions" in (files / "lag.html").read_text()
    assert pq.read_table(files / "lag.parquet").column("topic")[0].as_py() == "orders"
    heading, first, *_ = (line.split() for line in stdout.splitlines())
    assert heading[:4] == ["TOPIC", "GROUPS", "PARTITIONS", "LAG"]
    assert first[:4] == ["orders", "2", "6", "50"]
    assert stderr.startswith("starting Spark (local[")
    assert not any(word in stderr for word in ("WARN", "INFO", "Exception", "\x1b"))


@pytest.mark.slow("a start of Spark; plans on the session of the tests are in every run")
@pytest.mark.usefixtures("files")
def test_planned_assignments_side_by_side() -> None:
    """With `--assignor` a row is a group under one of them, and says what would help."""
    args = ("lag", "report", "--from", "shop.json", "--assignor", "range,roundrobin", "-o", "csv")
    code, stdout, _ = finish(*args, "--fields", "best,group,assignor")
    assert code == 0
    lines = stdout.splitlines()
    assert lines[0] == "best,group,assignor"
    assert {line.split(",")[2] for line in lines[1:]} == {"range", "roundrobin"}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("args", "code", "named"),
    [
        (["--master", "spark://127.0.0.1:1"], 3, "127.0.0.1:1"),
        (["--remote", "sc://127.0.0.1:1"], 3, "127.0.0.1:1"),
        (["--remote", "sc://127.0.0.1:1", "--master", "local[1]"], 2, "cannot be used together"),
        (["--assignor", "best"], 2, "`best`"),
        (["--by", "topic", "--assignor", "range"], 2, "`topic`"),
        (["--html", "nowhere/lag.html"], 2, "`nowhere/lag.html`"),
        (["--sort", "colour"], 2, "`colour`"),
        (["--sort", "verdict"], 2, "has no column `verdict` to sort by"),
        (["--sql", "lagg > 1"], 2, "no column `lagg`; did you mean `lag`?"),
        (["--sql", "lag > 1 and"], 2, "incomplete after `and` at character 9"),
        (["--remote", "sc://127.0.0.1:99999"], 2, "127.0.0.1:99999"),
    ],
)
def test_failures_before_spark_starts(
    args: list[str], code: int, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A master that is not there and a query that makes no sense end at once, in one sentence."""
    if code == 2:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))  # or the sentence is on Java
    outcome = run("lag", "report", "--from", "shop.json", *args)
    assert (outcome.exit_code, outcome.stdout) == (code, "")
    assert named in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_no_java(tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Java the report says what to install."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    code, stdout, stderr = finish("lag", "report", "--from", str(files / "shop.json"))
    assert (code, stdout) == (1, "")
    assert "Java 17" in stderr
