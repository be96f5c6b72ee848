"""KIP-848 groups that several members join at once: what coordinators do is among the outcomes."""

import random
import uuid
from collections.abc import Sequence
from itertools import permutations

import pytest

from kgroups.core.planning.changes.apply import next_roster
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    Change,
    Pattern,
    RemoveMember,
    Restart,
    Subscribe,
)
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.outcomes.coordinator_batches import sequences
from kgroups.core.planning.plan import Plan, plan_group
from kgroups.core.uuids import uuid_text
from tests.support.planning.coordinated_group import CoordinatedGroup
from tests.support.planning.ends import End, end_of, ends

GROUPS = 12
LOOKUPS = 6  # rests after which a pattern has been looked up


def new_id(dice: random.Random) -> str:
    """An id as KIP-848 members draw it."""
    return uuid_text(uuid.UUID(int=dice.getrandbits(128), version=4))


def group_at_rest(dice: random.Random, interval_ms: int = 0) -> CoordinatedGroup:
    """Two to four members with a history, of one or two topics."""
    topics = {
        name: (uuid.UUID(int=dice.getrandbits(128), version=4), dice.randint(3, 9))
        for name in ("t", "u")[: dice.randint(1, 2)]
    }
    driven = CoordinatedGroup(topics, "uniform", interval_ms=interval_ms)
    ids = [new_id(dice) for _ in range(dice.randint(3, 5))]
    for member_id in ids:
        driven.join(member_id, sorted(topics))
        driven.settle()
    driven.leave(dice.choice(ids))
    driven.settle()
    return driven


def ends_of(plan: Plan, newcomers: Sequence[str]) -> set[End]:
    """The outcomes of a plan, with every way of naming its newcomers, which are all alike."""
    named = [m.member_id for m in plan.members if m.joins]
    orders = [dict(zip(named, order, strict=True)) for order in permutations(newcomers)]
    return set().union(*(ends(plan, names) for names in orders))


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(GROUPS))
@pytest.mark.parametrize("together", [False, True], ids=["one by one", "some at once"])
def test_members_that_join(seed: int, together: bool) -> None:
    """Whether each gets a target of its own, or two share one, it was among the outcomes."""
    dice = random.Random(f"joins {seed}")
    driven = group_at_rest(dice, interval_ms=1_000 if together else 0)
    before = driven.settle()
    plan = plan_group(driven.snapshot(before), before, [AddMembers(2)])
    assert plan.confidence in ("outcomes", "exact")
    assert plan.outcomes.complete
    newcomers = [new_id(dice) for _ in range(2)]
    for member_id in newcomers:
        driven.join(member_id, before.members[0].subscription or ())  # type: ignore[index]
    assert end_of(driven.settle()) in ends_of(plan, newcomers)


def test_one_after_another_is_not_the_same_as_together() -> None:
    """Somewhere the order of admission decides: a plan of everybody together would be wrong."""
    differ = 0
    for seed in range(GROUPS):
        dice = random.Random(f"differ {seed}")
        driven = group_at_rest(dice)
        before = driven.settle()
        ids = [new_id(dice), new_id(dice)]
        changes: list[Change] = [AddMembers(member_id=each) for each in ids]
        plan = plan_group(driven.snapshot(before), before, changes)
        differ += len(plan.outcomes.each) > 1
    assert differ


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(GROUPS))
@pytest.mark.parametrize("together", [False, True], ids=["one by one", "together"])
def test_members_that_leave(seed: int, together: bool) -> None:
    """Whether somebody asks for a target between two that leave or not, it was among them."""
    dice = random.Random(f"leaves {seed}")
    driven = group_at_rest(dice)
    before = driven.settle()
    gone = [member.member_id for member in before.members or ()][:2]
    plan = plan_group(driven.snapshot(before), before, [RemoveMember(each) for each in gone])
    assert plan.confidence in ("exact", "outcomes")
    for member_id in random.Random(seed).sample(gone, len(gone)):
        driven.leave(member_id)
        if plan.members and not together:
            driven.settle()
    if plan.members:
        assert end_of(driven.settle()) in ends(plan)


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(GROUPS))
@pytest.mark.parametrize("pattern", ["", "[tuvw]"], ids=["by name", "by pattern"])
def test_a_member_that_restarts(seed: int, pattern: str) -> None:
    """What it gets when it is back depends on what the other had without it."""
    dice = random.Random(f"restarts {seed}")
    counts = {"t": 1, "u": 2, "v": 4, "w": 4}
    driven = CoordinatedGroup(
        {name: (uuid.UUID(int=dice.getrandbits(128), version=4), n) for name, n in counts.items()},
        "uniform",
    )

    def join() -> str:
        member_id = new_id(dice)
        driven.join(member_id, () if pattern else sorted(counts), pattern)
        for _ in range(LOOKUPS):
            driven.settle()
        return member_id

    first, stays = join(), join()
    before = driven.described()
    plan = plan_changes(driven.snapshot(before), before, [Restart(first)])
    driven.leave(first)
    driven.settle()
    back = join()
    assert plan.confidence == "exact"
    (end,) = ends(plan)
    assert end_of(driven.described()) == {
        (topic, number, who if who == stays else back) for topic, number, who in end
    }


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(GROUPS))
def test_members_that_subscribe_anew_come_one_after_another(seed: int) -> None:
    """Each says so in its own heartbeat: every order was among the outcomes."""
    dice = random.Random(f"subscribes {seed}")
    driven = group_at_rest(dice)
    before = driven.settle()
    plan = plan_group(driven.snapshot(before), before, [Subscribe(("t",))])
    members = list(before.members or ())
    dice.shuffle(members)
    for member in members:
        if member.subscription != ("t",):
            driven.subscribe(member.member_id, ("t",))
    assert end_of(driven.settle()) in ends(plan)


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(GROUPS))
def test_members_whose_pattern_is_looked_up_late(seed: int) -> None:
    """They are there without topics while others join, and what others get depends on it."""
    dice = random.Random(f"pattern/{seed}")
    driven = group_at_rest(dice)
    before = driven.settle()
    readers = sorted({name for m in before.members or () for name in m.subscription or ()})
    changes = (
        AddMembers(1, pattern=Pattern("t|u", "re2"), rack="r"),
        AddMembers(1, topics=tuple(readers)),
    )
    plan = plan_group(driven.snapshot(before), before, changes)
    assert plan.confidence in ("exact", "outcomes")
    late, other = new_id(dice), new_id(dice)
    driven.join(late, (), "t|u")
    driven.join(other, readers)
    after = driven.settle()
    by_pattern, by_name = (m.member_id for m in plan.members if m.joins)
    named = {by_pattern: late, by_name: other}
    assert end_of(after) in ends(plan, named)


def test_sequences_of_lookups_are_counted() -> None:
    """A pattern is looked up for somebody; that somebody waits for it is no reason for a target."""
    driven = group_at_rest(random.Random("counted"))
    before = driven.settle()
    snapshot = driven.snapshot(before)
    new = AddMembers(1, pattern=Pattern("t|u", "re2"))

    def batches(*changes: Change) -> list[list[int]]:
        found, complete = sequences(next_roster(snapshot, before, changes), "uniform")
        assert complete
        return sorted([len(batch) for batch in batches] for batches, _ in found)

    assert batches(new) == [[1]]
    # The other first; with the lookup; between the member and its lookup; or after both.
    assert batches(new, AddMembers(1, topics=("t",))) == [[1, 2], [2, 1], [2, 1], [3]]


def test_sequences_are_counted() -> None:
    """Alike newcomers: compositions of their number; different ones: every ordered partition."""
    dice = random.Random("counted")
    driven = group_at_rest(dice)
    before = driven.settle()
    snapshot = driven.snapshot(before)

    def count(*changes: Change) -> tuple[int, bool]:
        found, complete = sequences(next_roster(snapshot, before, changes), "uniform")
        return len(found), complete

    assert count(AddMembers(3)) == (4, True)
    assert count(AddMembers(2), AddMembers(1, rack="r")) == (8, True)
    assert count(*(AddMembers(1, rack=rack) for rack in "abcd")) == (75, True)
    assert count(*(AddMembers(1, rack=rack) for rack in "abcde")) == (75, False)
    _, complete = sequences(next_roster(snapshot, before, [AddMembers(3)]), "range")
    assert complete


def group_of_patterns(dice: random.Random, others: int) -> tuple[CoordinatedGroup, list[str]]:
    """A group in which the first member has a pattern of its own, and the ids of its members."""
    topics = {
        name: (uuid.UUID(int=dice.getrandbits(128), version=4), dice.randint(1, 7))
        for name in "tuv"
    }
    driven = CoordinatedGroup(topics, "uniform")
    patterns = ["(^.*)", *[".*(?:(?:^.*)).*"] * others]
    ids = [new_id(dice) for _ in patterns]
    for member_id, pattern in zip(ids, patterns, strict=True):
        driven.join(member_id, (), pattern)
        for _ in range(LOOKUPS):
            driven.settle()
    return driven, ids


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(GROUPS))
def test_the_last_member_of_a_pattern_leaves(seed: int) -> None:
    """Kafka looks whether members are alike before it forgets the pattern, and not again."""
    dice = random.Random(f"last of a pattern {seed}")
    driven, ids = group_of_patterns(dice, dice.randint(2, 3))
    before = driven.settle()
    plan = plan_group(driven.snapshot(before), before, [RemoveMember(ids[0])])
    driven.leave(ids[0])
    assert plan.confidence == "exact"
    assert ends(plan) == {end_of(driven.settle())}


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(GROUPS))
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("together", [False, True], ids=["one by one", "together"])
def test_others_leave_with_the_last_member_of_a_pattern(
    first: int, together: bool, seed: int
) -> None:
    """If they do so after it, Kafka looks again; it may compute one target for all or two."""
    driven, ids = group_of_patterns(random.Random(f"with the last {seed}"), 4)
    before = driven.settle()
    plan = plan_group(driven.snapshot(before), before, [RemoveMember(each) for each in ids[:2]])
    for number in (first, 1 - first):
        driven.leave(ids[number])
        if not together:
            driven.settle()
    assert plan.confidence in ("exact", "outcomes")
    assert end_of(driven.settle()) in ends(plan)


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(GROUPS))
@pytest.mark.parametrize("first", ["a", "b"])
def test_which_of_two_clients_comes_first(first: str, seed: int) -> None:
    """Where newcomers have client ids of their own, it matters which of them is first."""
    dice = random.Random(f"two clients {seed}")
    driven = group_at_rest(dice)
    before = driven.settle()
    topics = tuple(sorted({t for m in before.members or () for t in m.subscription or ()}))
    joins = [AddMembers(client_id=name, topics=topics) for name in ("a", "b")]
    plan = plan_group(driven.snapshot(before), before, joins)
    ids = {name: new_id(dice) for name in ("a", "b")}
    for name in (first, *({"a", "b"} - {first})):
        driven.join(ids[name], topics)
        driven.settle()
    named = {m.member_id: ids[m.client_id] for m in plan.members if m.joins}
    assert end_of(driven.settle()) in ends(plan, named)
