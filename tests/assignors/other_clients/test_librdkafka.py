"""librdkafka's own assignors, of a real consumer that leads made-up groups, beside our models."""

from dataclasses import replace

import pytest

from kgroups.assignors.order.scala_order import scala_set_order
from kgroups.assignors.other_clients.librdkafka_sticky import LibrdkafkaMoves
from kgroups.assignors.other_clients.rejoins import rejoin_as
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.assignors.wire import decode_subscription
from tests.support.assignors.agreement import LeaderFailedError, compare, groups_of
from tests.support.assignors.histories import Kind, Plan
from tests.support.assignors.led_by_librdkafka import LedByLibrdkafka
from tests.support.assignors.librdkafka_consumer import OWN_TOPIC
from tests.support.assignors.real_clients import subscription_bytes

STRATEGIES = ("range", "roundrobin", "cooperative-sticky")
KINDS = {
    "usual": Kind(sorted_topics=True),
    "uneven": Kind(members=6, topics=6, partitions=6, alike=0.3, stale=0.15),
    "racks": Kind(racks=True),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_round_after_round(strategy: str, kind: str) -> None:
    """Every answer, to the list, and every death of the process."""
    with LedByLibrdkafka(strategy) as leader:
        found = compare(
            "librdkafka",
            strategy,
            leader.observe,
            lambda member, held, generation: rejoin_as(
                "librdkafka", member, strategy, held, generation
            ),
            groups_of(100),
            KINDS[kind],
            may_survive=True,
        )
        assert found.certain == found.rounds
        assert leader.deaths == found.failed
    assert found.survived <= 1 + found.failed  # to survive is the exception
    assert found.failed + found.survived < 0.03 * found.rounds


def led(request: AssignmentRequest) -> Plan:
    """What a real leader decides; the model's list has to be the same."""
    with LedByLibrdkafka("cooperative-sticky") as leader:
        plan = leader.ask(request)
    mine = assignor("cooperative-sticky", "librdkafka").assign(request)
    assert {member: dict(held) for member, held in mine.items()} == plan
    return plan


def owner(name: str, topics: str, **held: list[int]) -> MemberSubscription:
    """A member that reads these topics, of one letter each, and owns partitions of generation 3."""
    generation = 3 if held else -1
    return MemberSubscription(name, tuple(topics), owned=list(held.items()), generation=generation)


def test_freed_partitions_go_out_in_metadata_order() -> None:
    """A member of three has left. From five topics on a broker names topics by their hashes."""
    freed = []
    for topics in ("pqrs", "pqrstuvw"):
        members = [owner(name, topics, **{topics[0]: [place]}) for place, name in enumerate("ab")]
        counts = dict.fromkeys(topics, TopicPartitions(1)) | {topics[0]: TopicPartitions(2)}
        plan = led(AssignmentRequest(members, counts))
        dealt = zip(*(list(plan[name])[1:] for name in "ab"), strict=False)
        freed.append([topic for pair in dealt for topic in pair])
    assert freed[0] == ["s", "r"]
    assert freed[1] != sorted(freed[1], reverse=True)
    assert freed[1] == [t for t in reversed(scala_set_order("pqrstuvw")) if t != "p"][:6]


def test_the_second_recorded_move_is_reversed() -> None:
    """Where a move from `a` is to be taken back, librdkafka takes back the next one."""
    members = [
        owner("a", "tu", t=[0, 1, 2, 3], u=[0, 1, 2, 3]),
        owner("b", "u"),
        owner("c", "tu"),
    ]
    request = AssignmentRequest(members, {"t": TopicPartitions(4), "u": TopicPartitions(4)})
    plan = led(request)
    java = dict(assignor("cooperative-sticky").assign(request).items())
    assert sorted(plan["a"].items()) != sorted(java["a"].items())
    assert sum(map(len, plan["a"].values())) == sum(map(len, java["a"].values()))


def test_a_lone_record_is_freed_before_it_is_read() -> None:
    """The process dies where the only recorded move of that direction is to be reversed."""
    members = [owner("a", "t", t=[0, 1]), owner("b", "u", u=[0, 1, 2, 3, 4]), owner("c", "tu")]
    deadly = AssignmentRequest(members, {"t": TopicPartitions(2), "u": TopicPartitions(5)})
    with LedByLibrdkafka("cooperative-sticky") as leader, pytest.raises(LeaderFailedError):
        leader.ask(deadly)
    with pytest.raises(AssignorError, match="librdkafka leader crashes"):
        assignor("cooperative-sticky", "librdkafka").assign(deadly)


def test_what_nobody_gets_goes_back_to_its_claimant() -> None:
    """Partitions of a topic that is gone, or that its owner no longer reads."""
    members = [owner("a", "t", t=[0], gone=[1], u=[0]), owner("b", "t")]
    plan = led(AssignmentRequest(members, {"t": TopicPartitions(2), "u": TopicPartitions(1)}))
    assert plan == {"a": {"t": [0], "gone": [1], "u": [0]}, "b": {"t": [1]}}


def test_records() -> None:
    """A record that stayed behind its partition is deadly when that partition moves again."""
    moves = LibrdkafkaMoves()
    for number in (7, 3, 9):
        moves.record(0, number, 1, 2)
    assert moves.actual(0, 4, 2, 1) == 7
    assert moves.behind(0, (1, 2), 7) == 3
    assert moves.actual(0, 4, 2, 1) == 3
    with pytest.raises(AssignorError, match="where its record says"):
        moves.actual(0, 3, 1, 2)
    assert moves.actual(1, 3, 1, 2) is None


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_a_member_sends(strategy: str) -> None:
    """First nothing, then in its user data what it was given in the generation before.

    What it owns is left out: this coordinator lets it own something for a moment only.
    """
    request = AssignmentRequest([owner("a", "t")], {"t": TopicPartitions(1)})
    with LedByLibrdkafka(strategy) as leader:
        for _ in range(4):
            leader.ask(request)
        sent = [decode_subscription(data) for data in leader.joined_with]
    member = MemberSubscription("m", (OWN_TOPIC,), rack="")
    first = decode_subscription(subscription_bytes(replace(member, user_data=b""), 3))
    assert sent[0] == first
    for generation, subscription in enumerate(sent[1:4], 1):
        held = [(OWN_TOPIC, generation % 2)]
        then = rejoin_as("librdkafka", member, strategy, held, generation)
        wanted = decode_subscription(subscription_bytes(then, 3))
        assert replace(subscription, owned=()) == replace(wanted, owned=())
