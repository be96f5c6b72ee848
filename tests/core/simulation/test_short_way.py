"""Heartbeats and commits that change nothing go a short way, and a run is the same without it."""

from collections import Counter
from typing import Any, Final

import pytest

from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.engine.short_way import ShortWay
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.world.brokers import BrokerService
from kgroups.core.simulation.world.group_consumer import GroupConsumer
from tests.support.simulation.sample_scenarios import BASE, in_protocol, scenario, told, with_event

PROTOCOLS: Final = ("eager", "cooperative", "consumer")
# A session that ends, requests that are lost, a coordinator that moves, heartbeats that are late.
KINDS: Final = ("crash", "network_partition", "broker_down", "gc_pause", "slow_broker")
HEARTBEATS: Final = ("Heartbeat", "ConsumerGroupHeartbeat")
LOSSY: Final = {"network": {"latency": {"normal": "3ms", "deviation": "2ms"}, "loss": 0.02}}


def assert_same_without(monkeypatch: pytest.MonkeyPatch, what: Scenario, seed: int = 1) -> None:
    """The run and its timeline, event for event, where every request goes the usual way."""
    with_it = told(what, seed)
    with monkeypatch.context() as usual:
        usual.setattr(ShortWay, "beat", lambda self, process: False)
        usual.setattr(ShortWay, "commit", lambda self, process, offsets: False)
        assert told(what, seed) == with_it


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_the_same_without_the_short_way(
    monkeypatch: pytest.MonkeyPatch, kind: str, protocol: str
) -> None:
    """Whatever happens to members, brokers and the network between them."""
    assert_same_without(monkeypatch, with_event(kind, protocol)[1])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_delays_are_drawn_in_the_same_order(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    """Packets that are late or lost are the same ones."""
    assert_same_without(monkeypatch, scenario(in_protocol(BASE, protocol), **LOSSY), seed=4)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_most_heartbeats_and_commits_go_the_short_way(
    monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    """Asked for alone, answered at once, and taken in by the member alone."""
    counts = Counter[str]()

    def count(owner: type, name: str) -> None:
        usual = getattr(owner, name)

        def counted(*given: Any) -> Any:
            found = usual(*given)
            counts[name] += found not in (None, False)
            return found

        monkeypatch.setattr(owner, name, counted)

    for name in ("answer_at_once", "commit_at_once"):
        count(BrokerService, name)
    for name in ("commit_alone", "commit_answered"):
        count(GroupConsumer, name)
    (group,) = simulate(scenario(in_protocol(BASE, protocol))).groups
    assert counts["commit_alone"] > 0.9 * group.requests["OffsetCommit"] > 100
    assert counts["commit_at_once"] > 0.9 * group.requests["OffsetCommit"]
    assert counts["commit_answered"] > 0.9 * counts["commit_at_once"]
    sent = sum(group.requests.get(kind, 0) for kind in HEARTBEATS)
    assert counts["answer_at_once"] > 0.9 * sent > 100
