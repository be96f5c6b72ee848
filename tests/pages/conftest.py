"""The browser of these tests."""

import pytest

from tests.support.pages.browser import Browser
from tests.support.unit_resources import resources_of


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Browser:
    """One Chromium for the tests of these files; it shows a page at a time."""
    return resources_of(request).hold("browser", Browser)
