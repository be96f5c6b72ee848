"""Members that miss what a round of a rebalance gave them: what then comes is planned.

The truth is the simulation, whose network loses packets: a SyncGroup that is sent again comes when
the next round has begun.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from kgroups.assignors.other_clients.user_data import encode_kafka_python_data
from kgroups.assignors.registry import assignor
from kgroups.assignors.rejoin import COOPERATIVE
from kgroups.assignors.spec import MemberSubscription
from kgroups.assignors.wire import encode_cooperative_data
from kgroups.core.planning.assignor_request import (
    Assumed,
    Holdings,
    build_request,
    first_round,
    next_round,
)
from kgroups.core.planning.changes.apply import next_roster
from kgroups.core.planning.changes.kinds import AddMembers, RemoveMember
from kgroups.core.planning.moves import ownership
from kgroups.core.planning.outcomes.change_order import without_topics
from kgroups.core.planning.plan import plan_group
from kgroups.core.snapshot import Group, Member
from tests.core.planning.test_races import ends_by_client, planned
from tests.support.planning.ends import ends
from tests.support.planning.simulated_group import Life, lived
from tests.support.planning.small_groups import cluster_of, group_of, member

# Members that read different topics: where all read the same, the rounds after a missed one end as
# they would have without it.
LATE = Life(
    "cooperative-sticky",
    {"t": 5, "u": 6},
    {"c0": ["t"], "b1": ["t", "u"]},
    {"ax0": (["t", "u"], 7_000)},
    loss=0.35,
    session_ms=45_000,
)


@pytest.mark.parametrize("seed", [1, 10, 12, 19])
def test_what_late_members_come_to_is_among_the_outcomes(seed: int) -> None:
    """One of them missed a round in three of these runs, and the group ended otherwise."""
    before, came = lived(LATE, seed)
    plan = planned(LATE, before)
    assert came in ends_by_client(plan)
    assert plan.confidence == "outcomes"


def test_the_ends_differ() -> None:
    """On time and late are two ends, so no plan of that group is exact."""
    ends = {lived(replace(LATE, loss=loss), 10)[1] for loss in (0.0, 0.35)}
    assert len(ends) == 2


def test_a_group_whose_members_read_the_same_does_not_mind() -> None:
    """What one of them missed it is given a round later."""
    members = [member(f"{name}-1", {"t": [n, n + 3]}) for n, name in enumerate("abc")]
    group = group_of(*members, assignor="cooperative-sticky")
    join = AddMembers(client_id="d")
    plan = plan_group(cluster_of(group, {"t": 6}), group, [join], leader="java")
    assert plan.confidence == "exact"


def claim_after_a_miss(library: str) -> MemberSubscription:
    """What `b-1` says in generation 7, when it missed what generation 7 gave it."""
    members = [member("a-1", {"t": [0, 1]}), member("b-1", {"t": [2, 3]})]
    group = group_of(*members, assignor="cooperative-sticky")
    roster = next_roster(cluster_of(group, {"t": 4}), group, [])
    held = first_round(roster, "cooperative", library).held
    brought = next_round(roster, held, 7, "cooperative", {"b-1": 6})
    request = build_request(roster, brought, "cooperative-sticky", Assumed(library))
    return next(one for one in request.members if one.member_id == "b-1")


@pytest.mark.parametrize(
    ("library", "generation"), [("java", 7), ("franz-go", 7), ("librdkafka", 6), ("sarama", 6)]
)
def test_the_generation_that_late_members_say(library: str, generation: int) -> None:
    """JoinGroup's, or that of the last assignment: then the claim is the older one."""
    claim = claim_after_a_miss(library)
    assert claim.generation == generation
    assert claim.owned == (("t", (2, 3)),)


DATA: Final = encode_kafka_python_data((("t", (0,)),), 1)
TWICE: Final = {"a-1": {"v": [1, 2]}, "b-1": {"t": [0], "u": [0, 1, 2], "v": []}}


def test_two_things_may_go_wrong_in_one_rebalance() -> None:
    """A member misses the second round, and the leader, which reads `v` alone, lacks `u` after it.

    Played here round by round. With only one of them the group ends as it does without.
    """
    held = {**TWICE, "c-1": {"t": [], "v": [0]}}
    members = [member(n, each, user_data=encode_cooperative_data(1)) for n, each in held.items()]
    group = group_of(*members, assignor="cooperative-sticky", leader="a-1")
    snapshot = cluster_of(group, {"t": 1, "u": 3, "v": 3})
    join = AddMembers(client_id="d", member_id="d-1", topics=("t", "v"))
    roster = next_roster(snapshot, group, [join])
    has: Mapping[str, Holdings] = first_round(roster, "cooperative", "java").held
    missed: dict[str, int] = {}
    lapses: list[tuple[set[str], set[str]]] = [(set(), set()), (set(), {"d-1"}), ({"u"}, set())]
    for generation, (unknown, late) in enumerate([*lapses, *[(set[str](), set[str]())] * 3], 2):
        seen = without_topics(roster, frozenset(unknown))
        brought = next_round(seen, has, generation, "cooperative", missed)
        request = build_request(seen, brought, COOPERATIVE, Assumed("java"))
        given = dict(assignor(COOPERATIVE, "java").assign(request).items())
        had = brought.held if brought.current is None else brought.current
        has = {name: had.get(name, {}) if name in late else each for name, each in given.items()}
        missed = dict.fromkeys(late & had.keys(), generation)
    plan = plan_group(snapshot, group, [join], leader="java")
    assert ownership(has) in ends(plan)
    assert (plan.confidence, len(ends(plan))) == ("outcomes", 2)


def of_kafka_python(*members: Member) -> Group:
    """A `sticky` group of kafka-python, led by the first of them."""
    return group_of(*members, assignor="sticky", leader=members[0].member_id, wrote=(0, b""))


def test_kafka_python_may_throw_away_what_a_round_gave_it() -> None:
    """Seen on a broker: both old members came to a second round with what they had before.

    A `poll` ran out of time during the join, and the next one begins another, whatever the first
    one brought. What the newcomer was given counts then, as it is newer.
    """
    a1 = "a1-77941974-b956-4891-a9de-748fffa89885"
    z2 = "z2-56f75c98-c955-4a48-8a6d-74ba0eca5b55"
    topics = ("f", "b", "c", "g")
    group = of_kafka_python(
        member(a1, {"f": [*range(6)], "g": [*range(7)]}, topics=topics, version=0, user_data=DATA),
        member(z2, {"b": [*range(7)], "c": [*range(5)]}, topics=topics, version=0, user_data=b""),
    )
    join = AddMembers(client_id="y3", library="kafka-python", topics=topics)
    snapshot = cluster_of(group, {"b": 7, "c": 5, "f": 6, "g": 7})
    plan = plan_group(snapshot, group, [join], leader="kafka-python")
    came = {
        a1: {"f": [4, 5], "g": [*range(7)]},
        z2: {"b": [0, 6], "c": [*range(5)], "f": [3]},
        "y3-new-1": {"b": [1, 2, 3, 4, 5], "f": [0, 1, 2]},
    }
    assert ownership(came) in ends(plan)
    assert plan.confidence == "counts"


def test_a_group_of_kafka_python_is_planned_exactly_where_that_makes_no_difference() -> None:
    """Two members: whoever comes again is given the same."""
    members = [
        member(f"{name}-1", {"t": [n, n + 3]}, version=0, user_data=DATA)
        for n, name in enumerate("abc")
    ]
    group = of_kafka_python(*members)
    leaves = RemoveMember("c-1")
    plan = plan_group(cluster_of(group, {"t": 6}), group, [leaves], leader="kafka-python")
    assert plan.confidence == "exact", plan.confidence_reason


def test_who_throws_something_away_is_not_tried_where_changes_race() -> None:
    """Then there are more outcomes than those that are shown."""
    members = [
        member(f"{name}-1", {"t": [n], "u": [n]}, version=0, user_data=DATA)
        for n, name in enumerate("ab")
    ]
    group = of_kafka_python(*members)
    joins = [AddMembers(client_id=name, library="kafka-python", topics=("t", "u")) for name in "cd"]
    plan = plan_group(cluster_of(group, {"t": 2, "u": 2}), group, joins, leader="kafka-python")
    assert len(plan.outcomes.each) > 1
    assert plan.confidence == "counts"
