"""Which rounds the records of a group show its leader to have assigned."""

import pytest

from kgroups.assignors import wire
from kgroups.core.coordinator.log.record_codec import encode_key, encode_value
from kgroups.core.coordinator.log.records import (
    GroupMetadataKey,
    GroupMetadataMember,
    GroupMetadataValue,
    Record,
)
from kgroups.core.kafka.lookups.logged_leaders import group_records, leader_is_back, led_rounds

KEY = GroupMetadataKey("g")


def logged(generation: int, leader: str | None, *ids: str) -> bytes | None:
    """A record of this generation with these members."""
    members = tuple(
        GroupMetadataMember(
            name, name[0], "app", "/10.0.0.1", 1_000, 1_000,
            wire.encode_subscription(wire.Subscription(0, ("t",), user_data=b"")),
            wire.encode_assignment(wire.WireAssignment(0, (("t", (place,)),), b"")),
        )
        for place, name in enumerate(ids)
    )  # fmt: skip
    value = GroupMetadataValue("consumer", generation, "range", leader, 0, members)
    return encode_value(Record(KEY, value))


FIRST = logged(1, "a-1", "a-1")
SECOND = logged(2, "a-1", "a-1", "b-1")
BACK = logged(2, "a-2", "a-2", "b-1")
THIRD = logged(3, "a-2", "a-2", "b-1")


@pytest.mark.parametrize(
    ("values", "sizes"),
    [
        ([], []),
        ([SECOND], []),
        ([FIRST, SECOND], [2]),
        ([None, FIRST, SECOND], [1, 2]),
        ([FIRST, SECOND, BACK], []),
        ([SECOND, BACK, THIRD], [2]),
        ([FIRST, SECOND, None], []),
        ([SECOND, logged(3, None)], []),
    ],
    ids=[
        "nothing",
        "nothing before it",
        "a round",
        "two of them",
        "it came back",
        "and has assigned since",
        "deleted",
        "empty",
    ],
)
def test_rounds_of_the_leader(values: list[bytes | None], sizes: list[int]) -> None:
    """Those that it has assigned under the id that it has now, and no others."""
    found = led_rounds(group_records(encode_key(KEY), values))
    assert [len(led.members or ()) for led in found] == sizes
    for led in found:
        first = (led.members or ())[0]
        assert (led.assignor, led.leader) == ("range", first.member_id)
        assert (first.subscription, dict(first.assignment or {})) == (("t",), {"t": (0,)})


@pytest.mark.parametrize(
    ("values", "back"),
    [
        ([SECOND], False),
        ([FIRST, SECOND], False),
        ([SECOND, BACK], True),
        ([SECOND, BACK, logged(2, "a-2", "a-2", "b-2")], True),
        ([SECOND, BACK, THIRD], False),
        ([FIRST, logged(1, "b-1", "b-1"), None], False),
        ([FIRST, None, logged(1, "b-1", "b-1")], False),
    ],
    ids=[
        "nothing before it",
        "has assigned",
        "it came back",
        "and so did another",
        "and has assigned since",
        "deleted",
        "another group of this name",
    ],
)
def test_a_leader_that_came_back(values: list[bytes | None], back: bool) -> None:
    """Another id in the same generation."""
    assert leader_is_back(group_records(encode_key(KEY), values)) is back
