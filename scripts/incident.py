"""An incident that is over: captures of a cluster in which one member hung for 23 minutes.

    python -m scripts.incident DIR

writes what `kgroups lag collect DIR --every 60s` would have left there between 21:00 and midnight
of 2026-11-20. docs/incidents.md shows reports on it, and a test holds
them to what is printed. No chance is involved: the same captures every time.
"""

import sys
from pathlib import Path

from kgroups.core.lag.captures.collector import write_capture
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)

START_MS = 1_795_208_400_000  # 2026-11-20T21:00Z
MINUTE_MS = 60_000
MINUTES = 180
# billing-2 hangs from 22:51 until it is killed at 23:14, and its successor catches up fourfold.
HANGS, KILLED, CATCHES_UP = 111, 134, 4
STUCK = (2, 3)

# Records a minute into each partition.
RATES = {"orders": 600, "mail": 90, "clicks": 2_400}
PARTITIONS = {"orders": 6, "mail": 2, "clicks": 4}
READERS = {
    "billing": ("orders", 3),
    "mailer": ("mail", 1),
    "search-indexer": ("orders", 2),
    "stats": ("clicks", 2),
}


def ends(topic: str, minute: int) -> int:
    """Where each partition of a topic ends after so many minutes."""
    return 1_000_000 + RATES[topic] * minute


def committed(group: str, topic: str, partition: int, minute: int) -> int:
    """Where a group stands: a moment behind the end, but for what billing-2 holds."""
    behind = RATES[topic] // 60 * ((minute * 7 + partition * 3) % 11)
    if group == "billing" and partition in STUCK and minute > HANGS:
        since = max(minute - KILLED, 0)
        caught_up = ends(topic, HANGS) + CATCHES_UP * RATES[topic] * since
        return min(caught_up, ends(topic, minute) - behind)
    if group == "stats":  # never quite fast enough
        return ends(topic, minute) - behind - 40 * minute
    return ends(topic, minute) - behind


def snapshot_at(minute: int) -> ClusterSnapshot:
    """The cluster so many minutes after nine."""
    topics = {
        topic: Topic(
            topic, {p: PartitionLog(0, ends(topic, minute), leader=1) for p in range(count)}
        )
        for topic, count in PARTITIONS.items()
    }
    groups = tuple(group_at(name, minute) for name in sorted(READERS))
    return ClusterSnapshot(START_MS + minute * MINUTE_MS, groups, topics, cluster_id="prod")


def group_at(name: str, minute: int) -> Group:
    """One group with its members and commits."""
    topic, count = READERS[name]
    share = PARTITIONS[topic] // count
    members = tuple(
        Member(
            f"{name}-{number}-{'b' if is_new(name, number, minute) else 'a'}",
            f"{name}-{number}",
            f"/10.0.1.{number}",
            subscription=(topic,),
            assignment={topic: tuple(range((number - 1) * share, number * share))},
        )
        for number in range(1, count + 1)
    )
    commits = {
        p: CommittedOffset(committed(name, topic, p, minute)) for p in range(PARTITIONS[topic])
    }
    return Group(
        name, "classic", "Stable", "consumer", "range", members=members, offsets={topic: commits}
    )


def is_new(name: str, number: int, minute: int) -> bool:
    """Whether a member is the successor of the one that hung."""
    return (name, number) == ("billing", 2) and minute > KILLED


def write_incident(folder: Path) -> int:
    """Writes the captures; how many partitions are in them."""
    return sum(write_capture(folder, snapshot_at(minute)).rows for minute in range(MINUTES + 1))


if __name__ == "__main__":
    print(f"{write_incident(Path(sys.argv[1])):,} rows")
