"""Three scenarios for real, beside their simulation: real clients, the embedded cluster and Kafka.

Equal: how many generations the events cost. Within TOLERANCE_MS: the longest time that a
partition had no owner. Members that restart wait until the group is whole, as the pauses of the
simulation let them.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.simulation.engine.run import simulate
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics
from tests.support.simulation.real_group import HEARTBEAT_MS, PARTITIONS, SESSION_MS, RealGroup
from tests.support.simulation.sample_scenarios import scenario

# A loaded machine starts threads, processes and connections late; virtual time knows no such load.
TOLERANCE_MS: Final = 1_500
DOWN_S: Final = 1.0
NAMES: Final = tuple(f"m-{n}" for n in range(1, 6))
TOPIC: Final = "truth"

SIMULATED: Final = f"""\
cluster: {{group.min.session.timeout.ms: 100ms, group.initial.rebalance.delay.ms: 0}}
topics: {{truth: {PARTITIONS}}}
groups:
  g:
    members:
      m: {{count: 5, client: librdkafka, topics: [truth], static: STATIC}}
    settings: {{session.timeout.ms: {SESSION_MS}, heartbeat.interval.ms: {HEARTBEAT_MS}}}
events:
  - at: 20s
    EVENT
"""
ROLLING = "rolling_restart: {group: g, down: 1s, pause: 3s}"
CRASH = "crash: {group: g, member: m-3}"


@dataclass(frozen=True)
class Figures:
    """What is compared."""

    generations: int
    longest_ms: int


def simulated(event: str, static: str) -> Figures:
    """Generations after the start, and the longest time without an owner."""
    text = SIMULATED.replace("EVENT", event).replace("STATIC", static)
    (before,) = simulate(scenario(text, until="19s")).groups
    (after,) = simulate(scenario(text)).groups
    assert after.settled
    return Figures(after.epoch - before.epoch, after.longest_unowned_ms)


def restart_all(group: RealGroup) -> None:
    """One member after the other is closed, is away for a second, and comes back."""
    for name in NAMES:
        group.end(name)
        time.sleep(DOWN_S)  # the down time is part of the scenario
        group.start(name)
        wait_until(lambda: group.owners.complete(len(NAMES)), "the group is whole again")


def crash_one(group: RealGroup) -> None:
    """One process ends without a word."""
    group.end("m-3")
    wait_until(lambda: group.owners.complete(len(NAMES) - 1), "the others have taken over")


SCENARIOS: Final[dict[str, tuple[str, str, Callable[[RealGroup], None]]]] = {
    "five dynamic members restart": (ROLLING, "false", restart_all),
    "five static members restart": (ROLLING, "true", restart_all),
    "a member crashes": (CRASH, "false", crash_one),
}


def real(servers: str, partitions: int, name: str) -> Figures:
    """The same figures of a real group."""
    _, static, act = SCENARIOS[name]
    label = name.replace(" ", "-")
    mortal = "m-3" if act is crash_one else None
    group = RealGroup(servers, label, TOPIC, static=static == "true", mortal=mortal)
    with group:
        for member in NAMES:
            group.start(member)
        whole = lambda: group.owners.complete(len(NAMES))  # noqa: E731
        wait_until(whole, "the group is whole", timeout_s=60)
        # What a late joiner still causes has happened after some heartbeats.
        time.sleep(5 * HEARTBEAT_MS / 1_000)
        wait_until(whole, "the group is whole")
        before = group.generation(partitions)
        group.owners.longest_ms = 0
        act(group)
        return Figures(group.generation(partitions) - before, group.owners.longest_ms)


def all_real(servers: str, partitions: int) -> dict[str, Figures]:
    """Every scenario at once, a group each."""
    with ThreadPoolExecutor(len(SCENARIOS)) as pool:
        runs = {name: pool.submit(real, servers, partitions, name) for name in SCENARIOS}
        return {name: run.result(240) for name, run in runs.items()}


@pytest.fixture(scope="module")
def on_the_embedded_cluster() -> Iterator[dict[str, Figures]]:
    """What happened on the embedded cluster."""
    properties = {"group.min.session.timeout.ms": "100", "offsets.topic.num.partitions": "5"}
    with Sandbox(brokers=1, topics={TOPIC: PARTITIONS}, properties=properties) as cluster:
        yield all_real(cluster.bootstrap_servers, 5)


@pytest.fixture(scope="module")
def on_kafka(kafka: KafkaCluster) -> dict[str, Figures]:
    """What happened on the real broker."""
    create_topics(kafka.bootstrap, {TOPIC: PARTITIONS})
    return all_real(kafka.bootstrap, 50)


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize(
    "where", ["on_the_embedded_cluster", pytest.param("on_kafka", marks=pytest.mark.kafka)]
)
def test_what_was_simulated_happens(name: str, where: str, request: pytest.FixtureRequest) -> None:
    """As many generations, and a partition is without an owner for about as long."""
    event, static, _ = SCENARIOS[name]
    expected = simulated(event, static)
    found = request.getfixturevalue(where)[name]
    print(f"{name} {where}: simulated {expected}, real {found}")
    assert found.generations == expected.generations
    assert abs(found.longest_ms - expected.longest_ms) <= TOLERANCE_MS


def test_the_simulations_differ() -> None:
    """Ten generations, none, one: the comparison can tell them apart."""
    figures = [simulated(event, static) for event, static, _ in SCENARIOS.values()]
    assert [one.generations for one in figures] == [10, 0, 1]
