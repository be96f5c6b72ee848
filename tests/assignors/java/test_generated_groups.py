"""Random groups whose subscriptions change: Kafka's hundred rounds, by seed."""

import random
from dataclasses import replace

import pytest

from kgroups.assignors.checks import PROPERTIES, holders_of
from kgroups.assignors.registry import CLIENT_ASSIGNORS
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions

ROUNDS = 100
RACKS = (None, "nobody", "everybody")
HOLDS = ("complete", "unique", "subscribed", "balanced")


def random_reads(dice: random.Random, names: list[str]) -> tuple[str, ...]:
    """Some of the topics, at least one."""
    return tuple(sorted(dice.sample(names, dice.randint(1, len(names)))))


@pytest.mark.share(4)
@pytest.mark.parametrize("racks", RACKS)
@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_random_subscriptions_that_change(name: str, racks: str | None) -> None:
    """20 to 39 members, topics of 1 to 20 partitions; then everybody reads something else."""
    strategy = CLIENT_ASSIGNORS[name]
    for seed in range(ROUNDS):
        dice = random.Random(f"{name} {seed}")
        names = [f"t{number:02}" for number in range(dice.randrange(10, 20))]
        topics = {
            topic: TopicPartitions(size, [["a", "b", "c"]] * size if racks else ())
            for size, topic in enumerate(names, 1)
        }
        members = [
            MemberSubscription(
                f"c{number:02}",
                random_reads(dice, names),
                rack="abc"[number % 3] if racks == "everybody" else None,
            )
            for number in range(dice.randrange(20, 40))
        ]
        request = AssignmentRequest(members, topics)
        result = strategy.assign(request)
        held = holders_of(result, request)
        assert [PROPERTIES[each](strategy, request, held) for each in HOLDS] == [None] * 4
        back = [
            rejoin(
                replace(member, topics=random_reads(dice, names)), name, held[member.member_id], 1
            )
            for member in members
        ]
        again = AssignmentRequest(back, topics)
        after = holders_of(strategy.assign(again), again)
        assert [PROPERTIES[each](strategy, again, after) for each in HOLDS] == [None] * 4
