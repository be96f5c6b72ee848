"""Commits of groups, read after a write, again and again where that may help."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.reads.committed_offsets import fetch_commits
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.offsets.read_back import Held

if TYPE_CHECKING:
    from kgroups.core.kafka.librdkafka.librdkafka_writes import LibrdkafkaClient


def read_until(
    admin: ClusterAdmin,
    groups: Sequence[str],
    take: Callable[[Mapping[str, Held | None]], Sequence[str]],
    until: Deadline | None = None,
) -> None:
    """Read what groups have committed until it is enough, or the time is over.

    Args:
        take: takes the commits of each group (None where they cannot be learned: of one that does
            not exist there are none), gives the groups to read again.
        until: when to read no longer; the admin's own deadline if None.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> None:
        left = groups
        async for attempt in Attempts(deadline, whole=True):
            if attempt > 1:  # another coordinator may have taken over
                cluster.forget_failures()
                for group in left:
                    cluster.placed.pop(group, None)
            left = take(await read_held(cluster, left, deadline))
            if not left:
                return

    def otherwise(client: "LibrdkafkaClient") -> None:
        left = groups
        for _ in Attempts(client.deadline, whole=True):
            left = take(client.held(left))
            if not left:
                return

    if groups:
        admin.over_wire(ask, otherwise, until=until)


async def read_held(
    cluster: Cluster, groups: Sequence[str], deadline: Deadline, lane: int = 0
) -> dict[str, Held | None]:
    """Commits of these groups; None where it cannot be learned."""
    placed, _ = await cluster.known_coordinators(groups, deadline)
    held: dict[str, Held | None] = dict.fromkeys(groups)
    for group, commits in (await fetch_commits(cluster, placed, deadline, lane)).items():
        if not isinstance(commits, BrokerFailure):
            held[group] = None if commits.failures else commits.offsets
        elif commits.code == "GROUP_ID_NOT_FOUND":
            held[group] = {}
    return held
