"""librdkafka, cooperative-sticky: who gets what a member that leaves had, on a real broker.

All members read the same. Each group has a history, as members joined one after the other.
"""

from collections.abc import Iterator, Mapping

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.planning.changes.kinds import RemoveMember
from kgroups.core.planning.plan import plan_group
from tests.support.fidelity.judging import as_set, owned_by_client
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.settings import settings_from_text
from tests.support.kafka.workload import create_topics

pytestmark = pytest.mark.kafka


@pytest.fixture
def admin(cluster_address: str) -> Iterator[ClusterAdmin]:
    """Questions to the cluster."""
    with ClusterAdmin(settings_from_text("", cluster_address), timeout_ms=60_000) as asked:
        yield asked


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("name", "counts", "members", "leaves"),
    [
        ("one-topic", {"t": 7}, ("d", "b", "c", "a"), "b"),
        ("two-topics", {"t": 5, "u": 6}, ("a", "c", "b"), "a"),
        ("three-topics", {"t": 4, "u": 3, "v": 5}, ("b", "e", "a", "d", "c"), "d"),
    ],
)
def test_freed_partitions_go_where_the_plan_says(
    cluster_address: str,
    admin: ClusterAdmin,
    name: str,
    counts: Mapping[str, int],
    members: tuple[str, ...],
    leaves: str,
) -> None:
    """The plan is exact, and comes true to the partition."""
    group = f"freed-{name}"
    topics = {f"{group}-{topic}": count for topic, count in counts.items()}
    create_topics(cluster_address, topics)
    partitions = sum(topics.values())
    with LiveGroup(cluster_address, group, [], assignor="cooperative-sticky") as live:
        by_name = {}
        for client in members:
            by_name[client] = live.add(MemberSpec(client, tuple(topics)))
            live.wait_stable(partitions)
        snapshot = admin.snapshot([group])
        plan = plan_group(snapshot, snapshot.groups[0], [RemoveMember(leaves)])
        live.remove(by_name[leaves])
        live.wait_stable(partitions)
        came = owned_by_client(admin.snapshot([group]).groups[0])
    assert (plan.confidence, plan.leader_client) == ("exact", "librdkafka")
    assert came == {member.client_id: as_set(member.assignment) for member in plan.members}
