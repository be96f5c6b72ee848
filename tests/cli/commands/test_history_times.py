"""What a history asks the embedded cluster about times: ages, and where logs ended."""

import time

from confluent_kafka import Producer

from kgroups.cli.lag_times import bisected_times, ends_then
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.kafka.workload import commit_offsets

HOUR_MS = 3_600_000


def test_nothing_is_older_than_the_first_record() -> None:
    """Ages to one per cent; before a log's first record nobody knows where it ended."""
    quiet = Printer(GlobalOptions(quiet=True))
    with Sandbox(brokers=1, topics={"t": 2}) as running:
        now_ms = time.time_ns() // 1_000_000
        producer = Producer({"bootstrap.servers": running.bootstrap_servers})
        for hours in (3, 2, 1):
            producer.produce("t", b"x", partition=0, timestamp=now_ms - hours * HOUR_MS)
        assert producer.flush(60) == 0
        commit_offsets(running.bootstrap_servers, {"g": {("t", 0): 1, ("t", 1): 0}})
        with ClusterAdmin(ClientSettings(running.bootstrap_servers)) as admin:
            snapshot = admin.snapshot()
            times, first_ms = bisected_times(admin, snapshot, quiet, unread=True)
            asked = [now_ms - minutes * 60_000 for minutes in (240, 150, 90, 30)]
            ends = ends_then(admin, snapshot, asked, quiet, first_ms)
    assert set(times) == {("t", 0, 0), ("t", 0, 1)}
    for offset, hours in ((0, 3), (1, 2)):
        age_ms = snapshot.captured_at_ms - times["t", 0, offset]
        assert hours * HOUR_MS * 0.99 <= age_ms <= (hours * HOUR_MS + 60_000) * 1.01
    assert first_ms == {("t", 0): times["t", 0, 0]}
    empty = {("t", 1): 0}
    found = [{("t", 0): end} | empty for end in (1, 2, 3)]
    assert [ends[at_ms] for at_ms in asked] == [empty, *found]
