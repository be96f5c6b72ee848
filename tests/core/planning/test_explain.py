"""Why a partition goes where it goes: what each strategy says of groups that are easy to check."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from kgroups.assignors.registry import CLIENT_ASSIGNORS, SERVER_ASSIGNORS
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    Change,
    RemoveMember,
    SetPartitions,
    Subscribe,
)
from kgroups.core.planning.explanation.explain import explain
from kgroups.core.planning.explanation.strategy_rules import RULES
from kgroups.core.planning.plan import plan_group
from kgroups.core.snapshot import ClusterSnapshot, Group, Topic
from tests.support.planning.small_groups import cluster_of, group_of, member

THREE = group_of(
    member("a", {"t": [0, 1, 2, 3]}), member("b", {"t": [4, 5, 6]}), member("c", {"t": [7, 8, 9]})
)
MIXED = group_of(
    member("a", {"t": [0]}, topics=["t"]),
    member("b", {"t": [1], "u": [0]}, topics=["t", "u"]),
    member("c", {"t": [2]}, topics=["t"]),
)
STATIC = group_of(
    member("z", {"t": [0]}, instance_id="1"), member("a", {"t": [1]}), member("b", {"t": [2]})
)
Z = AddMembers(client_id="z", member_id="z")


@dataclass(frozen=True)
class Case:
    """A plan, a partition of it, and what is said."""

    id: str
    assignor: str
    group: Group
    changes: Sequence[Change]
    partition: tuple[str, int]
    says: Sequence[str]
    topics: int = 10
    leader: str | None = "java"


CASES = [
    Case("range: the division and the place", "range", THREE, [], ("t", 5),
         ["10 partitions of `t` among 3 subscribers", "3 each, and the first 1 get one more",
          "`b` is number 2, so its block is 4 to 6", "`b` owns it now and keeps it"]),
    Case("range: static members first", "range", STATIC, [], ("t", 0),
         ["instance ids, then member ids", "`z` is number 1, so its block is 0 alone"], 3),
    Case("range: another library's order", "range", STATIC, [], ("t", 2),
         ["in the order of member ids, make 1 each", "`z` is number 3"], 3, "sarama"),
    Case("range: a division without a rest", "range", THREE, [SetPartitions("t", 12)], ("t", 11),
         ["make 4 each", "`c` is number 3, so its block is 8 to 11", "it has no owner now"]),
    Case("range: fewer partitions than members", "range", STATIC, [RemoveMember("z")], ("t", 2),
         ["3 partitions of `t` among 2 subscribers", "1 each, and the first 1 get one more",
          "its block is 2 alone"], 3),
    Case("roundrobin: the place in the circle", "roundrobin", THREE, [], ("t", 4),
         ["this is number 5 of 10", "t-3 went to `a`; `b` is number 2 of 3 in turn"]),
    Case("roundrobin: the first", "roundrobin", THREE, [], ("t", 0),
         ["this is number 1 of 10", "the first turn; `a` is number 1 of 3"]),
    Case("roundrobin: who is passed by", "roundrobin", MIXED, [], ("u", 0),
         ["this is number 4 of 4", "t-2 went to `c`; `b` is number 2 of 3 in turn",
          "skipped, because they do not subscribe to `u`: `a`"], 3),
    Case("sticky: kept", "sticky", THREE, [Z], ("t", 4),
         ["10 partitions among 4 members make 2 each, 2 of them one more",
          "kept, because `b` owns it and stays within its share"]),
    Case("sticky: over the share", "sticky", THREE, [Z], ("t", 9),
         ["moved, because `c` is over its share: it goes from 3 to 2",
          "assigned to `z`, which is below its share: it keeps 0 of 0"]),
    Case("sticky: its owner leaves", "sticky", THREE, [RemoveMember("c")], ("t", 9),
         ["10 partitions among 2 members", "assigned to `", "`c`, which owns it now, leaves"]),
    Case("sticky: new partitions", "sticky", THREE, [SetPartitions("t", 12)], ("t", 11),
         ["12 partitions among 3 members make 4 each", "assigned to `", "it has no owner now"]),
    Case("sticky: different topics", "sticky", MIXED, [Subscribe(("t",), member="b")], ("u", 0),
         ["no remaining member subscribes"], 3),
    Case("sticky: a mixed group", "sticky", MIXED, [SetPartitions("t", 6)], ("t", 5),
         ["members subscribe to different topics, 3 of 3 to `t`", "assigned to `"], 3),
    Case("cooperative: in two rounds", "cooperative-sticky", THREE, [Z], ("t", 9),
         ["moved, because `c` is over its share",
          "cooperative: `c` revokes it in round 1, and it is assigned in round 2"]),
    Case("lag: the rank and the round", "lag", THREE, [], ("t", 4),
         ["number 5 of 10, in round 2 of 4", "gets 3 of `t`"]),
    Case("random: drawn", "random", THREE, [], ("t", 4), ["one of the 3 subscribers of `t`"]),
    Case("broadcast: everybody", "broadcast", THREE, [], ("t", 4),
         ["each of the 3 subscribers of `t`"]),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_said(case: Case) -> None:
    """The rule with this group's numbers, and what became of the owner before."""
    counts = {"t": case.topics, "u": 1}
    cluster = cluster_of(case.group, counts)
    group = replace(
        case.group,
        offsets=group_of(offsets={"t": dict.fromkeys(range(10), 90)}).offsets,
    )
    plan = plan_group(cluster, group, case.changes, case.assignor, case.leader)
    text = "\n".join(explain(plan, *case.partition).reasons)
    for part in case.says:
        assert part in text, text


def test_the_coordinators_own() -> None:
    """`uniform` keeps, takes what is over the quota, and gives in blocks."""
    group = group_of(
        member("a", {"t": [0, 1, 2]}, protocol="consumer"),
        member("b", {"t": [3, 4, 5]}, protocol="consumer"),
        assignor="uniform",
        kind="consumer",
    )
    cluster = cluster_of(group, {"t": 6})
    topics = {"t": Topic("t", cluster.topics["t"].partitions, "AAAAAAAAAAIAAAAAAAAAAg")}
    plan = plan_group(ClusterSnapshot(0, (group,), topics), group, [Z])
    kept = "\n".join(explain(plan, "t", 0).reasons)
    assert "6 partitions among 3 members make 2 each" in kept
    assert "kept, because `a` owns it" in kept
    assert "moved, because `a` is over its share" in "\n".join(explain(plan, "t", 2).reasons)


def test_racks_have_their_say() -> None:
    """Where racks decide, the explanation says so and names the rack."""
    group = group_of(
        member("a", {"t": [0]}, rack="r2"), member("b", {"t": [1]}, rack="r1"), assignor="range"
    )
    near = cluster_of(group, {"t": 2}).topics["t"]
    logs = {
        number: log._replace(racks=(("r1",), ("r2",))[number])
        for number, log in near.partitions.items()
    }
    plan = plan_group(ClusterSnapshot(0, (group,), {"t": Topic("t", logs)}), group, leader="java")
    text = "\n".join(explain(plan, "t", 1).reasons)
    assert "racks take precedence" in text
    assert "`a` gets 1" in text
    assert "its rack `r2` holds a replica of this partition" in text


def test_every_strategy_has_a_rule() -> None:
    """None that ships is left without words."""
    assert set(RULES) == {*CLIENT_ASSIGNORS, *SERVER_ASSIGNORS}


def test_numbers_of_a_newcomer_whose_id_is_not_known() -> None:
    """Its turn depends on its id, so none is claimed; the chance is."""
    group = group_of(
        member("app-33333333-0000-4000-8000-000000000000", {"t": [0, 1, 2]}),
        member("app-99999999-0000-4000-8000-000000000000", {"t": [3, 4, 5]}),
    )
    plan = plan_group(cluster_of(group, {"t": 6}), group, [AddMembers()], "roundrobin", "java")
    text = "\n".join(explain(plan, "t", 4).reasons)
    assert " is number " not in text.replace("; this is number ", "")
    assert "possible outcomes, at best of rank 1" in text
