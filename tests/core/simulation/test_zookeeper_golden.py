"""Each event among consumers of the ZooKeeper era, as a text file; and what no event of them is.

KGROUPS_UPDATE_GOLDEN=1 writes the files anew; look at the difference before committing it.
"""

from typing import Any

import pytest

from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.figures.outcome import GroupOutcome, Outcome
from kgroups.core.simulation.figures.outcome_item import HERD
from tests.core.simulation.test_golden import FOLDER, UPDATE, figures, story, undisturbed
from tests.support.simulation.sample_scenarios import BASE, EVENTS, scenario, with_event

# Consumers of 0.8.2 look at brokers when they rebalance, and watch them only if there are none.
LONELY = BASE.replace("brokers: 3", "brokers: 1").replace("eager", "zookeeper")
RESTART = {"at": "130s", "crash": {"group": "app", "member": "m-1", "restart_after": "5s"}}
DOWN = {"at": "120s", "broker_down": {"broker": 0, "failover": "1s"}}
UP = {"at": "180s", "broker_up": {"broker": 0}}

OF_BROKERS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "broker_down": ([RESTART], [DOWN, RESTART]),
    "broker_up": ([DOWN, RESTART], [DOWN, RESTART, UP]),
}


def pair(kind: str) -> tuple[Outcome, Outcome]:
    """The run without the event, and with it."""
    if kind in OF_BROKERS:
        without, with_it = (simulate(scenario(LONELY, events=one)) for one in OF_BROKERS[kind])
        return without, with_it
    return undisturbed(EVENTS[kind][0], "zookeeper"), simulate(with_event(kind, "zookeeper")[1])


def herd(group: GroupOutcome) -> dict[str, int]:
    """The figures of the herd."""
    return {name: read(group) for name, read in HERD.items()}


# No events of theirs: there is no coordinator, and a consumer was subscribed when it was made.
NOT_THEIRS = {
    "move_coordinator",
    "slow_broker",
    "request_error",
    "subscribe",
    "unsubscribe",
    "seek",
}


@pytest.mark.parametrize("kind", sorted(set(EVENTS) - NOT_THEIRS))
def test_an_event_changes_the_result_as_the_file_says(kind: str) -> None:
    """The run differs from the one without the event, and is the one that was looked at."""
    without, with_it = pair(kind)
    assert with_it.events[kind] == 1
    assert figures(without.groups[0]) != figures(with_it.groups[0])
    (group,) = with_it.groups
    text = story(with_it) + "".join(f"herd {n}: {count}\n" for n, count in herd(group).items())
    path = FOLDER / f"{kind} zookeeper.txt"
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_a_group_without_coordinator_does_not_care_where_it_is() -> None:
    """Moving the coordinator changes nothing at all."""
    without, with_it = pair("move_coordinator")
    assert with_it.events == {"move_coordinator": 1}
    assert without.groups == with_it.groups
