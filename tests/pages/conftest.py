"""The browser of these tests."""

from collections.abc import Iterator

import pytest

from tests.support.pages.browser import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of a file."""
    with Browser() as started:
        yield started
