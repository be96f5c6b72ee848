"""What ends a test that hangs, wherever it hangs.

When a test's limit is over, pytest-timeout (`timeout` in pyproject.toml) raises in the main thread,
which ends every wait that Python makes: locks, processes, sockets. Three things it leaves open, and
they are closed here:

* a wait inside C code never comes back to where Python raises: `grace_s` later the process prints
  the stacks of all threads and ends; pytest-xdist names the test and starts another process;
* once a test has failed nothing limits what tidies up after it: that has a limit of its own;
* modules that hang while they are imported, and threads that keep a finished run from ending.

The limit counts from the first fixture on, those of the session included: what may hang is their
start more often than the test.
"""

import faulthandler
import os
from collections.abc import Generator

import pytest
from pytest_timeout import Settings, is_debugging

COLLECT_S = 300.0

_settings = pytest.StashKey[Settings]()


class Limits:
    """The plugin.

    Args:
        grace_s: how much longer than its limit a test may take to notice that it is over.
        tidy_s: the limit of what tidies up after a test; after the last one that is everything
            that the run shares, and Spark's first end on a machine keeps 190 MB of its classes.
        exit_s: the limit of Python's end, once the run is over.
    """

    def __init__(
        self, *, grace_s: float = 30.0, tidy_s: float = 600.0, exit_s: float = 60.0
    ) -> None:
        self._grace_s, self._tidy_s, self._exit_s = grace_s, tidy_s, exit_s
        self._stderr = os.dup(2)  # while pytest is configured nothing is captured

    @pytest.hookimpl(wrapper=True)
    def pytest_timeout_set_timer(
        self, item: pytest.Item, settings: Settings
    ) -> Generator[None, object, object]:
        """A test begins, or what tidies up after it."""
        item.stash[_settings] = settings
        self._end_in(settings.timeout + self._grace_s)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """A failure has switched off the timers: on again. So does the end of the run."""
        settings = item.stash.get(_settings, None)
        begins_anew = item.session.testsfailed or nextitem is None
        if settings is not None and not settings.func_only and begins_anew:
            hook, tidying = item.config.hook, settings._replace(timeout=self._tidy_s)
            hook.pytest_timeout_cancel_timer(item=item)
            hook.pytest_timeout_set_timer(item=item, settings=tidying)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        """A test is over; until the next one there is nothing to end."""
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Modules of tests are imported."""
        self._end_in(COLLECT_S)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """The run is over; pytest-xdist itself ends its processes."""
        if not hasattr(config, "workerinput"):
            self._end_in(self._exit_s)

    def _end_in(self, seconds: float) -> None:
        if not is_debugging():
            faulthandler.dump_traceback_later(seconds, exit=True, file=self._stderr)
