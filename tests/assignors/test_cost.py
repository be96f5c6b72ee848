"""A plan of one live group spends next to nothing in the assignor."""

import time

import pytest

from bench.assignor_groups import Shape, request_of
from kgroups.assignors.other_clients.variants import VARIANTS
from kgroups.assignors.registry import CLIENT_ASSIGNORS, SERVER_ASSIGNORS

LIMIT_MS = 5.0
TRIES = 15

STRATEGIES = {
    **CLIENT_ASSIGNORS,
    **{f"server-{name}": strategy for name, strategy in SERVER_ASSIGNORS.items()},
    **{f"librdkafka {name}": strategy for name, strategy in VARIANTS["librdkafka"].items()},
}


@pytest.mark.parametrize("mode", ["fresh", "swap", "mixed"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_live_group_takes_less_than_five_milliseconds(name: str, mode: str) -> None:
    """50 members and 500 partitions: processor time of the quickest of some calls."""
    kind = name.removeprefix("librdkafka ")
    request = request_of(Shape(kind, 10, 50, 50, mode))
    times = []
    for _ in range(TRIES):
        started = time.thread_time()
        STRATEGIES[name].assign(request)
        times.append((time.thread_time() - started) * 1e3)
    assert min(times) < LIMIT_MS
