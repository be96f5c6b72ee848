"""Deadlines and rounds, on a clock of the test's own."""

import asyncio
import itertools
from types import SimpleNamespace

import pytest

from kgroups.core.kafka import deadline
from kgroups.core.kafka.deadline import Attempts, Deadline


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in its only element; sleeping sets it forward."""
    now = [1_000.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    async def sleep_later(seconds: float) -> None:
        now[0] += seconds

    known = SimpleNamespace(monotonic=lambda: now[0], sleep=sleep)
    monkeypatch.setattr(deadline, "time", known)
    monkeypatch.setattr(deadline, "asyncio", SimpleNamespace(sleep=sleep_later))
    return now


def test_parts(clock: list[float]) -> None:
    """A part is of what is left, and nothing is left afterwards."""
    end = Deadline.after(9_000)
    assert end.part(2 / 3).at == 1_006.0
    assert (end.share(1), end.share(2)) == (1_009.0, 1_004.5)
    clock[0] = 1_008.0
    assert (end.left_s, end.part(1 / 2).at) == (1.0, 1_008.5)
    clock[0] = 1_020.0
    assert (end.left_s, end.part(1 / 2).at, end.is_over) == (0.0, 1_020.0, True)


def test_stopped(clock: list[float]) -> None:
    """While a user thinks, no time passes."""
    end = Deadline.after(9_000)
    with end.stopped():
        clock[0] += 3_600
    assert end.left_s == 9.0


@pytest.mark.parametrize(("whole", "end"), [(False, 1_005.0), (True, 1_010.0)])
def test_attempts(clock: list[float], *, whole: bool, end: float) -> None:
    """At once, then with pauses that grow to a second, and none that ends after the time."""
    began = list[float]()
    for number in Attempts(Deadline.after(10_000), whole=whole):
        began.append(clock[0])
        assert number == len(began)
    assert began[0] == 1_000.0
    assert end - 1.2 <= began[-1] <= end
    pauses = [after - before for before, after in itertools.pairwise(began)]
    assert 0.04 <= pauses[0] <= 0.06
    assert max(pauses) <= 1.2


def test_attempts_of_coroutines(clock: list[float]) -> None:
    """The same for who must not block."""

    async def count() -> int:
        return len([number async for number in Attempts(Deadline.after(10_000), whole=True)])

    assert asyncio.run(count()) > 5
    assert clock[0] <= 1_010.0
