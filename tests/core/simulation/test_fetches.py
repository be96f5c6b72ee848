"""Fetches in bytes: what a poll gives, by what the Java client and a broker's DelayedFetch do."""

from collections.abc import Mapping
from typing import Any

import pytest

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.scenario.member_settings import MemberSettings
from kgroups.core.simulation.world.fetcher import Fetcher, fetches_matter
from kgroups.core.simulation.world.partition_logs import PartitionRecords
from tests.support.simulation.sample_scenarios import ran, small

WAY_MS = 5.0
BYTES = 1_000


class Reader:
    """A consumer that polls whenever something is there, and has nothing else to do."""

    def __init__(
        self, settings: MemberSettings, logs: Mapping[int, PartitionRecords], brokers: int = 1
    ) -> None:
        self.fetcher = Fetcher(settings, WAY_MS, brokers, {"t": BYTES})
        self.order = [(TopicPartition("t", n), records) for n, records in logs.items()]
        self.positions = {partition: 0 for partition, _ in self.order}
        self.room = settings.max_poll_records
        self.fetcher.arrange(self.order)

    def polls(self, count: int, from_ms: float = 0.0) -> list[tuple[float, dict[int, int]]]:
        """When so many polls gave records, and how many of each partition."""
        at_ms, found = from_ms, list[tuple[float, dict[int, int]]]()
        while len(found) < count:
            taken = self.fetcher.take(at_ms, self.room, self.positions, 0.0)
            given: dict[int, int] = {}
            for partition, begin, end in taken:
                assert self.positions[partition] == begin
                self.positions[partition] = end
                given[partition.partition] = given.get(partition.partition, 0) + end - begin
            if given:
                found.append((round(at_ms, 1), given))
            else:
                at_ms = max(self.fetcher.next_ms(at_ms), at_ms + 0.001)
        return found


def evenly(rate: float, backlog: int = 0) -> PartitionRecords:
    """A partition that gets so many records a second."""
    return PartitionRecords(backlog, 0.0, rate / 1_000, 0.0)


def test_a_record_comes_as_soon_as_it_is_there() -> None:
    """`fetch.min.bytes` is 1: half a round after it was written."""
    polls = Reader(MemberSettings(), {0: evenly(1)}).polls(3)
    assert polls == [(1_005.0, {0: 1}), (2_005.0, {0: 1}), (3_005.0, {0: 1})]


def test_a_broker_waits_for_the_least_bytes() -> None:
    """10 records of 1,000 bytes at 10 a second: one answer a second, of 10 records."""
    settings = MemberSettings(fetch_min_bytes=10 * BYTES, fetch_max_wait_ms=10_000)
    polls = Reader(settings, {0: evenly(10)}).polls(4)
    assert polls == [(n * 1_000 + WAY_MS, {0: 10}) for n in range(1, 5)]


def test_a_broker_counts_the_bytes_of_all_partitions() -> None:
    """Two partitions fill the same answer; of two brokers each waits for its own."""
    settings = MemberSettings(fetch_min_bytes=10 * BYTES, fetch_max_wait_ms=10_000)
    together = Reader(settings, {0: evenly(5), 1: evenly(5)}).polls(1)
    assert together == [(1_005.0, {0: 5, 1: 5})]
    apart = Reader(settings, {0: evenly(5), 1: evenly(5)}, brokers=2).polls(1)
    assert apart == [(2_005.0, {0: 10, 1: 10})]


def test_a_broker_waits_no_longer_than_it_may() -> None:
    """Nothing fills the answer: records come when `fetch.max.wait.ms` is over."""
    settings = MemberSettings(fetch_min_bytes=10 * BYTES, fetch_max_wait_ms=500)
    polls = Reader(settings, {0: evenly(1)}).polls(3)
    # Requests are sent every 510 ms; the first answers with records are the 2nd, the 4th, the 6th.
    assert polls == [(1_020.0, {0: 1}), (2_040.0, {0: 1}), (3_060.0, {0: 1})]


def test_an_answer_has_so_many_bytes_of_a_partition() -> None:
    """5 records a round of 10 ms, one request at a time."""
    settings = MemberSettings(max_partition_fetch_bytes=5 * BYTES)
    polls = Reader(settings, {0: evenly(0, backlog=100)}).polls(4)
    assert polls == [(10.0 * n, {0: 5}) for n in range(1, 5)]


def test_an_answer_has_so_many_bytes_in_all() -> None:
    """Partitions take turns."""
    settings = MemberSettings(fetch_max_bytes=6 * BYTES, max_partition_fetch_bytes=4 * BYTES)
    logs = {0: evenly(0, backlog=100), 1: evenly(0, backlog=100)}
    polls = Reader(settings, logs).polls(3)
    assert polls == [(10.0, {0: 4, 1: 2}), (20.0, {1: 4, 0: 2}), (30.0, {0: 4, 1: 2})]


def test_a_long_record_is_sent_all_the_same() -> None:
    """KIP-74: the first record of an answer knows no limit."""
    settings = MemberSettings(max_partition_fetch_bytes=1, fetch_max_bytes=1)
    polls = Reader(settings, {0: evenly(0, backlog=3)}).polls(3)
    assert polls == [(10.0, {0: 1}), (20.0, {0: 1}), (30.0, {0: 1})]


def test_a_poll_gives_no_more_than_it_may() -> None:
    """The rest of the answer is kept, and its partition is not asked for meanwhile."""
    settings = MemberSettings(max_poll_records=3, max_partition_fetch_bytes=7 * BYTES)
    polls = Reader(settings, {0: evenly(0, backlog=20)}).polls(5)
    assert polls == [(10.0, {0: 3}), (10.0, {0: 3}), (10.0, {0: 1}), (20.0, {0: 3}), (20.0, {0: 3})]


def test_a_new_partition_waits_for_the_request_under_way() -> None:
    """One request a broker: what is assigned meanwhile is asked for after `fetch.max.wait.ms`."""
    reader = Reader(MemberSettings(), {0: evenly(0)})
    assert reader.fetcher.take(0.0, 500, reader.positions, 0.0) == []
    new = TopicPartition("t", 1)
    reader.order.append((new, evenly(0, backlog=4)))
    reader.positions[new] = 0
    reader.fetcher.arrange(reader.order)
    assert reader.polls(1, 100.0) == [(520.0, {1: 4})]


def test_what_was_fetched_of_others_is_thrown_away() -> None:
    """After a rebalance, and where a position was changed."""
    reader = Reader(MemberSettings(max_poll_records=2), {0: evenly(0, backlog=9)})
    reader.polls(1)
    reader.positions[TopicPartition("t", 0)] = 7
    assert reader.polls(1, 10.0) == [(20.0, {0: 2})]
    assert reader.positions[TopicPartition("t", 0)] == 9
    reader.fetcher.arrange([])
    assert reader.fetcher.take(50.0, 9, reader.positions, 0.0) == []


@pytest.mark.parametrize(
    ("settings", "matters"),
    [
        (MemberSettings(), False),
        (MemberSettings(fetch_min_bytes=BYTES), False),
        (MemberSettings(fetch_min_bytes=BYTES + 1), True),
        (MemberSettings(max_partition_fetch_bytes=499 * BYTES), True),
        (MemberSettings(fetch_max_bytes=100), True),
        (MemberSettings(max_poll_records=2_000), True),
    ],
)
def test_where_bytes_matter(settings: MemberSettings, matters: bool) -> None:
    """Only there requests are played one by one."""
    assert fetches_matter(settings, {"t": BYTES}) is matters


# ---------------------------------------------------------------------- in a run


def run(settings: dict[str, Any], **topic: Any) -> GroupOutcome:
    """One member for five minutes."""
    member = {"processing": 0, "settings": settings}
    return ran(small(member, topic=topic, until="5m", network={"latency": "50ms"}))


def test_limits_in_bytes_set_the_time_to_catch_up() -> None:
    """20 records of 1,000 bytes in each round of 100 ms: 200 a second, 10,000 in 50 s."""
    settings = {"max.partition.fetch.bytes": 20 * BYTES}
    slow, fast = run(settings, backlog=10_000), run({}, backlog=10_000)
    assert 49_000 <= slow.catch_up_ms <= 51_000
    assert fast.catch_up_ms <= 2_000
    # With records of 500 bytes it takes half as long.
    assert 24_000 <= run(settings, backlog=10_000, record_size=500).catch_up_ms <= 26_000
    assert slow.records == fast.records == 10_000


def test_few_records_wait_for_the_least_bytes() -> None:
    """2 records a second, 40 to fill an answer: up to 40 lie unread, up to 20 s."""
    settings = {"fetch.min.bytes": 40 * BYTES, "fetch.max.wait.ms": "30s"}
    waiting, plain = run(settings, rate=2), run({}, rate=2)
    assert 38 <= waiting.peak_unread <= 41
    assert plain.peak_unread <= 12  # of the start
    shorter = run({**settings, "fetch.max.wait.ms": "5s"}, rate=2)
    assert 9 <= shorter.peak_unread <= 20
