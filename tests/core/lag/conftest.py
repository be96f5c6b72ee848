"""Fixtures of the tests of lag reports."""

from typing import Any

import pytest

SPARK = pytest.param("spark", marks=pytest.mark.slow("the same SQL by DuckDB is in every run"))


@pytest.fixture(params=["duckdb", SPARK])
def engine(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Who computes a report, as arguments of `lag_report_over`; Spark in the slow tests."""
    if request.param == "duckdb":
        return {"engine": "duckdb"}
    return {"session": request.getfixturevalue("spark")}
