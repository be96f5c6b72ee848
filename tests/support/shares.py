"""`@pytest.mark.share(4)`: of the cases of a test one in four is in `make test`, the rest is slow.

For crossings and oracles whose cases are many of a kind. Which cases are in the share follows from
their names: it stays the same when others come or go, in whatever order they run. One always is.
"""

from collections import defaultdict
from zlib import crc32

import pytest

REASON = "one in {of} of these cases is in `make test`"


class Shares:
    """A plugin that marks the rest."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Before tests are chosen by their marks."""
        cases: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            if item.get_closest_marker("share") is not None:
                cases[item.nodeid.partition("[")[0]].append(item)
        for of_a_test in cases.values():
            _mark(of_a_test)


def _mark(cases: list[pytest.Item]) -> None:
    """Mark those of a test that are not in its share."""
    mark = cases[0].get_closest_marker("share")
    assert mark is not None
    (of,) = mark.args
    numbers = [crc32(item.nodeid.encode()) for item in cases]
    always = min(numbers, key=lambda number: (number % of != 0, number))
    for item, number in zip(cases, numbers, strict=True):
        if number % of and number != always:
            item.add_marker(pytest.mark.slow(REASON.format(of=of)))
