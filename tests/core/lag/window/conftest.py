"""Fixtures of the tests of reports over a window."""

import pytest

from kgroups.core.lag.window import rows_here


@pytest.fixture(params=["read here", "read by Spark"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who reads captures and roll-ups: Arrow, or Spark as if they were many."""
    if request.param == "read by Spark":
        monkeypatch.setattr(rows_here, "MOST_ROWS", -1)
    return str(request.param)
