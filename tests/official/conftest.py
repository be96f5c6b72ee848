"""The world that both tools look at, once for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.kafka.broker import KafkaCluster
from tests.official.world import world


@pytest.fixture(scope="package")
def full() -> Iterator[KafkaCluster]:
    """A broker with groups of every kind and state."""
    with world() as cluster:
        yield cluster
