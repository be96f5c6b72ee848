"""What a sticky leader reads out of a member's subscription: claims and their generation."""

import pytest

from kgroups.assignors.java.claims import cooperative_member_data, sticky_member_data
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import MemberSubscription
from kgroups.assignors.wire import (
    TopicRuns,
    decode_cooperative_data,
    encode_cooperative_data,
    encode_sticky_data,
)

BYTES: TopicRuns = (("t1", (0,)), ("t2", (1,)))
WIRE: TopicRuns = (("t1", (2,)),)
GENERATION = 5

# name -> (user data, what the subscription says, its generation, whether cooperative) -> claims
CASES: dict[str, tuple[bytes | None, TopicRuns, int, bool, TopicRuns, int | None]] = {
    "eager, version 0: user data is all there is": (
        encode_sticky_data(BYTES, GENERATION), (), -1, False, BYTES, GENERATION),
    "eager, version 1: the same": (
        encode_sticky_data(BYTES, GENERATION), BYTES, -1, False, BYTES, GENERATION),
    "eager, version 2: the same": (
        encode_sticky_data(BYTES, GENERATION), BYTES, GENERATION, False, BYTES, GENERATION),
    "eager: user data outrank other claims of the subscription": (
        encode_sticky_data(BYTES, GENERATION), WIRE, -1, False, BYTES, GENERATION),
    "eager: an older generation in user data counts all the same": (
        encode_sticky_data(BYTES, GENERATION - 1), (), GENERATION, False, BYTES, GENERATION - 1),
    "cooperative, version 1: claims from the wire, the generation from user data": (
        encode_cooperative_data(GENERATION), BYTES, -1, True, BYTES, GENERATION),
    "cooperative, version 2: both from the wire": (
        encode_cooperative_data(GENERATION), BYTES, GENERATION, True, BYTES, GENERATION),
    "cooperative: without a generation on the wire that of user data counts": (
        encode_cooperative_data(GENERATION), WIRE, -1, True, WIRE, GENERATION),
    "cooperative: nothing on the wire is nothing, whatever user data say": (
        encode_sticky_data(BYTES, GENERATION), (), GENERATION, True, (), GENERATION),
    "cooperative: the newer generation on the wire counts": (
        encode_sticky_data(BYTES, GENERATION - 1), (), GENERATION, True, (), GENERATION),
    "cooperative: no user data, no generation": (None, (), -1, True, (), None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_a_member_claims(name: str) -> None:
    """Eager members claim by user data, cooperative ones by the subscription."""
    data, owned, generation, cooperative, claims, claimed_in = CASES[name]
    member = MemberSubscription(
        "m", ("t1", "t2"), owned=owned, generation=generation, user_data=data
    )
    read = cooperative_member_data if cooperative else sticky_member_data
    assert read(member) == (claims, claimed_in)


def test_a_cooperative_member_sends_its_generation() -> None:
    """-1 before the first assignment, then that of the last one."""
    assert decode_cooperative_data(encode_cooperative_data(-1)) == -1
    back = rejoin(MemberSubscription("m", ("t1",)), "cooperative-sticky", [("t1", 0)], 10)
    assert cooperative_member_data(back) == ((("t1", (0,)),), 10)
