"""Kafka's own tools answer in a warm JVM exactly as in a fresh one."""

import pytest

from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.official_tools import WarmTools, run_fresh

pytestmark = pytest.mark.kafka


def test_the_warm_tool_prints_what_a_fresh_one_prints(
    kafka: KafkaCluster, official: WarmTools
) -> None:
    """Streams and status of a failing call are equal; only the trace's depth differs."""
    arguments = ("--describe", "--group", "nobody-made-this-group")
    warm = official.groups_tool(kafka.bootstrap, *arguments)
    fresh = run_fresh("consumer-groups", "--bootstrap-server", kafka.bootstrap, *arguments)
    assert "Group nobody-made-this-group not found." in warm.stdout
    assert (warm.stdout, warm.status) == (fresh.stdout, fresh.status)
    assert "GroupIdNotFoundException" in warm.stderr
    assert "GroupIdNotFoundException" in fresh.stderr


def test_a_usage_error_ends_with_1_and_nothing_more_is_printed(
    kafka: KafkaCluster, official: WarmTools
) -> None:
    """Where the tool ends the JVM, the warm one ends the call: same usage text, same status."""
    warm = official.groups_tool(kafka.bootstrap, "--list", "--group", "g")
    fresh = run_fresh(
        "consumer-groups", "--bootstrap-server", kafka.bootstrap, "--list", "--group", "g"
    )
    assert warm == fresh
    assert warm.status == 1
    assert warm.stdout == ""
