"""Subscriptions and assignments of the classic consumer protocol, as bytes.

What the members of a classic group tell each other through their leader, which a coordinator must
read and write when such a group becomes a consumer group or the other way round.
Source: `ConsumerProtocol`, message schemas ConsumerProtocolSubscription and -Assignment.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kgroups.core.coordinator.log.record_bytes import Reader, RecordError, Writer

HIGHEST_VERSION = 3
OWNED_VERSION = 1
GENERATION_VERSION = 2
RACK_VERSION = 3
NO_USER_DATA = -1


class ProtocolError(ValueError):
    """The bytes are no subscription or no assignment."""


class Subscription(NamedTuple):
    """What a classic consumer subscribes to.

    Args:
        owned: topic name and partitions, in the order of the bytes.
    """

    version: int
    topics: tuple[str, ...]
    owned: tuple[tuple[str, tuple[int, ...]], ...] = ()
    rack_id: str | None = None


class ProtocolAssignment(NamedTuple):
    """What a classic consumer was given."""

    partitions: tuple[tuple[str, tuple[int, ...]], ...]
    has_user_data: bool


def read_subscription(raw: bytes) -> Subscription:
    """The subscription in these bytes.

    Raises:
        ProtocolError: they hold none.
    """
    source = Reader(raw)
    try:
        version = min(_version(source), HIGHEST_VERSION)
        topics = source.array(source.string)
        source.blob()
        owned = source.array(lambda: _topic(source)) if version >= OWNED_VERSION else ()
        if version >= GENERATION_VERSION:
            source.int32()
        rack = source.optional_string() if version >= RACK_VERSION else None
    except RecordError as broken:
        raise ProtocolError(str(broken)) from broken
    return Subscription(version, topics, owned, rack)


def read_assignment(raw: bytes) -> ProtocolAssignment:
    """The assignment in these bytes; no bytes are no partitions.

    Raises:
        ProtocolError: they hold none.
    """
    if not raw:
        return ProtocolAssignment((), has_user_data=False)
    source = Reader(raw)
    try:
        _version(source)
        partitions = source.array(lambda: _topic(source))
        user_data = source.blob()
    except RecordError as broken:
        raise ProtocolError(str(broken)) from broken
    return ProtocolAssignment(partitions, has_user_data=bool(user_data))


def write_assignment(version: int, partitions: Mapping[str, Sequence[int]]) -> bytes:
    """The bytes of an assignment without user data."""
    target = Writer(flexible=False)
    target.int16(version)

    def write_topic(topic: str) -> None:
        target.string(topic)
        target.array(partitions[topic], target.int32)

    target.array(partitions, write_topic)
    target.int32(NO_USER_DATA)
    return bytes(target.out)


def _version(source: Reader) -> int:
    version = source.int16()
    if version < 0:
        raise ProtocolError("the version is negative")
    return version


def _topic(source: Reader) -> tuple[str, tuple[int, ...]]:
    return source.string(), source.array(source.int32)
