"""A cluster worth looking at: topics with records, groups with live members, one left behind.

The embedded cluster, without Java; the members are real clients.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kgroups.core.errors import ClusterError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.writes.group_writes import write_commits
from kgroups.core.kafka.writes.record_deletion import delete_records
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import CommittedOffset, TopicPartition

if TYPE_CHECKING:
    from kgroups.core.kafka.librdkafka.live_clients import MemberPlan

TOPICS = {"orders": 6, "payments": 4, "audit": 2}
RECORDS = {"orders": 500, "payments": 120, "audit": 50}
MEMBERS = {"orders-app": 2, "payments-app": 3}
READS = {"orders-app": "orders", "payments-app": "payments"}
PROTOCOLS = {"orders-app": "classic", "payments-app": "consumer"}
LEFT_BEHIND = "audit-nightly"

_PATIENCE_S = 60.0
_LOOK_S = 0.05


@contextmanager
def demo_cluster(tell: Callable[[str], None] = lambda _: None) -> Iterator[Sandbox]:
    """The embedded cluster, once every group of it has settled; members leave at the end.

    Two groups with live members that lag: `orders-app` (classic, 2 members) and `payments-app`
    (KIP-848, 3 members); and `audit-nightly`, which nobody runs, and which has lost records.

    Args:
        tell: called with what is being done.
    Raises:
        ClusterError: the clients did not get on with the cluster.
    """
    from kgroups.core.kafka.librdkafka.live_clients import (  # librdkafka is slow to load
        live_members,
        produce,
    )

    tell("starting an embedded cluster of 3 brokers")
    with Sandbox(brokers=3, topics=TOPICS) as sandbox:
        bootstrap = sandbox.bootstrap_servers
        tell(f"writing records to {', '.join(TOPICS)}")
        produce(bootstrap, record_counts(), timeout_s=_PATIENCE_S)
        tell("letting real clients join the groups")
        with (
            live_members(bootstrap, _members(), half_read),
            ClusterAdmin(ClientSettings(bootstrap)) as admin,
        ):
            _leave_behind(admin)
            _wait_settled(admin)
            yield sandbox


def record_counts() -> Mapping[TopicPartition, int]:
    """How many records each partition gets: later partitions more."""
    return {
        (topic, number): RECORDS[topic] * (number + 1)
        for topic, count in TOPICS.items()
        for number in range(count)
    }


def half_read(at: TopicPartition) -> int:
    """Where a member stands in a partition: behind, and more so in later ones."""
    return record_counts()[at] * 10 // (11 + at[1])


def _members() -> list["MemberPlan"]:
    from kgroups.core.kafka.librdkafka.live_clients import MemberPlan

    return [
        MemberPlan(group, f"{READS[group]}-{number}", (READS[group],), PROTOCOLS[group])
        for group, count in MEMBERS.items()
        for number in range(1, count + 1)
    ]


def _leave_behind(admin: ClusterAdmin) -> None:
    """A group without members whose next records have expired."""
    commits = {("audit", 0): CommittedOffset(10), ("audit", 1): CommittedOffset(100)}
    for error in write_commits(admin, {LEFT_BEHIND: commits}).values():
        if error is not None:
            raise ClusterError(error.message)
    for (topic, number), start in delete_records(admin, {("audit", 0): 30}).items():
        if isinstance(start, str):
            raise ClusterError(f"records of `{topic}-{number}` could not be deleted: {start}")


def _wait_settled(admin: ClusterAdmin) -> None:
    """Return once each group is Stable, with every partition owned and committed."""
    deadline = time.monotonic() + _PATIENCE_S
    while not all(_is_settled(admin, group) for group in MEMBERS):
        if time.monotonic() > deadline:
            raise ClusterError(
                f"the demo's members did not settle within {_PATIENCE_S:.0f} s",
                hint="the machine may be busy; try again",
            )
        time.sleep(_LOOK_S)


def _is_settled(admin: ClusterAdmin, name: str) -> bool:
    group = admin.snapshot([name], log_offsets=False).group(name)
    if group is None or group.state != "Stable" or len(group.members or ()) != MEMBERS[name]:
        return False
    partitions = set(range(TOPICS[READS[name]]))
    shares = [(member.assignment or {}).get(READS[name], ()) for member in group.members or ()]
    owned = {number for share in shares for number in share}
    return all(shares) and owned == partitions == set((group.offsets or {}).get(READS[name], ()))
