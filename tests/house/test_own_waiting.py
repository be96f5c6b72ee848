"""What counts as waiting, where a test holds the time that something takes against a promise."""

import ast
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.own_waiting import OwnWaiting

TESTS = Path(__file__).parents[1]
HANGS_S = 60
"""What takes longer hangs; what takes less may be kept from a processor."""


CLOCKS = ("monotonic()", "perf_counter()")


def tight_bounds(text: str) -> Iterator[int]:
    """Lines where time on the clock is held below a number of seconds too small to mean a hang."""
    if not any(name in text for name in CLOCKS):
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.BinOp):
            continue
        if not any(name in ast.unparse(node.left) for name in CLOCKS):
            continue
        for operator, bound in zip(node.ops, node.comparators, strict=True):
            tight = not isinstance(bound, ast.Constant) or float(str(bound.value)) < HANGS_S
            if isinstance(operator, ast.Lt | ast.LtE) and tight:
                yield node.lineno


def test_no_bound_on_the_clock_but_what_ends_hangs() -> None:
    """A promise about time is held against the program's own waiting."""
    found = [
        f"{file.relative_to(TESTS)}:{line}"
        for file in sorted(TESTS.rglob("*.py"))
        for line in tight_bounds(file.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("assert time.monotonic() - start < 10", [1]),
        ("assert time.monotonic() - start <= limit_s + 2", [1]),
        ("assert time.monotonic() - start < 120", []),
        ("assert time.monotonic() - start >= 0.3", []),
        ("assert waiting.seconds < 2", []),
        ("assert first + second == 'text'", []),
    ],
)
def test_the_search_itself(text: str, lines: list[int]) -> None:
    """It finds what it looks for and nothing else."""
    assert list(tight_bounds(text)) == lines


def test_waiting_counts_and_work_does_not() -> None:
    """A wait counts in full; half a second of work, and whatever it is kept from, does not."""
    with OwnWaiting() as idle:
        threading.Event().wait(0.2)
    assert idle.seconds > 0.15
    with OwnWaiting() as busy:
        end = time.thread_time() + 0.5
        while time.thread_time() < end:
            pass
    assert busy.seconds < 0.25
