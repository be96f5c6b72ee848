"""Three brokers, one of them stopped: what can be known is shown, the rest is told on stderr."""

from collections.abc import Iterator

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.settings import ClientSettings
from tests.kafka.broker import KafkaCluster
from tests.kafka.broker_config import ClusterSpec
from tests.kafka.official import Answer
from tests.kafka.waiting import wait_until
from tests.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce
from tests.official.running import run_ours, without_undo

pytestmark = pytest.mark.kafka

TOPIC = "spread"
NAMES = [f"spread-{number:02d}" for number in range(12)]
MOVED = [f"moved-{number:02d}" for number in range(12)]


@pytest.fixture(scope="module")
def lamed() -> Iterator[tuple[KafkaCluster, dict[str, int]]]:
    """The cluster with broker 3 stopped, and which broker coordinates which group."""
    with KafkaCluster(ClusterSpec(brokers=3)) as cluster:
        create_topics(cluster.bootstrap, {TOPIC: 3}, replicas={TOPIC: [[1], [2], [3]]})
        produce(cluster.bootstrap, {(TOPIC, number): 10 for number in range(3)})
        offsets = {(TOPIC, number): 4 for number in range(3)}
        commit_offsets(cluster.bootstrap, dict.fromkeys([*NAMES, *MOVED], offsets))
        with ClusterAdmin(ClientSettings(cluster.bootstrap)) as admin:
            placed = admin.coordinators([*NAMES, *MOVED]).coordinators
        cluster.stop_brokers([3])
        wait_until(lambda: len(brokers_of(cluster)) == 2, "the brokers know that one is gone")
        yield cluster, {name: broker.id for name, broker in placed.items()}


def brokers_of(cluster: KafkaCluster) -> list[int]:
    """Ids of the brokers that the others believe to be up."""
    with ClusterAdmin(ClientSettings(cluster.bootstrap)) as admin:
        return [broker.id for broker in admin.list_groups().brokers]


def told(cluster: KafkaCluster, *arguments: str) -> Answer:
    """Ours on that cluster, with little time."""
    start = ["--bootstrap-server", cluster.bootstrap, "--timeout", "4000"]
    return run_ours([*start, *arguments])


def test_described_as_far_as_known(lamed: tuple[KafkaCluster, dict[str, int]]) -> None:
    """Groups of living coordinators with all their rows; a dash where nobody leads."""
    cluster, at = lamed
    named = [word for name in NAMES for word in ("--group", name)]
    answer = told(cluster, "--describe", *named)
    rows = [line.split()[:6] for line in answer.stdout.splitlines() if line.startswith(TOPIC)]
    living = [name for name in NAMES if at[name] != 3]
    assert 0 < len(living) < len(NAMES)
    assert rows == [
        row
        for name in living
        for row in (
            [name, TOPIC, "0", "4", "10", "6"],
            [name, TOPIC, "1", "4", "10", "6"],
            [name, TOPIC, "2", "4", "-", "-"],
        )
    ]
    assert answer.stderr.count("Error: ") == len(NAMES) - len(living)
    assert answer.status == 1


def test_a_leaderless_partition_alone_is_no_failure(
    lamed: tuple[KafkaCluster, dict[str, int]],
) -> None:
    """As in Kafka's tool: a row, exit code 0."""
    cluster, at = lamed
    name = next(name for name in NAMES if at[name] != 3)
    answer = told(cluster, "--describe", "--group", name)
    assert (answer.status, answer.stdout.count("\n")) == (0, 5)


def test_reset_of_what_has_a_leader(lamed: tuple[KafkaCluster, dict[str, int]]) -> None:
    """The other partition of the topic does not matter unless it is named."""
    cluster, at = lamed
    name = next(name for name in MOVED if at[name] == 1)
    refused = told(
        cluster, "--reset-offsets", "--group", name, "--topic", TOPIC, "--to-latest", "--execute"
    )
    assert (refused.status, refused.stdout) == (1, "")
    assert f'The partitions "{TOPIC}-2" have no leader' in refused.stderr
    assert fetch_offsets(cluster.bootstrap, name)[TOPIC, 0] == 4
    scope = ("--topic", f"{TOPIC}:0")
    done = told(cluster, "--reset-offsets", "--group", name, *scope, "--to-latest", "--execute")
    assert (done.status, without_undo(done.stderr)) == (0, "")
    assert fetch_offsets(cluster.bootstrap, name)[TOPIC, 0] == 10
