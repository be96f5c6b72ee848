"""Topics that a streams application has made, and those that it reads."""

import pytest

from kgroups.core.snapshot import CommittedOffset, Group, Subtopology
from kgroups.core.streams_tasks import input_commits, internal_topics_of, is_named_internal

PARTS = (
    Subtopology("0", ("in",), (), ("app-x-repartition",)),
    Subtopology("1", ("source-2",), ("app-x-repartition",), (), ("app-y-changelog", "source-2")),
)
COMMIT = CommittedOffset(3)


def test_internal_topics() -> None:
    """Repartition topics and changelogs, but for a changelog that is an input as well."""
    group = Group("app", "streams", "Empty", topology=PARTS)
    assert internal_topics_of(group) == ["app-x-repartition", "app-y-changelog"]
    assert internal_topics_of(Group("app", "streams", "Empty")) == []


def test_input_commits() -> None:
    """What is committed of inputs, in order, and of no internal topic."""
    offsets = {"in": {1: COMMIT, 0: COMMIT}, "app-x-repartition": {0: COMMIT}, "old": {0: COMMIT}}
    group = Group("app", "streams", "Empty", topology=PARTS, offsets=offsets)
    assert input_commits(group) == [("in", 0), ("in", 1)]


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("app-store-changelog", True),
        ("app-store-repartition", True),
        ("app-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000003-topic", True),
        ("app-a-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000003-topic", True),
        ("app-a-subscription-response-topic", True),
        ("application-store-changelog", False),
        ("app-store-changelog-2", False),
        ("orders", False),
    ],
)
def test_names_of_internal_topics(topic: str, expected: bool) -> None:
    """The group's name before, and an ending of Kafka Streams behind."""
    assert is_named_internal(topic, "app") is expected
