"""Moves to KIP-848 and back on the embedded cluster: the tests of the real broker."""

from collections.abc import Iterator

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.kafka.reads import test_protocol_moves as suite
from tests.support.kafka.broker_config import BASE_PROPERTIES
from tests.support.sandbox.shared_suites import take_over

PACE = {
    name: BASE_PROPERTIES[name]
    for name in (
        "group.initial.rebalance.delay.ms",
        "group.consumer.heartbeat.interval.ms",
        "group.consumer.min.heartbeat.interval.ms",
        "group.consumer.assignment.interval.ms",
    )
}


@pytest.fixture(scope="module")
def cluster_address() -> Iterator[str]:
    """One broker whose members heartbeat as often as those of the real one."""
    with Sandbox(brokers=1, properties=PACE) as running:
        yield running.bootstrap_servers


take_over(suite, globals(), {})
