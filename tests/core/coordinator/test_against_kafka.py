"""Our coordinator against Kafka 4.3.0's own, answer by answer, on random scripts.

`KGROUPS_FUZZ_OPERATIONS` and `KGROUPS_FUZZ_SEED` make it longer and different (`make fuzz`).
"""

import os
from dataclasses import dataclass, field

import pytest

from tests.core.coordinator.coverage_classic import gaps, report
from tests.core.coordinator.duel import Difference, MeantDifference, Tally, duel
from tests.core.coordinator.oracle_process import Oracle

pytestmark = pytest.mark.oracle

OPERATIONS = int(os.environ.get("KGROUPS_FUZZ_OPERATIONS", "100000"))
FIRST_SEED = int(os.environ.get("KGROUPS_FUZZ_SEED", "0"))
SCRIPT = 2500
CLASSIC_SHAPES = (
    "classic",
    "classic_big",
    "classic_static",
    "classic_offsets",
    "classic_versions",
)

# Where we do not do as 4.3.0 does; classic groups are equal throughout.
MEANT: tuple[MeantDifference, ...] = ()


@dataclass
class Outcome:
    """What a run of all scripts gave."""

    tally: Tally = field(default_factory=Tally)
    differences: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """Every script carried out on both coordinators."""
    made = Outcome()
    seed = FIRST_SEED
    with Oracle() as oracle:
        while made.tally.operations < OPERATIONS:
            for shape in CLASSIC_SHAPES:
                try:
                    duel(oracle.ask, shape, seed, SCRIPT, made.tally, MEANT)
                except Difference as difference:
                    made.differences.append(str(difference))
            seed += 1
    print(report(made.tally))
    return made


def test_every_answer_record_and_state_is_equal(outcome: Outcome) -> None:
    """No script meets a difference that is not in the table of those that are meant."""
    assert not outcome.differences, "\n\n".join(outcome.differences[:3])
    assert outcome.tally.operations >= OPERATIONS


def test_scripts_met_every_pair_of_the_tables(outcome: Outcome) -> None:
    """Each state has given each answer that it can give to each request."""
    assert gaps(outcome.tally) == []


def test_every_meant_difference_was_met(outcome: Outcome) -> None:
    """A row of the table that no script meets has no business there."""
    assert [row.name for row in MEANT if not outcome.tally.meant[row.name]] == []
