"""The pipeline's transforms on a real session: the case table as columns, and groupings."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from kgroups.core.lag.captures.capture_tables import capture_tables
from kgroups.core.lag.captures.spark_columns import ROWS
from kgroups.core.lag.transforms import KEYS, lag_by, top_rows, totals, with_lag
from tests.support.lag.lag_cases import LAG_CASES
from tests.support.lag.made_fleet import fleet

pytestmark = pytest.mark.spark

COLUMN_OF = {
    "committed": "committed_offset",
    "log_start": "log_start_offset",
    "log_end": "log_end_offset",
    "last_stable": "last_stable_offset",
    "error": "error",
    "commits_known": "commits_known",
}


def row(topic: str, **facts: Any) -> dict[str, Any]:
    """A row of `ROWS`; what is not given is null."""
    given = {
        "captured_at_ms": 1,
        "cluster": "c",
        "group": "g",
        "group_type": "classic",
        "topic": topic,
        "partition": 0,
        "commits_known": True,
    }
    return dict.fromkeys(ROWS.fieldNames()) | given | facts


def rows_frame(spark: SparkSession, rows: list[dict[str, Any]]) -> DataFrame:
    """Rows as a DataFrame with the pipeline's schema."""
    return spark.createDataFrame([tuple(r.values()) for r in rows], schema=ROWS)


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
@pytest.mark.parametrize("uncommitted", [None, "start", "end"])
def test_lag_columns_follow_the_case_table(
    spark: SparkSession, uncommitted: Any, isolation: Any
) -> None:
    """Every case of the table, all cases with the same options in one frame."""
    cases = {
        case.id: case
        for case in LAG_CASES
        if case.facts.get("uncommitted") == uncommitted
        and case.facts.get("isolation", "read_uncommitted") == isolation
    }
    rows = [
        row(case.id, **{COLUMN_OF[k]: v for k, v in case.facts.items() if k in COLUMN_OF})
        for case in cases.values()
    ]
    lagged = with_lag(rows_frame(spark, rows), uncommitted=uncommitted, isolation=isolation)
    found = {r["topic"]: (r["lag"], r["lag_status"], r["lost"]) for r in lagged.collect()}
    assert found == {case.id: (case.lag, case.status, case.lost) for case in cases.values()}


def test_cases_cover_the_policies() -> None:
    """The parametrised test above is not empty where it matters."""
    options = {(c.facts.get("uncommitted"), c.facts.get("isolation")) for c in LAG_CASES}
    assert {(None, None), ("start", None), ("end", None), (None, "read_committed")} <= options


def lag_rows(spark: SparkSession) -> DataFrame:
    """Two groups, three members, a null lag, a lost record, a partition without an owner."""
    member = {"member_id": "m1", "client_id": "c1", "host": "/h1"}
    other = {"member_id": "m2", "client_id": "c2", "host": "/h1"}
    log = {"log_start_offset": 10, "log_end_offset": 100}
    return with_lag(
        rows_frame(
            spark,
            [
                row("t", partition=0, committed_offset=40, **log, **member),
                row("t", partition=1, committed_offset=4, **log, **other),
                row("t", partition=2, **log, **other),
                row("u", partition=0, committed_offset=100, **log),
                row("t", group="h", partition=0, **log),
            ],
        )
    )


def test_lag_by_group(spark: SparkSession) -> None:
    """Sums leave out what is not known and count it; a group of nothing known is null."""
    report = lag_by(lag_rows(spark), KEYS["group"], percentiles=False)
    assertDataFrameEqual(
        report,
        spark.createDataFrame(
            [("c", "g", 4, 150, 90, 6, 1, 0), ("c", "h", 1, None, None, None, 1, 0)],
            "cluster string, group string, partitions long, lag long, "
            "lag_max long, lost long, unknown_partitions long, stale_partitions long",
        ),
    )


def test_lag_by_topic_host_and_member(spark: SparkSession) -> None:
    """Other keys, the null owner among them."""
    columns = ["lag", "lag_p50", "lag_p95", "unknown_partitions"]
    by_topic = lag_by(lag_rows(spark), KEYS["topic"]).select("topic", "groups", *columns)
    by_host = lag_by(lag_rows(spark), KEYS["host"]).select("host", "partitions", *columns)
    by_member = lag_by(lag_rows(spark), KEYS["member"]).select("group", "member_id", *columns)
    assert {tuple(r) for r in by_topic.collect()} == {
        ("t", 2, 150, 60, 90, 2),
        ("u", 1, 0, 0, 0, 0),
    }
    assert {tuple(r) for r in by_host.collect()} == {
        ("/h1", 3, 150, 60, 90, 1),
        (None, 2, 0, 0, 0, 1),
    }
    assert {tuple(r) for r in by_member.collect()} == {
        ("g", "m1", 60, 60, 60, 0),
        ("g", "m2", 90, 90, 90, 1),
        ("g", None, 0, 0, 0, 0),
        ("h", None, None, None, None, 1),
    }


def test_totals(spark: SparkSession) -> None:
    """One row over everything, also over nothing."""
    (total,) = totals(lag_rows(spark)).collect()
    assert total.asDict() == {
        "groups": 2,
        "partitions": 5,
        "lag": 150,
        "lag_max": 90,
        "lost": 6,
        "unknown_partitions": 2,
    }
    (nothing,) = totals(with_lag(rows_frame(spark, []))).collect()
    assert nothing.asDict() == {
        "groups": 0,
        "partitions": 0,
        "lag": None,
        "lag_max": None,
        "lost": None,
        "unknown_partitions": 0,
    }


def test_top_rows_put_the_unknown_last(spark: SparkSession) -> None:
    """The most first, null last, ties by the keys."""
    report = lag_by(lag_rows(spark), KEYS["partition"], percentiles=False)
    rows = top_rows(report, "lag", KEYS["partition"], 4).collect()
    assert [(r["group"], r["topic"], r["partition"], r["lag"]) for r in rows] == [
        ("g", "t", 1, 90),
        ("g", "t", 0, 60),
        ("g", "u", 0, 0),
        ("g", "t", 2, None),
    ]


def test_capture_tables_have_the_declared_schemas(spark: SparkSession) -> None:
    """A snapshot becomes rows of facts: the declared columns, no lag among them."""
    tables = capture_tables([fleet(3)])
    frame = spark.createDataFrame(tables.rows, schema=ROWS)
    assertSchemaEqual(frame.schema, ROWS)
    assert tables.rows.num_rows == frame.count() > 0
    assert not {"lag", "lost", "lag_status"} & set(tables.rows.schema.names)


def test_capture_tables_of_nothing(spark: SparkSession) -> None:
    """A cluster without groups is three empty tables with their schemas."""
    tables = capture_tables([fleet(3, groups=0)])
    assert tables.rows.num_rows == tables.members.num_rows == 0
    assert tables.rows.schema.names == ROWS.fieldNames()
