"""What suites of the real broker ask for, as the embedded cluster has it."""

import pytest


@pytest.fixture
def client() -> str:
    """The client that is chosen by default; librdkafka is tried on the real broker."""
    return "auto"
