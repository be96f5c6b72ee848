"""Open transactions on a real broker: of producers that do nothing, and of nobody that is known."""

from collections.abc import Iterator

import pytest

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.lookups.open_transactions import open_transactions
from kgroups.core.kafka.lookups.pending_offsets import pending_offsets
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.hung_transactions import (
    STRANGER,
    end_hung_offsets,
    hang,
    hang_offsets,
    left_open,
    unverified,
)
from tests.support.kafka.workload import commit_offsets, create_topics, produce

pytestmark = pytest.mark.kafka

TOPIC = "open-transactions"
GROUP = "open-transactions-app"
OF_OFFSETS = STRANGER + 1
AGE_S = 7_200


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> Iterator[str]:
    """The broker, with ten records in each of three partitions."""
    create_topics(kafka.bootstrap, {TOPIC: 3})
    produce(kafka.bootstrap, {(TOPIC, number): 10 for number in range(3)})
    yield kafka.bootstrap
    end_hung_offsets(kafka.bootstrap, GROUP, OF_OFFSETS)


def test_of_producers_that_do_nothing_and_of_strangers(address: str) -> None:
    """Ids, states, ages and what they hold; a transaction that has ended is not among them."""
    commit_offsets(address, {GROUP: {(TOPIC, 0): 4, (TOPIC, 1): 4}})
    ended = left_open(address, "has-ended", {(TOPIC, 2): 2})
    ended.commit_transaction(30)
    waiting = left_open(address, "stays-open", {(TOPIC, 0): 3}, offsets=(GROUP, {(TOPIC, 0): 10}))
    with unverified(address, 1):
        hang(address, (TOPIC, 1), STRANGER, records=5, age_s=AGE_S)
        hang_offsets(address, GROUP, {(TOPIC, 1): 10, (TOPIC, 2): 10}, OF_OFFSETS)
    with ClusterAdmin(ClientSettings(address), timeout_ms=30_000) as admin:
        (group,) = admin.snapshot([GROUP]).groups
        place = (OFFSETS_TOPIC, group.offsets_partition or 0)
        everything = [(TOPIC, number) for number in range(3)]
        found = open_transactions(admin, [*everything, place])
        pending = pending_offsets(admin, {GROUP: everything})
        nothing = open_transactions(admin, [(TOPIC, 2)])
        missing = open_transactions(admin, [("no-such-topic", 0)])
    assert (found.failures, found.unlisted) == ({}, {})
    by_producer = {each.producer_id: each for each in found.open}
    hung, of_offsets = by_producer.pop(STRANGER), by_producer.pop(OF_OFFSETS)
    (known,) = by_producer.values()
    assert (known.transactional_id, known.state, known.timeout_ms) == (
        "stays-open",
        "Ongoing",
        600_000,
    )
    assert known.started_at_ms is not None
    assert [each.at for each in known.partitions] == [place, (TOPIC, 0)]
    assert known.partitions[1][2:4] == (10, 13)
    assert (hung.transactional_id, hung.state, hung.records_held) == (None, None, 5)
    assert hung.partitions[0].at == (TOPIC, 1)
    assert known.started_at_ms - (hung.started_at_ms or 0) > (AGE_S - 60) * 1_000
    assert [each.at for each in of_offsets.partitions] == [place]
    assert not of_offsets.is_known
    assert pending == {GROUP: frozenset(everything)}
    assert nothing.open == ()
    assert missing.failures == {("no-such-topic", 0): "UNKNOWN_TOPIC_OR_PARTITION"}
    waiting.abort_transaction(30)
