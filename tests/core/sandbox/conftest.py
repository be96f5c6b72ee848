"""Embedded clusters for the tests of this folder."""

from collections.abc import Iterator

import pytest

from kgroups.core.sandbox.sandbox import Sandbox


@pytest.fixture(scope="module")
def cluster() -> Iterator[Sandbox]:
    """Three brokers for the tests of a module; each test uses names of its own."""
    with Sandbox(brokers=3, topics={"t": 4}) as running:
        yield running


@pytest.fixture(scope="module")
def cluster_address() -> Iterator[str]:
    """The cluster of suites that the real broker runs too: one broker, like the real one."""
    with Sandbox(brokers=1) as running:
        yield running.bootstrap_servers


@pytest.fixture
def one() -> Iterator[Sandbox]:
    """One broker for one test."""
    with Sandbox(brokers=1, topics={"t": 4}) as running:
        yield running
