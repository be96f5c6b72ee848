"""Simulated members say what they have as their library does, so that its leader can read it."""

from typing import Final

import pytest

from kgroups.core.simulation.clients.libraries import Library
from kgroups.core.snapshot import ClusterSnapshot
from tests.support.planning.ends import End
from tests.support.planning.simulated_group import Life, lived, shares_of

READS: Final = ("t",)
OLD: Final = {"a": READS, "b": READS}


def held(snapshot: ClusterSnapshot) -> End:
    """Who has what, by client id."""
    return shares_of(snapshot.groups[0])


def joined(library: Library, strategy: str = "sticky", count: int = 6) -> tuple[End, End]:
    """Who has what before and after a third member joins two."""
    life = Life(strategy, {"t": count}, OLD, {"c": (READS, 0)}, library=library)
    before, after = lived(life, 1)
    return held(before), after


@pytest.mark.parametrize("library", ["java", "kafka-python", "aiokafka", "sarama"])
def test_members_of_a_sticky_group_keep_what_they_can(library: Library) -> None:
    """Of three partitions each keeps two, and the third goes to the newcomer."""
    before, after = joined(library)
    assert {name: sum(owner == name for *_, owner in after) for name in "abc"} == dict.fromkeys(
        "abc", 2
    )
    assert len(before & after) == 4


def test_sticky_members_of_franz_go_say_nothing_of_what_they_have() -> None:
    """Its eager members forget it before they join, and the leader deals everything anew."""
    together = Life("sticky", {"t": 12}, {**OLD, "c": READS}, library="franz-go")
    assert joined("franz-go", count=12)[1] == held(lived(together, 1)[0])


@pytest.mark.parametrize("library", ["java", "librdkafka", "franz-go", "sarama", "kafka-python"])
def test_cooperative_members_keep_what_they_can(library: Library) -> None:
    """Whatever else their subscriptions say."""
    before, after = joined(library, "cooperative-sticky")
    assert len(before & after) == 4
    assert len(after) == 6
