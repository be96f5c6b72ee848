"""The consumer protocol's bytes, version by version."""

import struct
from dataclasses import replace

import pytest

from kgroups.core.kafka.reads.member_subscriptions import classic_member
from kgroups.core.snapshot import Member


def _text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


V0 = struct.pack(">i", 2) + _text("b") + _text("a") + struct.pack(">i", 3) + b"xyz"
OWNED = struct.pack(">i", 1) + _text("b") + struct.pack(">iii", 2, 4, 0)
V1 = V0 + OWNED
V2 = V1 + struct.pack(">i", 17)
V3 = V2 + _text("rack-1")
TOPICS = ("b", "a")

ME = Member("m", "c", "/host")

# version, bytes, and the owned partitions, generation and rack that are read out of them
CASES = [
    ("version 0", 0, V0, None, None, None),
    ("version 1", 1, V1, {"b": (4, 0)}, None, None),
    ("version 2", 2, V2, {"b": (4, 0)}, 17, None),
    ("version 3", 3, V3, {"b": (4, 0)}, 17, "rack-1"),
    ("a later one", 9, V3 + b"?", {"b": (4, 0)}, 17, "rack-1"),
]


@pytest.mark.parametrize(
    ("version", "data", "owned", "generation", "rack"),
    [c[1:] for c in CASES],
    ids=[c[0] for c in CASES],
)
def test_subscription_is_decoded(
    version: int,
    data: bytes,
    owned: dict[str, tuple[int, ...]] | None,
    generation: int | None,
    rack: str | None,
) -> None:
    """Every field that the version has, in the order of the wire; the others are None."""
    assert classic_member(ME, struct.pack(">h", version) + data, b"") == replace(
        ME,
        subscription=TOPICS,
        assignment={},
        rack=rack,
        subscription_version=version,
        generation=generation,
        owned=owned,
        user_data=b"xyz",
    )


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0", b"\0\0\0\0\0\x09", b"\xff\xff" + V0, b"hi!"])
def test_bytes_that_are_no_subscription_are_none(data: bytes) -> None:
    """Connect and others write what they like: not known is None; broken assignments too."""
    assert classic_member(ME, data, b"") == replace(ME, assignment={})
    assert classic_member(ME, data, b"\0\1\0") == ME


def test_null_user_data_is_none() -> None:
    """Null and empty are told apart."""
    data = struct.pack(">hi", 0, 0)
    assert classic_member(ME, data + struct.pack(">i", -1), b"").user_data is None
    assert classic_member(ME, data + struct.pack(">i", 0), b"").user_data == b""


def test_assignment_keeps_the_order_of_the_wire() -> None:
    """Partitions as the leader listed them; a topic named twice keeps all."""
    data = struct.pack(">hi", 1, 3) + _text("b") + struct.pack(">iii", 2, 3, 1)
    data += _text("a") + struct.pack(">ii", 1, 0) + _text("b") + struct.pack(">ii", 1, 2)
    read = classic_member(ME, b"", data + struct.pack(">i", -1))
    assert (read.assignment, read.assignment_version) == ({"b": (3, 1, 2), "a": (0,)}, 1)
    assert read.assignment_user_data is None
