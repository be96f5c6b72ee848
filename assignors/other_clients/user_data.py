"""User data of sticky strategies as the other libraries write and read it.

Java's V1 is an array of topics with partitions and the generation. kafka-python puts the version
in front, so that neither side can read the other's; aiokafka and sarama write Java's.

Source: kafka-python 3.0.12, assignors/sticky/user_data.py; aiokafka 0.14, StickyAssignorUserDataV1.
"""

import struct
from collections.abc import Sequence
from contextlib import suppress

from kgroups.assignors.spec import AssignorError, MemberSubscription
from kgroups.assignors.wire import Reader, TopicRuns, WireError, encode_sticky_data

NO_GENERATION = -1
KAFKA_PYTHON_VERSION = 1


def encode_kafka_python_data(runs: Sequence[tuple[str, Sequence[int]]], generation: int) -> bytes:
    """User data of kafka-python's `sticky`."""
    return struct.pack(">h", KAFKA_PYTHON_VERSION) + encode_sticky_data(runs, generation)


def read_kafka_python_data(member: MemberSubscription) -> tuple[TopicRuns, int]:
    """(previous partitions, generation) as a kafka-python leader reads them; nothing and -1 if not.

    Java's own layout is nothing to it.
    """
    if member.previous is not None or not member.user_data:
        return (), NO_GENERATION
    reader = Reader(member.user_data)
    try:
        version = reader.number(2)
        runs = reader.runs()
        return runs, reader.number(4) if version >= KAFKA_PYTHON_VERSION else NO_GENERATION
    except WireError:
        return (), NO_GENERATION


def read_strict_sticky_data(member: MemberSubscription) -> tuple[TopicRuns, int]:
    """(previous partitions, generation) out of Java's V1; nothing and -1 if it is not that."""
    if member.previous is not None:
        return member.previous
    if not member.user_data:
        return (), NO_GENERATION
    reader = Reader(member.user_data)
    try:
        return reader.runs(), reader.number(4)
    except WireError:
        return (), NO_GENERATION


def read_sarama_data(member: MemberSubscription) -> tuple[TopicRuns, int]:
    """(previous partitions, generation) as a sarama leader reads them; V0 is without generation.

    Raises:
        AssignorError: the bytes are neither of Java's two layouts, to the last byte: the leader
            gives up. Absent user data is fine, empty user data is not.
    """
    if member.previous is not None:
        return member.previous
    if member.user_data is None:
        return (), NO_GENERATION
    for versioned in (True, False):
        reader = Reader(member.user_data)
        with suppress(WireError):
            runs = reader.runs()
            generation = reader.number(4) if versioned else NO_GENERATION
            if reader.place == len(member.user_data):
                return runs, generation
    raise AssignorError(
        f"a sarama leader fails this rebalance: it cannot read the user data of "
        f"`{member.member_id}`",
        hint="members with other libraries send `sticky` user data that sarama cannot read",
    )


def read_franz_go_data(member: MemberSubscription) -> tuple[TopicRuns, int]:
    """(previous partitions, generation) as a franz-go leader reads them; a generation is never < 0.

    V0 counts as generation 0, and what cannot be read as nothing of generation 0.
    """
    if member.previous is not None:
        runs, generation = member.previous
        return runs, max(generation, 0)
    reader = Reader(member.user_data or b"")
    try:
        runs = reader.runs()
        generation = reader.number(4) if reader.place < len(reader.data) else 0
    except WireError:
        return (), 0
    return runs, max(generation, 0)
