"""The adapter's contract tests, as they are, on the embedded cluster.

What the sandbox does not do stands in `SANDBOX_LACKS`, with the reason; a contract test that needs
it is named below and left out.
"""

from collections.abc import Iterator

import pytest

from kgroups.core.coordinator.releases import RELEASES, V4_4_0, Release
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.lookups.broker_settings import broker_support
from kgroups.core.sandbox.options import SandboxOptions
from kgroups.core.sandbox.sandbox import Sandbox
from tests.kafka.reads import test_contract as contract
from tests.support.sandbox.shared_suites import SANDBOX_LACKS

pytestmark: list[pytest.MarkDecorator] = []  # no real broker is needed


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The cluster under test: one broker, like the real one."""
    with Sandbox(brokers=1) as cluster:
        yield cluster.bootstrap_servers


@pytest.fixture
def release() -> Release:
    """Of Kafka, as which it acts."""
    return Release.parse(SandboxOptions().as_version)


NEEDS = {"test_open_transaction_holds_back_the_last_stable_offset": "transactions"}
"""Contract test and the row of `SANDBOX_LACKS` that leaves it out."""

# Tests and fixtures are looked up by name in this module, so they get the address above.
globals().update(
    {
        name: thing
        for name, thing in vars(contract).items()
        if (name.startswith("test_") and name not in NEEDS) or name in ("admin", "live")
    }
)


def test_the_contract_is_here() -> None:
    """The tests were taken over; a renamed fixture or an emptied module is noticed."""
    taken = [name for name in globals() if name.startswith("test_")]
    assert len(taken) > 5
    assert globals()["admin"] is contract.admin
    assert set(NEEDS.values()) <= set(SANDBOX_LACKS)
    assert all(hasattr(contract, name) for name in NEEDS)


def test_an_older_broker_shows_its_release() -> None:
    """4.3.0 and 4.3.1 offer the same."""
    with (
        Sandbox(brokers=1, as_version="4.3") as cluster,
        ClusterAdmin(ClientSettings(cluster.bootstrap_servers)) as admin,
    ):
        (support,) = broker_support(admin, {cluster.brokers[0].id: "con-any"}).values()
    assert support.releases == tuple(found for found in RELEASES if found < V4_4_0)
