"""Plans of KIP-848 groups whose members share buckets of the coordinator's hash tables.

Whatever happened was among the outcomes, and what a plan calls `exact` came true.
KGROUPS_FUZZ_PLANS=1000 and KGROUPS_FUZZ_SEED for others.
"""

import os
import random
from uuid import UUID

import pytest

from kgroups.assignors.order.hash_maps import TimelineHashMap, grown_orders
from kgroups.core.planning.changes.kinds import AddMembers, Change, RemoveMember
from kgroups.core.planning.plan import plan_group
from tests.core.planning.test_coordinator_batches import ends_of
from tests.support.planning.coordinated_group import CoordinatedGroup
from tests.support.planning.crowded_ids import CrowdedIds
from tests.support.planning.ends import end_of

GIVEN = os.environ.get("KGROUPS_FUZZ_PLANS")
SEED = os.environ.get("KGROUPS_FUZZ_SEED", "0")
# The first ones, and some that met in one bucket in an order that nobody had tried.
NUMBERS = range(int(GIVEN) * 5) if GIVEN else (*range(60), 787, 789, 1049)
MOST_MEMBERS = 7


def is_right(seed: str) -> bool:
    """Whether what came of some change of a group with a history was told."""
    dice = random.Random(seed)
    ids = CrowdedIds(dice, dice.randint(1, 3))
    topics = {
        name: (UUID(int=dice.getrandbits(128), version=4), dice.randint(3, 9))
        for name in ("t", "u")[: dice.randint(1, 2)]
    }
    assignor, interval_ms = dice.choice(("uniform", "uniform", "range")), dice.choice((0, 1_000))
    group = CoordinatedGroup(topics, assignor, interval_ms=interval_ms)
    members = [ids.kip848() for _ in range(dice.randint(2, MOST_MEMBERS))]
    for member_id in members:
        group.join(member_id, sorted(topics))
        group.settle()
    for _ in range(dice.randint(0, len(members) - 2)):
        group.leave(members.pop(dice.randrange(len(members))))
        before = group.settle()
    before = group.settle()
    leave, join = dice.choice(((1, 0), (0, 1), (0, 2), (1, 1)))
    gone, new = members[:leave], [ids.kip848() for _ in range(join)]
    changes: list[Change] = [RemoveMember(each) for each in gone]
    if new:
        changes.append(AddMembers(len(new)))
    plan = plan_group(group.snapshot(before), before, changes)
    for member_id in gone:
        group.leave(member_id)
    if gone and new and dice.random() < 0.5:  # a target of its own, and the next one too soon
        group.beat_all()
    for member_id in new:
        group.join(member_id, sorted(topics))
    return end_of(group.settle()) in ends_of(plan, new) or not plan.outcomes.complete


@pytest.mark.timeout(14_400 if GIVEN else 600)
def test_whatever_happens_was_told() -> None:
    """Members that leave, join, or both, in groups with a history."""
    wrong = [number for number in NUMBERS if not is_right(f"{SEED}/{number}")]
    assert wrong == []


def test_a_map_that_grows_is_walked_in_one_of_the_orders() -> None:
    """Whether its table was as large as its keys need, or larger since it had more."""
    dice = random.Random("growing")
    turned = 0
    for _ in range(200):
        names = [f"m{dice.getrandbits(40)}" for _ in range(dice.randint(1, 25))]
        table: TimelineHashMap[int] = TimelineHashMap()
        for name in names * 2:
            table[name] = 0
        for name in names[: dice.randrange(len(names))]:
            table.remove(name)
        before = table.ordered_keys()
        orders = grown_orders(before, len(before) + 2)
        assert orders[0] == before
        for name in ("x", "y"):
            table[name] = 0
            table[name] = 1
        after = [name for name in table.ordered_keys() if name in before]
        assert after in orders
        turned += after != before
    assert turned
