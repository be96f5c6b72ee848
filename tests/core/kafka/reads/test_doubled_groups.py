"""Descriptions as Kafka 4.0 sends them: every group once a partition of `__consumer_offsets`."""

from collections.abc import Iterator
from typing import Any

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.hostile.tampering import TamperingProxy, Wire, rewritten
from tests.support.kafka.workload import commit_offsets

NOT_FOUND = 69
NAMES = ["first", "second", "third"]


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    """A cluster with these groups."""
    with Sandbox(brokers=1, topics={"t": 1}) as cluster:
        commit_offsets(cluster.bootstrap_servers, {name: {("t", 0): 0} for name in NAMES})
        yield cluster.bootstrap_servers


async def doubled(wire: Wire) -> None:
    """Each group with its description, before and after others in which it does not exist."""

    def change(body: dict[str, Any]) -> None:
        rows = body["groups"]
        lost = [{**row, "error_code": NOT_FOUND, "group_state": "", "members": []} for row in rows]
        body["groups"] = [
            rows[n] if n == there else row
            for there in range(len(rows))
            for n, row in enumerate(lost)
        ]

    wire.send(rewritten(wire, change))


def test_a_description_wins(upstream: str) -> None:
    """Whatever else the same answer says of the group."""
    with (
        TamperingProxy(upstream, {"describe_groups": doubled}) as broker,
        ClusterAdmin(ClientSettings(broker.address), timeout_ms=60_000) as admin,
    ):
        found = admin.snapshot([*NAMES, "fourth"])
    assert {group.group: group.state for group in found.groups} == dict.fromkeys(NAMES, "Empty")
    assert [(error.target, error.code) for error in found.errors] == [
        ("fourth", "GROUP_ID_NOT_FOUND")
    ]
