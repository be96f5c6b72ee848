"""Who reads what among consumer threads: the strategies of consumers that ZooKeeper coordinates.

Before KIP-62's and KIP-134's groups every consumer computed the assignment by itself, out of what
it read in ZooKeeper. Threads of a consumer, not consumers, are dealt partitions; a thread's id is
its consumer's with a number behind it, ordered as text. `range` is today's rule on thread ids.
`roundrobin` is not: it orders partitions by the hash of their printed form, and refuses a group
whose consumers differ in topics or threads.

Source: kafka.consumer.RangeAssignor and RoundRobinAssignor, kafka.common.TopicAndPartition
(Kafka 0.8.2).
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from kgroups.assignors.java.ranges import RangeAssignor
from kgroups.assignors.order.java_order import java_sorted, string_hash
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)

Threads = Mapping[str, Sequence[str]]
Owners = Mapping[tuple[str, int], str]


class GroupView(NamedTuple):
    """The state that a consumer has read, hashable: consumers who read the same compute once.

    Args:
        threads: (topic, ids of the threads that subscribe to it), by topic.
        partitions: (topic, number of partitions), by topic; 0 for one that does not exist.
    """

    threads: tuple[tuple[str, tuple[str, ...]], ...]
    partitions: tuple[tuple[str, int], ...]


def group_view(threads: Threads, partitions: Mapping[str, int]) -> GroupView:
    """The view of a consumer that read these threads and partitions by topic."""
    return GroupView(
        tuple(sorted((topic, tuple(java_sorted(names))) for topic, names in threads.items())),
        tuple(sorted(partitions.items())),
    )


@lru_cache(maxsize=64)
def thread_range(view: GroupView) -> Owners:
    """Thread id of every partition by `range`: each topic in blocks, threads in order of text."""
    subscribed: dict[str, list[str]] = {}
    for topic, threads in view.threads:
        for thread in threads:
            subscribed.setdefault(thread, []).append(topic)
    members = [MemberSubscription(thread, tuple(topics)) for thread, topics in subscribed.items()]
    topics = {topic: TopicPartitions(count) for topic, count in view.partitions if count}
    plan = RangeAssignor().assign(AssignmentRequest(members, topics))
    return {partition: thread for thread in subscribed for partition in plan.partitions_of(thread)}


@lru_cache(maxsize=64)
def thread_roundrobin(view: GroupView) -> Owners:
    """Thread id of every partition by `roundrobin`: partitions by hash, dealt around the threads.

    Raises:
        AssignorError: two topics have different threads, or nobody subscribes to anything.
    """
    circles = {threads for _, threads in view.threads}
    if len(circles) != 1:
        raise AssignorError(
            (
                "`roundrobin` requires all consumers to read the same topics with the same number "
                "of streams"
            ),
            java="IllegalArgumentException" if circles else "NoSuchElementException",
        )
    (circle,) = circles
    listed = [(topic, number) for topic, count in view.partitions for number in range(count)]
    listed.sort(key=lambda partition: _printed_hash(*partition))
    return {partition: circle[place % len(circle)] for place, partition in enumerate(listed)}


def _printed_hash(topic: str, partition: int) -> int:
    """`hashCode` of a partition as 0.8.2 prints it, signed."""
    code = string_hash(f"[{topic},{partition}]")
    return code - (1 << 32) if code >> 31 else code


THREAD_STRATEGIES = {"range": thread_range, "roundrobin": thread_roundrobin}
