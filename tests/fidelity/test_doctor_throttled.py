"""Consumers that a real broker holds back by a quota, and what `kgroups doctor` finds of them."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Final

import pytest
from confluent_kafka import Producer
from kio.schema.alter_client_quotas.v1.request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kio.schema.alter_client_quotas.v1.response import AlterClientQuotasResponse
from kio.static.primitive import f64

from tests.support.doctor.findings import Findings, examined, findings, of_code
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "real consumers; the detector by itself: tests/core/doctor/test_cluster_detectors.py"
    ),
]

RATES: Final = {"narrow": 2_000.0, "wide": 1e9}
"""Bytes a second, by client id; both begin as many megabytes behind."""
FREE: Final = "free"
BYTES, RECORDS = 1_000, 4_000
READING: Final = {"enable.auto.commit": "true", "auto.commit.interval.ms": "200"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A group of a client for each rate, and of one without a quota."""
    with KafkaCluster() as cluster, ExitStack() as held:
        address = cluster.bootstrap
        names = (*RATES, FREE)
        create_topics(address, dict.fromkeys(names, 1))
        settings = {"bootstrap.servers": address, "log_level": 0, "batch.size": 2 * BYTES}
        producer = Producer(settings)
        for name in names:
            for _ in range(RECORDS):
                producer.produce(name, b"x" * BYTES, partition=0)
        assert producer.flush(60) == 0, "the records are with the broker"
        commit_offsets(address, {name: {(name, 0): 0} for name in names})
        limit(address, RATES)
        for name in names:
            group = LiveGroup(address, name, [MemberSpec(name, (name,))], settings=READING)
            held.enter_context(group).wait_stable(1)
        yield address


def limit(
    address: str, rates: Mapping[str, float], kind: str = "client-id", *, remove: bool = False
) -> None:
    """Give clients or users a `consumer_byte_rate`, or take it from them."""
    entries = tuple(
        EntryData(
            entity=(EntityData(entity_type=kind, entity_name=name),),
            ops=(OpData(key="consumer_byte_rate", value=f64(rate), remove=remove),),
        )
        for name, rate in rates.items()
    )
    with WireConnection(address) as wire:
        request = AlterClientQuotasRequest(entries=entries, validate_only=False)
        answer = wire.ask(request, AlterClientQuotasResponse)
    assert {int(entry.error_code) for entry in answer.entries} == {0}


def throttled(address: str) -> Findings:
    """What is found of quotas, by group."""
    found = findings(address, *RATES, FREE, "--over", "12s")
    return {group: of_code(each, "THROTTLED") for group, each in found.items()}


def test_a_client_that_is_held_back(address: str) -> None:
    """By its id and quota; one with room in its quota, and one without a quota, are not."""
    found = wait_until(
        lambda: (each := throttled(address))["narrow"] and each,
        "the client has read more than its quota",
        pause_s=1,
    )
    assert found
    (finding,) = found["narrow"]
    assert (finding["level"], finding["certainty"]) == ("warning", "possible")
    assert finding["where"] == {"client_id": "narrow"}
    assert finding["evidence"]["consumer_byte_rate"] == 2_000
    assert finding["evidence"]["bytes_per_second"] < 2 * 2_000
    assert found["wide"] == found[FREE] == []


def test_with_quotas_of_users_nothing_is_said(address: str) -> None:
    """Nobody tells which user a member is."""

    def reasons() -> list[str]:
        (item,) = examined(address, FREE, "--over", "1s").values()
        return [each["reason"] for each in item["not_examined"] if each["code"] == "THROTTLED"]

    limit(address, {"alice": 1e9}, "user")
    (reason,) = wait_until(reasons, "the broker knows the quota of the user")
    limit(address, {"alice": 1e9}, "user", remove=True)
    assert "quotas of users" in reason
    wait_until(lambda: reasons() == [], "the quota is gone")
