"""What classic members told the group about themselves, read forgivingly: bytes of any library.

The layouts are those of `kgroups.assignors.wire`; what cannot be read is None here.
"""

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.assignors import wire
from kgroups.core.snapshot import Member


class Subscription(NamedTuple):
    """A member's subscription bytes, decoded; fields that their version lacks are None.

    Args:
        version: as written in the bytes.
        topics: names, in the order of the wire.
        owned: topic to partitions that the member owned when it joined; version 1 on.
        generation: of the last join; version 2 on.
        rack: version 3 on.
        user_data: the assignor's own bytes.
    """

    version: int
    topics: tuple[str, ...]
    owned: Mapping[str, tuple[int, ...]] | None
    generation: int | None
    rack: str | None
    user_data: bytes | None


class Assigned(NamedTuple):
    """A member's assignment bytes, decoded.

    Args:
        version: as written in the bytes; None for no bytes.
        partitions: topic to partitions, in the order of the wire.
        user_data: the assignor's own bytes.
    """

    version: int | None
    partitions: Mapping[str, tuple[int, ...]]
    user_data: bytes | None


class Identity(NamedTuple):
    """Facts of a broker about a classic member, whatever its bytes say."""

    member_id: str
    client_id: str
    host: str
    instance_id: str | None


def classic_member(identity: Identity, metadata: bytes, assignment: bytes) -> Member:
    """A member with what its subscription and its assignment tell."""
    subscription, assigned = decode_subscription(metadata), decode_assignment(assignment)
    return Member(
        *identity,
        subscription=subscription.topics if subscription else None,
        assignment=assigned.partitions if assigned else None,
        rack=subscription.rack if subscription else None,
        subscription_version=subscription.version if subscription else None,
        generation=subscription.generation if subscription else None,
        owned=subscription.owned if subscription else None,
        user_data=subscription.user_data if subscription else None,
        assignment_version=assigned.version if assigned else None,
        assignment_user_data=assigned.user_data if assigned else None,
    )


def decode_subscription(data: bytes) -> Subscription | None:
    """The subscription in a member's metadata, or None if there is none or it cannot be read.

    Source: ConsumerProtocolSubscription; a broker shows it only while the group is Stable.
    """
    try:
        subscription = wire.decode_subscription(data)
    except wire.WireError:
        return None
    version = subscription.version
    return Subscription(
        version=version,
        topics=subscription.topics,
        owned=_by_topic(subscription.owned) if version >= wire.OWNED_SINCE else None,
        generation=subscription.generation if version >= wire.GENERATION_SINCE else None,
        rack=subscription.rack if version >= wire.RACK_SINCE else None,
        user_data=subscription.user_data,
    )


def decode_assignment(data: bytes) -> Assigned | None:
    """A member's assignment as its leader wrote it, or None if the bytes cannot be read.

    No bytes are no partitions: so is a member shown that has just joined.
    """
    if not data:
        return Assigned(None, {}, None)
    try:
        read = wire.decode_assignment(data)
    except wire.WireError:
        return None
    return Assigned(read.version, _by_topic(read.partitions), read.user_data)


def _by_topic(runs: wire.TopicRuns) -> dict[str, tuple[int, ...]]:
    """Topic to partitions; a topic named twice keeps all its partitions."""
    partitions: dict[str, tuple[int, ...]] = {}
    for topic, numbers in runs:
        partitions[topic] = partitions.get(topic, ()) + tuple(numbers)
    return partitions
