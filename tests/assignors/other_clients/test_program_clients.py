"""franz-go, sarama and kafkajs, asked in programs of their own, beside our models of them.

Each is compared where its language is found; `tests/core/sandbox/clients` names what is missing.
Go leaves the order of its maps to chance, so each group is put to the library many times.
"""

from functools import partial

import pytest

from kgroups.assignors.other_clients.choices import owners_of, possible_answers
from kgroups.assignors.other_clients.rejoins import rejoin_as
from kgroups.assignors.other_clients.variants import RACK_BALANCING
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import (
    AssignmentRequest,
    Assignor,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from tests.support.assignors.agreement import (
    Agreement,
    LeaderFailedError,
    as_owners,
    compare,
    groups_of,
)
from tests.support.assignors.assignor_programs import FOUND, AssignorProgram
from tests.support.assignors.histories import Kind, Rejoin

COMPARED = [
    *(("franz-go", name) for name in ("range", "roundrobin", "sticky", "cooperative-sticky")),
    *(("sarama", name) for name in ("range", "roundrobin", "sticky", "cooperative-sticky")),
    ("kafkajs", "RoundRobinAssigner"),
]
"""Library and strategy; each pair is in one of the tests below."""

TIMES = 30
SIMPLE = ("range", "roundrobin")
STICKY = ("sticky", "cooperative-sticky")
USUAL, UNEVEN = Kind(), Kind(members=6, topics=5, partitions=6, alike=0.3, stale=0.15)
SMALL = Kind(members=4, topics=3, partitions=3, alike=0.6)


def one_of(library: str) -> list[str]:
    """The library, if its language is found."""
    return [name for name in FOUND if name == library]


def rejoin_of(library: str, strategy: str) -> Rejoin:
    """What its members send when they join again."""
    return lambda member, held, generation: rejoin_as(library, member, strategy, held, generation)


def played(
    library: str,
    strategy: str,
    times: int,
    groups: int,
    kind: Kind,
    ours: Assignor | None = None,
) -> Agreement:
    """Groups that the library leads, each rebalance decided so many times."""
    with AssignorProgram(library, balances_racks=ours is not None) as program:
        return compare(
            library,
            strategy,
            partial(program.ask, strategy, times),
            rejoin_of(library, strategy),
            groups_of(groups),
            kind,
            ours,
        )


@pytest.mark.share(2)
@pytest.mark.parametrize("library", [name for name in FOUND if name != "kafkajs"])
@pytest.mark.parametrize("strategy", SIMPLE)
def test_simple_strategies(library: str, strategy: str) -> None:
    """Certain in every group."""
    for kind in (USUAL, UNEVEN):
        found = played(library, strategy, 1, 80, kind)
        assert found.certain == found.rounds


@pytest.mark.parametrize("library", one_of("kafkajs"))
def test_kafkajs(library: str) -> None:
    """Certain as long as somebody says who leads."""
    found = played(library, "RoundRobinAssigner", 1, 100, UNEVEN)
    assert found.certain == found.rounds


@pytest.mark.share(8)
@pytest.mark.parametrize("library", one_of("sarama"))
@pytest.mark.parametrize("strategy", STICKY)
def test_sarama_sticky(library: str, strategy: str) -> None:
    """Everything that comes is possible, and what is possible comes, where it is little."""
    found = played(library, strategy, TIMES, 40, SMALL)
    assert found.seen >= 0.9 * found.few


@pytest.mark.share(8)
@pytest.mark.parametrize("library", one_of("franz-go"))
@pytest.mark.parametrize("strategy", STICKY)
@pytest.mark.parametrize("kind", [USUAL, UNEVEN], ids=["usual", "uneven"])
def test_franz_go_sticky(library: str, strategy: str, kind: Kind) -> None:
    """Everything that comes is possible, and what is possible comes, where it is little."""
    found = played(library, strategy, TIMES, 40, kind)
    assert found.seen >= 0.9 * found.few


@pytest.mark.slow("the same with racks")
@pytest.mark.parametrize("library", one_of("franz-go"))
@pytest.mark.parametrize("alike", [1.0, 0.3])
def test_franz_go_range_that_balances_racks(library: str, alike: float) -> None:
    """Certain in every group."""
    ours = RACK_BALANCING["range"]
    found = played(library, "range", 1, 200, Kind(alike=alike, racks=True), ours)
    assert found.certain == found.rounds


@pytest.mark.slow("the same with racks")
@pytest.mark.parametrize("library", one_of("franz-go"))
@pytest.mark.parametrize("strategy", STICKY)
@pytest.mark.parametrize("alike", [1.0, 0.3])
def test_franz_go_sticky_that_balances_racks(library: str, strategy: str, alike: float) -> None:
    """Everything that comes is possible, and what is possible comes, where it is little."""
    kind = Kind(members=6, partitions=6, alike=alike, stale=0.1, racks=True)
    found = played(library, strategy, TIMES, 100, kind, RACK_BALANCING[strategy])
    assert found.seen >= 0.9 * found.few


@pytest.mark.parametrize("library", one_of("sarama"))
def test_sarama_gives_up_on_user_data_that_it_cannot_read(library: str) -> None:
    """Empty user data, as kafka-python and aiokafka send it, is not absent user data."""
    topics = {"t": TopicPartitions(3)}
    answers = []
    for data in (None, b"", b"\0\0\0\0", b"\0\0\0\0\0\0\0\7", b"\0\1\0\0\0\0\0\0\0\7"):
        members = [MemberSubscription("a", ("t",), user_data=data), MemberSubscription("b", ("t",))]
        request = AssignmentRequest(members, topics)
        possible = possible_answers(assignor("sticky", library), request)
        with AssignorProgram(library) as program:
            try:
                observed = program.ask("sticky", TIMES, request)
            except LeaderFailedError:
                assert [error.message for error in possible.failures]
                answers.append(False)
                continue
        assert {as_owners(one.plan) for one in observed} <= set(map(owners_of, possible.each))
        answers.append(True)
    assert answers == [True, False, True, True, False]


@pytest.mark.parametrize("library", one_of("kafkajs"))
def test_kafkajs_without_a_known_leader(library: str) -> None:
    """Any member may lead, so there is an answer for each subscription."""
    ours = assignor("RoundRobinAssigner", library)
    topics = {"t": TopicPartitions(2), "7": TopicPartitions(3)}
    members = [
        MemberSubscription("a", ("t", "7")),
        MemberSubscription("b", ("7", "t")),
        MemberSubscription("c", ("t",)),
    ]
    possible = set(map(owners_of, possible_answers(ours, AssignmentRequest(members, topics)).each))
    seen = set()
    with AssignorProgram(library) as program:
        for leader in "abc":
            request = AssignmentRequest(members, topics, leader=leader)
            (observed,) = program.ask("", 1, request)
            seen.add(as_owners(observed.plan))
            fault_topics = {fault.topic for fault in ours.assign(request).faults}
            assert fault_topics == ({"7"} if leader != "c" else set())
    assert seen == possible
    assert len(possible) == 3
    with pytest.raises(AssignorError, match="not a member"):
        ours.assign(AssignmentRequest(members, topics, leader="d"))
