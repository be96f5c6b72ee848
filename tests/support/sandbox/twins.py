"""Tests of a real broker that the embedded cluster runs as well.

A suite of the real broker that another module takes over (`shared_suites.py`) is there twice in a
run. What runs on the embedded cluster is in `make test`; the same test on the real broker is slow.
"""

from collections.abc import Iterable

import pytest

REASON = "the same test runs on the embedded cluster: {there}"


class Twins:
    """A plugin that marks them."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Before tests are chosen by their marks."""
        mark_twins(item for item in items if isinstance(item, pytest.Function))


def mark_twins(items: Iterable[pytest.Function]) -> None:
    """Mark as slow what another of these modules took over."""
    items = list(items)
    taken = {
        (item.function.__module__, item.originalname): item.module.__name__
        for item in items
        if item.function.__module__ != item.module.__name__
    }
    for item in items:
        there = taken.get((item.module.__name__, item.originalname))
        if there is not None and item.get_closest_marker("kafka"):
            item.add_marker(pytest.mark.slow(REASON.format(there=there)))
