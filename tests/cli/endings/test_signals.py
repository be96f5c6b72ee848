"""Every command under SIGINT, SIGTERM and SIGHUP.

The moments are counted (calls, requests), so that the same is met on a busy machine, and random:
what is met then differs, and what is held does not.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

import pytest

from kgroups.core.sandbox.faults.fault_rules import Fault, LoseRequest
from tests.support.cli.signal_moments import environment_with
from tests.support.endings.choice import names_of, share, times
from tests.support.endings.held import check_words, check_writes, errors_in
from tests.support.endings.lines import LINES, Line
from tests.support.endings.program import (
    Ending,
    Program,
    await_handlers,
    goes_on_for,
    is_over,
    run_program,
)
from tests.support.endings.world import CLIENT, Place, World, random_for, seed
from tests.support.kafka.waiting import wait_until

NUMBERS: Final = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
CALLS: Final = 90_000
"""So many functions, or somewhat fewer, are called by a line that asks a cluster."""
REQUESTS: Final = 8
LONGEST_S: Final = {"": 2.0, "heavy": 30.0}
"""Most lines are through by then, counted from when they handle signals."""

CALLED = share([(name, number) for name in LINES for number in NUMBERS], each=1)
TIMED = share([(name, number) for name in LINES for number in NUMBERS], each=1, least=3)
ASKED = share(
    [(name, number) for name, line in LINES.items() if line.asks for number in NUMBERS], each=1
)


def moment_s(random: Random, line: Line) -> float:
    """A random moment, early ones as likely as late ones: a millisecond counts at the start."""
    longest_s = LONGEST_S.get(line.kind, LONGEST_S[""])
    return float(0.001 * (longest_s / 0.001) ** random.random())


def allowed(line: Line, number: str) -> set[int]:
    """Exit codes of a line that is told to end: the signal's, or its own if it was done before."""
    if line.kind == "watch" and number == "SIGINT":  # that is how one ends it
        return {0, 130}
    return {0, NUMBERS[number]}


def check(world: World, line: Line, place: Place, number: str, ending: Ending) -> None:
    """It ended as it should, silently, and nothing is lost."""
    check_words(ending, place)
    assert ending.code in allowed(line, number), ending
    assert not errors_in(ending), ending
    check_writes(world, line, place, ending)


@pytest.mark.parametrize(("name", "number"), CALLED, ids=names_of(CALLED))
def test_at_a_call(world: World, name: str, number: str) -> None:
    """In the middle of whatever the program does then."""
    line = LINES[name]
    for time in times(name):
        place = world.place(line)
        at = random_for(name, number, time).randrange(1, CALLS)
        ending = run_program(
            world.words(line, place, 60_000),
            place.folder,
            env=environment_with(f"{number}:call:{at}", **world.settings(place)),
            meanwhile=ended_by(place, number) if line.kind in ("server", "watch") else None,
        )
        check(world, line, place, number, ending)


@pytest.mark.parametrize(("name", "number"), TIMED, ids=names_of(TIMED))
def test_at_a_moment(world: World, name: str, number: str) -> None:
    """A random time after the program has begun."""
    line = LINES[name]
    for time in times(name):
        place = world.place(line)
        moment = moment_s(random_for("moment", name, number, time), line)
        print(f"KGROUPS_ENDINGS_SEED={seed()}: {number} after {moment:.3f} s")
        ending = run_program(
            world.words(line, place, 60_000),
            place.folder,
            env=world.environment(place),
            meanwhile=told_at(moment, number),
        )
        check(world, line, place, number, ending)


def told_at(moment: float, number: str) -> Callable[[Program], None]:
    """Sends the signal so many seconds after the program handles signals, if it is still there."""

    def tell(process: Program) -> None:
        await_handlers(process)
        if goes_on_for(process, moment):
            os.kill(process.pid, signal.Signals[number])

    return tell


@pytest.mark.parametrize(("name", "number"), ASKED, ids=names_of(ASKED))
def test_at_a_request(world: World, name: str, number: str) -> None:
    """While the cluster does not answer: a read ends at once, a write says what became of it."""
    line = LINES[name]
    for time in times(name):
        place = world.place(line)
        skip = random_for(name, number, time).randrange(REQUESTS)
        lost = Fault(client=CLIENT, action=LoseRequest(), skip=skip, times=None)
        world.sandbox.add_fault(lost)
        try:
            ending = run_program(
                world.words(line, place, 3_000 if line.writes else 120_000),
                place.folder,
                env=world.environment(place),
                meanwhile=told_when(lost, place, number),
            )
        finally:
            world.sandbox.clear_faults()
        check(world, line, place, number, ending)


def told_when(lost: Fault, place: Place, number: str) -> Callable[[Program], None]:
    """Sends the signal as soon as a request is lost, or the program has written its answer."""

    def tell(process: Program) -> None:
        wait_until(
            lambda: lost.hits or is_over(process) or wrote(place.folder / "stdout"),
            "the program waits for an answer that is lost",
            timeout_s=120,
        )
        os.kill(process.pid, signal.Signals[number])

    return tell


def ended_by(place: Place, number: str) -> Callable[[Program], None]:
    """Sends the signal once more when there is output: the moment may be one that never came."""

    def tell(process: Program) -> None:
        wait_until(
            lambda: is_over(process) or wrote(place.folder / "stdout"),
            "the program has ended, or shown something",
            timeout_s=120,
        )
        os.kill(process.pid, signal.Signals[number])

    return tell


def wrote(file: Path) -> bool:
    """Whether something is in a file."""
    return file.exists() and file.stat().st_size > 0
