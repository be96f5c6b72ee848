"""The order of members, and when racks count."""

import random

import pytest

from kgroups.assignors.java.leader_view import needs_racks, static_first
from kgroups.assignors.spec import MemberSubscription

ALL = frozenset("abc")
EVERYWHERE = [ALL] * 10
HERE_AND_THERE = [frozenset("abc"[number % 3]) for number in range(10)]


def ordered(*members: tuple[str, str | None]) -> str:
    """Ids of members, given with their instance ids, in order."""
    subscriptions = [MemberSubscription(name, (), instance) for name, instance in members]
    return " ".join(subscriptions[at].member_id for at in static_first(subscriptions))


@pytest.mark.parametrize(
    ("members", "order"),
    [
        ([("a", None), ("b", None), ("c", None)], "a b c"),
        ([("a", "y"), ("b", "z"), ("c", "x")], "c a b"),
        ([("a", None), ("b", "y"), ("c", "x")], "c b a"),
    ],
)
def test_order_of_members(members: list[tuple[str, str | None]], order: str) -> None:
    """By instance id, then those that have none by member id."""
    assert ordered(*members) == order


def test_order_of_many_members() -> None:
    """A hundred, some static, shuffled: the static ones first."""
    dice = random.Random(3)
    members = [(str(i), str(i) if dice.random() < 0.5 else None) for i in range(100, 200)]
    static = [name for name, instance in members if instance]
    dynamic = [name for name, instance in members if not instance]
    dice.shuffle(members)
    assert ordered(*members).split() == static + dynamic


@pytest.mark.parametrize(
    ("members", "partitions", "count"),
    [
        ([], [frozenset()] * 10, False),
        ([], EVERYWHERE, False),
        (["a", "b", "c"], [], False),
        (["d"], EVERYWHERE, False),
        (["a", "b", "c"], EVERYWHERE, False),
        (["a", "b"], EVERYWHERE, False),
        (["a", "d"], EVERYWHERE, False),
        (["a", "b", "c"], HERE_AND_THERE, True),
        (["a", "b"], HERE_AND_THERE, True),
        (["a", "d"], HERE_AND_THERE, True),
        ([None, "", None], HERE_AND_THERE, False),
    ],
)
def test_whether_racks_count(
    members: list[str | None], partitions: list[frozenset[str]], count: bool
) -> None:
    """Some member is near a replica, and not every partition is everywhere."""
    assert needs_racks(members, partitions) is count
