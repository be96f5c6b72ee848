"""Captures of a share group on the real broker: what is left is its lag."""

import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import AcknowledgeType, Message

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.lag.captures.captured_snapshots import captured_snapshots
from kgroups.core.lag.captures.collector import collect
from tests.support.cli.runner import check_document, run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.share_groups import Sharer, configure_group
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics, produce

pytestmark = pytest.mark.kafka

GROUP, TOPIC = "share-captured", "share-captured-t"


def all_but_one(message: Message) -> AcknowledgeType:
    """Releases the record at offset 2 again and again; the others are done."""
    return AcknowledgeType.RELEASE if message.offset() == 2 else AcknowledgeType.ACCEPT


def lags(*line: str) -> dict[int, Any]:
    """Lag by partition in a report."""
    outcome = run("lag", "report", GROUP, "--by", "partition", "-o", "json", *line)
    assert outcome.exit_code == 0, outcome.stderr
    check_document(outcome.document)
    return {row["partition"]: row["lag"] for row in outcome.document["items"]}


def described(kafka: KafkaCluster) -> dict[int, int]:
    """Lag by partition, as the group is described."""
    outcome = run("-b", kafka.bootstrap, "describe", GROUP, "--offsets", "-o", "json")
    return {
        row["partition"]: row["lag"]
        for item in outcome.document["items"]
        for row in item["offsets"]
    }


@pytest.fixture(scope="module")
def left(kafka: KafkaCluster) -> str:
    """The address of a broker whose share group is done with all records but one."""
    create_topics(kafka.bootstrap, {TOPIC: 1})
    settings = {"share.auto.offset.reset": "earliest", "share.delivery.count.limit": "10"}
    configure_group(kafka.bootstrap, GROUP, settings)
    produce(kafka.bootstrap, {(TOPIC, 0): 10})
    with Sharer(kafka.bootstrap, GROUP, TOPIC) as sharer:
        seen: set[int | None] = set()
        while len(seen) < 10:
            seen |= {message.offset() for message in sharer.take(1, all_but_one)}
    wait_until(lambda: described(kafka) == {0: 1}, "one record is left")
    return kafka.bootstrap


def test_captures_hold_what_is_left(left: str, tmp_path: Path) -> None:
    """Not all records from the start offset on; as a snapshot again it has the same."""
    with ClusterAdmin(ClientSettings(left)) as admin:
        assert len(list(collect(lambda: admin.snapshot([GROUP]), tmp_path))) == 1
    assert lags("--captures", str(tmp_path), "--engine", "duckdb") == {0: 1}
    end_ms = time.time_ns() // 1_000_000
    (again,) = captured_snapshots(tmp_path, [GROUP], None, since_ms=0, until_ms=end_ms)
    (group,) = again.groups
    assert (group.type, (group.offsets or {})[TOPIC][0].lag) == ("share", 1)


@pytest.mark.spark
@pytest.mark.slow("a start of Spark; quick twin: tests/kafka/reads/test_share_captures.py")
def test_spark_says_the_same(left: str, tmp_path: Path) -> None:
    """Of the live cluster and of captures that the command takes."""
    assert run("lag", "collect", str(tmp_path), "-b", left).exit_code == 0
    assert lags("--captures", str(tmp_path)) == lags("-b", left) == {0: 1}
