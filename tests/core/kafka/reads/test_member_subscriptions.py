"""The consumer protocol's bytes, version by version."""

import struct

import pytest

from kgroups.core.kafka.reads.member_subscriptions import (
    Assigned,
    Subscription,
    decode_assignment,
    decode_subscription,
)


def _text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


V0 = struct.pack(">i", 2) + _text("b") + _text("a") + struct.pack(">i", 3) + b"xyz"
OWNED = struct.pack(">i", 1) + _text("b") + struct.pack(">iii", 2, 4, 0)
V1 = V0 + OWNED
V2 = V1 + struct.pack(">i", 17)
V3 = V2 + _text("rack-1")
TOPICS = ("b", "a")

CASES = [
    ("version 0", 0, V0, Subscription(0, TOPICS, None, None, None, b"xyz")),
    ("version 1", 1, V1, Subscription(1, TOPICS, {"b": (4, 0)}, None, None, b"xyz")),
    ("version 2", 2, V2, Subscription(2, TOPICS, {"b": (4, 0)}, 17, None, b"xyz")),
    ("version 3", 3, V3, Subscription(3, TOPICS, {"b": (4, 0)}, 17, "rack-1", b"xyz")),
    ("a later one", 9, V3 + b"?", Subscription(9, TOPICS, {"b": (4, 0)}, 17, "rack-1", b"xyz")),
]


@pytest.mark.parametrize(
    ("version", "data", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_subscription_is_decoded(version: int, data: bytes, expected: Subscription) -> None:
    """Every field that the version has, in the order of the wire; the others are None."""
    assert decode_subscription(struct.pack(">h", version) + data) == expected


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0", b"\0\0\0\0\0\x09", b"\xff\xff" + V0, b"hi!"])
def test_bytes_that_are_no_subscription_are_none(data: bytes) -> None:
    """Connect and others write what they like: not known is None."""
    assert decode_subscription(data) is None


def test_null_user_data_is_none() -> None:
    """Null and empty are told apart."""
    data = struct.pack(">hi", 0, 0) + struct.pack(">i", -1)
    found = decode_subscription(data)
    assert found is not None
    assert found.user_data is None


def test_assignment_keeps_the_order_of_the_wire() -> None:
    """Partitions as the leader listed them; a topic named twice keeps all."""
    data = struct.pack(">hi", 1, 3) + _text("b") + struct.pack(">iii", 2, 3, 1)
    data += _text("a") + struct.pack(">ii", 1, 0) + _text("b") + struct.pack(">ii", 1, 2)
    read = decode_assignment(data + struct.pack(">i", -1))
    assert read == Assigned(1, {"b": (3, 1, 2), "a": (0,)}, None)


def test_no_bytes_are_no_partitions() -> None:
    """A member that has just joined owns nothing; broken bytes are not known."""
    assert decode_assignment(b"") == Assigned(None, {}, None)
    assert decode_assignment(b"\0\1\0") is None
