"""Which libraries may have computed the assignment that a group has, and what plans make of it."""

import random
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

import pytest

from kgroups.assignors.other_clients.choices import owners_of
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import (
    Assignment,
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.core.planning.changes.kinds import AddMembers, RemoveMember, SetPartitions
from kgroups.core.planning.leaders.authors import could_have_assigned
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import infer_leader, leader_matters
from kgroups.core.planning.outcomes.ids import broker_order
from kgroups.core.planning.plan import plan_group
from kgroups.core.snapshot import Group
from tests.support.planning.member_bytes import V1
from tests.support.planning.small_groups import Held, cluster_of, group_of, member

EVERYBODY = ("java", "librdkafka", "franz-go", "sarama", "kafka-python", "aiokafka")
OLD = ("java", "librdkafka", "kafka-python", "aiokafka")  # those of version 0 without bytes


def written(*held: tuple[str, str | None, Held], assignor: str = "range") -> Group:
    """Members of version 0 with the assignment that their leader wrote: id, instance id, share."""
    members = [
        member(name, share, version=0, user_data=b"", instance_id=instance, topics=("t",))
        for name, instance, share in held
    ]
    return group_of(*members, assignor=assignor, wrote=(0, b""))


BY_ID = written(("c-1", None, {"t": [0, 1]}), ("z-1", "z", {"t": [2]}))
STATIC_FIRST = written(("c-1", None, {"t": [2]}), ("z-1", "z", {"t": [0, 1]}))
FORGOTTEN = written(
    ("c-1", None, {}), ("z-1", "z", {"t": [0, 1]}), ("d-1", None, {"t": [2]}), ("e-1", None, {})
)


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (BY_ID, ("librdkafka", "sarama", "aiokafka")),
        (STATIC_FIRST, ("java", "franz-go", "kafka-python")),
        (FORGOTTEN, ("kafka-python",)),
        (replace(BY_ID, state="PreparingRebalance"), EVERYBODY),
        (replace(BY_ID, assignor="sticky"), EVERYBODY),
        (written(("c-1", None, {"t": [0]}), ("z-1", "z", {"t": [2]})), EVERYBODY),
    ],
    ids=["by id", "static first", "forgotten", "moving", "remembers", "with gaps"],
)
def test_who_may_have_assigned_so(group: Group, expected: tuple[str, ...]) -> None:
    """Those whose order of members gives it; everybody where nothing can be told."""
    assert tuple(name for name in EVERYBODY if could_have_assigned(group, name)) == expected


def test_racks_hide_the_author() -> None:
    """Libraries that look at racks may have dealt otherwise than by the order of members."""
    racked = tuple(replace(one, rack="a") for one in BY_ID.members or ())
    possible = [
        name for name in EVERYBODY if could_have_assigned(replace(BY_ID, members=racked), name)
    ]
    assert possible == ["java", "librdkafka", "franz-go", "sarama", "aiokafka"]


def test_ids_that_do_not_decide_the_order_hide_it() -> None:
    """`a-` begins the id of the other member, so that a restart may have put either first."""
    unclear = written(("a-b-1", None, {"t": [0, 1]}), ("a-1", "a", {"t": [2]}))
    assert could_have_assigned(unclear, "aiokafka")
    assert not could_have_assigned(unclear, "java")


@pytest.mark.parametrize("library", EVERYBODY)
@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
def test_the_author_is_always_possible(library: str, strategy: str) -> None:
    """Also when static members have restarted since, which puts them elsewhere in every order."""
    dice = random.Random(f"{library} {strategy}")
    for _ in range(60):
        group = _assigned(dice, library, strategy)
        if group is not None:
            assert could_have_assigned(group, library), group


def _assigned(dice: random.Random, library: str, strategy: str) -> Group | None:
    """A group that this library has assigned, with static members restarted; None if it fails."""
    topics = {name: dice.randint(1, 6) for name in "tuv"[: dice.randint(1, 3)]}
    alike = dice.random() < 0.6
    facts = {}
    for number in range(dice.randint(1, 6)):
        name = f"{dice.choice('abcxyz')}{number}"
        read = topics if alike else dice.sample(sorted(topics), dice.randint(1, len(topics)))
        instance = name if dice.random() < 0.5 else None
        facts[f"{name}-{_uuid(dice)}"] = MemberSubscription(name, tuple(read), instance)
    listed = broker_order([], [], list(facts))
    try:
        answer = assignor(strategy, library).assign(_request(facts, listed, topics))
    except AssignorError:
        return None
    shares = _shares(answer)
    now = {
        name: f"{facts[name].instance_id}-{_uuid(dice)}"
        if facts[name].instance_id and dice.random() < 0.5
        else name
        for name in listed
    }
    before = {new: old for old, new in now.items()}
    members = [
        member(
            new,
            shares[before[new]],
            topics=facts[before[new]].topics,
            instance_id=facts[before[new]].instance_id,
        )
        for new in broker_order([], [], list(before))
    ]
    return group_of(*members, assignor=strategy, wrote=(0, None))


def _uuid(dice: random.Random) -> UUID:
    return UUID(int=dice.getrandbits(128), version=4)


def _request(
    facts: Mapping[str, MemberSubscription], listed: list[str], topics: Mapping[str, int]
) -> AssignmentRequest:
    return AssignmentRequest(
        [replace(facts[name], member_id=name) for name in listed],
        {name: TopicPartitions(count) for name, count in topics.items()},
    )


def _shares(answer: Assignment) -> dict[str, dict[str, list[int]]]:
    found: dict[str, dict[str, list[int]]] = {}
    for name, held in owners_of(answer):
        share: dict[str, list[int]] = {}
        for topic, number in sorted(held):
            share.setdefault(topic, []).append(number)
        found[name] = share
    return found


def test_who_assigned_is_who_leads() -> None:
    """What the group has now tells libraries apart that show the same bytes."""
    logged = replace(BY_ID, leader="c-1")
    assert infer_leader(Evidence(logged)).libraries == ("librdkafka", "aiokafka")
    assert infer_leader(Evidence(replace(STATIC_FIRST, leader="c-1"))).libraries == (
        "java",
        "kafka-python",
    )
    grown = plan_group(cluster_of(logged, {"t": 4}), logged, [SetPartitions("t", 5)])
    assert grown.confidence == "exact"


def test_a_static_leader_may_be_another_library_s_by_now() -> None:
    """It has been replaced without a rebalance, so that the assignment tells nothing of it."""
    assert set(infer_leader(Evidence(replace(BY_ID, leader="z-1"))).libraries) == set(OLD)
    assert set(infer_leader(Evidence(BY_ID)).libraries) == set(OLD)


def test_a_static_leader_that_has_assigned_what_there_is() -> None:
    """The log shows that it did so as it is now: then the assignment tells of it, too."""
    led = replace(BY_ID, leader="z-1", led=(replace(BY_ID, leader="z-1"),))
    assert infer_leader(Evidence(led)).libraries == ("librdkafka", "aiokafka")
    dated = tuple(replace(one, generation=4) for one in BY_ID.members or ())
    assert set(infer_leader(Evidence(replace(BY_ID, members=dated))).libraries) == {
        "librdkafka",
        "aiokafka",
    }


def test_what_it_has_led_before_tells_its_library() -> None:
    """One member has everything now, which every library gives it; but it has led two before."""
    alone = replace(written(("c-1", None, {"t": [0, 1, 2]})), leader="c-1")
    assert set(infer_leader(Evidence(alone)).libraries) == set(OLD)
    before = replace(BY_ID, leader="c-1")
    assert infer_leader(Evidence(replace(alone, led=(before, alone)))).libraries == (
        "librdkafka",
        "aiokafka",
    )


def test_a_static_member_that_does_not_fit_may_lead() -> None:
    """It led as Java's, which wrote what there is, and came back as kafka-python's."""
    java = [
        member(name, share, topics=("t",), generation=generation)
        for name, share, generation in (("c-1", {"t": [0, 1]}, 1), ("z-1", {"t": [2]}, -1))
    ]
    stays = group_of(*java, assignor="sticky", wrote=(3, None))
    assert infer_leader(Evidence(stays)).libraries == ("java",)
    first, second = stays.members or ()
    back = replace(second, instance_id="z", subscription_version=0, user_data=b"")
    moved = replace(stays, members=(first, back))
    assert set(infer_leader(Evidence(moved)).libraries) == {"java", "kafka-python", "aiokafka"}
    assert set(infer_leader(Evidence(replace(moved, leader="c-1"))).libraries) == {"java"}
    assert leader_matters(Evidence(moved))


def test_whether_it_leads_still_is_worth_a_look() -> None:
    """The others show nothing, so it matters who leaves."""
    assert leader_matters(Evidence(BY_ID))
    logged = replace(BY_ID, leader="c-1")
    assert infer_leader(Evidence(logged), gone={"z-1"}).libraries == ("librdkafka", "aiokafka")
    assert set(infer_leader(Evidence(logged), gone={"c-1"}).libraries) == set(OLD)


def test_an_assignment_that_nobody_gives_tells_nothing() -> None:
    """It is of a release or an application of its own."""
    odd = written(("c-1", None, {"t": [0, 2]}), ("z-1", "z", {"t": [1]}))
    assert not any(could_have_assigned(odd, name) for name in EVERYBODY)
    assert infer_leader(Evidence(odd)).libraries == OLD


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        (("audit", "orders", "payments"), OLD),
        (("audit", "payments", "orders"), ("java", "kafka-python", "aiokafka")),
        (("orders", "audit", "payments"), ("kafka-python", "aiokafka")),
    ],
    ids=["sorted", "as an old Java's hash sets are walked", "in another order"],
)
def test_the_order_of_topics_tells_the_library(
    topics: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    """Some libraries sort what they subscribe to; a Python set is walked in any order."""
    one = member("m", {}, version=0, user_data=b"", topics=topics)
    assert Evidence(group_of(one, assignor="range")).libraries["m"] == frozenset(expected)


def test_the_last_member_gets_everything() -> None:
    """Whichever library leads, of whichever release, and whoever leaves first."""
    held = [member(name, {"t": [n]}, version=1, user_data=V1) for n, name in enumerate("abc")]
    group = group_of(*held, assignor="sticky", wrote=(0, V1))
    cluster = cluster_of(group, {"t": 3})
    one_left = plan_group(cluster, group, [RemoveMember("a"), RemoveMember("b")])
    assert (one_left.confidence, one_left.confidence_reason) == (
        "exact",
        "one member is left, and it gets everything that it reads",
    )
    two_left = plan_group(cluster, group, [RemoveMember("a")])
    assert two_left.confidence == "counts"
    guessed = plan_group(cluster, group_of(assignor="sticky"), [AddMembers(topics=("t",))])
    assert guessed.confidence == "exact"
