"""Three scenarios for real, beside their simulation: real clients, the embedded cluster and Kafka.

Equal: how many generations the events cost. Within TOLERANCE_MS: the longest time that a
partition had no owner, less the time in which the machine made someone wait for a processor.
Members that restart wait until the group is whole, as the pauses of the simulation let them.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.simulation.engine.run import simulate
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics
from tests.support.own_waiting import withheld_ms
from tests.support.simulation.real_group import HEARTBEAT_MS, PARTITIONS, SESSION_MS, RealGroup
from tests.support.simulation.sample_scenarios import scenario

# What threads, processes and connections take, which virtual time knows nothing of.
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
    longest_ms: float


def simulated(event: str, static: str) -> Figures:
    """Generations after the start, and the longest time without an owner."""
    text = SIMULATED.replace("EVENT", event).replace("STATIC", static)
    (before,) = simulate(scenario(text, until="19s")).groups
    (after,) = simulate(scenario(text)).groups
    assert after.settled
    return Figures(after.epoch - before.epoch, after.longest_unowned_ms)


@dataclass(frozen=True)
class Happened(Figures):
    """What happened, and what a busy machine may have to do with it.

    Args:
        longest_free_ms: the longest time, less what the machine withheld meanwhile.
        withheld_ms: what it withheld before, so that the last heartbeat may be older.
    """

    longest_free_ms: float
    withheld_ms: float


def restart_all(group: RealGroup) -> None:
    """One member after the other is closed, is away for a second, and comes back."""
    for name in NAMES:
        group.end(name)
        if not group.static:
            wait_until(lambda: group.owners.complete(len(NAMES) - 1), "the others have taken over")
        threading.Event().wait(DOWN_S)  # a part of the scenario, and of the times that are measured
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


def real(servers: str, partitions: int, name: str) -> Happened:
    """The same figures of a real group."""
    _, static, act = SCENARIOS[name]
    label = name.replace(" ", "-")
    mortal = "m-3" if act is crash_one else None
    group = RealGroup(servers, label, TOPIC, static=static == "true", mortal=mortal)
    with group:
        for member in NAMES:
            group.start(member)
        wait_until(lambda: group.owners.complete(len(NAMES)), "the group is whole")
        withheld = withheld_ms()
        # Its coordinator has heard of every member, and waits for none.
        wait_until(
            lambda: is_stable(servers, label) and group.owners.complete(len(NAMES)),
            "the group is settled",
        )
        before = group.generation(partitions)
        group.owners.forget_times()
        withheld = withheld_ms() - withheld
        act(group)
        longest_ms, longest_free_ms = group.owners.longest_ms, group.owners.longest_free_ms
        generations = group.generation(partitions) - before
        return Happened(generations, longest_ms, longest_free_ms, withheld)


def is_stable(servers: str, group: str) -> bool:
    """Whether the coordinator says that every member has its share."""
    with ClusterAdmin(ClientSettings(servers), timeout_ms=60_000) as admin:
        found = admin.snapshot([group], log_offsets=False).groups
    return [(one.state, len(one.members or ())) for one in found] == [("Stable", len(NAMES))]


def all_real(servers: str, partitions: int) -> dict[str, Happened]:
    """Every scenario at once, a group each."""
    with ThreadPoolExecutor(len(SCENARIOS)) as pool:
        runs = {name: pool.submit(real, servers, partitions, name) for name in SCENARIOS}
        return {name: run.result(400) for name, run in runs.items()}


@pytest.fixture(scope="module")
def on_the_embedded_cluster() -> Iterator[dict[str, Happened]]:
    """What happened on the embedded cluster."""
    properties = {"group.min.session.timeout.ms": "100", "offsets.topic.num.partitions": "5"}
    with Sandbox(brokers=1, topics={TOPIC: PARTITIONS}, properties=properties) as cluster:
        yield all_real(cluster.bootstrap_servers, 5)


@pytest.fixture(scope="module")
def on_kafka(kafka: KafkaCluster) -> dict[str, Happened]:
    """What happened on the real broker."""
    create_topics(kafka.bootstrap, {TOPIC: PARTITIONS})
    return all_real(kafka.bootstrap, 50)


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize(
    "where",
    [
        "on_the_embedded_cluster",
        pytest.param(
            "on_kafka", marks=[pytest.mark.kafka, pytest.mark.slow("the same on a real broker")]
        ),
    ],
)
def test_what_was_simulated_happens(name: str, where: str, request: pytest.FixtureRequest) -> None:
    """As many generations, and a partition is without an owner for about as long."""
    event, static, _ = SCENARIOS[name]
    expected = simulated(event, static)
    found = request.getfixturevalue(where)[name]
    print(f"{name} {where}: simulated {expected}, real {found}")
    assert found.generations == expected.generations
    assert found.longest_free_ms <= expected.longest_ms + TOLERANCE_MS
    assert found.longest_ms + found.withheld_ms >= expected.longest_ms - TOLERANCE_MS


def test_the_simulations_differ() -> None:
    """Ten generations, none, one: the comparison can tell them apart."""
    figures = [simulated(event, static) for event, static, _ in SCENARIOS.values()]
    assert [one.generations for one in figures] == [10, 0, 1]
