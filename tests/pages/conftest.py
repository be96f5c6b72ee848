"""The browser of these tests, and the word where there is none."""

from collections.abc import Iterator

import pytest

from tests.support.pages.browser import HOW_TO_GET, PROGRAM, Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of a file."""
    with Browser() as started:
        yield started


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the browser where it is missing: these tests were not run."""
    if PROGRAM is None:
        terminalreporter.section("pages not tried in a browser")
        terminalreporter.write_line(HOW_TO_GET)
