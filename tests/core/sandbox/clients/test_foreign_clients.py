"""franz-go, sarama and kafkajs join, share, read, commit and leave.

Each runs where its language is found (tests/support/requirements.py).
"""

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.core.sandbox.clients.test_other_clients import split
from tests.support.kafka.waiting import wait_until
from tests.support.sandbox.foreign_clients import FOUND, ForeignMember, build
from tests.support.sandbox.librdkafka_members import produce

OTHERS = [
    pytest.param(client, marks=pytest.mark.slow("another program to build")) for client in FOUND[1:]
]


@pytest.mark.parametrize("client", [*FOUND[:1], *OTHERS])
def test_join_share_leave(cluster: Sandbox, client: str) -> None:
    """Two members share a topic and read it whole; one leaves, the other takes over."""
    command = build(client)
    topic = group = f"foreign-{client}"
    cluster.create_topic(topic, 4)
    servers = cluster.bootstrap_servers
    produce(servers, topic, 40)
    with ForeignMember(command, servers, topic, group) as first:
        second = ForeignMember(command, servers, topic, group)
        wait_until(split(2, first, second), what="two shares of two")
        wait_until(
            lambda: {*first.values, *second.values} == {f"v{number}" for number in range(40)},
            what="40 records",
        )
        assert second.leave() == 0
        wait_until(split(4, first), what="all four")
    produce(servers, topic, 8)
    with ForeignMember(command, servers, topic, group) as again:
        wait_until(lambda: len(again.values) >= 8, what="8 records after the commit")
        assert len(again.values) < 40, "it went on after the commit"
