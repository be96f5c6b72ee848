"""Fixtures of the tests of reports over a window."""

from typing import Any

import pytest


@pytest.fixture(params=["duckdb", "spark"])
def engine(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Who computes a report, as arguments of `lag_report_over`."""
    if request.param == "duckdb":
        return {"engine": "duckdb"}
    return {"session": request.getfixturevalue("spark")}
