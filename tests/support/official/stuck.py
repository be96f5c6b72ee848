"""Groups held in the middle of a rebalance, and groups of other kinds than consumers'."""

import uuid
from datetime import timedelta

from kio.schema.consumer_group_heartbeat.v1.request import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from kio.schema.consumer_group_heartbeat.v1.response import ConsumerGroupHeartbeatResponse
from kio.schema.errors import ErrorCode
from kio.schema.join_group.v9.request import JoinGroupRequest, JoinGroupRequestProtocol
from kio.schema.join_group.v9.response import JoinGroupResponse
from kio.schema.share_group_heartbeat.v1.request import ShareGroupHeartbeatRequest
from kio.schema.share_group_heartbeat.v1.response import ShareGroupHeartbeatResponse
from kio.schema.sync_group.v5.request import SyncGroupRequest, SyncGroupRequestAssignment
from kio.schema.sync_group.v5.response import SyncGroupResponse
from kio.schema.types import GroupId, TopicName
from kio.static.primitive import i32, i32Timedelta

from kgroups.assignors.wire import (
    Subscription,
    WireAssignment,
    encode_assignment,
    encode_subscription,
)
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.waiting import wait_until

LONG = i32Timedelta.parse(timedelta(minutes=5))


def assignment(topic: str, partitions: list[int], user_data: bytes | None = None) -> bytes:
    """Version 0 of the consumer protocol's assignment."""
    return encode_assignment(WireAssignment(0, ((topic, tuple(partitions)),), user_data))


def join_request(
    group: str, member: str, protocol_type: str, topics: list[str]
) -> JoinGroupRequest:
    """A JoinGroup whose session and rebalance last for minutes."""
    subscription = encode_subscription(Subscription(0, tuple(topics)))
    return JoinGroupRequest(
        group_id=GroupId(group),
        session_timeout=LONG,
        rebalance_timeout=LONG,
        member_id=member,
        protocol_type=protocol_type,
        protocols=(JoinGroupRequestProtocol(name="range", metadata=subscription),),
    )


def join(
    connection: WireConnection, group: str, topics: list[str], *, protocol_type: str = "consumer"
) -> JoinGroupResponse:
    """Joins as the first member; the group waits for its SyncGroup then."""
    first = connection.ask(join_request(group, "", protocol_type, topics), JoinGroupResponse)
    assert first.error_code == ErrorCode.member_id_required
    answer = connection.ask(
        join_request(group, first.member_id, protocol_type, topics), JoinGroupResponse
    )
    assert answer.error_code == ErrorCode.none
    return answer


def sync(
    connection: WireConnection,
    group: str,
    joined: JoinGroupResponse,
    data: bytes,
    *,
    protocol_type: str = "consumer",
) -> None:
    """Gives the only member its assignment: the group is Stable."""
    answer = connection.ask(
        SyncGroupRequest(
            group_id=GroupId(group),
            generation_id=i32(joined.generation_id),
            member_id=joined.member_id,
            protocol_type=protocol_type,
            protocol_name="range",
            assignments=(SyncGroupRequestAssignment(member_id=joined.member_id, assignment=data),),
        ),
        SyncGroupResponse,
    )
    assert answer.error_code == ErrorCode.none


def knock(connection: WireConnection, group: str, topics: list[str]) -> None:
    """Joins as one more member and does not wait: the group prepares a rebalance."""
    first = connection.ask(join_request(group, "", "consumer", topics), JoinGroupResponse)
    assert first.error_code == ErrorCode.member_id_required
    connection.send(join_request(group, first.member_id, "consumer", topics))


def reconcile(connection: WireConnection, group: str, topic: str, partitions: int) -> None:
    """A KIP-848 group whose first member owns all and never gives back what a second shall have."""
    answer = beat(connection, group, "member-slow", topic)
    wait_until(
        lambda: _take(connection, group, "member-slow", topic, answer, partitions),
        "the first member owns all",
        pause_s=0.1,
    )
    wait_until(
        lambda: beat(connection, group, "member-new", topic).error_code == ErrorCode.none,
        "the second member is in",
    )


def beat(
    connection: WireConnection,
    group: str,
    member: str,
    topic: str,
    epoch: int = 0,
    owned: tuple[TopicPartitions, ...] = (),
    error: ErrorCode = ErrorCode.none,
) -> ConsumerGroupHeartbeatResponse:
    """One heartbeat of a member, answered with this error; epoch 0 joins, -1 leaves."""
    answer = connection.ask(
        ConsumerGroupHeartbeatRequest(
            group_id=GroupId(group),
            member_id=member,
            member_epoch=i32(epoch),
            rebalance_timeout=LONG,
            subscribed_topic_names=(TopicName(topic),),
            topic_partitions=owned,
        ),
        ConsumerGroupHeartbeatResponse,
    )
    assert answer.error_code == error, answer.error_message
    return answer


def _take(
    connection: WireConnection,
    group: str,
    member: str,
    topic: str,
    joined: ConsumerGroupHeartbeatResponse,
    partitions: int,
) -> bool:
    """Whether the member owns all; it says so to the coordinator."""
    answer = joined
    if answer.assignment is None:
        answer = beat(connection, group, member, topic)
    if answer.assignment is None:
        return False
    owned = tuple(
        TopicPartitions(topic_id=each.topic_id, partitions=each.partitions)
        for each in answer.assignment.topic_partitions
    )
    beat(connection, group, member, topic, int(answer.member_epoch), owned)
    return sum(len(each.partitions) for each in owned) == partitions


def share(connection: WireConnection, group: str, topic: str) -> str:
    """A share group with one member, which stays until its session is over; the member's id."""
    member, epoch = str(uuid.uuid4()), 0

    def settled() -> bool:
        nonlocal epoch
        answer = share_beat(connection, group, member, topic, epoch)
        epoch = int(answer.member_epoch)
        return answer.assignment is not None and bool(answer.assignment.topic_partitions)

    wait_until(settled, "the share group has its partitions", pause_s=0.2)
    return member


def share_beat(
    connection: WireConnection, group: str, member: str, topic: str, epoch: int
) -> ShareGroupHeartbeatResponse:
    """One heartbeat of a share group's member; epoch 0 joins, -1 leaves."""
    answer = connection.ask(
        ShareGroupHeartbeatRequest(
            group_id=GroupId(group),
            member_id=member,
            member_epoch=i32(epoch),
            subscribed_topic_names=(TopicName(topic),),
        ),
        ShareGroupHeartbeatResponse,
    )
    assert answer.error_code == ErrorCode.none, answer.error_message
    return answer
