"""A static leader restarts, then a topic grows: which client libraries notice, on a real broker.

Predicted like every other change: where nobody notices, the plan says that nothing happens.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgroups.core.planning.leaders.libraries import FORGET_THEY_LEAD
from tests.support.fidelity.driven_group import MemberSpec
from tests.support.fidelity.driving import Result, drive
from tests.support.fidelity.hosts.pool import HostPool, present_libraries
from tests.support.fidelity.libraries import TRAITS, Library
from tests.support.fidelity.scripts import Script, Step
from tests.support.fidelity.table import told

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("more groups of every client; a few: tests/fidelity/test_simulation_truth.py"),
]

STRATEGY = "roundrobin"
COUNT, GROWN = 3, 5


def script(library: Library) -> Script:
    """`a` leads, `b` makes a second generation of the group, and `c` one after the growth."""
    group = f"back-{library}"
    topic = f"{group}-t"

    def spec(name: str, instance: str = "") -> MemberSpec:
        version = TRAITS[library].versions[0]
        return MemberSpec(name, library, (topic,), instance=instance, version=version)

    return Script(
        group,
        (library,),
        "classic",
        STRATEGY,
        {topic: COUNT},
        (spec("a", "k-a"),),
        (
            Step("join", joins=(spec("b"),)),
            Step("static restart", names=("a",)),
            Step("partitions", topic=topic, count=GROWN),
            Step("join", joins=(spec("c"),)),
        ),
        seed="",
    )


@pytest.fixture(scope="module")
def results(cluster_address: str) -> Iterator[dict[Library, list[Result]]]:
    """What came of the changes of each group."""
    able = [library for library in present_libraries() if TRAITS[library].static]
    scripts = {library: script(library) for library in able}
    with HostPool() as pool, ThreadPoolExecutor(len(scripts)) as threads:
        driven = {
            key: threads.submit(drive, pool, cluster_address, each) for key, each in scripts.items()
        }
        yield {key: future.result(400) for key, future in driven.items()}


def test_every_plan_came_true(results: dict[Library, list[Result]]) -> None:
    """Of each change, and none broke off."""
    assert [told(r) for each in results.values() for r in each if r.verdict != "right"] == []
    assert {key: len(each) for key, each in results.items() if len(each) != 4} == {}


def test_who_notices(results: dict[Library, list[Result]]) -> None:
    """The log shows that the leader came back, so that nothing else is possible."""
    seen = {}
    for library, each in results.items():
        grown = each[2]
        owned = sum(len(held) for held in (grown.came or {}).values())
        seen[library] = (grown.confidence, owned)
    assert seen == {
        library: ("exact", COUNT if library in FORGET_THEY_LEAD else GROWN) for library in results
    }


def test_the_next_rebalance_gives_them_out(
    results: dict[Library, list[Result]],
) -> None:
    """A member that joins makes it."""
    last = [sum(len(held) for held in (each[3].came or {}).values()) for each in results.values()]
    assert last == [GROWN] * len(results)
