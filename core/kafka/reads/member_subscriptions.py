"""What classic members told the group about themselves: the consumer protocol's bytes."""

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.framing import decode_struct

HIGHEST_VERSION = 3
"""Newer versions start with the fields of this one, so they are read as it."""


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


def decode_subscription(data: bytes) -> Subscription | None:
    """The subscription in a member's metadata, or None if there is none or it cannot be read.

    Source: ConsumerProtocolSubscription; a broker shows it only while the group is Stable.
    """
    version = _version(data)
    if version is None:
        return None
    known = min(version, HIGHEST_VERSION)
    try:
        message = decode_struct("consumer_protocol_subscription", known, data[2:])
    except BrokerFailure:
        return None
    return Subscription(
        version=version,
        topics=tuple(message.topics),
        owned=_partitions(message.owned_partitions) if known >= 1 else None,
        generation=message.generation_id if known >= 2 else None,
        rack=message.rack_id if known >= 3 else None,
        user_data=message.user_data,
    )


def decode_assignment(data: bytes) -> dict[str, tuple[int, ...]] | None:
    """Topic to partitions in a member's assignment, in the order of the wire.

    No bytes are no partitions: so is a member shown that has just joined. None if the bytes
    cannot be read.
    """
    if not data:
        return {}
    version = _version(data)
    if version is None:
        return None
    try:
        message = decode_struct(
            "consumer_protocol_assignment", min(version, HIGHEST_VERSION), data[2:]
        )
    except BrokerFailure:
        return None
    return _partitions(message.assigned_partitions)


def _version(data: bytes) -> int | None:
    if len(data) < 2:
        return None
    version: int = struct.unpack_from(">h", data)[0]
    return version if version >= 0 else None


def _partitions(items: Any) -> dict[str, tuple[int, ...]]:
    """Topic to partitions; a topic named twice keeps all its partitions."""
    partitions: dict[str, tuple[int, ...]] = {}
    for item in items:
        partitions[item.topic] = partitions.get(item.topic, ()) + tuple(item.partitions)
    return partitions
