"""How often a command waits for the other side of the network, connections included."""

from collections.abc import Iterator

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.writes.group_writes import write_commits
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import CommittedOffset
from tests.support.cli.runner import run
from tests.support.kafka.round_trips import counted

GROUPS = ("billing", "shipping", "mail")
RESET = ("reset-offsets", "billing", "--all-topics", "--dry-run", "--to")


@pytest.fixture(scope="module", params=[1, 3], ids=["one broker", "three brokers"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Groups with commits, on one broker or spread over several."""
    with Sandbox(brokers=request.param, topics={"orders": 6, "refunds": 6}) as made:
        commits = {
            (topic, number): CommittedOffset(0)
            for topic in ("orders", "refunds")
            for number in range(6)
        }
        with ClusterAdmin(ClientSettings(made.bootstrap_servers), timeout_ms=60_000) as admin:
            assert not any(write_commits(admin, dict.fromkeys(GROUPS, commits)).values())
        yield made


@pytest.mark.parametrize(
    ("line", "near", "far"),
    [
        pytest.param(("list",), 3, 5, id="list"),
        pytest.param(("transactions", "billing"), 7, 7, id="transactions"),
        pytest.param(("describe", "billing"), 5, 5, id="describe"),
        pytest.param(("describe", *GROUPS, "--members"), 5, 7, id="describe several"),
        pytest.param(("describe", "--all-groups"), 6, 8, id="describe all"),
        pytest.param((*RESET, "earliest"), 6, 6, id="reset"),
        pytest.param((*RESET, "2h"), 7, 7, id="reset to a time"),
    ],
)
def test_round_trips(
    cluster: Sandbox, line: tuple[str, ...], near: int, far: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several brokers those that have to be asked are connected to while one answers.

    Args:
        near: with one broker: the connection, and the questions that wait for an answer.
        far: with several: another connection and its versions, unless the first one coordinates.
    """
    first = cluster.bootstrap_servers.partition(",")[0]
    with counted(monkeypatch) as network:
        outcome = run(*line, "-b", first, "--timeout", "60s")
    assert outcome.exit_code == 0, outcome
    assert network.round_trips == (near if len(cluster.brokers) == 1 else far)
