"""A session that starts when it is needed, and by then knows what it will be asked."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from kgroups.core.spark import late_session
from kgroups.core.spark.late_session import running
from kgroups.core.spark.plans import functions as F
from kgroups.core.spark.query_ahead import parse, parsed_meanwhile
from kgroups.core.spark.session import SessionOptions

pytestmark = pytest.mark.spark

SCHEMA = StructType(
    [StructField(name, kind()) for name, kind in {"n": LongType, "key": StringType}.items()]
)
TABLE = pa.table({"n": [3, 5, 8], "key": ["a", "b", "c"]})


@pytest.fixture
def queries(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """What sessions were told when they started, each the one of these tests."""
    told: list[str | None] = []

    @contextlib.contextmanager
    def start(options: SessionOptions, _progress: Any) -> Iterator[SparkSession]:
        told.append(options.query)
        yield spark

    monkeypatch.setattr(late_session, "spark_session", start)
    return told


def test_it_starts_with_the_first_query(queries: list[str | None], spark: SparkSession) -> None:
    """Which Spark's parser takes as it is."""
    with running(None, None) as session:
        frame: Any = session.rows(TABLE, SCHEMA, few=True).where(F.col("n") > 4).select("n")
        assert not queries
        assert [row.n for row in frame.collect()] == [5, 8]
        assert frame.where(F.col("n") > 5).count() == 1
    (query,) = queries
    assert query == "SELECT `n` FROM source_0 WHERE `n` > 4"
    assert "Filter" in parse(spark._jvm, query).toString()


def test_it_starts_for_whatever_needs_it(queries: list[str | None]) -> None:
    """A query is not known then."""
    with running(None, None) as session:
        assert session.range(3).count() == 3
    assert queries == [None]


def test_it_need_not_start(queries: list[str | None]) -> None:
    """Where nobody asks."""
    with running(None, None) as session:
        session.rows(TABLE, SCHEMA, few=True)
    assert not queries


def test_spark_gets_the_columns_that_are_asked(spark: SparkSession) -> None:
    """Of rows as they are, all."""
    with running(spark, None) as session:
        rows: Any = session.rows(TABLE, SCHEMA, few=True)
        plan = rows.select("key")._jdf.queryExecution().optimizedPlan().toString()
        assert "key" in plan
        assert "n#" not in plan
        assert rows.columns == rows.spark_frame.columns == ["n", "key"]
        assert rows.agg(F.count(F.lit(1)).alias("rows")).collect()[0].rows == 3


def test_a_query_that_cannot_be_parsed_is_left_to_the_query(spark: SparkSession) -> None:
    """Looking ahead fails silently."""
    with pytest.raises(ParseException):
        parse(spark._jvm, "SELECT FROM (")
    with parsed_meanwhile(spark._jvm, "SELECT FROM ("):
        pass


def test_steps_are_told_once_it_has_started(spark: SparkSession) -> None:
    """What is being waited for until then is Spark."""
    told: list[str] = []
    with running(spark, told.append) as session:
        session.tell("reading")
        assert not told
        session.started()
        session.tell("computing")
    assert told == ["reading", "computing"]
