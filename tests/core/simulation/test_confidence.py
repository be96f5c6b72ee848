"""How sure figures are: intervals cover, comparisons err as often as they say."""

from random import Random

import pytest

from kgroups.core.conditions.grammar import parse_condition
from kgroups.core.errors import UsageError
from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.engine.sweep import plan_tasks, sweep
from kgroups.core.simulation.figures.confidence import Difference, compare, interval
from kgroups.core.simulation.figures.figure_fields import SIMULATION_FIELDS, values_of
from kgroups.core.simulation.figures.outcome_item import FIGURES, group_items
from kgroups.core.simulation.scenario.variation import combinations, parse_vary, varied
from tests.support.simulation.sample_scenarios import scenario, with_event


@pytest.mark.parametrize(
    ("runs", "ranks"), [(5, None), (6, (1, 6)), (9, (2, 8)), (20, (6, 15)), (100, (40, 61))]
)
def test_intervals_of_medians_are_those_of_the_tables(
    runs: int, ranks: tuple[int, int] | None
) -> None:
    """Order statistics of the sign test, as printed in textbooks."""
    assert interval(range(1, runs + 1)) == ranks


def test_an_interval_covers_the_median_as_often_as_it_says() -> None:
    """In 95 of 100 cases or more, whatever the distribution."""
    random = Random(1)
    covered = 0
    for _ in range(1_000):
        found = interval([round(1_000 * random.paretovariate(1.5)) for _ in range(15)])
        assert found is not None
        covered += found[0] <= 1_000 * 2 ** (1 / 1.5) <= found[1]
    assert covered >= 950


def test_chance_alone_is_seldom_called_a_difference() -> None:
    """In 5 of 100 cases at most."""
    random = Random(2)
    draws = [[random.randrange(20) for _ in range(12)] for _ in range(2_000)]
    pairs = zip(draws[::2], draws[1::2], strict=True)
    assert sum(compare(one, other).real for one, other in pairs) <= 55


def test_what_differs_is_found() -> None:
    """All of one above all of the other; and how many more runs would tell of less."""
    assert compare([3] * 6, [1] * 6) == Difference(True, None)
    assert compare([3] * 6, [3] * 6) == Difference(False, None)
    assert compare([1, 2, 3, 4], [4, 3, 2, 1]) == Difference(False, None)
    assert compare([3] * 3, [1] * 3) == Difference(False, 3)
    open_one = compare([1, 3, 5, 7], [2, 4, 6, 8])
    assert not open_one.real
    # Superiority 0.625: 7.85 / (6 * 0.125 ** 2) runs of each.
    assert open_one.more_runs == 84 - 4


def test_a_sweep_says_which_differences_are_real() -> None:
    """Protocols differ in generations; a variation without effect in nothing."""
    one = with_event("rolling_restart", "eager")[1]
    variations = combinations(parse_vary(["protocol=eager,cooperative"]))
    tasks = plan_tasks(one, variations, range(4))
    found = list(sweep(tasks, 1))
    runs = [[outcome for place, outcome in found if place == n] for n in range(2)]
    (first,) = group_items(variations[0], runs[0], runs[0])
    (second,) = group_items(variations[1], runs[1], runs[0])
    assert first["compared"] is None
    assert second["compared"]["rebalances"] == {"real": True, "more_runs": None}
    assert second["compared"]["doubled_seconds"]["real"] is False
    assert second["interval"]["rebalances"] is None
    (again,) = group_items(variations[0], list(runs[0]), runs[0])
    assert not any(found["real"] for found in again["compared"].values())


def test_figures_in_conditions_are_those_of_the_document() -> None:
    """Durations in seconds; percentiles by their endings."""
    (group,) = simulate(with_event("crash", "eager")[1]).groups
    values = values_of([group])
    assert set(values) == set(SIMULATION_FIELDS.names)
    for name, read in FIGURES.items():
        scale = 1_000 if name.endswith("_ms") else 1
        short = name.replace("_ms", "_seconds")
        assert values[short] == values[f"{short}_p99"] == read(group) / scale

    def holds(text: str) -> bool | None:
        return parse_condition(text, SIMULATION_FIELDS, "--fail-on").holds(values)

    assert holds("longest_unowned_seconds_p99 > 6s and rebalances = 3")
    assert holds("moved > 1%") is True
    assert holds("unsettled > 0 or member_count < 3") is False


# ---------------------------------------------------------------------- what varies


def test_members_rates_partitions_and_events_vary() -> None:
    """Together as a grid; each by itself or for one group, topic or kind of event."""
    one = with_event("rolling_restart", "eager")[1]
    vary = ["members=2,5", "orders.rate=30,5/m", "partitions=12", "rolling_restart.pause=5s"]
    grid = [varied(one, each) for each in combinations(parse_vary(vary))]
    assert [len(each.groups[0].members) for each in grid] == [2, 2, 5, 5]
    assert [each.topics[0].rate for each in grid] == [30, 5 / 60] * 2
    assert {each.topics[0].partitions for each in grid} == {12}
    assert {len(each.groups[0].committed["orders"]) for each in grid} == {12}
    assert {getattr(each.events[0].event, "pause_ms", None) for each in grid} == {5_000}
    (group,) = simulate(grid[3]).groups
    assert [(each.name, each.partitions > 0) for each in group.members] == [
        (f"m-{n}", True) for n in range(1, 6)
    ]
    later = varied(one, {"rolling_restart.at": "3m", "app.members": "4"})
    assert later.events[0].at_ms == 180_000
    assert len(later.groups[0].members) == 4


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ({"nobody.members": "3"}, "there is no group `nobody`"),
        ({"order.rate": "3"}, "there is no topic `order`"),
        ({"crash.at": "3s"}, "the scenario has no event `crash`"),
        ({"members": "0"}, "at least 1"),
        (
            {"session.timeout.ms": "8s", "protocol": "consumer"},
            r"`session\.timeout\.ms` has no effect with protocol consumer",
        ),
        ({"partition.assignment.strategy": "range", "protocol": "consumer"}, "no effect"),
        ({"group.initial.rebalance.delay.ms": "1s", "protocol": "consumer"}, "no effect"),
        ({"group.remote.assignor": "uniform"}, "has no effect with protocol eager"),
        ({"group.consumer.session.timeout.ms": "50s"}, "has no effect with protocol eager"),
        ({"zookeeper.sync.time.ms": "3s"}, "has no effect with protocol eager"),
    ],
)
def test_what_is_not_there_cannot_vary(vary: dict[str, str], said: str) -> None:
    """It is told by name."""
    with pytest.raises(UsageError, match=said):
        varied(scenario(), vary)


def test_what_a_deploy_brings_in_may_vary() -> None:
    """The groups are of both protocols then."""
    deploy = {"at": "60s", "deploy": {"group": "app", "change": {"protocol": "consumer"}}}
    one = scenario(events=[deploy])
    for name in ("group.consumer.session.timeout.ms", "session.timeout.ms"):
        assert varied(one, {name: "50s"}) != one


def test_unknown_things_cannot_vary() -> None:
    """An event's key that it does not have."""
    with pytest.raises(UsageError, match=r"`crash\.colour` cannot be varied"):
        parse_vary(["crash.colour=red"])
