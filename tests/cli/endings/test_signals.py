"""Every command under SIGINT, SIGTERM and SIGHUP.

The moments are counted (calls, requests), so that the same is met on a busy machine, and random:
what is met then differs, and what is held does not.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from kgroups.core.sandbox.faults.fault_rules import Fault, LoseRequest
from tests.support.cli.signal_moments import environment_with, moments_in
from tests.support.endings.calls import CALLS
from tests.support.endings.choice import WHOLE, cases, share, times
from tests.support.endings.lines import LINES
from tests.support.endings.program import Program, is_over, run_program
from tests.support.endings.signals import NUMBERS, check_interrupted, hold_at_a_moment
from tests.support.endings.world import CLIENT, Place, World, random_for
from tests.support.kafka.waiting import wait_until

REQUESTS: Final = 8

CALLED = share([(name, number) for name in LINES for number in NUMBERS], each=1)
TIMED = share([(name, number) for name in LINES for number in NUMBERS], each=1, least=3)
ASKED = share(
    [(name, number) for name, line in LINES.items() if line.asks for number in NUMBERS], each=1
)


@pytest.mark.share(16)
@pytest.mark.parametrize(("name", "number"), cases(CALLED))
def test_at_a_call(world: World, name: str, number: str) -> None:
    """In the middle of whatever the program does then."""
    line = LINES[name]
    for time in times(name):
        place = world.place(line)
        at = random_for(name, number, time).randrange(1, CALLS[name])
        ending = run_program(
            world.words(line, place, 60_000),
            place.folder,
            env=environment_with(f"{number}:call:{at}", **world.settings(place)),
            meanwhile=ended_by(place, number) if line.kind in ("server", "watch") else None,
        )
        check_interrupted(world, line, place, number, ending)


def test_calls_are_those_that_were_counted(world: World) -> None:
    """Of one line, or of each: one that calls half as many was made shorter since."""
    assert CALLS.keys() == LINES.keys()
    ending = [name for name, line in LINES.items() if not line.kind]
    for name in ending if WHOLE else ["describe"]:
        line = LINES[name]
        place = world.place(line)
        file = place.folder / "moments"
        ran = run_program(
            world.words(line, place, 60_000),
            place.folder,
            env=environment_with(SIGNAL_COUNT=str(file), **world.settings(place)),
        )
        assert ran.code == 0, ran
        assert 0.5 < moments_in(file)["call"] / CALLS[name] < 2, name


@pytest.mark.share(16)
@pytest.mark.parametrize(("name", "number"), cases(TIMED))
def test_at_a_moment(world: World, name: str, number: str) -> None:
    """A random time after the program has begun."""
    for time in times(name):
        hold_at_a_moment(world, name, number, time)


@pytest.mark.share(16)
@pytest.mark.parametrize(("name", "number"), cases(ASKED))
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
        check_interrupted(world, line, place, number, ending, may_fail=line.writes is not None)


def told_when(lost: Fault, place: Place, number: str) -> Callable[[Program], None]:
    """Sends the signal as soon as a request is lost, or the program has written its answer."""

    def tell(process: Program) -> None:
        wait_until(
            lambda: lost.hits or is_over(process) or wrote(place.folder / "stdout"),
            "the program waits for an answer that is lost",
            timeout_s=240,
        )
        os.kill(process.pid, signal.Signals[number])

    return tell


def ended_by(place: Place, number: str) -> Callable[[Program], None]:
    """Sends the signal once more when there is output: the moment may be one that never came."""

    def tell(process: Program) -> None:
        wait_until(
            lambda: is_over(process) or wrote(place.folder / "stdout"),
            "the program has ended, or shown something",
            timeout_s=240,
        )
        os.kill(process.pid, signal.Signals[number])

    return tell


def wrote(file: Path) -> bool:
    """Whether something is in a file."""
    return file.exists() and file.stat().st_size > 0
