"""Small groups for the planning tests, in one line each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    Member,
    MemberProtocol,
    PartitionLog,
    Topic,
)

Held = Mapping[str, Sequence[int]]


def topics_of(counts: Mapping[str, int], *, lag: int = 100) -> dict[str, Topic]:
    """Topics whose partitions all end at `lag`."""
    return {
        name: Topic(name, {p: PartitionLog(0, lag, None, 1) for p in range(count)})
        for name, count in counts.items()
    }


def member(
    member_id: str,
    held: Held,
    *,
    topics: Sequence[str] | None = None,
    instance_id: str | None = None,
    host: str = "/10.0.0.1",
    client_id: str = "app",
    protocol: MemberProtocol = "classic",
    rack: str | None = None,
    user_data: bytes | None = None,
    version: int | None = 3,
    generation: int | None = None,
) -> Member:
    """A member that holds these partitions and subscribes to their topics, or to `topics`."""
    assignment = {topic: tuple(numbers) for topic, numbers in held.items()}
    return Member(
        member_id,
        client_id,
        host,
        instance_id,
        protocol,
        subscription=tuple(held if topics is None else topics),
        assignment=assignment,
        target_assignment=assignment if protocol == "consumer" else None,
        rack=rack,
        subscription_version=version if protocol == "classic" else None,
        user_data=user_data,
        generation=generation,
    )


def group_of(
    *members: Member,
    assignor: str | None = "range",
    kind: GroupType = "classic",
    state: str = "Stable",
    offsets: Mapping[str, Mapping[int, int]] | None = None,
    name: str = "g",
    leader: str | None = None,
    wrote: tuple[int, bytes | None] | None = None,
) -> Group:
    """A group of these members.

    Args:
        wrote: version and user data of their assignments, as their leader wrote them.
    """
    if wrote is not None:
        version, data = wrote
        members = tuple(
            replace(one, assignment_version=version, assignment_user_data=data) for one in members
        )
    return Group(
        name,
        kind,
        state,
        "consumer",
        assignor,
        members=members,
        leader=leader,
        group_epoch=5 if kind == "consumer" else None,
        offsets={
            topic: {p: CommittedOffset(offset) for p, offset in commits.items()}
            for topic, commits in (offsets or {}).items()
        },
    )


def cluster_of(group: Group, counts: Mapping[str, int], *, lag: int = 100) -> ClusterSnapshot:
    """A cluster with this one group and these topics."""
    return ClusterSnapshot(0, (group,), topics_of(counts, lag=lag))
