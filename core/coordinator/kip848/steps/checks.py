"""Faults of a ConsumerGroupHeartbeat, in the order in which Kafka looks.

Source: `GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid`,
`GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid` and what stands around it.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

from kgroups.assignors.order.java_order import hash_map_order
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.kip848.group import Kip848Group
from kgroups.core.coordinator.kip848.member import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    LEAVE_STATIC_EPOCH,
    Kip848Member,
    Owned,
)
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from kgroups.core.coordinator.releases import Rule
from kgroups.core.coordinator.shard import Shard
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.uuids import uuid_text

CLIENT_MADE_ID_VERSION = 1  # from here on the client makes its member id itself


class Refusal(NamedTuple):
    """An error and its text."""

    error: ErrorCode
    message: str | None = None


def check_request(
    request: ConsumerGroupHeartbeatRequest, assignors: Iterable[str]
) -> Refusal | None:
    """The fault of the request whatever the group is; None if it has none."""
    text = _invalid(request)
    if text is not None:
        return Refusal(ErrorCode.INVALID_REQUEST, text)
    names = tuple(assignors)
    if request.server_assignor is not None and request.server_assignor not in names:
        listed = ", ".join(hash_map_order(names))
        return Refusal(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. "
            f"Supported assignors: {listed}.",
        )
    return None


def _invalid(request: ConsumerGroupHeartbeatRequest) -> str | None:
    epoch = request.member_epoch
    joining = epoch == JOIN_EPOCH
    needs_id = request.version >= CLIENT_MADE_ID_VERSION or epoch > 0 or epoch == LEAVE_EPOCH
    if needs_id and not request.member_id.strip():
        return "MemberId can't be empty."
    if not request.group_id.strip():
        return "GroupId can't be empty."
    if _blank(request.instance_id):
        return "InstanceId can't be empty."
    if _blank(request.rack_id):
        return "RackId can't be empty."
    if joining:
        return _invalid_join(request)
    if epoch == LEAVE_STATIC_EPOCH and request.instance_id is None:
        return "InstanceId can't be null."
    if epoch < LEAVE_STATIC_EPOCH:
        return "MemberEpoch is invalid."
    return None


def _invalid_join(request: ConsumerGroupHeartbeatRequest) -> str | None:
    if request.rebalance_timeout_ms == -1:
        return "RebalanceTimeoutMs must be provided in first request."
    if request.topic_partitions is None or request.topic_partitions:
        return "TopicPartitions must be empty when (re-)joining."
    if request.subscribed_topic_names is None and (
        request.version < CLIENT_MADE_ID_VERSION or request.subscribed_topic_regex is None
    ):
        return (
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
            "(re-)joining."
        )
    return None


def _blank(text: str | None) -> bool:
    return text is not None and not text.strip()


def new_member_id(shard: Shard) -> str:
    """A fresh id in the form that consumer groups use."""
    return uuid_text(shard.ports.draw_id(shard.new_id, shard.config.release))


def check_room(
    group: Kip848Group, config: CoordinatorConfig, member_id: str, instance_id: str | None
) -> Refusal | None:
    """GROUP_MAX_SIZE_REACHED if the group is full and this is none of its members."""
    if len(group.members) < config.consumer_max_size or member_id in group.members:
        return None
    if instance_id in group.static_members and config.follows(Rule.FULL_GROUP_TAKES_BACK):
        return None
    return Refusal(
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        f"The consumer group has reached its maximum capacity of {config.consumer_max_size} "
        "members.",
    )


def find_member(
    group: Kip848Group, request: ConsumerGroupHeartbeatRequest
) -> Kip848Member | Refusal:
    """The member that a request with an epoch other than 0 comes from."""
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        return member if member is not None else unknown_member(request.member_id, group)
    holder = find_static(group, request.instance_id)
    if holder is None:
        text = f"Instance id {request.instance_id} is unknown."
        return Refusal(ErrorCode.UNKNOWN_MEMBER_ID, text)
    if isinstance(holder, Kip848Member) and holder.member_id != request.member_id:
        return fenced_instance(request.member_id, request.instance_id, holder.member_id)
    return holder


def find_static(group: Kip848Group, instance_id: str | None) -> Kip848Member | Refusal | None:
    """Who holds an instance id; None if nobody, a Refusal if the holder is not there any more."""
    holder = group.static_holder(instance_id)
    if holder is None:
        return None
    member_id, member = holder
    return unknown_member(member_id, group) if member is None else member


def unknown_member(member_id: str, group: Kip848Group) -> Refusal:
    """UNKNOWN_MEMBER_ID, in Kafka's words."""
    return Refusal(
        ErrorCode.UNKNOWN_MEMBER_ID,
        f"Member {member_id} is not a member of group {group.group_id}.",
    )


def fenced_instance(member_id: str, instance_id: str, holder_id: str) -> Refusal:
    """FENCED_INSTANCE_ID, in Kafka's words."""
    return Refusal(
        ErrorCode.FENCED_INSTANCE_ID,
        f"Static member {member_id} with instance id {instance_id} was fenced by member "
        f"{holder_id}.",
    )


def check_epoch(
    member: Kip848Member, epoch: int, owned: Mapping[UUID, frozenset[int]] | None
) -> Refusal | None:
    """FENCED_MEMBER_EPOCH unless the epoch is the member's, or its last one come late.

    An answer may have been lost: the former epoch passes if all that the member says to own is
    assigned to it.
    """
    current = member.member_epoch
    if epoch > current:
        return Refusal(
            ErrorCode.FENCED_MEMBER_EPOCH,
            "The consumer group member has a greater member "
            f"epoch ({epoch}) than the one known by the group coordinator ({current}). "
            "The member must abandon all its partitions and rejoin.",
        )
    lost_answer = (
        epoch == member.previous_member_epoch
        and owned is not None
        and _is_subset(owned, member.assigned)
    )
    if epoch < current and not lost_answer:
        return Refusal(
            ErrorCode.FENCED_MEMBER_EPOCH,
            "The consumer group member has a smaller member "
            f"epoch ({epoch}) than the one known by the group coordinator ({current}). "
            "The member must abandon all its partitions and rejoin.",
        )
    return None


def owned_partitions(
    topics: tuple[TopicPartitions, ...] | None,
) -> Mapping[UUID, frozenset[int]] | None:
    """The partitions that the request says are owned; None if it does not say."""
    if topics is None:
        return None
    owned: dict[UUID, frozenset[int]] = {}
    for topic in topics:
        owned[topic.topic_id] = owned.get(topic.topic_id, frozenset()) | frozenset(topic.partitions)
    return owned


def _is_subset(owned: Mapping[UUID, frozenset[int]], assigned: Owned) -> bool:
    """Whether every owned partition is assigned."""
    return all(
        partitions <= assigned.get(topic_id, {}).keys() for topic_id, partitions in owned.items()
    )
