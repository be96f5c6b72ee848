"""Fixtures for other projects' tests: `kafka_sandbox` and `new_kafka_sandbox`.

Installed with the package and found by pytest on its own:

    def test_my_consumer(kafka_sandbox):
        kafka_sandbox.create_topic("orders", 12)
        consumer = Consumer({"bootstrap.servers": kafka_sandbox.bootstrap_servers, ...})
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kgroups.core.sandbox.sandbox import Sandbox


@pytest.fixture
def new_kafka_sandbox() -> "Iterator[Callable[..., Sandbox]]":
    """Starts embedded clusters, with the arguments of `Sandbox`; all stop after the test."""
    from kgroups.core.sandbox.sandbox import Sandbox  # not before a test asks for it

    with ExitStack() as clusters:

        def start(**options: Any) -> Sandbox:
            return clusters.enter_context(Sandbox(**options))

        yield start


@pytest.fixture
def kafka_sandbox(new_kafka_sandbox: "Callable[..., Sandbox]") -> "Sandbox":
    """An embedded cluster of one broker for this test."""
    return new_kafka_sandbox(brokers=1)
