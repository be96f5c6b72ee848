"""What applications do: rebalance listeners that take time or fail, pools of workers."""

from random import Random
from statistics import fmean
from typing import Any, Final

import pytest

from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.scenario.spread import Spread
from tests.support.simulation.sample_scenarios import ran, small


def run(listener: object = None, protocol: str = "eager", **changes: Any) -> GroupOutcome:
    """Two members, a third one at a minute."""
    member: dict[str, Any] = {"count": 2, **changes.pop("member", {})}
    if listener is not None:
        member["listener"] = listener
    topic, group = {"partitions": 6, "rate": 60}, {"protocol": protocol}
    events = [{"at": "60s", "scale_out": {"group": "g"}}]
    changes = {"until": "5m", "events": events, **changes}
    return ran(small(member, topic=topic, group=group, **changes))


def test_an_eager_group_waits_for_its_listeners() -> None:
    """Everything is revoked, then assigned: with 3 s and 5 s nobody reads for 8 s longer."""
    plain = run()
    revoked, both = run({"revoked": "3s"}), run({"revoked": "3s", "assigned": "5s"})
    # A partition is its owner's until the listener that gives it up is done.
    assert revoked.longest_unowned_ms - plain.longest_unowned_ms <= 100
    assert both.settled
    assert both.peak_unread - plain.peak_unread >= 6 * 60
    assert both.rebalance_count == plain.rebalance_count


def test_a_cooperative_group_waits_for_nobody_who_gives_up_nothing() -> None:
    """Two of six partitions move; the others are read meanwhile."""
    eager = run({"revoked": "4s", "assigned": "4s"})
    cooperative = run({"revoked": "4s", "assigned": "4s"}, "cooperative")
    consumer = run({"revoked": "4s", "assigned": "4s"}, "consumer")
    assert cooperative.settled
    assert consumer.settled
    assert consumer.peak_unread < eager.peak_unread
    assert cooperative.unowned_ms <= cooperative.longest_unowned_ms * 6


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_a_listener_longer_than_max_poll_interval_has_its_member_thrown_out(protocol: str) -> None:
    """The consumer leaves meanwhile, and joins again; with time enough it does not."""

    def departures(interval: str) -> int:
        member = {"settings": {"max.poll.interval.ms": interval}}
        events = [{"at": "60s", "scale_out": {"group": "g"}}]
        found = run({"revoked": "70s"}, protocol, member=member, events=events, until="4m")
        thrown_out = sum(n for error, n in found.errors.items() if "UNKNOWN_MEMBER_ID" in error)
        left = found.requests.get("LeaveGroup", 0)
        return found.rebalance_count if protocol == "consumer" else thrown_out + left

    assert departures("60s") > departures("5m")


def test_a_listener_that_fails_closes_its_consumer() -> None:
    """The poll throws; with `restart_after` the process comes back."""
    gone = run({"fails": 0.5})
    assert any("listener failed" in text for one in gone.members for text in one.failures)
    assert sum(one.running for one in gone.members) < 3
    back = run({"fails": 0.2, "restart_after": "5s"}, until="10m")
    assert max(one.lives for one in back.members) > 1
    assert sum(one.running for one in back.members) == 3
    assert run({"fails": 0.2, "restart_after": "5s"}, until="10m") == back


def test_workers_share_the_records_of_a_poll() -> None:
    """A backlog of 12,000 records of 10 ms over two members: 60 s alone, 15 s by four each."""

    def catch_up_ms(workers: int) -> int:
        settings = {"max.poll.records": 40}
        member = {"workers": workers, "processing": "10ms", "settings": settings}
        topics = {"t": {"partitions": 6, "backlog": 12_000}}
        return run(member=member, topics=topics, events=[]).catch_up_ms

    one, four = catch_up_ms(1), catch_up_ms(4)
    assert 58_000 <= one <= 62_000
    assert one / 4 - 2_000 <= four <= one / 4 + 2_000


SPREADS: Final = {
    "fixed": Spread(4.0),
    "normal": Spread(4.0, "normal", 1.0),
    "exponential": Spread(4.0, "exponential"),
}


@pytest.mark.parametrize("shape", SPREADS)
def test_shared_times_are_the_longest_lane(shape: str) -> None:
    """10 records by 4: three in the longest lane; no more workers than records."""
    spread, random = SPREADS[shape], Random(7)
    drawn = fmean(spread.draw_sum(random, 3) for _ in range(2_000))
    assert drawn == pytest.approx(12.0, rel=0.05)
    alone = [spread.draw_shared(random, 10, 1) for _ in range(2_000)]
    shared = [spread.draw_shared(random, 10, 4) for _ in range(2_000)]
    assert fmean(alone) == pytest.approx(40.0, rel=0.05)
    assert 12.0 <= fmean(shared) <= 24.0
    assert Spread(4.0).draw_shared(random, 2, 50) == 4.0
    assert Spread(0.0, "exponential").draw(random) == 0.0


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_a_listener_that_commits_leaves_nothing_to_read_again(protocol: str) -> None:
    """Otherwise nothing is committed: the new owners begin where the group began."""
    events = [{"at": "60s", "rolling_restart": {"group": "g"}}]
    member = {"commit": "none"}
    without = run(protocol=protocol, member=member, events=events)
    listening = run({"commits": True}, protocol, member=member, events=events)
    assert without.read_again > 3_000
    assert listening.read_again == 0
    assert listening.settled
    slow = run({"commits": True, "revoked": "2s"}, protocol, member=member, events=events)
    assert (slow.read_again, slow.settled) == (0, True)
