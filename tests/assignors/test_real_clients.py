"""The variants of other client libraries beside those libraries' own code.

kafka-python and aiokafka are asked in this process, franz-go and sarama where Go is found (a
missing Go is named at the end of the run). librdkafka has no door to its strategies: real groups
of it are compared in tests/fidelity.
"""

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from kgroups.assignors.other_clients.variants import is_exact
from kgroups.assignors.registry import assignor
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from tests.support.assignors.real_clients import (
    GO_CLIENTS,
    Plan,
    as_sets,
    ask_aiokafka,
    ask_go,
    ask_kafka_python,
)

GROUPS = 300
SIMPLE = ("range", "roundrobin")


def random_groups(
    seed: str, *, alike: bool = False, static: bool = True
) -> Iterator[AssignmentRequest]:
    """Groups of 1 to 8 members, static ones among them if wanted, whose ids are not all ASCII."""
    dice = random.Random(seed)
    for _ in range(GROUPS):
        names = [f"t{number}" for number in range(dice.randint(1, 4))]
        topics = {name: TopicPartitions(dice.randint(1, 14)) for name in names}
        ids = dice.sample([f"{letter}{number}" for letter in "azé漢😀" for number in range(4)], 8)
        members = [
            MemberSubscription(
                f"{one}-{dice.getrandbits(32):08x}",
                tuple(names if alike else dice.sample(names, dice.randint(1, len(names)))),
                instance_id=one[::-1] if static and dice.random() < 0.4 else None,
            )
            for one in ids[: dice.randint(1, 8)]
        ]
        yield AssignmentRequest(members, topics)


def ours(client: str, strategy: str, request: AssignmentRequest) -> Plan:
    """What our variant says."""
    return dict(assignor(strategy, client).assign(request).items())


@pytest.mark.parametrize("strategy", SIMPLE)
@pytest.mark.parametrize("alike", [True, False], ids=["alike", "mixed"])
def test_aiokafka(strategy: str, alike: bool) -> None:
    """Members by id alone, to the partition."""
    for request in random_groups(f"aiokafka {strategy}", alike=alike):
        assert as_sets(ours("aiokafka", strategy, request)) == as_sets(
            ask_aiokafka(strategy, request)
        )


@pytest.mark.parametrize("strategy", SIMPLE)
@pytest.mark.parametrize("alike", [True, False], ids=["alike", "mixed"])
def test_kafka_python(strategy: str, alike: bool) -> None:
    """To the partition, forgotten members and the failure of mixed subscriptions included."""
    failed = 0
    for request in random_groups(f"kafka-python {strategy}", alike=alike):
        try:
            expected = ask_kafka_python(strategy, request)
        except KeyError:
            failed += 1
            with pytest.raises(AssignorError, match="KeyError"):
                ours("kafka-python", strategy, request)
            continue
        mine = ours("kafka-python", strategy, request)
        assert as_sets(mine) == as_sets(expected)
    assert (failed > GROUPS // 10) == (strategy == "roundrobin" and not alike)


@pytest.mark.parametrize("client", GO_CLIENTS)
@pytest.mark.parametrize("strategy", SIMPLE)
@pytest.mark.parametrize("alike", [True, False], ids=["alike", "mixed"])
def test_go_clients(client: str, strategy: str, alike: bool) -> None:
    """franz-go's order of members, sarama's of members and partitions, to the partition."""
    requests = list(random_groups(f"{client} {strategy}", alike=alike))
    answers = ask_go(client, strategy, requests)
    for request, answer in zip(requests, answers, strict=True):
        assert as_sets(ours(client, strategy, request)) == as_sets(answer)


def next_round(request: AssignmentRequest, strategy: str, dice: random.Random) -> AssignmentRequest:
    """The group after Java's leader gave out everything; one member may leave, one may join."""
    plan = assignor(strategy).assign(request)
    back = [rejoin(m, strategy, plan.partitions_of(m.member_id), 3) for m in request.members]
    if len(back) > 1 and dice.random() < 0.5:
        back.pop(dice.randrange(len(back)))
    else:
        back.append(MemberSubscription(f"new-{dice.getrandbits(16)}", back[0].topics))
    return AssignmentRequest(back, request.topics, 3)


def sizes(plan: Plan) -> list[int]:
    """How many partitions members get, ascending."""
    return sorted(sum(map(len, held.values())) for held in plan.values())


def kept(request: AssignmentRequest, plan: Plan) -> int:
    """Partitions that stay with their member."""
    had = Counter[tuple[str, str, int]]()
    for member in request.members:
        runs = member.previous[0] if member.previous else member.owned
        had.update((member.member_id, topic, p) for topic, numbers in runs for p in numbers)
    has = {
        (m, topic, p)
        for m, held in plan.items()
        for topic, numbers in held.items()
        for p in numbers
    }
    return sum(1 for each in had if each in has)


@pytest.mark.parametrize("client", GO_CLIENTS[:1])
def test_franz_gos_cooperative_sticky_keeps_as_many(client: str) -> None:
    """The same of franz-go: the sizes of Java's leader, and as many stay."""
    assert not is_exact(client, "cooperative-sticky")
    dice = random.Random("franz-go sticky")
    requests = list(random_groups("franz-go sticky", alike=True, static=False))
    fresh = ask_go(client, "cooperative-sticky", requests)
    for request, theirs in zip(requests, fresh, strict=True):
        assert sizes(theirs) == sizes(ours(client, "cooperative-sticky", request))
    then = [next_round(request, "cooperative-sticky", dice) for request in requests]
    for request, theirs in zip(then, ask_go(client, "cooperative-sticky", then), strict=True):
        mine = ours(client, "cooperative-sticky", request)
        assert sizes(theirs) == sizes(mine)
        assert kept(request, theirs) == kept(request, mine)
