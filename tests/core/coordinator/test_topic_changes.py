"""What changed about topics is said by name, and a long list is counted."""

from uuid import UUID

import pytest

from kgroups.core.coordinator.topology import (
    MATCHED,
    TopicInfo,
    partitions_changed,
    topics_changed,
    topics_read,
)

COUNTS: list[tuple[dict[str, int], dict[str, int], str]] = [
    ({"a": 6}, {"a": 6}, ""),
    ({"a": 6, "b": 1}, {"a": 9, "b": 1}, "a has 9 partitions instead of 6"),
    ({"a": 0, "b": 2}, {"a": 3, "b": 0}, "topic a was created, topic b is gone"),
]


@pytest.mark.parametrize(("before", "after", "text"), COUNTS)
def test_partitions(before: dict[str, int], after: dict[str, int], text: str) -> None:
    """0 is a topic that is not there."""
    assert partitions_changed(before, after) == text


def test_a_long_list_is_counted() -> None:
    """A reason is a line."""
    assert topics_read([], "edcba") == "subscribed to a, b, c and 2 more"
    grown = partitions_changed(dict.fromkeys("abcd", 1), dict.fromkeys("abcd", 2))
    assert grown.endswith("c has 2 partitions instead of 1, and 1 more changed")


def test_a_pattern() -> None:
    """What it matches now, and what it matches no longer."""
    text = "the pattern matches new, the pattern no longer matches old"
    assert topics_read(["old"], ["new"], MATCHED) == text


def test_other_metadata() -> None:
    """The number of partitions is the same: racks, or a topic made anew."""
    before, after = ({"a": TopicInfo("a", UUID(int=n), 2)} for n in (1, 2))
    assert topics_changed(["a"], before, after) == "metadata of a changed"
