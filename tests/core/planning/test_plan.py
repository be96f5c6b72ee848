"""Plans of small groups: who gets what, what moves, and what is said about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from kgroups.assignors.spec import AssignmentRequest
from kgroups.core.errors import KgroupsError, NotFoundError, RefusedError, UsageError
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    DropHost,
    RemoveMember,
    RemoveMembers,
    SetPartitions,
    Subscribe,
)
from kgroups.core.planning.plan import plan_group
from kgroups.core.planning.plan_item import plan_item
from kgroups.core.snapshot import ClusterSnapshot, Group, PartitionLog
from tests.support.planning.small_groups import cluster_of, group_of, member

TWO = group_of(member("app-a", {"t": [0, 1]}), member("app-b", {"t": [2, 3]}))


@dataclass(frozen=True)
class Case:
    """A group, changes, and the assignment that follows."""

    id: str
    group: Group
    topics: Mapping[str, int]
    changes: Sequence[Change]
    expected: Mapping[str, Mapping[str, Sequence[int]]]
    kinds: Mapping[str, int]


CASES = [
    Case("nothing changes", TWO, {"t": 4}, [],
         {"app-a": {"t": [0, 1]}, "app-b": {"t": [2, 3]}}, {"kept": 4}),
    Case("a member leaves", TWO, {"t": 4}, [RemoveMember("app-b")],
         {"app-a": {"t": [0, 1, 2, 3]}}, {"kept": 2, "moved": 2}),
    Case("the last member leaves", TWO, {"t": 4}, [RemoveMembers(2)], {}, {"newly_unassigned": 4}),
    Case("partitions are added", TWO, {"t": 4}, [SetPartitions("t", 6)],
         {"app-a": {"t": [0, 1, 2]}, "app-b": {"t": [3, 4, 5]}},
         {"kept": 3, "moved": 1, "newly_assigned": 2}),
    Case("a topic is added and subscribed", TWO, {"t": 4},
         [AddTopic("u", 1), Subscribe(("u",), added=True)],
         {"app-a": {"t": [0, 1], "u": [0]}, "app-b": {"t": [2, 3]}},
         {"kept": 4, "newly_assigned": 1}),
    Case("one member drops the topic", TWO, {"t": 4, "u": 2}, [Subscribe(("u",), member="app-a")],
         {"app-a": {"u": [0, 1]}, "app-b": {"t": [0, 1, 2, 3]}},
         {"kept": 2, "moved": 2, "newly_assigned": 2}),
    Case("a known id joins", TWO, {"t": 4}, [AddMembers(member_id="app-0")],
         {"app-0": {"t": [0, 1]}, "app-a": {"t": [2]}, "app-b": {"t": [3]}},
         {"moved": 3, "kept": 1}),
    Case("a static member joins", TWO, {"t": 4}, [AddMembers(instance_id="i1")],
         {"i1-new-1": {"t": [0, 1]}, "app-a": {"t": [2]}, "app-b": {"t": [3]}},
         {"moved": 3, "kept": 1}),
    Case("a client id after all others joins", TWO, {"t": 4}, [AddMembers(client_id="z")],
         {"app-a": {"t": [0, 1]}, "app-b": {"t": [2]}, "z-new-1": {"t": [3]}},
         {"kept": 3, "moved": 1}),
    Case("a host is lost",
         group_of(member("a", {"t": [0]}, host="/h1"), member("b", {"t": [1]}, host="/h2"),
                  member("c", {"t": [2]}, host="/h1")), {"t": 3}, [DropHost("h1")],
         {"b": {"t": [0, 1, 2]}}, {"kept": 1, "moved": 2}),
    Case("another strategy", TWO, {"t": 4}, [], {"app-a": {"t": [0, 2]}, "app-b": {"t": [1, 3]}},
         {"kept": 2, "moved": 2}),
    Case("an empty group gets its first members",
         group_of(state="Empty"), {"t": 4}, [Subscribe(("t",)), AddMembers(client_id="x")],
         {"x-new-1": {"t": [0, 1, 2, 3]}}, {"newly_assigned": 4}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_cases(case: Case) -> None:
    """The plan is the assignment of the strategy over the changed group."""
    name = "roundrobin" if case.id == "another strategy" else None
    plan = plan_group(cluster_of(case.group, case.topics), case.group, case.changes, name)
    shown = {m.member_id: {t: list(p) for t, p in m.assignment.items()} for m in plan.members}
    assert shown == {who: dict(held) for who, held in case.expected.items()}
    kinds: dict[str, int] = {}
    for move in plan.moves:
        kinds[move.kind] = kinds.get(move.kind, 0) + 1
    assert kinds == case.kinds
    assert not plan.depends_on_member_ids
    assert plan.confidence == "exact"


def test_new_partitions_have_no_commit() -> None:
    """A note says what `latest` would skip, where the group reads the topic."""
    cluster = cluster_of(TWO, {"t": 4, "other": 1})
    grown = plan_group(cluster, TWO, [SetPartitions("t", 6), SetPartitions("other", 9)])
    about = [note for note in grown.notes if "auto.offset.reset" in note]
    assert [note.partition(":")[0] for note in about] == ["t"]
    assert about[0].startswith("t:4-5 will have no commit: with auto.offset.reset=latest")
    same = plan_group(cluster, TWO, [SetPartitions("t", 4)])
    assert not any("auto.offset.reset" in note for note in same.notes)


def test_lag_before_and_after() -> None:
    """Lag follows the partitions; new partitions are empty, unknown lag is not 0."""
    group = group_of(
        member("a", {"t": [0, 1]}), member("b", {"t": [2]}), offsets={"t": {0: 90, 1: 40, 2: 100}}
    )
    plan = plan_group(cluster_of(group, {"t": 3}), group, [SetPartitions("t", 4)])
    assert [(m.lag_before, m.lag) for m in plan.members] == [(70, 70), (0, 0)]
    assert plan.metrics.member_lag_max == 70
    assert plan.metrics.member_lag_stddev == 35
    uncommitted = group_of(member("a", {"t": [0, 1]}), offsets={"t": {0: 90}})
    plan = plan_group(cluster_of(uncommitted, {"t": 2}), uncommitted)
    assert plan.members[0].lag == 10
    assert plan.metrics.unknown_partitions == 1
    never = group_of(member("a", {"t": [0]}))
    assert plan_group(cluster_of(never, {"t": 1}), never).members[0].lag is None


def test_metrics() -> None:
    """The figures of a plan with a leaver, an idle member and a topic that nobody reads."""
    group = group_of(
        member("a", {"t": [0]}), member("b", {"t": [1]}), member("c", {"t": [2]}), member("d", {})
    )
    changes: list[Change] = [RemoveMember("a"), Subscribe((), member="d")]
    metrics = plan_group(cluster_of(group, {"t": 3, "u": 5}), group, changes).metrics
    assert (metrics.partitions, metrics.member_count) == (3, 3)
    assert (metrics.kept, metrics.moved, metrics.forced) == (2, 1, 1)
    assert (metrics.partitions_min, metrics.partitions_max, metrics.idle_members) == (0, 2, 1)
    assert metrics.stddev == pytest.approx(0.8165, abs=1e-4)
    assert (metrics.unassigned, metrics.rounds) == (0, 1)


@pytest.mark.parametrize("count", [1, 2])
def test_unknown_ids_give_every_outcome(count: int) -> None:
    """A newcomer with the client id of the others may sort anywhere among them."""
    group = group_of(
        member("app-33333333-0000-4000-8000-000000000000", {"t": [0, 1, 2]}),
        member("app-99999999-0000-4000-8000-000000000000", {"t": [3, 4, 5]}),
    )
    plan = plan_group(cluster_of(group, {"t": 6}), group, [AddMembers(count)])
    assert plan.depends_on_member_ids
    assert plan.confidence == "outcomes"
    assert plan.outcomes.complete
    # One newcomer: 3 places. Two alike: 6 ways to put two equal ones among two others.
    assert len(plan.outcomes.each) == (3 if count == 1 else 6)
    assert sum(outcome.weight for outcome in plan.outcomes.each) == pytest.approx(1)
    assert [each["rank"] for each in plan_item(plan)["outcomes"]] == plan.outcomes.ranks()
    assert plan.outcomes.ranks()[0] == 1
    for outcome in plan.outcomes.each:
        parts = sorted(p for held in outcome.settled.shares.values() for p in held.get("t", ()))
        assert parts == list(range(6))
    item = plan_item(plan)
    assert item["depends_on_member_ids"] is True
    assert len(item["outcomes"]) == item["outcomes_count"]


def test_a_manual_group_has_no_rebalance() -> None:
    """Consumers that assign partitions themselves are shown as such."""
    group = Group("g", "classic", "Empty", "", "", members=(),
                  offsets=group_of(offsets={"t": {0: 1}}).offsets)  # fmt: skip
    plan = plan_group(cluster_of(group, {"t": 1}), group)
    assert plan.rebalance_protocol is None
    assert "themselves" in plan.notes[0]
    assert plan_item(plan)["confidence"] is None


@dataclass(frozen=True)
class Refusal:
    """A plan that cannot be made, and how it says so."""

    id: str
    group: Group
    changes: Sequence[Change]
    error: type[KgroupsError]
    says: str
    assignor: str | None = None


REFUSALS = [
    Refusal("unknown member", TWO, [RemoveMember("app-c")], NotFoundError, "no member `app-c`"),
    Refusal("ambiguous client id", TWO, [RemoveMember("app")], UsageError, "2 members"),
    Refusal("too many leave", TWO, [RemoveMembers(3)], UsageError, "3 members cannot leave"),
    Refusal("unknown host", TWO, [DropHost("h9")], NotFoundError, "`h9`"),
    Refusal("unknown topic", TWO, [SetPartitions("x", 3)], NotFoundError, "no topic `x`"),
    Refusal("fewer partitions", TWO, [SetPartitions("t", 3)], UsageError, "cannot remove"),
    Refusal("topic is there", TWO, [AddTopic("t", 3)], UsageError, "already"),
    Refusal("unknown strategy", TWO, [], UsageError, "`nosuch`", "nosuch"),
    Refusal("instance taken", group_of(member("a", {"t": [0]}, instance_id="i")),
            [AddMembers(instance_id="i")], UsageError, "taken"),
    Refusal("instance taken by a new one", TWO, [AddMembers(instance_id="i")] * 2, UsageError,
            "is taken by"),
    Refusal("share group", Group("g", "share", "Stable", members=()), [], RefusedError, "share"),
    Refusal("connect group", Group("g", "classic", "Stable", "connect", "sessioned", members=()),
            [], RefusedError, "`connect`"),
    Refusal("no members taken", Group("g", "classic", "Stable"), [], UsageError, "not known"),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.id)
def test_refusals(case: Refusal) -> None:
    """What cannot be planned is an error of its own kind that names the thing."""
    with pytest.raises(case.error, match=case.says):
        plan_group(cluster_of(case.group, {"t": 4}), case.group, case.changes, case.assignor)


def test_a_rebalancing_group_is_refused() -> None:
    """Without subscriptions on show there is nothing to compute with."""
    members = tuple(m.__class__(m.member_id, m.client_id, m.host) for m in TWO.members or ())
    group = Group("g", "classic", "PreparingRebalance", "consumer", "", members=members)
    with pytest.raises(RefusedError, match="PreparingRebalance"):
        plan_group(cluster_of(group, {"t": 4}), group)


def test_racks_reach_the_strategy() -> None:
    """Range places partitions near their members when both have racks."""
    group = group_of(
        member("a", {"t": [0]}, rack="r2"), member("b", {"t": [1]}, rack="r1"),
    )  # fmt: skip
    near = cluster_of(group, {"t": 2})
    logs = {0: PartitionLog(0, 1, None, 1, ("r1",)), 1: PartitionLog(0, 1, None, 1, ("r2",))}
    topics = {"t": near.topics["t"].__class__("t", logs)}
    plan = plan_group(ClusterSnapshot(0, (group,), topics), group)
    assert [dict(m.assignment) for m in plan.members] == [{"t": (1,)}, {"t": (0,)}]


def test_what_java_does_wrong_is_told_and_repeated_only_if_wanted() -> None:
    """A member without topics that comes first in hash order gets partitions from Java's class."""
    group = group_of(member("B", {}, topics=[]), member("C", {"t": [0, 1]}), assignor="sticky")
    cluster = cluster_of(group, {"t": 2})
    plan = plan_group(cluster, group, leader="java")
    assert [fault.code for fault in plan.faults] == ["EMPTY_SUBSCRIPTION"]
    assert [member.partitions for member in plan.members] == [0, 2]
    plan = plan_group(cluster, group, leader="java", faithful=True)
    assert [member.partitions for member in plan.members] == [1, 1]
    assert plan.faults == ()


def test_a_leader_that_fails_fails_the_plan_if_wanted() -> None:
    """A claim on a partition that is gone: told, or the exception that Java's class throws."""
    group = group_of(member("a", {"t": [0, 3]}), member("b", {"t": [1]}), assignor="sticky")
    cluster = cluster_of(group, {"t": 3})
    plan = plan_group(cluster, group, leader="java")
    assert [fault.code for fault in plan.faults] == ["PHANTOM_PARTITION"]
    assert sorted(m.partitions for m in plan.members) == [1, 2]
    with pytest.raises(KgroupsError, match=r"throws java\.lang\.IllegalStateException"):
        plan_group(cluster, group, leader="java", faithful=True)


class Honest:
    """A strategy of one's own that says what it does not promise."""

    name = "honest"
    waives: ClassVar[frozenset[str]] = frozenset({"deterministic"})

    def assign(self, request: AssignmentRequest) -> dict[str, dict[str, list[int]]]:
        """Everything to the first member."""
        (first, *others) = request.members
        everything = {name: list(range(topic.partitions)) for name, topic in request.topics.items()}
        return {first.member_id: everything} | {member.member_id: {} for member in others}


class Plain(Honest):
    """The same, with a promise."""

    waives: ClassVar[frozenset[str]] = frozenset()


@pytest.mark.parametrize(
    ("shown", "said", "reason"),
    [
        ("random", None, "`random` is not a class of Kafka or of a client library"),
        ("lag", None, "`lag` is not a class of Kafka or of a client library"),
        ("range", f"{__name__}:Plain", ":Plain` is not a class of Kafka"),
        ("range", f"{__name__}:Honest", ":Honest` may answer the same question differently"),
    ],
)
def test_a_foreign_strategy_is_never_exact(shown: str, said: str | None, reason: str) -> None:
    """The group may run another class of that name, and one's own may not repeat itself."""
    group = group_of(member("a", {"t": [0, 1]}), member("b", {"t": [2, 3]}), assignor=shown)
    for kind in ("classic", "consumer") if said else ("classic",):
        group = replace(group, type=kind)
        plan = plan_group(cluster_of(group, {"t": 4}), group, [], said)
        assert plan.confidence not in ("exact", "outcomes")
        assert reason in (plan.confidence_reason or "")


@pytest.mark.parametrize(
    ("assignor", "version", "sent", "given", "foreign"),
    [
        ("roundrobin", 3, None, None, False),
        ("roundrobin", 3, b"{}", None, True),
        ("roundrobin", 3, None, b"zone=a", True),
        ("sticky", 3, b"own", None, True),
        ("sticky", 0, b"\0\1" + bytes(8), b"", False),  # kafka-python's
        ("cooperative-sticky", 3, b"\0\0\0\7", None, False),
        ("cooperative-sticky", 3, b"\0\7", None, True),
    ],
)
def test_a_class_under_the_name_of_a_librarys(
    assignor: str, version: int, sent: bytes | None, given: bytes | None, *, foreign: bool
) -> None:
    """User data that no library has under that name say that the class is another one."""
    members = [
        member(name, {"t": [number]}, version=version, user_data=sent)
        for number, name in enumerate("ab")
    ]
    group = group_of(*members, assignor=assignor, wrote=(version, given))
    plan = plan_group(cluster_of(group, {"t": 3}), group)
    assert ("is a custom assignor" in (plan.confidence_reason or "")) is foreign
    assert (plan.confidence == "likely") is foreign
    told = plan_group(cluster_of(group, {"t": 3}), group, leader="java")
    assert "another kind" not in (told.confidence_reason or "")
