"""Autoscalers and the load that they follow: documented formulas with cases computed by hand."""

from typing import Any

import pytest

from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.figures.figure_fields import values_of
from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.kubernetes.scaling_rules import (
    Autoscaler,
    capped_lag,
    most_after,
    stabilised,
    wanted_for_cpu,
    wanted_for_lag,
)
from tests.support.simulation.sample_scenarios import ran, scenario

# A record takes 10 ms: a member reads 100 a second.
TEXT = """\
until: 20m
topics:
  orders: {partitions: 6, rate: 50/s}
groups:
  app:
    members:
      m: {count: 1, topics: [orders], processing: 10ms}
    AUTOSCALER
"""


def scaled(autoscaler: str, *events: dict[str, Any], **keys: Any) -> GroupOutcome:
    """What an autoscaler makes of a group."""
    text = TEXT.replace("AUTOSCALER", f"autoscaler: {autoscaler}")
    group = ran(text, events=list(events), **keys)
    return group


@pytest.mark.parametrize(
    ("lags", "keys", "expected"),
    [
        # Six partitions at a threshold of 10: no more than 60 counts.
        ([50, 50, 0, 0, 0, 0], {}, 60),
        ([30, 20, 0, 0, 0, 0], {}, 50),
        # 65 // 10 = 6 is not more than 6: the division is one of whole numbers.
        ([65, 0, 0, 0, 0, 0], {}, 65),
        ([50, 50, 0, 0, 0, 0], {"allow_idle": True}, 100),
        ([50, 50, 0, 0, 0, 0], {"limit_to_lagging": True}, 20),
        ([5, 5, 0, 0, 0, 0], {"limit_to_lagging": True}, 10),
    ],
)
def test_keda_counts_no_more_lag_than_partitions_can_use(
    lags: list[int], keys: dict[str, Any], expected: int
) -> None:
    """`allowIdleConsumers` and `limitToPartitionsWithLag` decide what the bound is."""
    assert capped_lag(Autoscaler(keda=True, threshold=10, **keys), lags) == expected


@pytest.mark.parametrize(
    ("current", "lag", "target", "expected"),
    [
        (3, 300, 100, 3),
        # 330 / 300 = 1.1: within the tolerance. 331 is not: ceil(3.31).
        (3, 330, 100, 3),
        (3, 331, 100, 4),
        (3, 270, 100, 3),
        # 269 / 300 = 0.897: ceil(2.69) is three all the same.
        (3, 269, 100, 3),
        (3, 200, 100, 2),
        (3, 0, 100, 0),
        (1, 1_000, 100, 10),
    ],
)
def test_pods_for_a_lag(current: int, lag: int, target: int, expected: int) -> None:
    """AverageValue: the lag by the target, rounded up, outside of a tenth."""
    assert wanted_for_lag(current, lag, target) == expected


@pytest.mark.parametrize(
    ("current", "percent", "target", "expected"),
    [(4, 80.0, 50, 7), (4, 55.0, 50, 4), (4, 56.0, 50, 5), (4, 45.0, 50, 4), (4, 25.0, 50, 2)],
)
def test_pods_for_busy_time(current: int, percent: float, target: int, expected: int) -> None:
    """4 x 80 / 50 = 6.4; 55 is within a tenth of 50; 4 x 56 / 50 = 4.48; 4 x 25 / 50 = 2."""
    assert wanted_for_cpu(current, percent, target) == expected


def test_the_default_policies_bound_growth() -> None:
    """Four more, or twice as many, in a period."""
    assert [most_after(n) for n in (1, 3, 4, 5, 50)] == [5, 7, 8, 10, 100]


@pytest.mark.parametrize(
    ("wishes", "current", "up_ms", "down_ms", "expected"),
    [
        # Down: the most that was wanted in five minutes; the wish of 0 s is out of it at 300 s.
        ([(0, 8), (100_000, 5), (300_000, 2)], 8, 0, 300_000, 5),
        ([(0, 8), (100_000, 5), (300_000, 2)], 8, 0, 0, 2),
        # Up: at once without a window, else the least that was wanted in it.
        ([(240_000, 3), (300_000, 6)], 3, 0, 300_000, 6),
        ([(270_000, 3), (300_000, 6)], 3, 60_000, 300_000, 3),
        ([(240_000, 3), (300_000, 6)], 3, 60_000, 300_000, 6),
        # Four more at most.
        ([(300_000, 40)], 3, 0, 300_000, 7),
        ([(300_000, 40)], 8, 0, 300_000, 10),
    ],
)
def test_wishes_are_stabilised(
    wishes: list[tuple[int, int]], current: int, up_ms: int, down_ms: int, expected: int
) -> None:
    """The windows, then the policies, then the bounds: at most ten."""
    plan = Autoscaler(up_ms=up_ms, down_ms=down_ms, most=10)
    assert stabilised(plan, current, wishes, 300_000) == expected


def test_a_burst_is_followed_up_and_down() -> None:
    """Up within two looks, down five minutes after the last wish for many."""
    burst = {"at": "3m", "load": {"topic": "orders", "rate": "500/s", "for": "2m"}}
    group = scaled("{hpa: {target: 2000, maxReplicas: 6}}", burst)
    ups = [one for one in group.scalings if one.after > one.before]
    downs = [one for one in group.scalings if one.after < one.before]
    assert 180_000 < ups[0].at_ms <= 180_000 + 2 * 15_000
    assert max(one.after for one in group.scalings) == 6
    assert downs[0].at_ms >= ups[-1].at_ms + 300_000
    assert downs[-1].after == 1
    assert sum(one.running for one in group.members) == 1
    assert group.settled
    values = values_of([group])
    assert values["most_pods"] == 6


def test_busy_members_are_joined_by_others() -> None:
    """50 records a second of 10 ms are half a pod: twice the target of 25 percent."""
    group = scaled("{hpa: {metric: cpu, target: 25, maxReplicas: 5}}")
    assert [(one.before, one.after) for one in group.scalings] == [(1, 2)]
    # 400 a second are four pods' full time: 16 pods, of which six may be.
    more = scaled(
        "{hpa: {metric: cpu, target: 25, maxReplicas: 6}}", rate_event("400/s"), until="5m"
    )
    assert more.scalings[-1].after == 6


def rate_event(rate: str) -> dict[str, Any]:
    """Another rate from the second minute on."""
    return {"at": "1m", "load": {"topic": "orders", "rate": rate}}


def test_keda_scales_to_nobody_and_back() -> None:
    """Nobody is needed for the cooldown period, then nobody is there; a record brings one back."""
    keda = "{keda: {lagThreshold: 1000, activationLagThreshold: 5, cooldownPeriod: 120}}"
    silence = {"at": "2m", "load": {"topic": "orders", "rate": 0}}
    again = {"at": "10m", "load": {"topic": "orders", "rate": "40/s"}}
    group = scaled(keda, silence, again)
    first, second = group.scalings[:2]
    assert (first.before, first.after, second.before, second.after) == (1, 0, 0, 1)
    # The last lag is committed within five seconds; KEDA looks every 30 s.
    assert 240_000 <= first.at_ms <= 120_000 + 5_000 + 30_000 + 120_000
    assert 600_000 < second.at_ms <= 630_000


def test_keda_makes_no_idle_members() -> None:
    """No more pods than partitions, whatever the lag, unless that is asked for."""
    event = rate_event("2000/s")
    keda = "{keda: {lagThreshold: 100, maxReplicaCount: 12%s}}"
    assert max(one.after for one in scaled(keda % "", event, until="5m").scalings) == 6
    idle = scaled(keda % ", allowIdleConsumers: true", event, until="5m")
    assert max(one.after for one in idle.scalings) == 12


def test_a_deploy_holds_an_autoscaler_up() -> None:
    """While pods are replaced it does nothing."""
    deploy = {"at": "1m", "deploy": {"group": "app", "startup": "60s"}}
    group = scaled("{hpa: {target: 100, maxReplicas: 6}}", deploy, rate_event("500/s"), until="5m")
    took_ms = group.deploys[0].took_ms
    assert took_ms is not None
    assert all(one.at_ms >= 60_000 + took_ms for one in group.scalings if one.at_ms > 60_000)
    assert group.scalings


# ---------------------------------------------------------------------- load


def ends(group: GroupOutcome) -> int:
    """Records that came, read or not."""
    return group.records - group.read_again + group.unread


def test_skew_shares_the_rate_out() -> None:
    """By weights, or as Zipf's law has it: 1, 1/2, 1/3."""
    for skew, hot in (([4, 1, 1], 4 / 6), (1.0, 6 / 11)):
        topics = {"orders": {"partitions": 3, "rate": 60, "skew": skew}}
        one = scenario(TEXT.replace("AUTOSCALER", ""), topics=topics, until="5m")
        # One member of three gets the hot partition and cannot keep up: 10 ms a record.
        (group,) = simulate(one).groups
        assert group.records == pytest.approx(60 * 300, abs=100)
        slow = TEXT.replace("AUTOSCALER", "").replace("count: 1", "count: 3")
        (behind,) = simulate(
            scenario(slow.replace("10ms", "50ms"), topics=topics, until="5m")
        ).groups
        assert behind.unread == pytest.approx((60 * hot - 20) * 300, rel=0.12)


def test_the_rate_follows_the_hours() -> None:
    """Twice as much in the second hour, nothing in the third."""
    hours = [1, 2, 0] + [1] * 21
    topics = {"orders": {"partitions": 2, "rate": 10, "hours": hours}}
    text = TEXT.replace("AUTOSCALER", "")
    counts = []
    for until in ("1h", "2h", "3h"):
        group = ran(text, topics=topics, until=until)
        counts.append(ends(group))
    steps = [after - before for before, after in zip([0, *counts], counts, strict=False)]
    assert steps == [pytest.approx(n * 36_000, abs=120) for n in (1, 2, 0)]


def test_an_uneven_backlog_takes_as_long_as_its_largest_part() -> None:
    """6,000 records in one partition at 100 a second: a minute, though three members share."""
    topics = {"orders": {"partitions": 3, "rate": 3, "backlog": [6000, 0, 0]}}
    text = TEXT.replace("AUTOSCALER", "").replace("count: 1", "count: 3")
    uneven = ran(text, topics=topics, until="5m")
    topics["orders"]["backlog"] = 6000
    even = ran(text, topics=topics, until="5m")
    assert uneven.catch_up_ms == pytest.approx(60_000, abs=4_000)
    assert even.catch_up_ms == pytest.approx(20_000, abs=4_000)
