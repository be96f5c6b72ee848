"""Engines of lag reports for tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from kgroups.core.lag.duckdb_engine import duckdb_engine
from kgroups.core.lag.engines import Engine
from kgroups.core.lag.spark_engine import Spark

SPARK: Final = pytest.param(
    "spark", marks=pytest.mark.slow("the same SQL by DuckDB is in every run")
)
ENGINES: Final = ("duckdb", SPARK)


@contextmanager
def engine_of(name: str, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """DuckDB, or the Spark of the session."""
    if name == "duckdb":
        with duckdb_engine() as engine:
            yield engine
    else:
        spark = Spark(request.getfixturevalue("spark"))
        try:
            yield spark
        finally:
            spark.release()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Who computes a report on captures, as arguments of `lag_report_over`."""
    if request.param == "duckdb":
        return {"engine": "duckdb"}
    return {"session": request.getfixturevalue("spark")}


@pytest.fixture(params=ENGINES)
def session(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SparkSession | None:
    """The session of a report that is Spark's to users; None: DuckDB stands in its place.

    That answers what needs no Python in Spark's tasks: reports on snapshots without planned
    assignments, and histories that are read here.
    """
    if request.param == "duckdb":
        stand_in = "kgroups.core.lag.spark_engine.spark_engine"
        monkeypatch.setattr(stand_in, lambda *_, **__: duckdb_engine())
        return None
    session: SparkSession = request.getfixturevalue("spark")
    return session
