"""A command that is told to end at a random moment: its exit code, and what is lost."""

import os
import signal
from collections.abc import Callable
from random import Random
from typing import Final

from tests.support.endings.held import check_words, check_writes, errors_in
from tests.support.endings.lines import LINES, Line
from tests.support.endings.program import (
    Ending,
    Program,
    await_handlers,
    goes_on_for,
    run_program,
)
from tests.support.endings.world import Place, World, random_for, seed

NUMBERS: Final = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
LONGEST_S: Final = {"": 2.0, "heavy": 30.0}
"""Most lines are through by then, counted from when they handle signals."""


def moment_s(random: Random, line: Line) -> float:
    """A random moment, early ones as likely as late ones: a millisecond counts at the start."""
    longest_s = LONGEST_S.get(line.kind, LONGEST_S[""])
    return float(0.001 * (longest_s / 0.001) ** random.random())


def allowed(line: Line, number: str) -> set[int]:
    """Exit codes of a line that is told to end: the signal's, or its own if it was done before."""
    if line.kind == "watch" and number == "SIGINT":  # that is how one ends it
        return {0, 130}
    return {0, NUMBERS[number]}


def check_interrupted(
    world: World, line: Line, place: Place, number: str, ending: Ending, *, may_fail: bool = False
) -> None:
    """It ended as it should, silently, and nothing is lost.

    Args:
        may_fail: a write that was interrupted has a failure to tell, too.
    """
    check_words(ending, place)
    assert ending.code in allowed(line, number), ending
    assert may_fail or not errors_in(ending), ending
    check_writes(world, line, place, ending)


def hold_at_a_moment(world: World, name: str, number: str, time: int) -> None:
    """It ends as it should when the signal comes a random time after it has begun."""
    line = LINES[name]
    place = world.place(line)
    moment = moment_s(random_for("moment", name, number, time), line)
    print(f"KGROUPS_ENDINGS_SEED={seed()}: {number} after {moment:.3f} s")
    ending = run_program(
        world.words(line, place, 60_000),
        place.folder,
        env=world.environment(place),
        meanwhile=told_at(moment, number),
    )
    check_interrupted(world, line, place, number, ending)


def told_at(moment: float, number: str) -> Callable[[Program], None]:
    """Sends the signal so many seconds after the program handles signals, if it is still there."""

    def tell(process: Program) -> None:
        await_handlers(process)
        if goes_on_for(process, moment):
            os.kill(process.pid, signal.Signals[number])

    return tell
