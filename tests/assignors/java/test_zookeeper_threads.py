"""The strategies of consumers without a coordinator, by hand.

Kafka 0.8.2's own consumers are asked in tests/core/zookeeper.
"""

import pytest

from kgroups.assignors.java.zookeeper_threads import group_view, thread_range, thread_roundrobin
from kgroups.assignors.spec import AssignorError


def test_range_deals_blocks_to_threads() -> None:
    """Five partitions, two consumers of two threads: the first thread gets the one too many."""
    # 5 / 4 threads = 1 each, remainder 1: threads in order of text c1-0, c1-1, c2-0, c2-1
    view = group_view({"t": ["c2-0", "c1-1", "c2-1", "c1-0"]}, {"t": 5})
    assert thread_range(view) == {
        ("t", 0): "c1-0",
        ("t", 1): "c1-0",
        ("t", 2): "c1-1",
        ("t", 3): "c2-0",
        ("t", 4): "c2-1",
    }


def test_range_orders_threads_as_text() -> None:
    """`c-10` stands before `c-2`: a consumer with eleven streams is not dealt in its own order."""
    view = group_view({"t": [f"c-{n}" for n in range(11)]}, {"t": 11})
    owners = thread_range(view)
    assert [owners["t", n] for n in range(11)] == [
        *("c-0", "c-1", "c-10", "c-2", "c-3", "c-4", "c-5", "c-6", "c-7", "c-8", "c-9")
    ]


def test_range_looks_at_each_topic_alone() -> None:
    """Whoever subscribes to a topic shares it, nobody else; a topic that is gone is nobody's."""
    threads = {"a": ["x-0", "y-0"], "b": ["y-0"], "gone": ["x-0"]}
    view = group_view(threads, {"a": 3, "b": 2, "gone": 0})
    assert thread_range(view) == {
        ("a", 0): "x-0",
        ("a", 1): "x-0",
        ("a", 2): "y-0",
        ("b", 0): "y-0",
        ("b", 1): "y-0",
    }


def test_roundrobin_deals_by_the_hash_of_the_printed_partition() -> None:
    """Partition 10 is dealt before partition 0: its hash overflows and is negative."""
    # "[a,0]" is 91 * 31^4 + 97 * 31^3 + 44 * 31^2 + 48 * 31 + 93 = 86,974,003 and "[a,9]" nine
    # times 31 more. "[a,10]" has one character more, so 91 * 31^5 = 2,605,252,741 > 2^31 - 1:
    # signed it is negative and comes first. Then round x-0, y-0, x-0, ...
    view = group_view({"a": ["y-0", "x-0"]}, {"a": 11})
    owners = thread_roundrobin(view)
    assert owners["a", 10] == "x-0"
    assert [owners["a", n] for n in range(4)] == ["y-0", "x-0", "y-0", "x-0"]


def test_roundrobin_goes_on_around_the_circle_from_topic_to_topic() -> None:
    """Three partitions of a, then those of b: hashes of five characters grow with the topic."""
    threads = {"a": ["x-0", "x-1", "y-0", "y-1"], "b": ["x-0", "x-1", "y-0", "y-1"]}
    owners = thread_roundrobin(group_view(threads, {"a": 3, "b": 3}))
    assert [owners["a", n] for n in range(3)] == ["x-0", "x-1", "y-0"]
    assert [owners["b", n] for n in range(3)] == ["y-1", "x-0", "x-1"]


@pytest.mark.parametrize(
    ("threads", "java"),
    [
        ({"a": ["x-0", "y-0"], "b": ["x-0"]}, "IllegalArgumentException"),
        ({"a": ["x-0", "x-1"], "b": ["x-0"]}, "IllegalArgumentException"),
        ({}, "NoSuchElementException"),
    ],
    ids=["other-topics", "other-streams", "nobody"],
)
def test_roundrobin_refuses_groups_that_differ(threads: dict[str, list[str]], java: str) -> None:
    """All consumers must read the same topics with as many streams; Java throws otherwise."""
    with pytest.raises(AssignorError) as failed:
        thread_roundrobin(group_view(threads, {"a": 2, "b": 2}))
    assert failed.value.java == java


def test_every_partition_goes_to_one_subscriber() -> None:
    """Both strategies give each partition of known topics to a thread that subscribes to it."""
    for consumers in range(1, 6):
        threads = [f"c{c}-{n}" for c in range(consumers) for n in range(c % 3 + 1)]
        view = group_view({"a": threads, "b": threads}, {"a": 7, "b": 4})
        for owners in (thread_range(view), thread_roundrobin(view)):
            assert sorted(owners) == sorted(
                [("a", n) for n in range(7)] + [("b", n) for n in range(4)]
            )
            assert set(owners.values()) <= set(threads)
