"""Answers about one thing that hold nothing, or are held back by a quota: told, never a crash."""

from collections.abc import Iterator
from itertools import count, islice
from typing import Any

import pytest

from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings, RequestTrace
from kgroups.core.kafka.lookups.broker_settings import broker_settings
from kgroups.core.kafka.lookups.logged_leaders import LoggedLeaders, logged_leaders
from kgroups.core.kafka.lookups.record_times import next_record_times, record_moments
from kgroups.core.kafka.lookups.record_walk import Stand
from kgroups.core.kafka.writes.group_writes import write_commits
from kgroups.core.offsets.copy import Moment
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import CommittedOffset, Group
from tests.support.hostile.tampering import Conduct, TamperingProxy, Wire, rewritten
from tests.support.kafka.workload import commit_offsets, create_topics, produce

NAME = "gone"
THROTTLED_MS = 10
OFFSETS_PARTITIONS = 50
# 12 MB of commits, where the answers to one question may take 11.
WIDE, GROUPS, METADATA = 100, 30, 4_000
LONGEST = 1_100_000
ROWS = {"fetch": "responses", "list_offsets": "topics", "describe_configs": "results"}
"""Where each answer has its rows."""


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    """A cluster with one broker."""
    with Sandbox(brokers=1, topics={"t": 1}) as cluster:
        yield cluster.bootstrap_servers


@pytest.fixture(scope="module")
def deleted(upstream: str) -> Group:
    """A group as it was before it was deleted: the log's newest record of it says so."""
    commit_offsets(upstream, {NAME: {("t", 0): 0}})
    with ClusterAdmin(ClientSettings(upstream)) as admin:
        (group,) = admin.snapshot([NAME]).groups
        (outcome,) = admin.delete_groups([NAME])
    assert outcome.error is None
    return group


def emptied(times: int | None = None, *, throttled_ms: int = 0) -> Conduct:
    """The first answers, or all of them, without rows."""
    left = [times]

    async def conduct(wire: Wire) -> None:
        def change(body: dict[str, Any]) -> None:
            body[ROWS[wire.api]] = []
            body["throttle_time_ms"] = throttled_ms

        if left[0] == 0:
            wire.send(wire.frame)
            return
        left[0] = None if left[0] is None else left[0] - 1
        wire.send(rewritten(wire, change))

    return conduct


def looked_up(upstream: str, group: Group, api: str, conduct: Conduct) -> LoggedLeaders:
    """Who led the group, before a broker that does this to its answers."""
    with (
        TamperingProxy(upstream, {api: conduct}) as broker,
        ClusterAdmin(ClientSettings(broker.address), timeout_ms=60_000) as admin,
    ):
        return logged_leaders(admin, [group])


def test_a_quota_empties_some_answers(upstream: str, deleted: Group) -> None:
    """KIP-219: a broker answers at once, without rows; asked again, it has them."""
    held_back = emptied(2, throttled_ms=THROTTLED_MS)
    assert looked_up(upstream, deleted, "fetch", held_back) == LoggedLeaders({NAME: None})


@pytest.mark.parametrize("api", ["fetch", "list_offsets"])
def test_a_log_that_is_left_out(upstream: str, deleted: Group, api: str) -> None:
    """The partition cannot be read."""
    failures = {deleted.offsets_partition: "CORRUPT_MESSAGE"}
    found = looked_up(upstream, deleted, api, emptied())
    assert (found.found, found.failures, found.unread) == ({}, failures, {})


def test_records_that_do_not_come(upstream: str) -> None:
    """The topic is told, and nobody waits for longer than was said."""

    async def silent(_: Wire) -> None:
        pass

    produce(upstream, {("t", 0): 1})
    with (
        TamperingProxy(upstream, {"fetch": silent}) as broker,
        ClusterAdmin(ClientSettings(broker.address), timeout_ms=60_000) as admin,
    ):
        topics = admin.topics(["t"]).topics
        times, (error,) = next_record_times(admin, topics, [("t", 0, 0)], timeout_ms=1_500)
    assert (times, error.target, error.code) == ({}, "t", "REQUEST_TIMED_OUT")


def test_records_of_many_partitions_are_one_answer(upstream: str) -> None:
    """The first ones, and the last ones."""
    create_topics(upstream, {"spread": WIDE})
    produce(upstream, {("spread", number): 1 for number in range(WIDE)})
    asked: list[RequestTrace] = []
    settings = ClientSettings(upstream, trace=asked.append)
    with ClusterAdmin(settings) as admin:
        topics = admin.topics(["spread"]).topics
        places = [("spread", number, 0) for number in range(WIDE)]
        times, errors = next_record_times(admin, topics, places)
        stands = {("spread", number): Stand(1, 0, 1) for number in range(WIDE)}
        moments = record_moments(admin, topics, stands)
    assert (len(times), errors) == (WIDE, ())
    assert moments == {(at, n): Moment(times[at, n, 0] + 1, at_end=True) for at, n in stands}
    assert [trace.api for trace in asked].count("Fetch") == 2


def test_settings_that_are_left_out(upstream: str, deleted: Group) -> None:
    """The broker does not tell them."""
    assert deleted.coordinator is not None
    with (
        TamperingProxy(upstream, {"describe_configs": emptied()}) as broker,
        ClusterAdmin(ClientSettings(broker.address), timeout_ms=60_000) as admin,
    ):
        (answer,) = broker_settings(admin, [deleted.coordinator], ["group.max.size"]).values()
    assert (answer.values, answer.failure) == ({}, "CORRUPT_MESSAGE")


def test_a_log_that_is_longer_than_answers_may_be_together(upstream: str, deleted: Group) -> None:
    """What was searched is let go: only what is kept counts against the memory of a question."""
    names = (f"beside-{number}" for number in count())
    wanted = deleted.offsets_partition
    beside = (n for n in names if offsets_partition(n, OFFSETS_PARTITIONS) == wanted)
    create_topics(upstream, {"wide": WIDE})
    long_ago = {("wide", n): CommittedOffset(1, None, "m" * METADATA) for n in range(WIDE)}
    with ClusterAdmin(ClientSettings(upstream), timeout_ms=60_000) as admin:
        for name in islice(beside, GROUPS):
            assert set(write_commits(admin, {name: long_ago}).values()) == {None}
    settings = ClientSettings(upstream, max_answer_bytes=LONGEST)
    with ClusterAdmin(settings, timeout_ms=60_000) as admin:
        assert logged_leaders(admin, [deleted]) == LoggedLeaders({NAME: None})
