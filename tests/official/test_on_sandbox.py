"""The suite as it is on the embedded cluster: scenarios, live consumers, both tools side by side.

What the embedded cluster does not do stands in `SANDBOX_LACKS`, with the reason; what needs it is
named below and left out.
"""

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.official import (
    test_alone,
    test_broken,
    test_conformance,
    test_requests,
    test_undo,
)
from tests.official.test_alone import HALVES, ONE, TWO
from tests.official.test_broken import lame
from tests.official.test_differential import Comparison, both_tools, check
from tests.support.kafka.official_tools import WarmTools
from tests.support.kafka.workload import create_topics, produce
from tests.support.official.lines import LINES, NO_BROKER_NEEDED, READING, Line
from tests.support.official.official_world import Embedded, embedded_world
from tests.support.sandbox.shared_suites import SANDBOX_LACKS

pytestmark: list[pytest.MarkDecorator] = []  # only the official tool needs Java

MODULES: tuple[ModuleType, ...] = (
    test_alone,
    test_broken,
    test_conformance,
    test_requests,
    test_undo,
)
NEEDS = {"test_vanished_topic_hides_nothing": "writing to internal topics"}
"""Test and the row of `SANDBOX_LACKS` that leaves it out."""
WORDS = {"share-readers": "share groups"}
"""Word of a command line and the row that leaves it out."""
FIXTURES = {"asked", "undoable"}


@pytest.fixture(scope="module")
def full() -> Iterator[Embedded]:
    """The world of this folder, embedded."""
    with embedded_world() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def alone() -> Iterator[Embedded]:
    """A cluster that holds nothing but 100 records in each partition."""
    with Sandbox(brokers=1) as cluster:
        address = cluster.bootstrap_servers
        create_topics(address, {ONE: 1, TWO: 2, HALVES: 1})
        produce(address, {(ONE, 0): 100, (TWO, 0): 100, (TWO, 1): 100})
        yield Embedded(address)


@pytest.fixture(scope="module")
def lamed() -> Iterator[tuple[Embedded, dict[str, int]]]:
    """Three brokers without replicas, one of them stopped."""
    with Sandbox(brokers=3, replication_factor=1) as cluster:
        address = cluster.bootstrap_servers
        with lame(address, lambda: cluster.stop_broker(3)) as at:
            yield Embedded(address), at


# Tests and fixtures are looked up by name in this module, so they get the clusters above.
globals().update(
    {
        name: thing
        for module in MODULES
        for name, thing in vars(module).items()
        if (name.startswith("test_") and name not in NEEDS) or name in FIXTURES
    }
)


def needed(line: Line) -> str | None:
    """The row of `SANDBOX_LACKS` that a line needs; None if it needs none."""
    return next((row for word, row in WORDS.items() if word in line.text), None)


OFFLINE = {*NO_BROKER_NEEDED, *(line for line in READING if "127.0.0.1:1 " in line)}
SERVED = tuple(line for line in LINES if line.text not in OFFLINE and needed(line) is None)


@pytest.fixture(scope="module")
def served(
    full: Embedded, official: WarmTools, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Line], Comparison]:
    """Gives both answers to a line that asks a cluster."""
    return both_tools(official, full.bootstrap, tmp_path_factory.mktemp("embedded"))


@pytest.mark.kafka
@pytest.mark.share(4)
@pytest.mark.parametrize("line", SERVED, ids=lambda line: line.name)
def test_both_tools(served: Callable[[Line], Comparison], line: Line) -> None:
    """The official tool and ours agree on the embedded cluster as they do on a real one."""
    check(served(line))


def test_the_suite_is_here() -> None:
    """The tests were taken over; whatever is left out exists, for a reason that exists."""
    taken = {name for name in globals() if name.startswith("test_")}
    for module in MODULES:
        own = {name for name in vars(module) if name.startswith("test_")}
        assert own
        assert own - set(NEEDS) <= taken
    assert all(any(hasattr(module, name) for module in MODULES) for name in NEEDS)
    assert {*NEEDS.values(), *WORDS.values()} <= set(SANDBOX_LACKS)
    left_out = [line for line in LINES if needed(line) is not None]
    assert {needed(line) for line in left_out} == set(WORDS.values())
    assert len(SERVED) > 120
