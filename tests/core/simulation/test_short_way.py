"""Heartbeats and commits that change nothing go a short way, and a run is the same without it."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import pytest

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.engine.short_way import ShortWay
from kgroups.core.simulation.figures.outcome import Outcome
from kgroups.core.simulation.figures.recorder import Line
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.world.actors import Ask
from kgroups.core.simulation.world.brokers import BrokerService
from kgroups.core.simulation.world.group_consumer import GroupConsumer
from tests.support.simulation.sample_scenarios import BASE, in_protocol, scenario, with_event

PROTOCOLS: Final = ("eager", "cooperative", "consumer")
# A session that ends, requests that are lost, a coordinator that moves, heartbeats that are late.
KINDS: Final = ("crash", "network_partition", "broker_down", "gc_pause", "slow_broker")
HEARTBEATS: Final = ("Heartbeat", "ConsumerGroupHeartbeat")
LOSSY: Final = {"network": {"latency": {"normal": "3ms", "deviation": "2ms"}, "loss": 0.02}}


def told(what: Scenario, seed: int) -> tuple[Outcome, list[Line]]:
    """The outcome and the timeline."""
    lines: list[Line] = []
    return simulate(what, seed=seed, timeline=lines.append), lines


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
def test_most_commits_go_the_short_way(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    """Nearly every poll of a settled member only commits."""
    alone = 0
    usual = GroupConsumer.commit_alone

    def counted(
        self: GroupConsumer, now_ms: int, offsets: Mapping[TopicPartition, int]
    ) -> Ask | None:
        nonlocal alone
        found = usual(self, now_ms, offsets)
        alone += found is not None
        return found

    monkeypatch.setattr(GroupConsumer, "commit_alone", counted)
    (group,) = simulate(scenario(in_protocol(BASE, protocol))).groups
    assert alone > 0.9 * group.requests["OffsetCommit"] > 200


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_most_commits_are_stored_and_answered_at_once(
    monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    """By the coordinator, and nearly every answer is taken in by the member alone."""
    counts = Counter[str]()
    stores, hears = BrokerService.commit_at_once, GroupConsumer.commit_answered

    def stored(self: BrokerService, now_ms: int, request: object) -> object | None:
        found = stores(self, now_ms, request)
        counts["stored"] += found is not None
        return found

    def heard(self: GroupConsumer, now_ms: int, token: int, response: object) -> bool:
        found = hears(self, now_ms, token, response)
        counts["heard"] += found
        return found

    monkeypatch.setattr(BrokerService, "commit_at_once", stored)
    monkeypatch.setattr(GroupConsumer, "commit_answered", heard)
    (group,) = simulate(scenario(in_protocol(BASE, protocol))).groups
    assert counts["stored"] > 0.9 * group.requests["OffsetCommit"] > 200
    assert counts["heard"] > 0.9 * counts["stored"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_most_heartbeats_go_the_short_way(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    """Coordinators answer nearly all of them at once."""
    answered = 0
    usual = BrokerService.answer_at_once

    def counted(self: BrokerService, now_ms: int, request: object) -> object | None:
        nonlocal answered
        found = usual(self, now_ms, request)
        answered += found is not None
        return found

    monkeypatch.setattr(BrokerService, "answer_at_once", counted)
    (group,) = simulate(scenario(in_protocol(BASE, protocol))).groups
    sent = sum(group.requests.get(kind, 0) for kind in HEARTBEATS)
    assert answered > 0.9 * sent > 200
