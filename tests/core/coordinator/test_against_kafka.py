"""Our coordinator against Kafka's own of each release, answer by answer, on random scripts.

`KGROUPS_FUZZ_OPERATIONS` and `KGROUPS_FUZZ_SEED` make it longer and different (`make fuzz`).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from kgroups.core.coordinator.releases import RELEASES, Rule
from tests.support.coordinator import coverage_classic, coverage_kip848
from tests.support.coordinator.answer_comparison import comparable
from tests.support.coordinator.both_coordinators import Both
from tests.support.coordinator.meant_differences import MEANT, MeantDifference
from tests.support.coordinator.operations import config, heartbeat, topics
from tests.support.coordinator.oracle_comparison import Difference, Tally, compare_with_oracle
from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.oracle_process import FIRST_RELEASE, Oracles
from tests.support.coordinator.rule_scripts import RULE_SCRIPTS

pytestmark = pytest.mark.oracle

MANY = pytest.param(
    100_000,
    marks=[
        pytest.mark.slow("two minutes of scripts; fewer of each shape are in every run"),
        pytest.mark.timeout(3600),  # on a busy machine
    ],
)
GIVEN = os.environ.get("KGROUPS_FUZZ_OPERATIONS")
# It takes the many to meet every pair of states and answers.
CLASSIC_OPERATIONS = [int(GIVEN)] if GIVEN else [2_000, MANY]
CONSUMER_OPERATIONS = [int(GIVEN)] if GIVEN else [3_600, MANY]
FIRST_SEED = int(os.environ.get("KGROUPS_FUZZ_SEED", "0"))
# Of the newest release: a script of each shape. What those between have of their own are rules.
NEWEST = str(RELEASES[-1])
LATER_OPERATIONS = [int(GIVEN)] if GIVEN else [1_400, MANY]
BETWEEN = [
    pytest.param(
        str(one),
        marks=pytest.mark.slow("the newest, and all rules by their scripts, are in every run"),
    )
    for one in RELEASES[1:-1]
]
SCRIPT = 2500
CLASSIC_SHAPES = (
    "classic",
    "classic_big",
    "classic_static",
    "classic_offsets",
    "classic_versions",
)
CONSUMER_SHAPES = (
    "kip848",
    "kip848_static",
    "regex",
    "topics",
    "mixed",
    "mixed_down",
    "raw",
    "versions",
    "offsets",
)


@dataclass
class Outcome:
    """What a run of all scripts gave."""

    tally: Tally = field(default_factory=Tally)
    differences: list[str] = field(default_factory=list)


def carry_out(
    oracles: Oracles, shapes: tuple[str, ...], operations: int, release: str = FIRST_RELEASE
) -> Outcome:
    """Scripts of these shapes on both coordinators, until there were so many operations."""
    made = Outcome()
    seed = FIRST_SEED
    rounds = -(-operations // (len(shapes) * SCRIPT))
    script = -(-operations // (len(shapes) * rounds))
    ask = oracles(release).ask
    while made.tally.operations < operations:
        for shape in shapes:
            try:
                compare_with_oracle(ask, shape, seed, script, made.tally, MEANT, release)
            except Difference as difference:
                made.differences.append(str(difference))
        seed += 1
    return made


@pytest.fixture(scope="module", params=CLASSIC_OPERATIONS)
def classic(request: pytest.FixtureRequest, oracles: Oracles) -> Outcome:
    """Every script of classic groups carried out on both coordinators."""
    made = carry_out(oracles, CLASSIC_SHAPES, request.param)
    print(coverage_classic.report(made.tally))
    return made


@pytest.fixture(scope="module", params=CONSUMER_OPERATIONS)
def consumer(request: pytest.FixtureRequest, oracles: Oracles) -> Outcome:
    """Every script with consumer groups carried out on both coordinators."""
    made = carry_out(oracles, CONSUMER_SHAPES, request.param)
    print(coverage_kip848.report(made.tally))
    return made


def test_every_answer_of_a_classic_group_is_equal(classic: Outcome) -> None:
    """No script meets a difference that is not in the table of those that are meant."""
    assert not classic.differences, "\n\n".join(classic.differences[:3])


@pytest.mark.parametrize("classic", CLASSIC_OPERATIONS[-1:], indirect=True)
def test_scripts_of_classic_groups_met_every_pair(classic: Outcome) -> None:
    """Each state has given each answer that it can give to each request."""
    assert coverage_classic.gaps(classic.tally) == []


def test_every_answer_of_a_consumer_group_is_equal(consumer: Outcome) -> None:
    """The same for KIP-848, and for groups with members of both protocols."""
    assert not consumer.differences, "\n\n".join(consumer.differences[:3])


@pytest.mark.parametrize("consumer", CONSUMER_OPERATIONS[-1:], indirect=True)
def test_scripts_of_consumer_groups_met_every_pair(consumer: Outcome) -> None:
    """Each state has given each answer, and members of each state have been heard."""
    assert coverage_kip848.gaps(consumer.tally) == []


@pytest.mark.parametrize("release", [*BETWEEN, NEWEST])
@pytest.mark.parametrize("operations", LATER_OPERATIONS)
def test_every_answer_of_a_later_release_is_equal(
    oracles: Oracles, release: str, operations: int
) -> None:
    """By both protocols; only the rules of `releases.Rule` are others than before."""
    made = carry_out(oracles, CLASSIC_SHAPES + CONSUMER_SHAPES, operations, release)
    assert not made.differences, "\n\n".join(made.differences[:3])


@pytest.mark.parametrize("rule", Rule, ids=lambda rule: rule.name.lower())
def test_a_rule_is_new_in_its_release(oracles: Oracles, rule: Rule) -> None:
    """The last answer to its script is another one than the release before gave, in both."""
    before = RELEASES[RELEASES.index(rule.since) - 1]
    script = RULE_SCRIPTS[rule]
    old, new = (last_equal_answer(oracles, str(one), script) for one in (before, rule.since))
    assert comparable(old) != comparable(new)


def last_equal_answer(oracles: Oracles, release: str, script: Sequence[Json]) -> Json:
    """Kafka's answer to the last operation of a script, all of which ours answers as it does."""
    both = Both(oracles(release).ask, release)
    return [both.equal(op) for op in script][-1]


@pytest.mark.parametrize("offload", ["true", "false"])
def test_the_newest_computes_a_target_within_the_heartbeat(oracles: Oracles, offload: str) -> None:
    """4.4 has a setting by which the assignor would run in the background: nothing reads it yet."""
    script = (
        config(group_consumer_assignor_offload_enable=offload),
        topics(t=2),
        heartbeat("m1", 0, subscribedTopicNames=["t"]),
    )
    told = last_equal_answer(oracles, NEWEST, script)["response"]["assignment"]
    assert len(told["topicPartitions"][0]["partitions"]) == 2


@pytest.mark.parametrize("row", MEANT, ids=lambda row: row.name)
def test_a_meant_difference_is_one(oracles: Oracles, row: MeantDifference) -> None:
    """Each row's own script is answered equally up to the end, and there as the row says."""
    both = Both(oracles(FIRST_RELEASE).ask)
    for op in row.script[:-1]:
        both.equal(op)
    sent, theirs, mine = both.answers(row.script[-1])
    want, got = comparable(theirs), comparable(mine)
    assert want != got
    assert row.covers({**sent, "pre": theirs.get("pre", "")}, want, got), (want, got)
