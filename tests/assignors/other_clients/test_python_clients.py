"""kafka-python's and aiokafka's own assignors, in this process, beside our models of them."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from kgroups.assignors.other_clients.choices import possible_answers
from kgroups.assignors.other_clients.rejoins import rejoin_as
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from tests.support.assignors.agreement import (
    LeaderFailedError,
    Observed,
    compare,
    groups_of,
)
from tests.support.assignors.histories import Kind, Plan
from tests.support.assignors.real_clients import ask_aiokafka, ask_kafka_python

CALLS = 5_000_000  # a rebalance of such a group takes some ten thousand
ASK: dict[str, Callable[[str, AssignmentRequest], Plan]] = {
    "kafka-python": ask_kafka_python,
    "aiokafka": ask_aiokafka,
}
KINDS = {
    "usual": Kind(),
    "uneven": Kind(members=6, topics=5, partitions=6, alike=0.3, stale=0.15),
}
STRATEGIES = [
    ("kafka-python", "range"),
    ("kafka-python", "roundrobin"),
    ("kafka-python", "sticky"),
    ("kafka-python", "cooperative-sticky"),
    ("aiokafka", "range"),
    ("aiokafka", "roundrobin"),
    ("aiokafka", "sticky"),
]


@contextmanager
def quiet() -> Iterator[None]:
    """Without what the libraries log about claims that contradict each other."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@contextmanager
def bounded() -> Iterator[None]:
    """A leader that calls functions without end fails, however quick or slow the machine is.

    Raises:
        LeaderFailedError: it does.
    """
    left = CALLS

    def count(_frame: FrameType, _event: str, _argument: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise LeaderFailedError("never ends")

    before = sys.gettrace()
    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)


def ask(library: str, strategy: str, request: AssignmentRequest) -> Plan:
    """What the library's leader decides.

    Raises:
        LeaderFailedError: it raised, or did not end.
    """
    with quiet(), bounded():
        try:
            return ASK[library](strategy, request)
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            raise LeaderFailedError(repr(error)) from error


@pytest.mark.share(9)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("library", "strategy"), STRATEGIES)
def test_round_after_round(library: str, strategy: str, kind: str) -> None:
    """Every answer is one that the model gives, and nearly always the only one."""
    found = compare(
        library,
        strategy,
        lambda request: [Observed(ask(library, strategy, request))],
        lambda member, held, generation: rejoin_as(library, member, strategy, held, generation),
        groups_of(100),
        KINDS[kind],
    )
    assert found.certain >= 0.99 * found.rounds
    assert found.rounds + found.failed > 0


def claimants(*claims: tuple[str, str, list[int], int]) -> list[MemberSubscription]:
    """kafka-python members: id, topics, partitions of `t` that it had, and in which generation."""
    return [
        rejoin_as(
            "kafka-python",
            MemberSubscription(name, tuple(topics)),
            "sticky",
            [("t", number) for number in numbers],
            generation,
        )
        for name, topics, numbers, generation in claims
    ]


def test_kafka_python_fails_on_an_owner_that_takes_no_part() -> None:
    """An older owner that reads something else alone by now: KeyError in the leader."""
    members = claimants(("a", "t", [0, 1, 2, 3], 5), ("b", "u", [0], 4), ("c", "t", [], 5))
    request = AssignmentRequest(members, {"t": TopicPartitions(4), "u": TopicPartitions(1)})
    with pytest.raises(LeaderFailedError, match="KeyError"):
        ask("kafka-python", "sticky", request)
    with pytest.raises(AssignorError, match="KeyError"):
        assignor("sticky", "kafka-python").assign(request)


def test_kafka_python_looks_at_topics_that_nobody_reads() -> None:
    """Where the leader knows other topics too, subscriptions do not count as equal."""
    members = claimants(("a", "t", [0, 1, 2, 3, 4, 5], 5), ("b", "t", [], -1))
    one = AssignmentRequest(members, {"t": TopicPartitions(6)})
    two = AssignmentRequest(members, {"t": TopicPartitions(6), "u": TopicPartitions(2)})
    moved = []
    for request in (one, two):
        answer = ask("kafka-python", "sticky", request)
        (mine,) = possible_answers(assignor("sticky", "kafka-python"), request).each
        assert dict(mine.items()) == answer
        moved.append(answer["b"]["t"])
    assert moved == [[3, 4, 5], [0, 1, 2]]
