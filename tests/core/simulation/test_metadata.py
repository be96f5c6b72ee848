"""When members hear of new topics and partitions: metadata have an age."""

import pytest

from tests.support.simulation.sample_scenarios import ran
from tests.support.simulation_truth.carrying_out import simulated
from tests.support.simulation_truth.rows import ROWS, Row

# One member, which starts after 1.7 s.
GROUP = """\
cluster: {group.initial.rebalance.delay.ms: 4s}
topics: {orders: {partitions: 6, rate: 60}}
groups:
  g:
    long_running: false
    members: {m: {client: java, topics: [orders], start: 1700ms}}
"""


def noticed_ms(text: str, at: str, **settings: str) -> set[int]:
    """When the member asks for a rebalance because there are more partitions: of nine seeds."""
    event = {"at": at, "add_partitions": {"topic": "orders", "partitions": 9}}
    text += f"    settings: {settings}\n"
    runs = [ran(text, events=[event], seed=n) for n in range(9)]
    return {one.rebalances[-1].at_ms for one in runs}


@pytest.mark.parametrize(
    ("client", "settings", "at", "from_ms"),
    [
        ("java", {"metadata.max.age.ms": "20s"}, "6200ms", 21_700),
        ("java", {"metadata.max.age.ms": "20s"}, "25s", 41_700),
        # The default is five minutes.
        ("java", {}, "16s", 301_700),
        ("librdkafka", {"topic.metadata.refresh.interval.ms": "20s"}, "6200ms", 21_700),
        # Its leader refreshes them when it assigns, 4 s later.
        ("kafka-python", {"metadata.max.age.ms": "20s"}, "6200ms", 25_700),
        # Refreshed after 11.7 s; its leader looks every 10 s from when it joined, 4 s later.
        ("sarama", {"metadata.max.age.ms": "10s"}, "9s", 15_700),
    ],
)
def test_the_age_counts_from_the_last_refresh(
    client: str, settings: dict[str, str], at: str, from_ms: int
) -> None:
    """Whatever the seed; measured with Java: 21.7 s, twice."""
    found = noticed_ms(GROUP.replace("java", client), at, **settings)
    assert all(from_ms <= one <= from_ms + 600 for one in found), found


def test_when_members_of_long_standing_refreshed_last_is_chance() -> None:
    """Any time of the last 20 s."""
    text = GROUP.replace("long_running: false", "long_running: true")
    found = noticed_ms(text, "30s", **{"metadata.max.age.ms": "20s"})
    assert len(found) == 9
    assert 30_000 <= min(found) < 40_000 < max(found) <= 50_100


def row(name: str) -> Row:
    """A scenario that is compared with real clients (docs/simulation-fidelity.md)."""
    (found,) = [one for one in ROWS if one.name == name]
    return found


@pytest.mark.parametrize(
    ("library", "epochs"), [("librdkafka", {1, 2}), ("java", {1}), ("franz-go", {1})]
)
def test_librdkafka_joins_with_the_topics_that_it_knows(library: str, epochs: set[int]) -> None:
    """Members that hear of a rebalance before they have heard of the topic ask for another one."""
    found = simulated(row(f"new topic matches a pattern: {library}"))
    assert {one.generations for one in found} == epochs


def test_a_broker_answers_sarama_after_the_fetch_before() -> None:
    """Heartbeats and joins; real groups had 7.5 to 12 s without an owner, and up to 1.3 s once."""
    (found,) = simulated(row("rolling restart: sarama"))
    assert 7 <= found.unowned_s <= 12
    assert 0.9 <= found.longest_s <= 1.3
