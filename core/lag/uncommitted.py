"""Partitions that a group reads and has no commit for: where it begins is up to its members.

Brokers do not know `auto.offset.reset`; with `latest` a member begins at the end of the log, and
what was written before is never read. It is so with new partitions, which members learn of some
minutes later (`metadata.max.age.ms`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from kgroups.core.errors import counted
from kgroups.core.lag.group_lag import topics_read
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition

RANGES: Final = 4
NAMED: Final = 3
CONDITION: Final = (
    "with auto.offset.reset=latest, records written before a member first reads there are skipped"
)


def uncommitted_partitions(snapshot: ClusterSnapshot, group: Group) -> list[TopicPartition]:
    """Partitions of the topics that members read without a commit, ascending.

    Returns:
        Empty for a group without members, or whose commits are not known.
    """
    if not group.members or group.offsets is None:
        return []
    commits = group.offsets
    return [
        (read.topic, number)
        for read in topics_read(snapshot.topics, replace(group, offsets=None))
        for number in read.partitions
        if number in read.logs and number not in commits.get(read.topic, ())
    ]


def uncommitted_notes(snapshot: ClusterSnapshot, groups: Iterable[Group]) -> Iterator[str]:
    """A sentence for each group that has such partitions; of many groups the first few."""
    count = 0
    for group in groups:
        partitions = uncommitted_partitions(snapshot, group)
        count += bool(partitions)
        if partitions and count <= NAMED:
            places = ranges_text(partitions)
            yield f"`{group.group}` has no commit for {places}: {CONDITION}"
    if count > NAMED:
        more = count - NAMED
        yield f"{counted(more, 'more group')} read partitions without a commit"


def ranges_text(partitions: Sequence[TopicPartition]) -> str:
    """`orders:3-5, orders:7, audit:0`; of many the first few."""
    parts = []
    for topic, own in groupby(partitions, key=lambda at: at[0]):
        spans: list[list[int]] = []
        for _, number in own:
            if spans and spans[-1][1] == number - 1:
                spans[-1][1] = number
            else:
                spans.append([number, number])
        parts += [(topic, low, high) for low, high in spans]
    shown = [f"{topic}:{low}{'' if low == high else f'-{high}'}" for topic, low, high in parts]
    more = [f"{len(shown) - RANGES} more"] if len(shown) > RANGES else []
    return ", ".join(shown[:RANGES] + more)
