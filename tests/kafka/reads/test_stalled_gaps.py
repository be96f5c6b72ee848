"""A commit before an aborted transaction: nothing waits there, so nothing is stalled."""

import pytest

from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.hung_transactions import left_open
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import commit_offsets, create_topics, produce

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("real transactions; a gap: tests/cli/commands/test_stalled_partitions.py"),
]

RECORDS = 5


def test_an_aborted_transaction_is_no_stall(kafka: KafkaCluster) -> None:
    """Records that no reader gets; a record behind it makes the same commit a stalled one."""
    address, topics = kafka.bootstrap, ("aborted", "followed")
    create_topics(address, dict.fromkeys(topics, 1))
    produce(address, {(topic, 0): RECORDS for topic in topics})
    producer = left_open(address, "gives-up", {(topic, 0): 1 for topic in topics})
    producer.abort_transaction(30)
    produce(address, {("followed", 0): 1})
    commit_offsets(address, {"app": {(topic, 0): RECORDS for topic in topics}})
    with LiveGroup(address, "app", [MemberSpec("m", topics)]) as group:
        group.wait_stable(len(topics))
        document = run("describe", "app", "--over", "1s", "-b", address, "-o", "json").document
    (item,) = document["items"]
    rows = {row["topic"]: (row["lag"], row["lag_status"]) for row in item["offsets"]}
    assert rows == {"aborted": (2, "ok"), "followed": (3, "stalled")}
