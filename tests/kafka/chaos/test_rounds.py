"""Brokers, commands, members and topics come and go while 300 groups are written to.

What is promised under failures is in docs/writes.md. `make chaos ROUNDS=30 SEED=7` plays whole
rounds: every kind of write once. Here two short ones are played on fewer groups, and no command is
held to its `--timeout`.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chaos.held import BrokenPromise
from tests.support.chaos.rounds import Case, Tally, cases_of, play
from tests.support.chaos.trio import Trio
from tests.support.chaos.world import World

ROUNDS = int(os.environ.get("KGROUPS_CHAOS_ROUNDS", "0"))
SEED = int(os.environ.get("KGROUPS_CHAOS_SEED", "1"))
GROUPS = 300 if ROUNDS else 60

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.timeout(14_400 if ROUNDS else 1_800),
    pytest.mark.slow("three brokers; the rules for what is found: tests/kafka/chaos/test_held.py"),
]

SHORT = (
    {
        "reset by a shift": "SIGSTOP a broker",
        "copy-offsets": "kill -9 a broker",
        "apply a reset": "a topic is recreated",
        "undo": "SIGKILL the command",
        "delete": "members join",
    },
    {
        "reset to an offset": "a second command",
        "delete-offsets": "SIGKILL the command",
        "resume": "the undo folder is full",
        "delete-records": "restart a broker",
    },
)
"""Every sort of disturbance, and only two starts of a broker."""

PLAYED = [list(cases_of(SEED, number)) for number in range(ROUNDS)] or [
    [Case(SEED, number, *pair) for pair in pairs.items()] for number, pairs in enumerate(SHORT)
]


@pytest.fixture(scope="module")
def world(trio: Trio) -> World:
    """Three brokers, with the groups."""
    return World(trio, GROUPS)


@pytest.fixture(scope="module")
def tally() -> Iterator[Tally]:
    """What all the rounds have done."""
    counted = Tally(bounded=bool(ROUNDS))
    yield counted
    print("", *counted.lines(), sep="\n")


@pytest.mark.parametrize("cases", PLAYED, ids=range(len(PLAYED)))
def test_a_round(world: World, tally: Tally, tmp_path: Path, cases: list[Case]) -> None:
    """Every offset is the old or the new one, all claims are true, and all can be undone."""
    broken: list[str] = []
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            play(world, case, folder, tally)
        except BrokenPromise as promise:  # the others are still of interest
            print(f"BROKEN: {promise}")
            broken.append(str(promise))
    assert not broken, "\n\n".join(broken)
