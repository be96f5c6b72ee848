"""Short member ids: shortest that tell members apart, and back to whole ones."""

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.member_ids import short_ids, whole_id

A = "orders-1-8a59c1d0-0f0e-4d6e-9a5c-0123456789ab"
B = "orders-1-8a59c1d1-0f0e-4d6e-9a5c-0123456789ab"
C = "orders-10-8a59c1d0-0f0e-4d6e-9a5c-0123456789ab"
KIP848 = "8sNbUsGdT2GYFG9tZJWAzA"

CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "the client id and some of the UUID": ((A,), ("orders-1-8a59…",)),
    "more where that is not enough": ((A, B), ("orders-1-8a59c1d0…", "orders-1-8a59c1d1…")),
    "one client id begins as the other": ((A, C), ("orders-1-8a59…", "orders-10-8a59…")),
    "ids of KIP-848": ((KIP848,), ("8sNbUsGd…",)),
    "nothing is saved": (("app-1", "app-22-xyz"), ("app-1", "app-22-x…")),
    "a whole id is the beginning of another": (("a" * 20, "a" * 30), ("a" * 20, "a" * 21 + "…")),
    "none": ((), ()),
}


@pytest.mark.parametrize("case", CASES)
def test_short_and_back(case: str) -> None:
    """Each stands for its own id, with and without the sign of what was cut off."""
    ids, wanted = CASES[case]
    short = short_ids(ids)
    assert tuple(short[each] for each in ids) == wanted
    for each in ids:
        assert whole_id(short[each], ids, "g") == each
        assert whole_id(short[each].removesuffix("…"), ids, "g") == each


def test_what_is_none() -> None:
    """Nobody's id begins so, or the ids of several do: the message names some."""
    assert whole_id("x", (A, B), "g") is None
    assert whole_id("", (A, B), "g") is None
    assert whole_id("…", (A, B), "g") is None
    with pytest.raises(UsageError) as caught:
        whole_id("orders-1-", (A, B, C), "g")
    assert (
        caught.value.message == "`orders-1-` is ambiguous: 2 members of `g` have ids that begin so"
    )
    assert caught.value.hint == f"use more of one: {A}, {B}"
