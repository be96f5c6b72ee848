"""Fixtures that every folder of tests shares. What is heavy starts when the first test asks."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kafka.broker import KafkaCluster
from tests.kafka.broker_config import ClusterSpec
from tests.kafka.official import WarmTools

KAFKA_LOGS = Path(__file__).parent.parent / ".cache" / "kafka-logs"


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> Iterator[KafkaCluster]:
    """One plain broker for the whole session; use group and topic names of your own.

    Its log stays in `.cache/kafka-logs` when a test of the session failed.
    """
    logs = KAFKA_LOGS / f"session-{os.getpid()}"
    with KafkaCluster(ClusterSpec(), logs=logs) as cluster:
        yield cluster
    if not request.session.testsfailed:
        shutil.rmtree(logs)


@pytest.fixture(scope="session")
def official() -> Iterator[WarmTools]:
    """Kafka's own command line tools in one warm JVM, for every cluster of the session."""
    with WarmTools() as tools:
        yield tools
