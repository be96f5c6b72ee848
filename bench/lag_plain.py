"""The batch dry run as a plain loop: every group of a snapshot planned one after the other.

Run as a program: snapshot file, assignors. Prints for each assignor how many groups were planned,
how many partitions move and by how much the most loaded members are relieved, as JSON.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from kgroups.assignors.registry import CLIENT_ASSIGNORS
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import (
    AssignmentRequest,
    MemberSubscription,
    TopicPartition,
    TopicPartitions,
)
from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.snapshot import ClusterSnapshot, Group
from kgroups.core.snapshot_file import read_snapshot

GENERATION = 1


def plan_all(snapshot: ClusterSnapshot, assignors: list[str]) -> dict[str, list[int]]:
    """Assignor -> groups, partitions moved, lag by which the most loaded members are relieved."""
    sums = {name: [0, 0, 0] for name in assignors}
    for group in snapshot.groups:
        rows = offset_rows(snapshot, group)
        lag = {(row.topic, row.partition): row.lag or 0 for row in rows}
        now = {
            member.member_id: {
                (t, p) for t, held in (member.assignment or {}).items() for p in held
            }
            for member in group.members or ()
        }
        for name in assignors:
            later = _planned(snapshot, group, now, lag, name)
            total = sums[name]
            total[0] += 1
            total[1] += sum(len(later[member] - now[member]) for member in now)
            total[2] += _most(now, lag) - _most(later, lag)
    return sums


def _planned(
    snapshot: ClusterSnapshot,
    group: Group,
    now: Mapping[str, set[TopicPartition]],
    lag: Mapping[TopicPartition, int],
    name: str,
) -> dict[str, set[TopicPartition]]:
    """What each member would have."""
    members = group.members or ()
    wanted = sorted({topic for member in members for topic in member.subscription or ()})
    request = AssignmentRequest(
        members=[
            rejoin(
                MemberSubscription(member.member_id, tuple(member.subscription or ())),
                name,
                sorted(now[member.member_id]),
                GENERATION,
            )
            for member in members
        ],
        topics={
            topic: TopicPartitions(
                len(snapshot.topics[topic].partitions),
                lag=[lag.get((topic, n)) for n in range(len(snapshot.topics[topic].partitions))],
            )
            for topic in wanted
        },
        generation=GENERATION,
    )
    assignment = CLIENT_ASSIGNORS[name].assign(request)
    later = {member: set(assignment.partitions_of(member)) for member in now}
    for partition, member in assignment.withheld.items():
        later[member].add(partition)
    return later


def _most(held: Mapping[str, set[TopicPartition]], lag: Mapping[TopicPartition, int]) -> int:
    """Lag of the member that has most of it."""
    return max(sum(lag[cell] for cell in cells) for cells in held.values())


def main() -> None:
    """Plan and print."""
    path, *assignors = sys.argv[1:]
    print(json.dumps(plan_all(read_snapshot(Path(path)), assignors)))


if __name__ == "__main__":
    main()
