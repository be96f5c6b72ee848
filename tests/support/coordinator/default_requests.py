"""Requests with the fields that tests do not care about filled in."""

from typing import Any

from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupProtocol,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupAssignment,
    SyncGroupRequest,
)
from kgroups.core.coordinator.offsets.messages import (
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitTopic,
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchTopic,
    TxnOffsetCommitRequest,
)
from tests.support.coordinator.coordinator_driver import Harness

SUBSCRIBED_TO_T = b"\x00\x00\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff"
RANGE = (JoinGroupProtocol("range", SUBSCRIBED_TO_T),)


def join(group_id: str = "g", **fields: Any) -> JoinGroupRequest:
    """A JoinGroup of a consumer; version 3 unless told, so that it is not sent back for its id."""
    given = {
        "version": 3,
        "client_id": "c",
        "client_host": "/h",
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 20_000,
        "protocol_type": "consumer",
        "protocols": RANGE,
    }
    return JoinGroupRequest(group_id=group_id, **{**given, **fields})


def sync(joined: JoinGroupResponse, group_id: str = "g", **fields: Any) -> SyncGroupRequest:
    """The SyncGroup of who got this answer; a leader gives everybody its own name."""
    given = {
        "version": 3,
        "generation_id": joined.generation_id,
        "member_id": joined.member_id,
        "assignments": tuple(
            SyncGroupAssignment(one.member_id, one.member_id.encode()) for one in joined.members
        ),
    }
    return SyncGroupRequest(group_id=group_id, **{**given, **fields})


def heartbeat(joined: JoinGroupResponse, group_id: str = "g", **fields: Any) -> HeartbeatRequest:
    """The Heartbeat of who got this answer."""
    given = {"generation_id": joined.generation_id, "member_id": joined.member_id}
    return HeartbeatRequest(**{"version": 3, "group_id": group_id, **given, **fields})


def leave(member_id: str, group_id: str = "g", **fields: Any) -> LeaveGroupRequest:
    """A LeaveGroup of one member."""
    given = {"version": 3, "members": (MemberIdentity(member_id),)}
    return LeaveGroupRequest(group_id=group_id, **{**given, **fields})


def _topics(offsets: dict[int, int], topic: str) -> tuple[OffsetCommitTopic, ...]:
    partitions = tuple(OffsetCommitPartition(n, offset) for n, offset in offsets.items())
    return (OffsetCommitTopic(topic, partitions),)


def commit(
    offsets: dict[int, int], group_id: str = "g", *, topic: str = "t", **fields: Any
) -> OffsetCommitRequest:
    """An OffsetCommit of partition -> offset, by nobody unless told."""
    topics = _topics(offsets, topic)
    return OffsetCommitRequest(**{"version": 8, "group_id": group_id, "topics": topics, **fields})


def commit_in_transaction(
    offsets: dict[int, int], producer_id: int, group_id: str = "g", **fields: Any
) -> TxnOffsetCommitRequest:
    """A TxnOffsetCommit of partition -> offset."""
    given = {
        "version": 3,
        "transactional_id": f"tx{producer_id}",
        "producer_id": producer_id,
        "producer_epoch": 0,
        "topics": _topics(offsets, "t"),
    }
    return TxnOffsetCommitRequest(group_id=group_id, **{**given, **fields})


def fetch(*partitions: int, group_id: str = "g", **fields: Any) -> OffsetFetchRequest:
    """An OffsetFetch of these partitions of topic t, or of everything."""
    topics = (OffsetFetchTopic("t", partitions),) if partitions else None
    groups = (OffsetFetchGroup(group_id, topics),)
    return OffsetFetchRequest(**{"version": 8, "groups": groups, **fields})


def fetched(harness: Harness, *partitions: int, **fields: Any) -> dict[int, tuple[int, int]]:
    """Partition -> (offset, error code) as the coordinator answers now."""
    (group,) = harness.ask(fetch(*partitions, **fields)).groups
    return {
        one.partition_index: (one.committed_offset, int(one.error_code))
        for topic in group.topics
        for one in topic.partitions
    }


def stable_group(harness: Harness, members: int = 1, **fields: Any) -> list[JoinGroupResponse]:
    """A Stable group with that many members; their JoinGroup answers, the leader's first."""
    tokens = [harness.send(join(**fields)) for _ in range(members)]
    for token in tokens[:-1]:  # with no initial delay the first is alone, and must come again
        answer = harness.replies[token]
        again = join(**{**fields, "member_id": answer.member_id})
        tokens[tokens.index(token)] = harness.send(again)
    answers = [harness.replies[token] for token in tokens]
    answers.sort(key=lambda answer: not answer.members)
    for answer in reversed(answers):
        harness.send(sync(answer))
    return answers
