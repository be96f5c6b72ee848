"""When `wait` and `check --for` look again."""

import itertools

import pytest

from kgroups.cli.commands.gates.polling import FIRST_MS, LONGEST_MS, Polls, parse_wait_ms
from kgroups.core.errors import UsageError


class Clock:
    """A clock that only rests move, and looks that take time."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def rest(self, seconds: float) -> None:
        """The time passes."""
        self.now_s += seconds


def looks(for_ms: int, *, took_ms: int = 0, due: dict[int, float] | None = None) -> list[int]:
    """When looks are taken, in milliseconds.

    Args:
        took_ms: how long each takes.
        due: number of a look and when it asks for the next one.
    """
    clock = Clock()
    polls = Polls(for_ms, clock.rest, lambda: clock.now_s)
    found = []
    for at_ms in polls:
        found.append(round(at_ms))
        clock.now_s += took_ms / 1_000
        polls.look_at((due or {}).get(polls.count))
    return found


def test_intervals_grow() -> None:
    """From half a second on, up to the longest; the last look is at the deadline."""
    found = looks(120_000)
    assert found[:4] == [0, 500, 1_250, 2_375]
    gaps = [late - early for early, late in itertools.pairwise(found)]
    assert gaps[:-1] == sorted(gaps[:-1])
    assert max(gaps) <= LONGEST_MS + FIRST_MS
    assert found[-1] == 120_000


@pytest.mark.parametrize("for_ms", [1, 400, 500, 501, 999, 1_000, 1_700, 2_400, 60_000])
@pytest.mark.parametrize("took_ms", [0, 300, 700, 20_000])
def test_at_most_twice_a_second(for_ms: int, took_ms: int) -> None:
    """However long a look takes, and one is taken at the deadline or just before it."""
    found = looks(for_ms, took_ms=took_ms)
    gaps = [late - early for early, late in itertools.pairwise(found)]
    assert all(gap >= FIRST_MS for gap in gaps)
    assert found[-1] + FIRST_MS > for_ms


def test_a_look_that_is_asked_for() -> None:
    """It is taken then, but never sooner than half a second after the one before."""
    assert 3_000 in looks(60_000, due={4: 3_000.0})
    assert looks(60_000, due={1: 10.0})[1] == FIRST_MS


def test_times_to_wait() -> None:
    """Durations; a bare number is seconds."""
    assert parse_wait_ms("2m") == 120_000
    assert parse_wait_ms("2") == 2_000
    for text in ("0s", "8d", "soon"):
        with pytest.raises(UsageError, match=r"is not a duration|is out of range"):
            parse_wait_ms(text)
