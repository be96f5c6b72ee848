"""From the bytes of a JoinGroup or SyncGroup to what an assignor takes and gives, and back."""

from kgroups.assignors.spec import Assignment, LastAssignment, MemberSubscription
from kgroups.assignors.wire import (
    NEWEST_VERSION,
    Subscription,
    WireAssignment,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_sticky_data,
    encode_subscription,
    runs_of,
)


def member_subscription(
    member_id: str, metadata: bytes, *, instance_id: str | None = None
) -> MemberSubscription:
    """A member as an assignor sees it, out of the metadata of its JoinGroup request.

    Args:
        metadata: bytes of the protocol that the group chose, as DescribeGroups shows them too.
        instance_id: `group.instance.id`, which is not in the metadata.
    Raises:
        WireError: they are no subscription.
    Source: `ConsumerProtocol.deserializeSubscription`.
    """
    read = decode_subscription(metadata)
    return MemberSubscription(
        member_id,
        read.topics,
        instance_id,
        read.rack,
        read.owned,
        read.generation,
        read.user_data,
    )


def subscription_bytes(member: MemberSubscription, version: int = NEWEST_VERSION) -> bytes:
    """The metadata that a Java member sends for this subscription.

    Args:
        member: `rejoin` gives the one that it sends the next time, its user data included.
        version: layout, 0 to 3; fields that it does not have are dropped.
    Source: `ConsumerProtocol.serializeSubscription`.
    """
    user_data = member.user_data
    if member.previous is not None:
        runs, generation = member.previous
        user_data = encode_sticky_data(runs, generation)
    owned = tuple((topic, tuple(partitions)) for topic, partitions in member.owned)
    subscription = Subscription(
        version, member.topics, user_data, owned, member.generation, member.rack
    )
    return encode_subscription(subscription.in_order())


def assignment_bytes(
    assignment: Assignment, member_id: str, version: int = NEWEST_VERSION
) -> bytes:
    """The bytes in the leader's SyncGroup for one member; no partitions for an unknown one.

    Source: `ConsumerProtocol.serializeAssignment`.
    """
    partitions = runs_of(assignment.partitions_of(member_id))
    # An assignment of a class of one's own need not have any.
    user_data = getattr(assignment, "user_data", {}).get(member_id)
    return encode_assignment(WireAssignment(version, partitions, user_data))


def last_assignment(data: bytes, generation: int = -1) -> LastAssignment:
    """The assignment in the bytes of SyncGroup and DescribeGroups; no bytes are no partitions.

    Args:
        generation: in which it was given, which is not in the bytes.
    Raises:
        WireError: they are no assignment.
    Source: `ConsumerProtocol.deserializeAssignment`.
    """
    if not data:
        return LastAssignment((), generation)
    read = decode_assignment(data)
    partitions = [(topic, number) for topic, numbers in read.partitions for number in numbers]
    return LastAssignment(partitions, generation, read.user_data)
