"""A run with `--budget SECONDS`: files of tests begin while time is left.

What was not begun is skipped, and the end of the run names it file by file. What failed has failed.
"""

import time

import pytest

from tests.schedule import seconds
from tests.support.durations import Durations, file_of, kind_of


class Budget:
    """A plugin that skips what no longer fits.

    Args:
        budget_s: how long, from now on.
        durations: what files are known to need.
    """

    def __init__(self, budget_s: float, durations: Durations) -> None:
        self._end = time.monotonic() + budget_s
        self._durations = durations
        self._begun: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """A file begins if its recorded time is left, and goes on until all is used."""
        file = file_of(item.nodeid)
        needed = 0.0 if file in self._begun else seconds(self._durations, file, kind_of(item))
        if time.monotonic() + needed > self._end:
            pytest.skip(f"no time was left for {file}")
        self._begun.add(file)
