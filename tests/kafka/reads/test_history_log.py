"""A real broker's log beside its records: who closed, who crashed, and why, for certain."""

import gzip
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.runner import Outcome, run
from tests.support.fidelity.driven_group import DrivenGroup, MemberSpec
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics

pytestmark = pytest.mark.kafka

NAME = "hist-logged"
ZONE_S = 900
"""Zones of the world are whole quarters of an hour apart."""


def history(kafka: KafkaCluster, *words: str) -> Outcome:
    """The command's end."""
    return run("-b", kafka.bootstrap, "history", NAME, "-o", "json", "--timeout", "60s", *words)


def events(document: Any) -> list[tuple[Any, ...]]:
    """Who left, by which cause, how certain, and the reason that the log has."""
    return [
        (gone["client_id"], item["cause"], item["certainty"], gone["reason"])
        for item in document["items"]
        for gone in item["left"]
    ]


def test_the_log_tells_why(kafka: KafkaCluster, tmp_path: Path) -> None:
    """A Java consumer that is closed, and one of librdkafka that is killed."""
    topic = f"{NAME}-t"
    create_topics(kafka.bootstrap, {topic: 2})

    def has(count: int) -> bool:
        (*_, last) = history(kafka).document["items"] or [{"member_count": 0}]
        return bool(last["member_count"] == count)

    # A look reads all of the topic: it costs the processor much more than a question does.
    settles = partial(wait_until, timeout_s=240, pause_s=1.0)
    with (
        HostPool() as hosts,
        DrivenGroup(hosts, kafka.bootstrap, NAME, "classic", "range", {topic: 2}) as group,
    ):
        for spec in (
            MemberSpec("closed", "java", (topic,)),
            MemberSpec("killed", "librdkafka", (topic,), crashes=True),
        ):
            group.join([spec])
            settles(partial(has, len(group.members)), "it is a member")
        group.crash("killed")
        settles(lambda: has(1), "its session is over")
        group.leave(["closed"])
        settles(lambda: has(0), "the other has left")
    packed = tmp_path / "server.log.gz"
    packed.write_bytes(gzip.compress(kafka.log_path().read_bytes()))
    for file in (kafka.log_path(), packed):
        document = history(kafka, "--log", str(file)).document
        assert events(document) == [
            ("killed", "session_timeout", "certain", None),
            ("closed", "member_closed", "certain", "the consumer is being closed"),
        ]
        (read,) = document["summary"]["logs"]
        assert read["lines_matched"] >= len(document["items"])
        off = read["clock_ahead_seconds"]
        assert abs(off - round(off / ZONE_S) * ZONE_S) < 2
        assert [note["code"] for note in document["notes"]] == ["LOG_READ"]
