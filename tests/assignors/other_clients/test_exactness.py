"""What `is_exact` and `sees_join_order` say follows from what was compared."""

from random import Random

import pytest

from kgroups.assignors.other_clients.choices import owners_of, possible_answers
from kgroups.assignors.other_clients.rejoins import rejoin_as
from kgroups.assignors.other_clients.variants import VARIANTS, Members, is_exact
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from tests.assignors.other_clients import (
    test_librdkafka,
    test_program_clients,
    test_python_clients,
)
from tests.support.assignors.histories import Kind, histories

SIMPLE = ("range", "roundrobin")
PAIRS = [(library, strategy) for library in VARIANTS for strategy in VARIANTS[library]]


def sees_join_order(leader: str, strategy: str, members: Members) -> bool:
    """Whether the order of the JoinGroup answer decides, and so the hash of a newcomer's id.

    librdkafka's order of members is not total where static and dynamic ones mix, and kafka-python
    forgets some of them there; librdkafka's leader meets topics in that order, which shows where
    members do not sort them (its own do).

    Args:
        leader: client library of the leader.
        strategy: registered name.
        members: of the group.
    """
    if leader == "librdkafka" and strategy == "cooperative-sticky":
        return any(list(member.topics) != sorted(member.topics) for member in members)
    static = {member.instance_id is not None for member in members}
    return (
        leader in ("librdkafka", "kafka-python")
        and strategy in ("range", "roundrobin")
        and len(static) > 1
    )


def test_every_variant_is_compared_with_the_library() -> None:
    """Exact is what a test of this folder compares, and nothing else."""
    compared = {
        *test_python_clients.STRATEGIES,
        *(("librdkafka", strategy) for strategy in test_librdkafka.STRATEGIES),
        *test_program_clients.COMPARED,
    }
    assert compared == set(PAIRS)
    assert all(is_exact(library, strategy) for library, strategy in PAIRS)
    assert is_exact("java", "sticky")
    assert not is_exact("librdkafka", "sticky")


@pytest.mark.parametrize(("library", "strategy"), PAIRS)
def test_join_order(library: str, strategy: str) -> None:
    """Members in another order: another answer only where it is said to decide.

    Members that claim one partition in one generation are left out: there the first one counts.
    """
    kind = Kind(members=5, topics=3, partitions=5, stale=0, static=0.4)
    dice = Random(f"{library} {strategy}")
    differing = 0
    for _, history in histories(
        "join order",
        1,
        80,
        kind,
        lambda member, held, generation: rejoin_as(library, member, strategy, held, generation),
    ):
        request = history.request()
        ours = VARIANTS[library][strategy]
        said = sees_join_order(library, strategy, request.members)
        try:
            first = possible_answers(ours, request, 100)
            dice.shuffle(history.members)
            second = possible_answers(ours, history.request(), 100)
        except AssignorError:
            continue
        if not (first.complete and second.complete):
            continue
        same = set(map(owners_of, first.each)) == set(map(owners_of, second.each))
        assert same or said
        differing += not same
    if strategy in SIMPLE:
        assert (differing > 0) == (library in ("librdkafka", "kafka-python"))


def test_librdkafka_meets_topics_in_join_order() -> None:
    """Where members do not sort their topics, the first one's order is the leader's."""
    one = MemberSubscription("a", ("t", "u"), owned=[("t", (0,))], generation=1)
    other = MemberSubscription("b", ("u", "t"))
    topics = {"t": TopicPartitions(2), "u": TopicPartitions(2)}
    ours = VARIANTS["librdkafka"]["cooperative-sticky"]
    both = [
        owners_of(ours.assign(AssignmentRequest(members, topics)))
        for members in ([one, other], [other, one])
    ]
    assert both[0] != both[1]
    assert sees_join_order("librdkafka", "cooperative-sticky", [one, other])
    assert not sees_join_order("librdkafka", "cooperative-sticky", [one])
