"""`@pytest.mark.share(4)`: of the cases of a test one in four is in `make test`, the rest is slow.

For crossings and oracles whose cases are many of a kind. Which cases are in the share follows from
their names: it stays the same when others come or go. The first one always is.
"""

from zlib import crc32

import pytest

REASON = "one in {of} of these cases is in `make test`"


class Shares:
    """A plugin that marks the rest."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Before tests are chosen by their marks."""
        seen: set[str] = set()
        for item in items:
            mark = item.get_closest_marker("share")
            if mark is None:
                continue
            test = item.nodeid.partition("[")[0]
            is_first = test not in seen
            seen.add(test)
            if not is_first and crc32(item.nodeid.encode()) % mark.args[0]:
                item.add_marker(pytest.mark.slow(REASON.format(of=mark.args[0])))
