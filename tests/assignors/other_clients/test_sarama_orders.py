"""sarama's random orders: those that make no difference are not tried, and none is lost by it."""

import pytest

from kgroups.assignors.other_clients import sarama_sticky
from kgroups.assignors.other_clients.choices import owners_of, possible_answers
from kgroups.assignors.other_clients.rejoins import rejoin_as
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions
from tests.support.assignors.histories import Kind, histories

COOPERATIVE = "cooperative-sticky"


def test_who_gets_everything_gets_it_in_any_order() -> None:
    """Ten free partitions for a member that has less than the other even then: one run."""
    topics = {"t": TopicPartitions(20)}
    members = [
        MemberSubscription("a", ("t",), owned=[("t", range(10))], generation=3),
        MemberSubscription("b", ("t",)),
    ]
    found = possible_answers(
        assignor(COOPERATIVE, "sarama"), AssignmentRequest(members, topics, 3), max_runs=1
    )
    assert found.certain
    assert sorted(found.each[0].partitions_of("b")) == [("t", number) for number in range(10, 20)]


@pytest.mark.parametrize("strategy", ["sticky", COOPERATIVE])
def test_no_answer_is_lost(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All orders give what those give that are tried."""
    ours = assignor(strategy, "sarama")
    kind = Kind(members=3, topics=2, partitions=4, alike=0.6, stale=0.2)
    compared = 0
    for _, history in histories(
        f"orders {strategy}",
        1,
        30,
        kind,
        lambda member, held, generation: rejoin_as("sarama", member, strategy, held, generation),
    ):
        for _ in range(3):
            request = history.request()
            fewer = possible_answers(ours, request)
            with monkeypatch.context() as patched:
                patched.setattr(sarama_sticky._Run, "_takes_all", lambda *_: None)
                every = possible_answers(ours, request)
            if not every.complete or not every.each:
                break
            assert fewer.complete
            assert set(map(owners_of, fewer.each)) == set(map(owners_of, every.each))
            assert [each.message for each in fewer.failures] == [e.message for e in every.failures]
            compared += 1
            history.advance(dict(fewer.each[0].items()))
    assert compared > 40
