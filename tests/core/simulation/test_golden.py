"""Each event in each protocol, as a text file: what it did to the group.

KGROUPS_UPDATE_GOLDEN=1 writes the files anew; look at the difference before committing it.
"""

import os
from functools import cache
from pathlib import Path

import pytest

from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.figures.outcome import GroupOutcome, Outcome
from kgroups.core.simulation.figures.outcome_item import FIGURES
from kgroups.core.simulation.scenario.scenario_events import SCENARIO_EVENTS
from kgroups.core.times import show_ms
from tests.support.simulation.sample_scenarios import EVENTS, with_event

FOLDER = Path(__file__).parent / "golden"
PROTOCOLS = ("eager", "cooperative", "consumer")
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


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_changes_the_result_as_the_file_says(kind: str, protocol: str) -> None:
    """The run differs from the one without the event, and is the one that was looked at."""
    with_it = simulate(with_event(kind, protocol)[1])
    without = undisturbed(EVENTS[kind][0] if kind != "broker_up" else kind, protocol)
    assert with_it.events[kind] == 1
    assert figures(without.groups[0]) != figures(with_it.groups[0])
    text = story(with_it)
    path = FOLDER / f"{kind} {protocol}.txt"
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
