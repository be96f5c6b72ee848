"""Brokers of 4.x whose cluster still has the features of 3.9, as after an upgrade of the jars.

`group.version` is not finalized there until somebody runs `kafka-features.sh upgrade`: the brokers
offer every request of KIP-848 and refuse it.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.releases import NEWEST
from tests.support.kafka.workload import commit_offsets, create_topics

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("older brokers; as released: tests/kafka/brokers/test_releases.py"),
]

OLDER = pytest.mark.slow("the same on the newest release is in every run")


@pytest.fixture(
    scope="module", params=[NEWEST, pytest.param("4.0", marks=OLDER)], ids=["newest", "4.0"]
)
def upgraded(request: pytest.FixtureRequest) -> Iterator[KafkaCluster]:
    """One with a live classic group and an empty one."""
    spec = ClusterSpec(release=request.param, formatting=("--release-version", "3.9-IV0"))
    with KafkaCluster(spec) as cluster:
        create_topics(cluster.bootstrap, {"old": 2})
        commit_offsets(cluster.bootstrap, {"empty": {("old", 0): 0}})
        with LiveGroup(cluster.bootstrap, "live", [MemberSpec("one", ("old",))]) as live:
            live.wait_stable(2)
            yield cluster


def document(cluster: KafkaCluster, *words: str) -> dict[str, Any]:
    """What a command answers; it works and says nothing of an error."""
    outcome = run(*words, "-b", cluster.bootstrap, "-o", "json", "--timeout", "60s")
    assert outcome.exit_code == 0, outcome.stderr
    assert "error" not in outcome.stderr
    return dict(outcome.document)


def test_groups_are_shown(upgraded: KafkaCluster) -> None:
    """`list`, `describe` and their kinds do not depend on it."""
    items = document(upgraded, "list")["items"]
    assert [(each["group"], each["type"]) for each in items] == [
        ("empty", "classic"),
        ("live", "classic"),
    ]
    assert document(upgraded, "list", "--type", "consumer")["items"] == []
    described = document(upgraded, "describe", "--all-groups", "--members")["items"]
    assert [each["state"] for each in described] == ["Empty", "Stable"]
    assert len(described[1]["members"]) == 1


def test_groups_that_are_not_there(upgraded: KafkaCluster) -> None:
    """Not found (exit code 5), rather than refused."""
    outcome = run("describe", "absent", "-b", upgraded.bootstrap, "--timeout", "60s")
    assert outcome.exit_code == 5
    assert "UNSUPPORTED" not in outcome.stderr


def test_a_move_is_blocked(upgraded: KafkaCluster) -> None:
    """By the feature, which is named with the command that finalizes it."""
    (item,) = document(upgraded, "plan", "live", "--to-protocol", "consumer")["items"]
    (blocker,) = [each for each in item["blockers"] if each["refused_by"] == "broker"]
    assert blocker["code"] == "UNSUPPORTED_VERSION"
    assert blocker["message"] == (
        "the brokers do not serve KIP-848: the feature `group.version` is not finalized"
    )
    assert "kafka-features.sh upgrade --feature group.version=1" in blocker["hint"]
