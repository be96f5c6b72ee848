"""Classic groups to which several things happen: what then comes is among the outcomes.

The truth is the simulation: Java's members on our coordinator, in virtual time, with events some
milliseconds or some seconds apart, so that they meet in one rebalance or in several.
"""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import pytest

from kgroups.assignors.other_clients import choices
from kgroups.assignors.wire import encode_cooperative_data, encode_sticky_data
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    Pattern,
    RemoveMember,
    SetPartitions,
)
from kgroups.core.planning.plan import Plan, plan_group
from kgroups.core.snapshot import ClusterSnapshot
from tests.support.planning.ends import End, ends
from tests.support.planning.simulated_group import Life, lived
from tests.support.planning.small_groups import cluster_of, group_of, member

GROUPS: Final = 12
STICKY: Final = ("sticky", "cooperative-sticky")
# Members hear of a rebalance with their heartbeats, every three seconds.
APART_MS: Final = (0, 1, 5, 20, 500, 2_900, 3_100, 4_000, 7_000, 20_000)


def random_life(dice: random.Random, strategy: str, *, joins: int, goes: int, dies: int) -> Life:
    """A group of two to four members besides those that go, and what happens to it."""
    topics = {name: dice.randint(2, 7) for name in ("t", "u")[: dice.randint(1, 2)]}
    alike = dice.random() < 0.6

    def reads() -> Sequence[str]:
        return sorted(
            topics if alike else dice.sample(sorted(topics), dice.randint(1, len(topics)))
        )

    names = [f"{dice.choice('bcd')}{n}" for n in range(dice.randint(2, 4) + goes + dies)]
    gone = dice.sample(names, goes + dies)
    return Life(
        strategy,
        topics,
        {name: reads() for name in names},
        {f"{dice.choice('ace')}x{n}": (reads(), dice.choice(APART_MS)) for n in range(joins)},
        {name: dice.choice(APART_MS) for name in gone[:goes]},
        {name: dice.choice(APART_MS) for name in gone[goes:]},
    )


def planned(life: Life, snapshot: ClusterSnapshot) -> Plan:
    """The plan of all that happens, which does not know when each thing does."""
    changes: list[Change] = [
        AddMembers(client_id=name, topics=tuple(topics)) for name, (topics, _) in life.joins.items()
    ]
    changes += [RemoveMember(name) for name in (*life.leaves, *life.crashes)]
    return plan_group(snapshot, snapshot.groups[0], changes, leader="java")


def ends_by_client(plan: Plan) -> set[End]:
    """Every outcome that a plan names, by client id."""
    return ends(plan, {member.member_id: member.client_id for member in plan.members})


@pytest.mark.share(4)
@pytest.mark.parametrize("strategy", STICKY)
@pytest.mark.parametrize(
    ("joins", "goes", "dies"),
    [(2, 0, 0), (0, 2, 0), (0, 0, 2), (1, 1, 0)],
    ids=["two join", "two leave", "two crash", "one joins, one leaves"],
)
def test_what_comes_is_among_the_outcomes(strategy: str, joins: int, goes: int, dies: int) -> None:
    """Whatever meets in one rebalance; and every way of it is played."""
    dice = random.Random(f"{strategy} {joins} {goes} {dies}")
    for number in range(GROUPS):
        life = random_life(dice, strategy, joins=joins, goes=goes, dies=dies)
        before, came = lived(life, number)
        plan = planned(life, before)
        assert came in ends_by_client(plan), (life, plan.confidence)
        assert plan.confidence == ("exact" if len(plan.outcomes.each) == 1 else "outcomes")


@pytest.mark.parametrize("strategy", STICKY)
def test_nothing_is_promised_of_more_than_can_be_played(strategy: str) -> None:
    """Three that join, or two while one leaves: sizes are certain where all read the same."""
    dice = random.Random(strategy)
    for number in range(GROUPS // 2):
        joins, goes = dice.choice(((3, 0), (2, 1)))
        life = random_life(dice, strategy, joins=joins, goes=goes, dies=0)
        before, came = lived(life, number)
        plan = planned(life, before)
        if plan.confidence in ("exact", "outcomes"):
            assert came in ends_by_client(plan), life
        if plan.confidence == "counts":
            sizes = sorted(Counter(name for *_, name in came).values())
            assert sizes == sorted(m.partitions for m in plan.members if m.partitions), life


def test_one_after_another_is_not_the_same_as_together() -> None:
    """Two members join a `sticky` group, and what they get depends on whether they meet."""
    ends = set()
    for apart_ms in (0, 20_000):
        life = Life(
            "sticky",
            {"t": 6, "u": 4},
            {"c0": ["t", "u"], "d1": ["t", "u"]},
            {"ax0": (["t", "u"], 0), "bx1": (["t", "u"], apart_ms)},
        )
        before, came = lived(life, 1)
        plan = planned(life, before)
        assert plan.confidence == "outcomes"
        assert "in one rebalance or in several" in (plan.confidence_reason or "")
        assert came in ends_by_client(plan)
        ends.add(came)
    assert len(ends) == 2


def test_a_topic_that_grows_while_members_join() -> None:
    """The group may notice one before the other, so both orders are outcomes besides together."""
    group = group_of(
        member("a-1", {"t": [0, 1, 2]}), member("b-1", {"t": [3, 4]}), assignor="sticky"
    )
    cluster = cluster_of(group, {"t": 5})
    join, grow = AddMembers(client_id="c"), SetPartitions("t", 8)
    plan = plan_group(cluster, group, [join, grow], leader="java")
    joined = plan_group(cluster, group, [join], leader="java")
    assert joined.confidence == "exact"
    assert plan.confidence == "outcomes"
    assert len(plan.outcomes.each) > 1


def test_members_of_an_empty_group_come_together() -> None:
    """The coordinator waits for them: `group.initial.rebalance.delay.ms`."""
    group = group_of(assignor="sticky", state="Empty")
    joins = [AddMembers(client_id=name, topics=("t",)) for name in ("a", "b")]
    plan = plan_group(cluster_of(group, {"t": 6}), group, joins, leader="java")
    assert plan.confidence == "exact"


def test_another_library_may_lead_until_all_have_left() -> None:
    """Of a mixed group, members that leave may lead rounds in between; those are not played."""
    java, other = b"\x00\x00\x00\x03", b""
    members = [
        member("a-1", {"t": [0, 1]}, user_data=other, rack="", version=3),
        member("b-1", {"t": [2, 3]}, user_data=other, rack="", version=3),
        member("c-1", {"t": [4, 5]}, user_data=java),
    ]
    group = group_of(*members, assignor="cooperative-sticky")
    cluster = cluster_of(group, {"t": 6})
    plan = plan_group(cluster, group, [RemoveMember("a-1"), RemoveMember("c-1")])
    assert not plan.outcomes.complete


def test_more_ways_than_there_is_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader's choices are not all tried again after each of hundreds of answers."""
    runs = [0]

    class Counted(choices.Choices):
        """The choices of one run."""

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            runs[0] += 1

    monkeypatch.setattr(choices, "Choices", Counted)
    topics = {"e": 7, "a": 4, "b": 4, "f": 5}
    leader = member(
        "a1-1",
        {name: list(range(count)) for name, count in topics.items()},
        topics=tuple(sorted(topics)),
        client_id="a1",
        version=1,
        user_data=encode_cooperative_data(1),
    )
    group = group_of(leader, assignor="cooperative-sticky", leader="a1-1", wrote=(0, None))
    joins = AddMembers(client_id="b2", topics=tuple(sorted(topics)), library="sarama")
    plan = plan_group(cluster_of(group, topics), group, [joins])
    assert plan.leader_clients == ("sarama",)
    assert plan.confidence == "counts"
    assert 2_000 <= runs[0] < 20_000


def test_franz_go_members_find_a_topic_one_by_one() -> None:
    """Seen on a broker: the one that came first got the whole new topic, the other what was left.

    Source: franz-go, groupConsumer.findNewAssignments.
    """
    held = {"c": {"e": [0, 1, 2], "h": [0, 1]}, "d": {"e": [3, 4, 5], "h": [2]}}
    members = [
        member(f"{name}-1", share, user_data=encode_sticky_data((), 6), generation=6)
        for name, share in held.items()
    ]
    group = group_of(*members, assignor="cooperative-sticky", leader="c-1", wrote=(0, None))
    changes: list[Change] = [Pattern("^[efh]", "java"), AddTopic("f", 5)]
    plan = plan_group(cluster_of(group, {"e": 6, "h": 3}), group, changes)
    assert plan.leader_clients == ("franz-go",)
    assert plan.confidence == "outcomes"
    ends = [each.settled.shares for each in plan.outcomes.each]
    assert any(len(end["c-1"].get("f", ())) == 5 for end in ends)
    assert any(0 < len(end["c-1"].get("f", ())) < 5 for end in ends)


def test_one_way_is_played_to_its_end() -> None:
    """A sarama leader has so many choices that the time is over before anybody has joined."""
    held = {
        "c1": {"e": [0, 1, 3], "g": [0, 1, 4], "d": [1, 3]},
        "b2": {"d": [0, 2, 4, 5], "g": [2, 3], "e": [2]},
    }
    members = [
        member(
            f"{name}-1",
            share,
            topics=("d", "e", "g"),
            client_id=name,
            version=2,
            user_data=encode_cooperative_data(4),
            generation=4,
        )
        for name, share in held.items()
    ]
    group = group_of(*members, assignor="cooperative-sticky", leader="c1-1", wrote=(0, None))
    joins = [
        AddMembers(client_id=name, topics=("d", "e", "g"), library="sarama")
        for name in ("c3", "a4", "c5")
    ]
    plan = plan_group(cluster_of(group, {"d": 6, "e": 4, "g": 5}), group, joins)
    assert plan.leader_clients == ("sarama",)
    assert plan.confidence == "counts"
    for outcome in plan.outcomes.each:
        assert (
            sorted(sum(map(len, share.values())) for share in outcome.settled.shares.values())
            == [3] * 5
        )


def test_some_find_a_topic_alone_where_a_java_member_leads() -> None:
    """Seen on a broker: librdkafka's joined without the new topic, and the first share stayed."""
    held = {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}, "c": {"t": [4, 5]}}
    members = [
        member(
            f"{name}-1",
            share,
            user_data=b"\x00\x00\x00\x03" if name == "a" else b"",
            rack=None if name == "a" else "",
        )
        for name, share in held.items()
    ]
    group = group_of(*members, assignor="cooperative-sticky", leader="a-1")
    changes: list[Change] = [Pattern("^[tn]", "java"), AddTopic("n", 5)]
    plan = plan_group(cluster_of(group, {"t": 6}), group, changes)
    assert plan.leader_clients == ("java",)
    assert plan.confidence == "counts"
    assert len(plan.outcomes.each) > 1
