"""Three brokers, one of them stopped: what can be known is shown, the rest is told on stderr."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.official_tools import Answer
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce
from tests.support.official.running import run_ours, without_undo

pytestmark = pytest.mark.kafka

TOPIC = "spread"
NAMES = [f"spread-{number:02d}" for number in range(12)]
MOVED = [f"moved-{number:02d}" for number in range(12)]
DELETED = [f"deleted-{number:02d}" for number in range(12)]
FORGOT = [f"forgot-{number:02d}" for number in range(12)]
LIVE = [f"live-{number:02d}" for number in range(12)]
EVERYBODY = [*NAMES, *MOVED, *DELETED, *FORGOT]

Lamed = tuple[KafkaCluster, dict[str, int]]


@pytest.fixture(scope="module")
def lamed() -> Iterator[Lamed]:
    """The cluster with broker 3 stopped, and which broker coordinates which group.

    A group of one live member is coordinated by another broker; its name is the one with 0.
    """
    with (
        KafkaCluster(ClusterSpec(brokers=3)) as cluster,
        lame(cluster.bootstrap, lambda: cluster.stop_brokers([3])) as at,
    ):
        yield cluster, at


@contextmanager
def lame(bootstrap: str, stop: Callable[[], None]) -> Iterator[dict[str, int]]:
    """Fill a cluster of three, stop a broker; the coordinator of each group before that."""
    create_topics(bootstrap, {TOPIC: 3}, replicas={TOPIC: [[1], [2], [3]]})
    produce(bootstrap, {(TOPIC, number): 10 for number in range(3)})
    offsets = {(TOPIC, number): 4 for number in range(3)}
    commit_offsets(bootstrap, dict.fromkeys(EVERYBODY, offsets))
    with ClusterAdmin(ClientSettings(bootstrap)) as admin:
        placed = admin.coordinators([*EVERYBODY, *LIVE]).coordinators
    at = {name: broker.id for name, broker in placed.items()}
    name = next(name for name in LIVE if at[name] != 3)
    with LiveGroup(bootstrap, name, [MemberSpec("lives", (TOPIC,))]) as live:
        live.wait_stable(3)
        stop()
        wait_until(lambda: len(brokers_of(bootstrap)) == 2, "the brokers know that one is gone")
        yield at | {name: 0}


def brokers_of(bootstrap: str) -> list[int]:
    """Ids of the brokers that the others believe to be up."""
    with ClusterAdmin(ClientSettings(bootstrap)) as admin:
        return [broker.id for broker in admin.list_groups().brokers]


def told(cluster: KafkaCluster, *arguments: str) -> Answer:
    """Ours on that cluster, with little time."""
    start = ["--bootstrap-server", cluster.bootstrap, "--timeout", "4000"]
    return run_ours([*start, *arguments])


def test_described_as_far_as_known(lamed: Lamed) -> None:
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
    lamed: Lamed,
) -> None:
    """As in Kafka's tool: a row, exit code 0."""
    cluster, at = lamed
    name = next(name for name in NAMES if at[name] != 3)
    answer = told(cluster, "--describe", "--group", name)
    assert (answer.status, answer.stdout.count("\n")) == (0, 5)


def test_reset_of_what_has_a_leader(lamed: Lamed) -> None:
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


def test_listed_as_far_as_known(lamed: Lamed) -> None:
    """Groups of living coordinators, and a word about those that nobody lists."""
    cluster, at = lamed
    answer = told(cluster, "--list")
    shown = set(answer.stdout.splitlines())
    assert {name for name in EVERYBODY if at[name] == 3} & shown == set()
    assert {name for name in NAMES if at[name] != 3} <= shown
    assert "partitions have no leader, so their groups are missing" in answer.stderr
    assert answer.status == 1
    ours = run("-b", cluster.bootstrap, "list", "-o", "json")
    assert {item["group"] for item in ours.document["items"]} == shown
    (error,) = ours.document["errors"]
    assert (error["target"], error["code"]) == ("__consumer_offsets", "COORDINATOR_NOT_AVAILABLE")
    assert ours.exit_code == 3


def test_members_and_state(lamed: Lamed) -> None:
    """Both views of a live group, of a living coordinator's, and an error for a lost one."""
    cluster, at = lamed
    live = next(name for name, broker in at.items() if broker == 0)
    lost = next(name for name in NAMES if at[name] == 3)
    idle = next(name for name in NAMES if at[name] != 3)
    named = [word for name in (lost, live, idle) for word in ("--group", name)]
    members = told(cluster, "--describe", "--members", *named)
    (row,) = [line.split() for line in members.stdout.splitlines() if line.startswith("live-")]
    assert row[3:] == ["lives", "3"]
    state = told(cluster, "--describe", "--state", *named)
    rows = {line.split()[0]: line.split() for line in state.stdout.splitlines() if " (" in line}
    assert set(rows) - {"GROUP"} == {live, idle}
    assert rows[live][3:] == ["range", "Stable", "1"]
    assert rows[idle][3:] == ["-", "Empty", "0"]
    for answer in (members, state):
        assert answer.stderr.count("Error: ") == 1
        assert f"hint: {lost}: the group has no coordinator" in answer.stderr
        assert answer.status == 1
    start = ("-b", cluster.bootstrap, "--timeout", "4s")
    ours = run(*start, "describe", lost, live, "--members", "-o", "json")
    assert [item["group"] for item in ours.document["items"]] == [live]
    assert [error["target"] for error in ours.document["errors"]] == [lost, f"{TOPIC}-2"]
    assert ours.exit_code == 3


def test_deleted_as_far_as_reached(lamed: Lamed) -> None:
    """Groups of living coordinators are gone, the others are named."""
    cluster, at = lamed
    lost = [name for name in DELETED if at[name] == 3][:2]
    living = [name for name in DELETED if at[name] != 3]
    named = [word for name in (*lost, *living) for word in ("--group", name)]
    answer = told(cluster, "--delete", *named)
    done = ", ".join(f"'{name}'" for name in living)
    assert answer.stdout == f"\nThese consumer groups were deleted successfully: {done}\n"
    assert "Error: Deletion of some consumer groups failed:" in answer.stderr
    assert answer.stderr.count("* Group ") == len(lost)
    assert all(f"* Group '{name}' could not be deleted due to: " in answer.stderr for name in lost)
    assert answer.status == 1
    assert not set(living) & set(told(cluster, "--list").stdout.splitlines())


def test_offsets_deleted_as_far_as_reached(lamed: Lamed) -> None:
    """A partition without leader is forgotten all the same; a lost group is an error."""
    cluster, at = lamed
    living = next(name for name in FORGOT if at[name] != 3)
    answer = told(cluster, "--delete-offsets", "--group", living, "--topic", TOPIC)
    assert (answer.status, answer.stderr) == (0, "")
    assert answer.stdout.count("Successful") == 3
    lost = next(name for name in FORGOT if at[name] == 3)
    answer = told(cluster, "--delete-offsets", "--group", lost, "--topic", f"{TOPIC}:0")
    assert answer.status == 1
    # asked again until the time is over, the coordinator may be last heard of in either way
    codes = ("COORDINATOR_NOT_AVAILABLE", "REQUEST_TIMED_OUT")
    unknown = "Error: Encountered some unknown error: "
    assert any(unknown + code in answer.stderr for code in codes)
    (row,) = [line for line in answer.stdout.splitlines() if line.startswith(TOPIC)]
    assert any(name in row for name in ("CoordinatorNotAvailableException", "TimeoutException"))


def test_reset_of_all_groups_there_are(lamed: Lamed) -> None:
    """Groups of living coordinators are planned, the missing ones told."""
    cluster, at = lamed
    scope = ("--all-groups", "--topic", f"{TOPIC}:0", "--to-latest", "--dry-run")
    answer = told(cluster, "--reset-offsets", *scope)
    rows = {line.split()[0] for line in answer.stdout.splitlines() if TOPIC in line}
    assert {name for name in NAMES if at[name] != 3} <= rows
    assert not {name for name in EVERYBODY if at[name] == 3} & rows
    assert "so their groups are missing" in answer.stderr
    assert answer.status == 1
