"""Bytes of the consumer protocol and of the assignors' user data."""

import pytest

from kgroups.assignors.spec import MemberSubscription
from kgroups.assignors.wire import (
    Subscription,
    WireAssignment,
    WireError,
    decode_assignment,
    decode_cooperative_data,
    decode_sticky_data,
    decode_subscription,
    encode_assignment,
    encode_cooperative_data,
    encode_sticky_data,
    encode_subscription,
    runs_of,
)
from tests.support.assignors.cases import Json, member_of, recorded
from tests.support.assignors.engines import FAMILIES

FULL = Subscription(3, ("bar", "foo"), b"\x01", (("foo", (0, 2)),), 7, "rack")
HEX = [
    (0, "0000" "00000002" "0003626172" "0003666f6f" "0000000101"),
    (1, "0001" "00000002" "0003626172" "0003666f6f" "0000000101"
        "00000001" "0003666f6f" "000000020000000000000002"),
    (2, "0002" "00000002" "0003626172" "0003666f6f" "0000000101"
        "00000001" "0003666f6f" "000000020000000000000002" "00000007"),
    (3, "0003" "00000002" "0003626172" "0003666f6f" "0000000101"
        "00000001" "0003666f6f" "000000020000000000000002" "00000007" "00047261636b"),
]  # fmt: skip


def in_version(version: int) -> Subscription:
    """`FULL` without what the version cannot say."""
    return Subscription(
        version,
        FULL.topics,
        FULL.user_data,
        FULL.owned if version >= 1 else (),
        FULL.generation if version >= 2 else -1,
        FULL.rack if version >= 3 else None,
    )


@pytest.mark.parametrize(("version", "data"), HEX)
def test_subscription(version: int, data: str) -> None:
    """Each version writes its own fields and reads them back."""
    subscription = Subscription(version, *[getattr(FULL, f) for f in FULL.__slots__[1:]])
    assert encode_subscription(subscription).hex() == data
    assert decode_subscription(bytes.fromhex(data)) == in_version(version)


def test_a_newer_version_is_read_as_ours() -> None:
    """What a later version adds is ignored; the number is kept."""
    data = bytes.fromhex("0009" + HEX[3][1][4:] + "ffff")
    assert decode_subscription(data).rack == "rack"
    assert decode_subscription(data).version == 9


@pytest.mark.parametrize(
    "data",
    [
        "",
        "ffff",
        "0000",
        "00000000000500016100",
        "0000ffffffff",
        "00007fffffff0001",
        "0001000000000000",
    ],
)
def test_broken_subscription(data: str) -> None:
    """Bytes that end too early, a negative version and an impossible count are refused."""
    with pytest.raises(WireError):
        decode_subscription(bytes.fromhex(data))


def test_null_fields() -> None:
    """No user data and no rack are null on the wire."""
    bare = Subscription(3, ())
    assert decode_subscription(encode_subscription(bare)) == bare


def test_assignment() -> None:
    """Topics in the order of their first partition, partitions in list order."""
    listed = [("b", 2), ("a", 0), ("b", 1)]
    assignment = WireAssignment(1, runs_of(listed), None)
    data = encode_assignment(assignment)
    assert data.hex() == (
        "0001" "00000002" "000162" "000000020000000200000001" "000161" "0000000100000000" "ffffffff"
    )  # fmt: skip
    assert decode_assignment(data) == assignment
    with pytest.raises(WireError):
        decode_assignment(data[:-2])


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_assignment_versions(version: int) -> None:
    """All versions have one layout; what a later one adds is ignored."""
    assignment = WireAssignment(version, (("foo", (0, 1)), ("bar", (2,))), b"\x07")
    data = encode_assignment(assignment)
    assert decode_assignment(data) == assignment
    assert decode_assignment(data + b"more") == assignment


def test_the_instance_id_does_not_travel_in_the_subscription() -> None:
    """It comes with the answer to JoinGroup; the bytes know nothing of it."""
    assert "instance_id" not in Subscription.__slots__
    read = decode_subscription(encode_subscription(FULL))
    known = MemberSubscription("m", read.topics, instance_id="i1", owned=read.owned)
    assert (known.instance_id, known.topics) == ("i1", FULL.topics)


def test_subscriptions_are_written_in_order() -> None:
    """Topics by name and claims by topic and number, as Java members sort them."""
    bare = Subscription(3, ("foo", "bar"), None, (("foo", (1, 0)), ("bar", (2,)), ("foo", (3,))))
    read = decode_subscription(encode_subscription(bare.in_order()))
    assert read.topics == ("bar", "foo")
    assert read.owned == (("bar", (2,)), ("foo", (0, 1, 3)))


def test_sticky_data() -> None:
    """Both layouts, nothing, and damaged bytes."""
    runs = (("t", (0, 1)),)
    assert decode_sticky_data(encode_sticky_data(runs, 5)) == (runs, 5)
    assert decode_sticky_data(encode_sticky_data(runs, None)) == (runs, None)
    assert decode_sticky_data(encode_sticky_data(runs, 5) + b"\xff") == (runs, 5)
    assert decode_sticky_data(None) == ((), None)
    assert decode_sticky_data(b"") == ((), None)
    assert decode_sticky_data(encode_sticky_data(runs, 5)[:9]) == ((), -1)


def test_cooperative_data() -> None:
    """A generation, none, and damaged bytes."""
    assert decode_cooperative_data(encode_cooperative_data(9)) == 9
    assert decode_cooperative_data(None) is None
    assert decode_cooperative_data(b"\0") == -1


def wire_cases() -> list[Json]:
    """Recorded cases that carry the bytes that Java wrote."""
    return [
        case
        for family in FAMILIES
        if not family.startswith("server-")
        for case in recorded(family)
        if case["rounds"][0].get("want_wire")
    ]


def test_the_same_bytes_as_java() -> None:
    """Subscriptions and assignments of recorded cases, byte for byte."""
    cases = wire_cases()
    assert len(cases) > 10
    for case in cases:
        java = case["java"][0]
        if "error" in java:
            continue
        for spec, data in zip(case["rounds"][0]["members"], java["wire"], strict=True):
            member = member_of(spec)
            version = spec.get("version", 3)
            owned = tuple((t, tuple(p)) for t, p in spec.get("owned", ())) if version else ()
            wire = Subscription(
                version, member.topics, member.user_data, owned, member.generation, member.rack
            )
            assert encode_subscription(wire).hex() == data
            assert decode_subscription(bytes.fromhex(data)) == wire
        by_member = dict(java["members"])
        for index, data in enumerate(java["assignment_wire"]):
            listed = [(topic, part) for topic, parts in by_member[index] for part in parts]
            assignment = WireAssignment(3, runs_of(listed))
            assert encode_assignment(assignment).hex() == data
            assert decode_assignment(bytes.fromhex(data)) == assignment
