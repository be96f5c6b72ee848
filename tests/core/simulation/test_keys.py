"""Load by key: where Java's producer sends each, and what that does to partitions."""

from random import Random

import pytest
from aiokafka.partitioner import murmur2 as aiokafka_murmur2

from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.scenario.key_load import KeyLoad, murmur2, partition_of
from kgroups.core.simulation.scenario.variation import varied
from tests.support.simulation.sample_scenarios import BASE, ran, scenario

# The hashes that the tests of Kafka's `Utils` name.
JAVA = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}


@pytest.mark.parametrize("key", JAVA)
def test_the_hash_is_javas(key: str) -> None:
    """The same bits, as a signed number."""
    found = murmur2(key.encode())
    assert found - (found >> 31 << 32) == JAVA[key]
    assert partition_of(key.encode(), 7) == (JAVA[key] & 0x7FFFFFFF) % 7


def test_the_hash_is_that_of_another_library() -> None:
    """Bytes of every length, with every bit."""
    random = Random(7)
    for length in range(40):
        for _ in range(20):
            key = random.randbytes(length)
            assert murmur2(key) == aiokafka_murmur2(key) & 0xFFFFFFFF


def test_shares_follow_from_the_keys() -> None:
    """Weights 1, 1/2 and 1/3 where the hashes send them; named keys as they are weighed."""
    shares = KeyLoad(3, 1.0, "k").shares(4)
    expected = [0.0] * 4
    for n in (1, 2, 3):
        expected[partition_of(f"k{n}".encode(), 4)] += 1 / n / (1 + 1 / 2 + 1 / 3)
    assert shares == pytest.approx(expected)
    named = KeyLoad(named=(("21", 3.0), ("foobar", 1.0))).shares(7)
    place, other = (JAVA[key] & 0x7FFFFFFF for key in ("21", "foobar"))
    assert place % 7 != other % 7
    assert (named[place % 7], named[other % 7]) == (0.75, 0.25)


def with_keys(keys: str) -> str:
    """The base with keys."""
    return BASE.replace("rate: 60", f"rate: 60, keys: {keys}").replace("4m", "2m")


def test_one_key_is_read_by_one_member() -> None:
    """However many partitions: 60 a second at 30 ms each are too much for it, and all are not."""
    slow = with_keys("{named: {acme: 1}}").replace("2ms", "30ms")
    hot = ran(slow)
    spread = simulate(scenario(slow.replace("{named: {acme: 1}}", "{count: 50000, skew: 0}")))
    assert hot.unread == pytest.approx((60 - 1000 / 30) * 114, rel=0.1)
    assert spread.groups[0].unread < 20
    wider = varied(scenario(slow), {"orders.partitions": "12"})
    assert simulate(wider).groups[0].unread == pytest.approx(hot.unread, rel=0.1)


def test_keys_move_when_partitions_are_added() -> None:
    """What comes in all stays the same, but for what `latest` misses."""
    # A second before the members' metadata are refreshed.
    event = {"at": "74s", "add_partitions": {"topic": "orders", "partitions": 9}}
    found = ran(with_keys("1000"), events=[event])
    assert found.records == pytest.approx(60 * 120, rel=0.02)
    assert len(found.partitions) == 9
