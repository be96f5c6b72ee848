"""Engines of lag reports for tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from kgroups.core.lag.duckdb_engine import duckdb_engine
from kgroups.core.lag.engines import Engine
from kgroups.core.lag.spark_engine import Spark

ENGINES: Final = ("duckdb", "spark")


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
