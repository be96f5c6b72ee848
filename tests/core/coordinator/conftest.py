"""Kafka's own coordinators, for every file of this folder."""

import pytest

from tests.support.coordinator.oracle_process import FIRST_RELEASE, Oracle, Oracles
from tests.support.unit_resources import resources_of


@pytest.fixture(scope="module")
def oracles(request: pytest.FixtureRequest) -> Oracles:
    """Kafka's coordinator of a release: one JVM for all tests, as each script begins anew."""
    resources = resources_of(request)
    return lambda release: resources.hold(f"oracle {release}", lambda: Oracle(release))


@pytest.fixture(scope="module")
def oracle(oracles: Oracles) -> Oracle:
    """That of the release that recorded most traces."""
    return oracles(FIRST_RELEASE)
