"""Ids that come to the same are not played again: plans are what they would be if they were."""

import json
import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from kgroups.assignors.other_clients.choices import possible_answers
from kgroups.assignors.other_clients.user_data import encode_kafka_python_data
from kgroups.assignors.wire import encode_cooperative_data, encode_sticky_data
from kgroups.core.errors import KgroupsError
from kgroups.core.planning.changes.kinds import AddMembers, Change, RemoveMember
from kgroups.core.planning.moves import ownership
from kgroups.core.planning.outcomes import search
from kgroups.core.planning.outcomes.outcome import Failure, Outcome, Outcomes, Settled, gathered
from kgroups.core.planning.outcomes.repeats import Remembered, Sightings
from kgroups.core.planning.outcomes.search import Effort
from kgroups.core.planning.plan import plan_group
from kgroups.core.planning.plan_item import plan_item
from kgroups.core.snapshot import ClusterSnapshot, Group
from tests.support.planning.small_groups import cluster_of, group_of, member

GROUPS: Final = 10
FEW: Final = 64  # runs
EVERY: Final = 5_000
JAVA: Final = (("java", "sticky"), ("java", "cooperative-sticky"))
OTHERS: Final = (
    ("kafka-python", "sticky"),
    ("aiokafka", "sticky"),
    ("librdkafka", "cooperative-sticky"),
)


@dataclass
class Watched:
    """What was played, and what was not.

    Args:
        rounds: that were played.
        decided: in how many of them the order in hash tables did.
        spared: how often something was remembered.
    """

    rounds: int = 0
    decided: int = 0
    spared: int = 0
    remembers: bool = field(default=True)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Counts, and lets nothing be remembered where that is wanted."""
    seen = Watched()
    add, of = Sightings.add, Remembered.of

    def counted(self: Sightings, *args: object) -> None:
        before = len(self.rounds)
        add(self, *args)  # type: ignore[arg-type]
        seen.decided += len(self.rounds) - before

    def remembered(self: Remembered[object], *args: object) -> object:
        found = of(self, *args) if seen.remembers else None  # type: ignore[arg-type]
        seen.spared += found is not None
        return found

    def played(*args: object) -> object:
        seen.rounds += 1
        return possible_answers(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(Sightings, "add", counted)
    monkeypatch.setattr(Remembered, "of", remembered)
    monkeypatch.setattr("kgroups.core.planning.settle.possible_answers", played)
    return seen


def data_of(library: str, strategy: str, runs: Sequence[tuple[str, Sequence[int]]]) -> bytes:
    """What a member of the library says of what it has."""
    if library == "java" and strategy == "cooperative-sticky":
        return encode_cooperative_data(3)
    if library == "kafka-python":
        return encode_kafka_python_data(runs, 3)
    return encode_sticky_data(runs, -1 if library == "aiokafka" else 3)


def random_group(
    dice: random.Random, library: str, strategy: str
) -> tuple[ClusterSnapshot, Group, list[Change]]:
    """A group that is not always even, and members that join it, or leave as well."""
    topics = {name: dice.randint(2, 7) for name in "tu"[: dice.randint(1, 2)]}
    names = [f"{dice.choice('abc')}{n}" for n in range(dice.randint(2, 4))]
    held: dict[str, dict[str, list[int]]] = {name: {t: [] for t in topics} for name in names}
    for topic, count in topics.items():
        for number in range(count):
            held[dice.choice(names)][topic].append(number)
    group = group_of(
        *(
            member(
                f"{name}-{dice.getrandbits(32):08x}",
                {topic: numbers for topic, numbers in each.items() if numbers},
                topics=sorted(topics),
                client_id=name,
                user_data=data_of(library, strategy, list(each.items())),
                version=0 if library in ("kafka-python", "aiokafka") else 3,
            )
            for name, each in held.items()
        ),
        assignor=strategy,
    )
    changes: list[Change] = [AddMembers(count=dice.randint(1, 2), client_id=dice.choice(names))]
    if dice.random() < 0.3:
        changes.append(RemoveMember((group.members or ())[0].member_id))
    return cluster_of(group, topics), group, changes


@pytest.mark.share(4)
@pytest.mark.parametrize(("library", "strategy"), [*JAVA, *OTHERS])
def test_what_is_remembered_changes_no_plan(library: str, strategy: str, watched: Watched) -> None:
    """Byte for byte; draws are spared, and for Java the order of hashes decided some rounds."""
    rounds = {True: 0, False: 0}
    for seed in range(GROUPS):
        items = {}
        for watched.remembers in (True, False):
            before = watched.rounds
            case = random_group(random.Random(f"{strategy}/{seed}"), library, strategy)
            items[watched.remembers] = json.dumps(plan_item(plan_group(*case, leader=library)))
            rounds[watched.remembers] += watched.rounds - before
        assert items[True] == items[False], seed
    assert watched.spared
    assert bool(watched.decided) == (library == "java")
    assert rounds[True] < rounds[False]


def test_two_that_join_a_cooperative_group_of_java_are_soon_planned(watched: Watched) -> None:
    """One of every order of the texts is played, not one of every order of the tables."""
    held = [{"t": range(n, 12, 4), "u": range(n, 12, 4)} for n in range(4)]
    dice = random.Random(3)
    drawn = [uuid.UUID(int=dice.getrandbits(128), version=4) for _ in range(4)]
    group = group_of(
        *(member(f"app-{n}-{drawn[n]}", each, client_id=f"app-{n}") for n, each in enumerate(held)),
        assignor="cooperative-sticky",
    )
    changes = [AddMembers(count=2, client_id="app-0")]
    plan = plan_group(cluster_of(group, {"t": 12, "u": 12}), group, changes, leader="java")
    assert len(plan.outcomes.each) == 2
    assert plan.confidence == "outcomes"  # though there are more orders than may be played
    assert watched.rounds < 100


@pytest.mark.share(4)
@pytest.mark.parametrize(("library", "strategy"), JAVA)
def test_what_is_complete_has_every_outcome(
    library: str, strategy: str, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of few runs, where that is said, as of one run for each order that ids may be in."""
    monkeypatch.setattr(search, "MOST_ROUNDS", EVERY * EVERY)
    compared = 0
    for seed in range(5, 17):  # some of each strategy have very many orders
        case = random_group(random.Random(f"{strategy}/{seed}"), library, strategy)
        found = {}
        watched.remembers, spared = True, watched.spared
        for runs in (FEW, EVERY):
            found[runs] = plan_group(*case, leader=library, effort=Effort(runs=runs)).outcomes
            if not found[FEW].complete or watched.spared == spared:
                break
            watched.remembers = False
        else:
            compared += watched.spared - spared > FEW
            assert found[EVERY].complete
            assert shares_of(found[FEW]) == shares_of(found[EVERY])
    assert compared


def shares_of(outcomes: Outcomes) -> dict[object, Any]:
    """How likely each end is."""
    return {ownership(each.settled.shares): pytest.approx(each.weight) for each in outcomes.each}


def test_equally_likely_ends_have_the_same_rank() -> None:
    """Failures among them; which of these stands first says nothing."""
    settled = [Settled({"a": {"t": (number,)}}, (), ()) for number in range(3)]
    ends = [Outcome(settled[0], 0.3), Outcome(settled[1], 0.1), Outcome(settled[2], 0.300000001)]
    failure = Failure(KgroupsError("it fails"), 0.3)
    outcomes = gathered(ends, [failure], complete=True)
    assert outcomes.ranks() == [1, 1, 4, 1]
