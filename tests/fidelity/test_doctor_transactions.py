"""Transactions that real producers leave open, and what `kgroups doctor` finds of them.

The coordinator ends none of them: it looks for those that have timed out once an hour here.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pytest
from confluent_kafka import Producer

from tests.support.doctor.findings import Findings, above_info, findings, of_code, only
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.hung_transactions import STRANGER, hang, left_open, unverified
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, produce

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "real transactions; each detector by itself: tests/core/doctor/test_cluster_detectors.py"
    ),
]

SPEC: Final = ClusterSpec(
    properties={"transaction.abort.timed.out.transaction.cleanup.interval.ms": "3600000"}
)
LONG_S: Final = 36
"""By then a transaction of 5 s is half a minute late, and one of 70 s has had half of its time."""
TIMEOUTS: Final = {"held": 5_000, "late": 70_000, "pend": 5_000}
YOUNG: Final = ("young", "young-pend")
GROUPS: Final = (*TIMEOUTS, *YOUNG, "lost", "past", "gap", "no-gap")
"""A topic each; `past` has committed what comes after the transaction of its topic."""


def opened(address: str, name: str, timeout_ms: int) -> Producer:
    """A producer with an open transaction: a record in a topic, or the offset of a group."""
    if name.endswith("pend"):
        offsets = (name, {(name, 0): 3})
        return left_open(address, f"tx-{name}", {}, offsets=offsets, timeout_ms=timeout_ms)
    return left_open(address, f"tx-{name}", {(name, 0): 1}, timeout_ms=timeout_ms)


@pytest.fixture(scope="module")
def found() -> Iterator[Findings]:
    """The findings by group, of one look at all."""
    with KafkaCluster(SPEC) as cluster, ExitStack() as held:
        address = cluster.bootstrap
        create_topics(address, dict.fromkeys(GROUPS, 1))
        produce(address, {(name, 0): 5 for name in GROUPS})
        with unverified(address, 1):
            for number, name in enumerate(("lost", "past")):
                hang(address, (name, 0), STRANGER + number, age_s=3_600)
        commit_offsets(address, {name: {(name, 0): 6 if name == "past" else 5} for name in GROUPS})
        for name in ("gap", "no-gap"):
            opened(address, name, 60_000).abort_transaction(30)
        produce(address, {("no-gap", 0): 1})
        for name in ("gap", "no-gap"):
            group = held.enter_context(LiveGroup(address, name, [MemberSpec(name, (name,))]))
            group.wait_stable(1)
        for name, timeout_ms in TIMEOUTS.items():
            held.callback(opened(address, name, timeout_ms).abort_transaction, 30)
        since = time.monotonic()
        wait_until(
            lambda: time.monotonic() - since > LONG_S,
            "the transactions are old enough",
            timeout_s=3 * LONG_S,
            pause_s=1,
        )
        for name in YOUNG:
            held.callback(opened(address, name, 70_000).abort_transaction, 30)
        yield findings(address, *GROUPS, "--over", "11s")


@pytest.mark.parametrize(("name", "level"), [("held", "error"), ("late", "warning")])
def test_a_transaction_that_stays_open(found: Findings, name: str, level: str) -> None:
    """With its producer, by its age against its timeout."""
    finding = only(found[name], "HANGING_TRANSACTION")
    assert (finding["level"], finding["certainty"]) == (level, "certain")
    assert finding["where"] == {"topic": name, "partition": 0}
    evidence = finding["evidence"]
    assert evidence["transactional_id"] == f"tx-{name}"
    assert evidence["transaction_timeout_seconds"] == TIMEOUTS[name] / 1_000
    assert evidence["open_seconds"] >= LONG_S
    assert (evidence["partitions"], evidence["records_held"]) == (1, 1)


def test_a_transaction_that_nobody_coordinates(found: Findings) -> None:
    """No coordinator will end it; without an id, and only likely."""
    finding = only(found["lost"], "HANGING_TRANSACTION")
    assert (finding["level"], finding["certainty"]) == ("error", "likely")
    assert "transactional_id" not in finding["evidence"]
    assert finding["evidence"]["open_seconds"] >= 3_600


def test_offsets_that_are_held(found: Findings) -> None:
    """A member that starts would wait."""
    finding = only(found["pend"], "OFFSETS_PENDING")
    assert (finding["level"], finding["certainty"]) == ("error", "certain")
    assert finding["where"] == {"topic": "pend", "partition": 0}
    assert finding["evidence"]["transactional_id"] == "tx-pend"
    assert finding["evidence"]["partitions"] == 1


def test_lag_without_records(found: Findings) -> None:
    """What is left of an aborted transaction; with a record behind it there is one to read."""
    finding = only(found["gap"], "PHANTOM_LAG")
    assert finding["evidence"]["lag"] == 2
    assert of_code(found["no-gap"], "PHANTOM_LAG") == []


@pytest.mark.parametrize("name", [*YOUNG, "past"])
def test_a_transaction_that_harms_nobody(found: Findings, name: str) -> None:
    """One that has just begun; one whose records the group has read uncommitted."""
    assert above_info(found[name]) == set()
