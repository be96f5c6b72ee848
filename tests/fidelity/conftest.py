"""What several of these suites share."""

from collections.abc import Iterator

import pytest

from tests.support.doctor.played_group import Place
from tests.support.kafka.broker import KafkaCluster


@pytest.fixture(scope="module")
def place(kafka: KafkaCluster) -> Iterator[Place]:
    """A broker, and programs for the members."""
    with Place(kafka.bootstrap) as place:
        yield place
