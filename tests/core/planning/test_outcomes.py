"""Whatever id a newcomer draws, what then happens was among the outcomes."""

import random
import uuid

import pytest

from kgroups.assignors.order.java_order import spread, string_hash
from kgroups.core.planning.changes.kinds import AddMembers
from kgroups.core.planning.moves import ownership
from kgroups.core.planning.outcomes.ids import drawn_uuid
from kgroups.core.planning.plan import Plan, plan_group
from kgroups.core.snapshot import ClusterSnapshot, Group, Topic
from kgroups.core.uuids import uuid_text
from tests.support.planning.ends import End, ends
from tests.support.planning.small_groups import cluster_of, group_of, member, topics_of

STRATEGIES = ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server range")
TRIES = 12


def random_group(dice: random.Random, strategy: str) -> tuple[ClusterSnapshot, Group]:
    """A settled group of two to five members with ids as real ones have them."""
    server = strategy in ("uniform", "server range")
    counts = {name: dice.randint(1, 7) for name in dice.sample(("t", "u", "v"), dice.randint(1, 3))}
    ids = sorted(_new_id(dice, server) for _ in range(dice.randint(2, 5)))
    held: dict[str, dict[str, list[int]]] = {one: {} for one in ids}
    for topic, count in counts.items():
        for number in range(count):
            held[dice.choice(ids)].setdefault(topic, []).append(number)
    members = [
        member(one, held[one], topics=sorted(counts), protocol="consumer" if server else "classic")
        for one in ids
    ]
    group = group_of(
        *members,
        assignor=strategy.removeprefix("server "),
        kind="consumer" if server else "classic",
    )
    topics = {
        name: Topic(name, topic.partitions, _new_id(dice, True))
        for name, topic in topics_of(counts).items()
    }
    return ClusterSnapshot(0, (group,), topics), group


def _new_id(dice: random.Random, server: bool) -> str:
    drawn = uuid.UUID(int=dice.getrandbits(128), version=4)
    return uuid_text(drawn) if server else f"app-{drawn}"


def end_with(plan: Plan, newcomer: str) -> End:
    """Who gets what, the newcomer under one name."""
    return ownership(
        {"new" if m.member_id == newcomer else m.member_id: m.assignment for m in plan.members}
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_newcomer_ends_in_the_set(strategy: str) -> None:
    """The plan is made without the id, then with it: the second is one of the first's outcomes."""
    dice = random.Random(f"outcomes of {strategy}")
    undecided = 0
    for _ in range(TRIES):
        cluster, group = random_group(dice, strategy)
        before = plan_group(cluster, group, [AddMembers()], leader="java")
        named = ends(before, {"app-new-1": "new"})
        undecided += len(named) > 1
        for _ in range(TRIES):
            drawn = _new_id(dice, group.type == "consumer")
            known = plan_group(cluster, group, [AddMembers(member_id=drawn)], leader="java")
            assert end_with(known, drawn) in named or not before.outcomes.complete
            assert known.confidence in ("exact", "outcomes")
            assert ends(known, {drawn: "new"}) <= named or not before.outcomes.complete
    # A newcomer of a sticky group gets what others have too much, whatever its id.
    assert undecided or "sticky" in strategy


def test_hash_order_decides_for_kafka_python_with_static_members() -> None:
    """Its `range` keeps the last run of either kind in the order of the answer: ids decide that."""
    held = [
        member("i1-0", {"t": [0]}, version=0, user_data=b"", instance_id="i1"),
        member("app-0", {"t": [1]}, version=0, user_data=b""),
        member("i2-0", {"t": [2]}, version=0, user_data=b"", instance_id="i2"),
    ]
    group = group_of(*sorted(held, key=lambda one: spread(string_hash(one.member_id)) & 15))
    cluster = cluster_of(group, {"t": 6})
    plan = plan_group(cluster, group, [AddMembers(client_id="zz")], leader="kafka-python")
    assert plan.confidence == "outcomes"
    came = set()
    for number in range(200):
        known = AddMembers(client_id="zz", member_id=f"zz-{drawn_uuid('x', number)}")
        then = plan_group(cluster, group, [known], leader="kafka-python")
        came.add(end_with(then, known.member_id or ""))
    assert len(came) > 1
    assert came <= ends(plan, {"zz-new-1": "new"})
