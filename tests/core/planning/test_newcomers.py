"""Members that join: of several kinds, with what they read, where from and by which library."""

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.planning.assignor_request import Assumed, build_request, first_round
from kgroups.core.planning.changes.apply import next_roster
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    Pattern,
    RemoveMembers,
    Subscribe,
)
from kgroups.core.planning.plan import Plan, plan_group
from tests.support.planning.small_groups import cluster_of, group_of, member

GROUP = group_of(member("app-a", {"t": [0, 1]}), member("app-b", {"t": [2, 3]}))
CLUSTER = cluster_of(GROUP, {"t": 4, "u": 2})


def reads(*changes: Change) -> dict[str, tuple[str, ...]]:
    """What each new member reads."""
    roster = next_roster(CLUSTER, GROUP, changes)
    return {seat.member.member_id: seat.topics for seat in roster.seats if seat.joins}


def test_several_kinds_in_one_plan() -> None:
    """Racks, instance ids, topics and libraries of their own, beside those that are like others."""
    changes: list[Change] = [
        AddMembers(2, "x", "r1", "till", ("u",), library="librdkafka"),
        AddMembers(1),
    ]
    roster = next_roster(CLUSTER, GROUP, changes)
    told = [
        (s.member.member_id, s.member.client_id, s.member.rack, s.member.instance_id, s.topics)
        for s in roster.seats
        if s.joins
    ]
    assert told == [
        ("till-1-new-1", "x", "r1", "till-1", ("u",)),
        ("till-2-new-2", "x", "r1", "till-2", ("u",)),
        ("app-new-3", "app", None, None, ("t",)),
    ]
    assert [seat.library for seat in roster.seats if seat.joins] == ["librdkafka"] * 2 + [None]
    plan = plan_group(CLUSTER, GROUP, changes, leader="java")
    assert plan.partition_counts == {"t": 4, "u": 2}
    assert [m.assignment.get("u") for m in plan.members[2:4]] == [(0,), (1,)]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([AddMembers()], ("t",)),
        ([Subscribe(("u",)), AddMembers()], ("u",)),
        ([AddMembers(), Subscribe(("u",))], ("u",)),
        ([AddMembers(), Subscribe(("u",), added=True)], ("t", "u")),
        ([AddMembers(), Subscribe(("u",), added=True, member="app-new-1")], ("t", "u")),
        ([AddMembers(client_id="x"), Subscribe(("u",), member="x")], ("u",)),
        ([AddMembers(topics=("t",)), Subscribe(("u",))], ("t",)),
        ([AddMembers(), Pattern("u|t", "java")], ("t", "u")),
        ([AddMembers(pattern=Pattern("u", "java"))], ("u",)),
        ([AddTopic("v", 1), AddMembers(pattern=Pattern("[uv]", "java"))], ("u", "v")),
    ],
    ids=["as the others", "said before", "said after", "added for all", "added for it", "for it",
         "its own", "a pattern for all", "a pattern of its own", "a pattern and a new topic"],
)  # fmt: skip
def test_what_new_members_read(changes: list[Change], expected: tuple[str, ...]) -> None:
    """What others read, unless they have topics of their own; `--subscribe` reaches them too."""
    assert set(reads(*changes).values()) == {expected}


def test_the_first_members_of_an_empty_group() -> None:
    """Nobody is there to be like: topics have to be said, before or behind the members."""
    empty = group_of(state="Empty")
    cluster = cluster_of(empty, {"t": 2})
    with pytest.raises(UsageError, match="the subscription of a new one is not known"):
        plan_group(cluster, empty, [AddMembers()])
    ways: list[list[Change]] = [
        [AddMembers(topics=("t",))],
        [Subscribe(("t",)), AddMembers()],
        [AddMembers(), Subscribe(("t",))],
    ]
    for changes in ways:
        plan = plan_group(cluster, empty, changes)
        assert plan.metrics.newly_assigned == 2


def test_a_guessed_subscription_is_never_exact() -> None:
    """Members of the client id read different things: what a new one reads is a guess."""
    mixed = group_of(member("app-a", {"t": [0]}), member("app-b", {"u": [0]}, topics=("u",)))
    cluster = cluster_of(mixed, {"t": 1, "u": 1})
    plan = plan_group(cluster, mixed, [AddMembers(client_id="zz")], leader="java")
    assert plan.confidence == "likely"
    assert "assumed to subscribe to" in (plan.confidence_reason or "")
    said = plan_group(cluster, mixed, [AddMembers(client_id="zz", topics=("t",))], leader="java")
    assert said.confidence == "exact"


@pytest.mark.parametrize(
    "changes", [[AddTopic("v", 1)], [RemoveMembers(1)]], ids=["a hidden pattern", "who leaves"]
)
def test_what_else_is_guessed(changes: list[Change]) -> None:
    """A pattern that may be there, and who leaves if only a number was given."""
    plan = plan_group(CLUSTER, GROUP, changes, leader="java")
    assert plan.confidence == "likely"


def test_the_library_of_the_only_member_leads() -> None:
    """In an empty group one of the new members leads, so its library decides."""
    empty = group_of(state="Empty")
    cluster = cluster_of(empty, {"t": 12})

    def planned(library: str) -> Plan:
        joins = AddMembers(2, "app", topics=("t",), library=library)
        return plan_group(cluster, empty, [joins], "roundrobin")

    assert planned("sarama").leader_clients == ("sarama",)
    # sarama deals t-10 and t-11 before t-2.
    assert planned("sarama").members != planned("java").members


def test_which_protocol_new_members_speak_is_a_guess_where_both_are_spoken() -> None:
    """Ids of classic members begin with the client id, others do not: the plan says so."""
    group = group_of(
        member("m-0a", {"t": [0, 1]}, client_id="m"),
        member("zz", {"t": [2, 3]}, client_id="n", protocol="consumer"),
        assignor="range",
        kind="consumer",
    )
    cluster = cluster_of(group, {"t": 4})
    plan = plan_group(cluster, group, [AddMembers(client_id="x")])
    assert plan.confidence == "likely"
    assert "speak both protocols" in (plan.confidence_reason or "")
    said = plan_group(cluster, group, [AddMembers(client_id="x", protocol="classic")])
    assert said.confidence == "exact"


@pytest.mark.parametrize(
    ("library", "rack", "told"),
    [("librdkafka", None, ""), ("librdkafka", "r1", "r1"), ("java", None, None)],
)
def test_the_rack_that_a_leader_is_told(library: str, rack: str | None, told: str | None) -> None:
    """Members of librdkafka without `client.rack` send an empty one, which fits no partition."""
    roster = next_roster(CLUSTER, GROUP, [AddMembers(1, "x", rack, library=library)])
    brought = first_round(roster, "cooperative", library)
    request = build_request(roster, brought, "cooperative-sticky", Assumed(library))
    assert [m.rack for m in request.members if m.member_id == "x-new-1"] == [told]
