"""All that a cluster holds of groups, members and log starts, read without the code under test."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kio.schema.errors import ErrorCode
from kio.schema.list_groups.v4.request import ListGroupsRequest
from kio.schema.list_groups.v4.response import ListGroupsResponse
from kio.schema.offset_fetch.v8.request import OffsetFetchRequest, OffsetFetchRequestGroup
from kio.schema.offset_fetch.v8.response import OffsetFetchResponse
from kio.schema.types import GroupId

from kgroups.core.snapshot import TopicPartition
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import admin_of, coordinators_of, start_offsets

READ_S = 240.0
_EXISTS = ""
_MEMBER = "member"


class Commit(NamedTuple):
    """One commit, whole.

    Args:
        epoch: leader epoch; -1 for none.
    """

    offset: int
    epoch: int
    metadata: str


Key = tuple[str, str, int]
"""A commit: group, topic, partition; a group: its name and nothing; a member: group, `member` and
its id, -1; the start of a log: nothing, topic, partition."""

State = Mapping[Key, Commit | int]
"""What is not there has no key. An int is an offset, or 1 for what just is there."""


def group_key(group: str) -> Key:
    """Stands for a group that is listed."""
    return group, _EXISTS, -1


def member_key(group: str, member_id: str) -> Key:
    """Stands for a member of a group."""
    return group, f"{_MEMBER} {member_id}", -1


def is_member(key: Key) -> bool:
    """Whether the key is that of a member."""
    return key[1].startswith(_MEMBER) and key[2] < 0


def is_commit(key: Key) -> bool:
    """Whether the key is that of a commit."""
    return bool(key[0]) and key[2] >= 0


def read_state(cluster: KafkaCluster, logs: Iterable[TopicPartition], crew: str) -> State:
    """Every group with all that it has committed, the members of one group, and starts of logs.

    Args:
        logs: whose starts are read.
        crew: the group whose members are read.
    """
    places = list(logs)

    def look() -> State | None:
        try:
            names = _listed(cluster)
            found = None if names is None else _commits(cluster, names)
            # the first listing may have been as of before the last commits
            is_same = found is not None and _listed(cluster) == names
        except OSError:
            return None
        if names is None or found is None or not is_same:
            return None
        found |= {group_key(name): 1 for name in names}
        if crew in names:
            found |= _members(cluster, crew)
        starts = start_offsets(cluster.bootstrap, places)
        return found | {("", *at): start for at, start in starts.items()}

    found = wait_until(look, "every group can be read", timeout_s=READ_S, pause_s=0.2)
    assert found is not None
    return found


def _listed(cluster: KafkaCluster) -> set[str] | None:
    """The groups that all brokers list; None while one of them cannot."""
    names: set[str] = set()
    for node_id in cluster.node_ids:
        with WireConnection(cluster.address(node_id)) as connection:
            answer = connection.ask(ListGroupsRequest(), ListGroupsResponse)
            if answer.error_code != ErrorCode.none:
                return None
            names |= {group.group_id for group in answer.groups if group.group_state != "Dead"}
    return names


def _commits(cluster: KafkaCluster, names: set[str]) -> dict[Key, Commit | int] | None:
    """What the groups have committed; None while one of them cannot be read."""
    found: dict[Key, Commit | int] = {}
    placed = coordinators_of(cluster.bootstrap, sorted(names))
    if sum(map(len, placed.values())) < len(names):
        return None
    for address, own in placed.items():
        wanted = tuple(OffsetFetchRequestGroup(group_id=GroupId(n), topics=None) for n in own)
        # others may be answered from before the last commits, when a coordinator has just moved
        request = OffsetFetchRequest(groups=wanted, require_stable=True)
        with WireConnection(address) as connection:
            answer = connection.ask(request, OffsetFetchResponse)
        for group in answer.groups:
            if group.error_code != ErrorCode.none:
                return None
            for topic in group.topics:
                for row in topic.partitions:
                    if row.error_code != ErrorCode.none:
                        return None
                    if row.committed_offset >= 0:
                        found[group.group_id, topic.name, row.partition_index] = Commit(
                            row.committed_offset, row.committed_leader_epoch, row.metadata or ""
                        )
    return found


def _members(cluster: KafkaCluster, crew: str) -> dict[Key, Commit | int]:
    admin = admin_of(cluster.bootstrap)
    described = admin.describe_consumer_groups([crew])[crew].result(60)
    return {member_key(crew, member.member_id): 1 for member in described.members}
