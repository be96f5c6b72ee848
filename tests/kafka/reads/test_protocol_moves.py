"""Groups of real consumers moved to KIP-848 and back, each step beside what was predicted of it.

Java's and librdkafka's members, dynamic and static; before each member moves, the rest of its
group's move is predicted anew. The same on the embedded cluster: `tests/core/sandbox/suites`.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.planning.plan import Plan
from tests.support.fidelity.driven_group import DrivenGroup, MemberSpec
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.libraries import Library
from tests.support.fidelity.moving_group import (
    PROTOCOLS,
    MoveCase,
    Seen,
    join,
    move,
)
from tests.support.fidelity.resting import Rest
from tests.support.kafka.settings import settings_from_text
from tests.support.kafka.workload import create_topics

pytestmark = pytest.mark.kafka

# What became of a case: there, and back.
Moves = tuple[tuple[Plan, list[Seen]], ...]


def movers(*libraries: Library, static: bool = False) -> tuple[MemberSpec, ...]:
    """Members `a`, `b` and `c` of these libraries."""
    return tuple(
        MemberSpec(name, library, instance=f"i{name}" if static else "")
        for name, library in zip("abc", libraries, strict=False)
    )


CASES = (
    MoveCase("mv-java", movers("java", "java"), {"mv-java-t": 4}, "range", "uniform"),
    MoveCase(
        "mv-rdkafka",
        movers("librdkafka", "librdkafka", "librdkafka"),
        {"mv-rdkafka-t": 6, "mv-rdkafka-u": 4},
        "range",
        "range",
    ),
    MoveCase(
        "mv-both",
        movers("java", "librdkafka", "java"),
        {"mv-both-t": 5, "mv-both-u": 4},
        "roundrobin",
        "uniform",
    ),
    MoveCase(
        "mv-static",
        movers("java", "librdkafka", "java", static=True),
        {"mv-static-t": 5},
        "range",
        "uniform",
    ),
    MoveCase(
        "mv-coop",
        movers("java", "java", "java"),
        {"mv-coop-t": 6},
        "cooperative-sticky",
        "uniform",
    ),
)


@pytest.fixture(scope="module")
def moves(cluster_address: str) -> Iterator[Mapping[str, Moves]]:
    """Every case, there and back."""
    with HostPool() as hosts, ThreadPoolExecutor(len(CASES)) as pool:
        futures = {
            case.name: pool.submit(there_and_back, cluster_address, case, hosts) for case in CASES
        }
        yield {name: future.result(600) for name, future in futures.items()}


def there_and_back(bootstrap: str, case: MoveCase, hosts: HostPool) -> Moves:
    """What was told and what came of a group that moves to KIP-848 and then back."""
    create_topics(bootstrap, case.topics)
    settings = settings_from_text("", bootstrap)
    with (
        DrivenGroup(
            hosts, bootstrap, case.name, "consumer", case.assignor, dict(case.topics)
        ) as group,
        ClusterAdmin(settings, timeout_ms=30_000) as admin,
    ):
        rest = Rest(admin, group, quiet_s=0.5)
        for mover in case.movers:
            join(rest, case, mover, "classic")
            rest.settled()
        return tuple(move(rest, case, protocol) for protocol in reversed(PROTOCOLS))


def steps(moves: Mapping[str, Moves]) -> list[tuple[str, Seen]]:
    """All steps of all cases."""
    return [(name, seen) for name, each in moves.items() for _, series in each for seen in series]


def test_every_exact_step_came_true(moves: Mapping[str, Moves]) -> None:
    """Whether told before the move began, or before this member moved."""
    wrong = [
        (name, seen.event, told, seen.came)
        for name, seen in steps(moves)
        for word, told in (seen.said, seen.fresh)
        if word == "exact" and told != seen.came
    ]
    assert wrong == []


def test_most_steps_are_exact(moves: Mapping[str, Moves]) -> None:
    """Told before this member moves; ids of `range` members decide now and then."""
    words = [seen.fresh[0] for _, seen in steps(moves)]
    assert len(words) == 2 * (4 + 6 + 6 + 3 + 6)
    assert words.count("exact") * 4 >= len(words) * 3
    assert set(words) <= {"exact", "outcomes", "likely"}


def test_whole_moves_are_exact(moves: Mapping[str, Moves]) -> None:
    """Two members share four partitions, and static members keep what they have.

    On the way back Java's `range` meets an id that nobody knew when the move began.
    """
    assert [plan.confidence for plan, _ in moves["mv-java"]] == ["exact", "likely"]
    assert [plan.confidence for plan, _ in moves["mv-static"]] == ["exact", "exact"]
    static = [plan for plan, _ in moves["mv-static"]]
    assert [plan.metrics.moved for plan in static] == [0, 0]


def test_the_coordinator_assigns_there_and_a_leader_back(moves: Mapping[str, Moves]) -> None:
    """Protocol and assignor at the end of each way."""
    for case in CASES:
        there, back = (plan for plan, _ in moves[case.name])
        assert (there.rebalance_protocol, there.assignor) == ("consumer", case.assignor)
        assert back.rebalance_protocol in ("eager", "cooperative")
        assert back.assignor == case.strategy
        assert there.blockers == back.blockers == ()
