"""What the files of a unit of `tests/schedule.py` share: closed when the last of them is done.

A broker takes two hundredths of a core even when nobody asks it anything, so that ten of them
which wait for the end of the run would cost minutes.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

import pytest

from tests.schedule import UNITS
from tests.support.durations import file_of

NAME = "unit resources"
Held = TypeVar("Held")


class UnitResources:
    """A plugin that holds them.

    Args:
        ends_with_unit: whether they are closed when the next test is of another unit; at the end
            of the session otherwise. In a run of one process the files of a unit are scattered.
    """

    def __init__(self, *, ends_with_unit: bool) -> None:
        self._ends_with_unit = ends_with_unit
        self._stack = ExitStack()
        self._held: dict[str, Any] = {}

    def hold(self, name: str, make: Callable[[], AbstractContextManager[Held]]) -> Held:
        """What has this name; made if there is none."""
        if name not in self._held:
            self._held[name] = self._stack.enter_context(make())
        held: Held = self._held[name]
        return held

    def close(self) -> None:
        """Close everything, the last first."""
        self._held.clear()
        self._stack.close()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """After the teardown of the last test of a unit: its fixtures still use these."""
        if nextitem is None or (self._ends_with_unit and _unit_of(nextitem) != _unit_of(item)):
            self.close()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Whatever ended the session."""
        self.close()


def _unit_of(item: pytest.Item) -> str:
    file = file_of(item.nodeid)
    return item.config.stash[UNITS].get(file, file)


def resources_of(request: pytest.FixtureRequest) -> UnitResources:
    """The plugin of this session."""
    plugin = request.config.pluginmanager.get_plugin(NAME)
    assert isinstance(plugin, UnitResources)
    return plugin
