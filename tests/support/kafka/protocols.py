"""Which protocols groups of librdkafka can speak with the brokers of the session."""

from typing import Any, Final

import pytest

from tests.support.kafka.releases import chosen_release, offers

HAS_KIP848: Final = offers(chosen_release(), "4.0")
"""librdkafka joins as Kafka 4.0 does; the early access of 3.9 spoke another version."""

needs_kip848: Final = pytest.mark.skipif(
    not HAS_KIP848, reason=f"Kafka {chosen_release()} has no groups of KIP-848 for librdkafka"
)

PROTOCOLS: Final[list[Any]] = ["classic", pytest.param("consumer", marks=needs_kip848)]
"""Both, as cases of a test."""
