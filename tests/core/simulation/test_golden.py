"""Each event in each protocol, as a text file: what it did to the group; and what is none.

KGROUPS_UPDATE_GOLDEN=1 writes the files anew; look at the difference before committing it.
"""

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.figures.outcome import GroupOutcome, Outcome
from kgroups.core.simulation.figures.outcome_item import FIGURES, HERD
from kgroups.core.simulation.scenario.scenario_events import SCENARIO_EVENTS
from kgroups.core.times import show_ms
from tests.support.simulation.sample_scenarios import BASE, EVENTS, scenario, with_event

FOLDER = Path(__file__).parent / "golden"
PROTOCOLS = ("eager", "cooperative", "consumer", "zookeeper")
# There is no coordinator, and a consumer of the ZooKeeper era was subscribed when it was made.
NOT_OF_ZOOKEEPER = {
    *("move_coordinator", "slow_broker", "request_error", "subscribe", "unsubscribe", "seek"),
}
STORIES = [
    (kind, protocol)
    for kind in EVENTS
    for protocol in PROTOCOLS
    if protocol != "zookeeper" or kind not in NOT_OF_ZOOKEEPER
]
# Consumers of 0.8.2 look at brokers when they rebalance, and watch them only if there are none.
LONELY = BASE.replace("brokers: 3", "brokers: 1").replace("eager", "zookeeper")
RESTART = {"at": "130s", "crash": {"group": "app", "member": "m-1", "restart_after": "5s"}}
DOWN = {"at": "120s", "broker_down": {"broker": 0, "failover": "1s"}}
UP = {"at": "180s", "broker_up": {"broker": 0}}
OF_BROKERS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "broker_down": ([RESTART], [DOWN, RESTART]),
    "broker_up": ([DOWN, RESTART], [DOWN, RESTART, UP]),
}
# Figures of applications that poll on while they work, and of those that skip records.
OF_POOLS = ("lost", "out_of_order", "skipped")
UPDATE = os.environ.get("KGROUPS_UPDATE_GOLDEN") == "1"


def story(outcome: Outcome) -> str:
    """A run as a few lines of text."""
    (group,) = outcome.groups
    lines = [f"settled {outcome.settled}, state {group.state}, {outcome.end_ms} ms"]
    figures = {name: read(group) for name, read in FIGURES.items()}
    lines += [f"{name} {n}" for name, n in figures.items() if n or name not in OF_POOLS]
    for one in group.rebalances:
        took = "never over" if one.until_ms is None else show_ms(one.until_ms - one.at_ms)
        lines.append(f"{one.at_ms:>7} epoch {one.epoch}: {one.cause} ({took})")
    for member in group.members:
        lines.append(
            f"{member.name}: lives {member.lives}, stopped {member.stopped_ms} ms, "
            f"owns {member.partitions}" + "".join(f", {text}" for text in member.failures)
        )
    lines += [f"{kind}: {count}" for kind, count in ({**group.requests, **group.errors}).items()]
    if group.protocol == "zookeeper":
        lines += [f"herd {name}: {read(group)}" for name, read in HERD.items()]
    return "\n".join(lines) + "\n"


def figures(group: GroupOutcome) -> dict[str, int]:
    """The figures, and the errors that members saw."""
    return {name: read(group) for name, read in FIGURES.items()} | dict(group.errors)


@cache
def undisturbed(text: str, protocol: str) -> Outcome:
    """The run without the event; most events share one."""
    kind = next(kind for kind in EVENTS if text in (kind, EVENTS[kind][0]))
    return simulate(with_event(kind, protocol)[0])


def test_every_event_has_its_scenario() -> None:
    """No kind of event is left out."""
    assert set(EVENTS) == set(SCENARIO_EVENTS)


def pair(kind: str, protocol: str) -> tuple[Outcome, Outcome]:
    """The run without the event, and with it."""
    if protocol == "zookeeper" and kind in OF_BROKERS:
        without, with_it = (simulate(scenario(LONELY, events=one)) for one in OF_BROKERS[kind])
        return without, with_it
    text = EVENTS[kind][0] if kind != "broker_up" else kind
    return undisturbed(text, protocol), simulate(with_event(kind, protocol)[1])


@pytest.mark.parametrize(("kind", "protocol"), STORIES)
def test_an_event_changes_the_result_as_the_file_says(kind: str, protocol: str) -> None:
    """The run differs from the one without the event, and is the one that was looked at."""
    without, with_it = pair(kind, protocol)
    assert with_it.events[kind] == 1
    assert figures(without.groups[0]) != figures(with_it.groups[0])
    text = story(with_it)
    path = FOLDER / f"{kind} {protocol}.txt"
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_a_group_without_coordinator_does_not_care_where_it_is() -> None:
    """Moving the coordinator changes nothing at all."""
    without, with_it = pair("move_coordinator", "zookeeper")
    assert with_it.events == {"move_coordinator": 1}
    assert without.groups == with_it.groups
