"""What applications do with records: those that poll on while workers are busy, those that skip."""

from typing import Any

import pytest

from kgroups.core.conditions.grammar import parse_condition
from kgroups.core.simulation.figures.figure_fields import SIMULATION_FIELDS, values_of
from tests.support.simulation.sample_scenarios import ran

# Four workers do 40 records a second, from 3 s on; all 2,000 are handed over at once.
POOL = """\
until: 2m
topics: {orders: {partitions: 2, backlog: 2000}}
groups:
  app:
    protocol: eager
    members: {m: {topics: [orders], processing: 100ms, workers: 4, polls_on: true}}
    settings: {session.timeout.ms: 10s}
"""
CRASH = {"group": "app", "member": "m", "restart_after": "1s"}


@pytest.mark.parametrize("commit", ["", ", commit: sync", ", commit: async"])
@pytest.mark.parametrize("protocol", ["eager", "consumer"])
def test_a_crash_loses_what_was_committed_and_not_done(protocol: str, commit: str) -> None:
    """At 20 s about 680 are done and all are committed."""
    text = POOL.replace("polls_on: true", "polls_on: true" + commit)
    text = text.replace("eager", protocol).replace("session.timeout.ms: 10s", "")
    found = ran(text, {"at": "20s", "crash": CRASH})
    assert found.lost == pytest.approx(1_320, abs=130)
    assert (found.read_again, found.lag, found.unread) == (0, 0, 0)
    assert parse_condition("lost > 1000", SIMULATION_FIELDS, "--fail-on").holds(values_of([found]))


def test_what_was_not_committed_is_read_again_and_not_lost() -> None:
    """The first commit comes after 5 s."""
    found = ran(POOL, {"at": "4s", "crash": CRASH})
    assert found.lost == 0
    assert found.read_again == 2_000


@pytest.mark.parametrize(
    "event",
    [
        {"rolling_restart": {"group": "app", "down": "2s"}},
        {"gc_pause": {"group": "app", "member": "m", "for": "5s"}},
    ],
)
def test_workers_finish_their_records_where_the_process_lives(event: dict[str, Any]) -> None:
    """It is shut down, or stands still."""
    found = ran(POOL, {"at": "20s", **event})
    assert (found.lost, found.unread) == (0, 0)


def test_applications_that_wait_for_their_workers_lose_nothing() -> None:
    """As without `polls_on`."""
    found = ran(POOL.replace(", polls_on: true", ""), {"at": "20s", "crash": CRASH})
    assert (found.lost, found.out_of_order) == (0, 0)
    assert found.read_again > 0


def test_several_workers_do_not_keep_the_order() -> None:
    """Three of four records begin while the one before them is in work."""
    assert ran(POOL).out_of_order == pytest.approx(1_500, abs=4)
    assert ran(POOL.replace("workers: 4", "workers: 1")).out_of_order == 0


def test_a_new_owner_begins_while_the_old_one_is_still_at_work() -> None:
    """The old one has records of both partitions in its queue; new ones come meanwhile."""
    text = POOL.replace("workers: 4", "workers: 1").replace(
        "backlog: 2000", "backlog: 200, rate: 2"
    )
    assert ran(text).out_of_order == 0
    assert ran(text, {"at": "10s", "scale_out": {"group": "app"}}).out_of_order > 5


# 100 records a second come in, from 3 s on 50 a second can be processed.
LATE = """\
until: 5m
topics: {orders: {partitions: 2, rate: 100/s}}
groups:
  app:
    protocol: eager
    members: {m: {topics: [orders], processing: 20ms}}
"""


def test_records_that_are_too_old_are_passed_over() -> None:
    """Half of them, once they are ten seconds old; what is unread stays so much."""
    text = LATE.replace("processing: 20ms", "processing: 20ms, skip_older_than: 10s")
    found, all_of_them = ran(text), ran(LATE)
    assert all_of_them.skipped == 0
    assert all_of_them.peak_unread == pytest.approx(297 * 50, rel=0.05)
    assert found.peak_unread == pytest.approx(10 * 100, rel=0.5)
    assert found.skipped == pytest.approx((297 - 20) * 50, rel=0.05)
    assert found.records == pytest.approx(all_of_them.records + found.skipped, rel=0.05)


def test_who_keeps_up_skips_nothing() -> None:
    """Nothing gets old."""
    text = LATE.replace("processing: 20ms", "processing: 1ms, skip_older_than: 10s")
    assert ran(text).skipped == 0
