"""Partitions that an open transaction holds, not their consumer: the commit stands at its start.

A `read_committed` consumer gets no record from the last stable offset on, which is where the oldest
open transaction begins (KIP-98). One that reads uncommitted records commits beyond it.
"""

from collections.abc import Iterator, Mapping

from kgroups.core.errors import counted
from kgroups.core.lag.group_lag import NO_LOG
from kgroups.core.lag.uncommitted import NAMED, ranges_text
from kgroups.core.offsets.scope import log_of
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition


def held_partitions(snapshot: ClusterSnapshot, group: Group) -> dict[TopicPartition, int]:
    """The records from the last stable offset on, by partition whose commit stands there.

    Returns:
        Empty where last stable offsets or commits are not known.
    """
    held: dict[TopicPartition, int] = {}
    for at, commit in group.commits():
        log = log_of(snapshot.topics, at) or NO_LOG
        stable, end = log.last_stable_offset, log.log_end_offset
        if stable == commit.offset and end is not None and stable < end:
            held[at] = end - stable
    return held


def held_partition_count(snapshot: ClusterSnapshot, group: Group) -> int | None:
    """How many they are; None where commits, or the last stable offset of one, are not known."""
    if group.offsets is None:
        return None
    for at, _ in group.commits():
        log = log_of(snapshot.topics, at) or NO_LOG
        if log.error is None and log.last_stable_offset is None:
            return None
    return len(held_partitions(snapshot, group))


def held_notes(held: Mapping[str, Mapping[TopicPartition, int]]) -> Iterator[str]:
    """A sentence for each of the first groups that have such partitions.

    Args:
        held: `held_partitions` by group.
    """
    names = [name for name, partitions in held.items() if partitions]
    for name in names[:NAMED]:
        records, places = counted(sum(held[name].values()), "record"), ranges_text([*held[name]])
        yield (
            f"an open transaction, not the consumer, holds `{name}` back: {records} of {places}; "
            f"`kgroups transactions {name}` shows it"
        )
