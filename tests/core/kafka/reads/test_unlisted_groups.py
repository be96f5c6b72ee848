"""Groups that brokers leave out of their listing, as while a coordinator changes."""

from collections.abc import Iterator
from typing import Any

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import run
from tests.support.hostile.tampering import TamperingProxy, Wire, rewritten
from tests.support.kafka.workload import commit_offsets

NAMES = ["first", "second"]


@pytest.fixture
def upstream() -> Iterator[str]:
    """A cluster with these groups."""
    with Sandbox(brokers=1, topics={"t": 1}) as cluster:
        commit_offsets(cluster.bootstrap_servers, {name: {("t", 0): 0} for name in NAMES})
        yield cluster.bootstrap_servers


async def left_out(wire: Wire) -> None:
    """A listing without any group."""

    def change(body: dict[str, Any]) -> None:
        body["groups"] = []

    wire.send(rewritten(wire, change))


def test_they_are_deleted_all_the_same(upstream: str) -> None:
    """Their coordinators are asked before they are said not to exist."""
    with TamperingProxy(upstream, {"list_groups": left_out}) as broker:
        result = run("delete", *NAMES, "third", "--keep-going", "--yes", "-b", broker.address)
    assert "`third`: no such group" in result.stderr
    assert all(f"`{name}`" not in result.stderr for name in NAMES)
    left = run("list", "-o", "plain", "-b", upstream)
    assert (left.exit_code, left.stdout.split()) == (0, [])
