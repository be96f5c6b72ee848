"""Partitions that are read and have no commit, and what is said of them."""

from dataclasses import replace

from kgroups.core.lag.uncommitted import (
    CONDITION,
    ranges_text,
    uncommitted_notes,
    uncommitted_partitions,
)
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)

TOPICS = {
    name: Topic(name, {number: PartitionLog(0, 9) for number in range(6)})
    for name in ("audit", "orders", "unread")
}
READER = Member("m", "c", "/h", subscription=("orders",), assignment={"orders": (0, 1)})
COMMITS = {"orders": {0: CommittedOffset(1), 3: CommittedOffset(1)}, "unread": {}}
GROUP = Group("g", "classic", "Stable", members=(READER,), offsets=COMMITS)
CLUSTER = ClusterSnapshot(0, (GROUP,), TOPICS)


def test_what_is_read_and_not_committed() -> None:
    """Of subscribed and of assigned topics, whoever has the partitions; of no others."""
    found = uncommitted_partitions(CLUSTER, GROUP)
    assert found == [("orders", number) for number in (1, 2, 4, 5)]
    unseen = replace(READER, subscription=None)
    assert uncommitted_partitions(CLUSTER, replace(GROUP, members=(unseen,))) == found
    for nothing in ({"members": ()}, {"members": None}, {"offsets": None}):
        assert uncommitted_partitions(CLUSTER, replace(GROUP, **nothing)) == []


def test_in_words() -> None:
    """One sentence a group, with the condition under which it matters."""
    (note,) = uncommitted_notes(CLUSTER, CLUSTER.groups)
    assert note == f"`g` has no commit for orders:1-2, orders:4-5: {CONDITION}"
    groups = tuple(replace(GROUP, group=f"g{number}") for number in range(9))
    notes = list(uncommitted_notes(CLUSTER, groups))
    assert (len(notes), notes[3]) == (4, "6 more groups read partitions without a commit")
    many = [("t", number) for number in range(0, 20, 2)]
    assert ranges_text(many) == "t:0, t:2, t:4, t:6, 6 more"
