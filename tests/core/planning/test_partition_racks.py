"""Where brokers place new partitions: what Kafka's own placer does is among the ways."""

import random
from collections.abc import Sequence

import pytest

from kgroups.core.planning.outcomes.partition_racks import Placement, Rack, placements
from tests.support.assignors.oracle import ask_java

CLUSTERS: tuple[Sequence[Rack], ...] = (
    "ab",
    "aabb",
    "aab",
    "abc",
    "abcabc",
    "aaabbc",
    (None, None),
    ("a", None, "b"),
    "a",
)


def placed_by_kafka(racks: Sequence[Rack], brokers: Sequence[Sequence[int]]) -> Placement:
    """The racks of each partition."""
    return tuple(
        tuple(sorted({racks[broker] for broker in partition}, key=lambda rack: rack or ""))
        for partition in brokers
    )


@pytest.mark.kafka
def test_what_kafka_does_is_among_the_ways() -> None:
    """StripedReplicaPlacer with 60 seeds for each shape; and where ways are few, it takes each."""
    dice = random.Random(4)
    shapes = [
        (racks, dice.randint(1, 5), copies)
        for racks in CLUSTERS
        for copies in range(1, len(racks) + 1)
        for _ in range(3)
    ]
    asked = [
        {"racks": list(racks), "partitions": count, "replicas": copies, "seed": seed}
        for racks, count, copies in shapes
        for seed in range(60)
    ]
    answers = iter(ask_java(asked, "JavaOrders"))
    for racks, count, copies in shapes:
        ways = set(placements(racks, count, copies))
        came = {placed_by_kafka(racks, next(answers)["java"]) for _ in range(60)}
        assert came <= ways, (racks, count, copies)


@pytest.mark.parametrize(
    ("racks", "partitions", "replicas", "ways"),
    [
        ("ab", 2, 1, {"ab", "ba"}),
        ("ab", 3, 1, {"aba", "abb", "baa", "bab"}),
        ("abc", 3, 1, {"abc", "bca", "cab"}),
        ("ab", 3, 2, {"(ab)(ab)(ab)"}),
        ("abcdef", 1, 1, set("abcdef")),
    ],
)
def test_partitions_are_dealt_in_a_circle(
    racks: str, partitions: int, replicas: int, ways: set[str]
) -> None:
    """Two partitions are never in one rack of two: that is not chance."""
    found = {
        "".join(map(_spelled, placement)) for placement in placements(racks, partitions, replicas)
    }
    assert found == ways


@pytest.mark.parametrize(
    ("racks", "placed"),
    [
        ("abc", "(ac)(bc)"),
        ("abc", "(bc)(bc)"),
        ("abc", "(ac)(ac)"),
        ("abc", "(ab)(bc)(ac)"),
    ],
)
def test_partitions_that_are_added_in_zookeepers_time(racks: str, placed: str) -> None:
    """AdminUtils of Kafka 3.9.1 placed them so, counting on from the partitions that there are."""
    count = placed.count("(")
    found = {"".join(map(_spelled, each)) for each in placements(racks, count, 2)}
    assert placed in found


def _spelled(racks: Sequence[Rack]) -> str:
    text = "".join(rack or "-" for rack in racks)
    return f"({text})" if len(text) > 1 else text
