"""What members of other libraries send next, beside what the libraries' own assignors write."""

import warnings
from random import Random
from typing import Any

import pytest

from kgroups.assignors.other_clients.rejoins import rejoin_as
from kgroups.assignors.spec import MemberSubscription
from kgroups.assignors.wire import (
    WireAssignment,
    decode_sticky_data,
    decode_subscription,
    encode_assignment,
    runs_of,
)
from tests.support.assignors.assignor_programs import FOUND, AssignorProgram
from tests.support.assignors.real_clients import subscription_bytes

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from aiokafka.coordinator.assignors.sticky.sticky_assignor import (
        StickyPartitionAssignor as AioSticky,
    )
    from aiokafka.coordinator.protocol import ConsumerProtocol
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
    from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment


def kafka_python(strategy: str, given: bytes, topics: list[str], generation: int) -> bytes:
    """The next subscription of a kafka-python member after this assignment."""
    assignors: dict[str, Any] = {
        "sticky": StickyPartitionAssignor,
        "cooperative-sticky": CooperativeStickyAssignor,
    }
    assignor = assignors[strategy]()
    assignor.on_assignment(ConsumerProtocolAssignment.decode(given), generation)
    sent = assignor.metadata(topics)
    return bytes(sent.encode(version=assignor.version))


def aiokafka(_strategy: str, given: bytes, topics: list[str], _generation: int) -> bytes:
    """The next subscription of an aiokafka member; its state is that of all in the process."""

    class Fresh(AioSticky):  # type: ignore[misc]
        """A state of its own."""

    Fresh.on_assignment(ConsumerProtocol.ASSIGNMENT.decode(given))
    return bytes(Fresh.metadata(topics).encode())


LIBRARIES = {
    ("kafka-python", "sticky"): (kafka_python, 0),
    ("kafka-python", "cooperative-sticky"): (kafka_python, 1),
    ("aiokafka", "sticky"): (aiokafka, 0),
}


@pytest.mark.parametrize(("library", "strategy"), LIBRARIES)
def test_the_next_subscription(library: str, strategy: str) -> None:
    """The same bytes, dropped topics included: these libraries go on naming them."""
    ask, version = LIBRARIES[library, strategy]
    dice = Random(library)
    dropped = 0
    for _ in range(200):
        topics = sorted(dice.sample("pqrstu", dice.randint(1, 4)))
        held = [(topic, one) for topic in "spqr" for one in range(4) if dice.random() < 0.4]
        dropped += any(topic not in topics for topic, _ in held)
        generation = dice.randint(0, 99)
        given = encode_assignment(WireAssignment(0, runs_of(held)))
        theirs = decode_subscription(ask(strategy, given, topics, generation))
        member = rejoin_as(
            library, MemberSubscription("m", tuple(topics)), strategy, held, generation
        )
        assert decode_subscription(subscription_bytes(member, version)) == theirs
    assert dropped > 0


GO_STICKY = [
    (library, strategy)
    for library in FOUND
    if library != "kafkajs"
    for strategy in ("sticky", "cooperative-sticky")
]


@pytest.mark.parametrize(("library", "strategy"), GO_STICKY)
def test_the_next_subscription_of_a_go_member(library: str, strategy: str) -> None:
    """franz-go's whole subscription, sarama's user data; what they still hold when they join."""
    dice = Random(library)
    with AssignorProgram(library) as program:
        for _ in range(100):
            topics = tuple(sorted(dice.sample("pqrstu", dice.randint(1, 4))))
            held = [(topic, one) for topic in topics for one in range(4) if dice.random() < 0.4]
            generation = dice.randint(1, 99)
            theirs = program.sent(
                strategy, topics, {t: list(n) for t, n in runs_of(held)}, generation
            )
            member = rejoin_as(library, MemberSubscription("m", topics), strategy, held, generation)
            if library == "franz-go":
                ours = decode_subscription(subscription_bytes(member, 3))
                assert ours == decode_subscription(theirs)
            elif strategy == "cooperative-sticky":
                assert member.user_data == theirs
            else:
                runs, then = decode_sticky_data(theirs)
                mine, now = decode_sticky_data(member.user_data)
                assert (sorted(runs), then) == (sorted(mine), now)
