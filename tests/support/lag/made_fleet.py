"""Clusters made up from a seed, with every oddity that a partition can have."""

import base64
import random

from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)

TOPICS = 7


def fleet(
    seed: int, groups: int = 12, *, cluster: str = "c1", at_ms: int = 1_000
) -> ClusterSnapshot:
    """A cluster of `groups` groups: classic and KIP-848, with and without members and commits."""
    rng = random.Random(seed)
    topics = {f"topic-{i}": _topic(rng, f"topic-{i}", 1 + i % 5) for i in range(TOPICS)}
    return ClusterSnapshot(
        captured_at_ms=at_ms,
        groups=tuple(_group(rng, f"group-{i:03}", topics) for i in range(groups)),
        topics=topics,
        cluster_id=cluster,
    )


def _topic(rng: random.Random, name: str, partitions: int) -> Topic:
    logs = {number: _log(rng) for number in range(partitions)}
    topic_id = base64.urlsafe_b64encode(rng.randbytes(16)).decode().rstrip("=")
    return Topic(name, logs, topic_id)


def _log(rng: random.Random) -> PartitionLog:
    """Mostly healthy; some empty, leaderless, or not readable."""
    kind = rng.random()
    if kind < 0.05:
        return PartitionLog()
    if kind < 0.1:
        return PartitionLog(leader=1, error="TOPIC_AUTHORIZATION_FAILED")
    start = rng.choice([0, 0, 100, 2**40])
    end = start + rng.choice([0, 10, 1_000, 50_000])
    return PartitionLog(start, end, max(start, end - rng.randrange(20)), leader=1)


def _group(rng: random.Random, name: str, topics: dict[str, Topic]) -> Group:
    """Some of the topics, perhaps one that is gone; commits all around the log's bounds."""
    wanted = rng.sample(sorted(topics), rng.randrange(1, 4))
    if rng.random() < 0.2:
        wanted.append("gone")
    cells = [
        (topic, number)
        for topic in wanted
        for number in (topics[topic].partitions if topic in topics else (0, 1))
    ]
    offsets: dict[str, dict[int, CommittedOffset]] = {}
    for topic, number in cells:
        log = topics[topic].partitions[number] if topic in topics else PartitionLog()
        if rng.random() < 0.8:
            low, high = log.log_start_offset or 0, log.log_end_offset or 0
            offset = rng.choice([max(low - 5, 0), low, (low + high) // 2, high, high + 5])
            offsets.setdefault(topic, {})[number] = CommittedOffset(offset)
    members = tuple(
        Member(
            f"{name}-m{i}",
            f"client-{i % 2}",
            f"/10.0.0.{i % 3}",
            subscription=tuple(wanted),
            assignment=_share(cells, i, 3),
        )
        for i in range(rng.choice([0, 1, 3, 3]))
    )
    return Group(
        name,
        rng.choice(["classic", "classic", "consumer"]),
        "Stable" if members else "Empty",
        "consumer",
        members=members,
        offsets=None if rng.random() < 0.05 else offsets,
    )


def _share(cells: list[tuple[str, int]], member: int, members: int) -> dict[str, tuple[int, ...]]:
    """Every third cell, as some earlier rebalance may have left it."""
    held: dict[str, tuple[int, ...]] = {}
    for topic, number in cells[member::members]:
        held[topic] = (*held.get(topic, ()), number)
    return held
