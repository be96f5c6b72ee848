"""Simulations beside real groups of seven client libraries on a real broker, with real cuts.

Four scenarios in every run, of which what time cannot change is compared: epochs, and how many
partitions each member has. All of them with `KGROUPS_TRUTH=1`, with every figure: the errors then
go to docs/simulation-fidelity.md. `KGROUPS_TRUTH_ROWS` chooses scenarios by parts of their names.
"""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.libraries import TRAITS
from tests.support.kafka.broker import KafkaCluster
from tests.support.simulation_truth.carrying_out import Result, Stage, simulated
from tests.support.simulation_truth.comparison import outside
from tests.support.simulation_truth.detour import resent_at
from tests.support.simulation_truth.group_log import GroupLog
from tests.support.simulation_truth.page import tables, write
from tests.support.simulation_truth.producer import SteadyProducer
from tests.support.simulation_truth.rows import KINDS, ROWS, Row
from tests.support.simulation_truth.watched_group import Place, WatchedGroup

ALL: Final = os.environ.get("KGROUPS_TRUTH") == "1"
CHOSEN: Final = [part for part in os.environ.get("KGROUPS_TRUTH_ROWS", "").split(",") if part]
AT_ONCE: Final = 12
OFFSETS_PARTITIONS: Final = 50
LIMIT_S: Final = 400

pytestmark = pytest.mark.kafka

STRUCTURAL: Final = (
    "scale in: kafka-python",
    "scale out: librdkafka",
    "static restart: aiokafka",
    "consumer protocol, scale out: librdkafka",
)


def structural(name: str) -> Row:
    """A row with the session of the defaults, which no busy machine uses up, and short pauses."""
    (found,) = [row for row in ROWS if row.name == name]
    event = dict(found.kind.event)
    if found.event == "rolling_restart":
        event = {"rolling_restart": {"down": "1s", "pause": "1s"}}
    return Row(replace(found.kind, session=False, event=event), found.library)


Came = Mapping[str, tuple[int, tuple[int, ...]]]


@pytest.fixture(scope="module")
def came(kafka: KafkaCluster) -> Came:
    """New epochs, and partitions of each member, of the four: all at once."""
    groups: dict[str, WatchedGroup] = {}

    def hear(event: Mapping[str, Any]) -> None:
        groups[event["name"].rpartition("/")[0]].hear(event)

    with (
        HostPool(hear) as pool,
        closing(GroupLog(kafka.bootstrap, OFFSETS_PARTITIONS)) as log,
        closing(SteadyProducer(kafka.bootstrap)) as producer,
        ThreadPoolExecutor(len(STRUCTURAL)) as threads,
    ):
        place = Place(kafka.bootstrap, pool, log, producer)
        running = {}
        for number, name in enumerate(STRUCTURAL):
            row = structural(name)
            group = WatchedGroup(place, row, number)
            groups[group.group] = group
            (expected,) = simulated(row)
            members, generations = len(expected.sizes), expected.generations
            running[name] = threads.submit(group.run_until_settled, members, generations)
        return {name: run.result(LIMIT_S) for name, run in running.items()}


@pytest.mark.parametrize("name", STRUCTURAL)
def test_epochs_and_sizes(name: str, came: Came) -> None:
    """As many epochs as simulated, and as many partitions for each member."""
    (expected,) = simulated(structural(name))
    assert came[name] == (expected.generations, expected.sizes)


def test_the_four_differ() -> None:
    """New epochs or none, two members or more: the comparison can tell them apart."""
    found = [figures for row in ROWS if row.name in STRUCTURAL for figures in simulated(row)]
    assert len({(one.generations, one.sizes) for one in found}) == 3


def test_every_library_and_every_length_of_a_cut_is_among_them() -> None:
    """More than forty scenarios; each library is cut off for 10, 40 and 120 s."""
    assert len(ROWS) >= 40
    for library in TRAITS:
        names = {row.kind.name for row in ROWS if row.library == library}
        assert {f"cut of {seconds} s, dropped" for seconds in (10, 40, 120)} <= names
    assert len({kind.name for kind in KINDS}) == len(KINDS)


def test_what_was_lost_is_sent_again_at_growing_distances() -> None:
    """As Linux does it: 200 ms after the loss, then twice as long each time."""
    assert resent_at(5.0, 5.1) == pytest.approx(5.2)
    assert resent_at(5.0, 5.5) == pytest.approx(5.6)
    assert resent_at(5.0, 15.0) == pytest.approx(17.6)


@pytest.fixture(scope="module")
def results(pytestconfig: pytest.Config) -> list[Result]:
    """What came of all of them; told as it comes."""
    rows = [row for row in ROWS if not CHOSEN or any(part in row.name for part in CHOSEN)]
    reporter = pytestconfig.pluginmanager.get_plugin("terminalreporter")

    def tell(one: Result) -> None:
        if reporter is not None:
            wrong = ", ".join(outside(one)) or one.failure or "within bounds"
            reporter.write(f"\n{one.row.name}: {wrong}\n  {one.simulated}\n  {one.real}\n")

    with Stage(rows) as stage:
        found = stage.carry_out(AT_ONCE, tell)
    if not CHOSEN:
        write(sorted(found, key=lambda one: rows.index(one.row)))
    if reporter is not None:
        reporter.write(f"\n{tables(found)}\n")
    return found


@pytest.mark.skipif(not ALL, reason="takes twenty minutes: make fidelity-simulation")
@pytest.mark.timeout(7_200)
def test_most_figures_are_within_their_bounds(results: list[Result]) -> None:
    """Nine of ten scenarios in epochs and sizes, four of five in everything."""
    compared = [one for one in results if one.real is not None]
    assert len(compared) >= len(results) * 9 // 10
    odd = [outside(one) for one in compared]
    assert sum({"epochs", "sizes"}.isdisjoint(one) for one in odd) >= len(compared) * 9 // 10
    assert sum(not one for one in odd) >= len(compared) * 4 // 5
