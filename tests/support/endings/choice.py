"""Which cases of a crossing are run: all of them, or a share in which everything occurs."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from tests.support.endings.lines import LINES, Line
from tests.support.endings.world import random_for

HEAVY: Final = pytest.mark.slow("a JVM of its own; other lines meet the same in every run")
WHOLE = os.environ.get("KGROUPS_ENDINGS") == "all"


def share(pairs: Sequence[tuple[str, str]], *, each: int, least: int = 2) -> list[tuple[str, str]]:
    """Pairs of a line and a condition: all, or so many of each line.

    Args:
        pairs: all there are.
        each: how many conditions of each line; of a heavy one only one.
        least: how many lines of each condition, at the least.
    """
    if WHOLE:
        return list(pairs)
    mixed = list(pairs)
    random_for("share", len(pairs)).shuffle(mixed)
    lines: dict[str, int] = {}
    conditions: dict[str, int] = {}
    chosen = []
    for line, condition in sorted(mixed, key=lambda pair: LINES[pair[0]].kind == "heavy"):
        is_heavy = LINES[line].kind == "heavy"
        if lines.get(line, 0) < (1 if is_heavy else each) or (
            conditions.get(condition, 0) < least and not is_heavy
        ):
            lines[line] = lines.get(line, 0) + 1
            conditions[condition] = conditions.get(condition, 0) + 1
            chosen.append((line, condition))
    return sorted(chosen)


def times(line: str) -> range:
    """How often a case of this line is tried, with other random numbers each time."""
    return range(3 if WHOLE and LINES[line].kind != "heavy" else 1)


def cases(pairs: Sequence[tuple[str, str]]) -> list[Any]:
    """The pairs as cases of a test, named by a sentence; those of heavy lines are slow."""
    return [
        pytest.param(
            line,
            condition,
            id=f"{line}, {condition}",
            marks=HEAVY if LINES[line].kind == "heavy" else (),
        )
        for line, condition in pairs
    ]


def lines_where(**wanted: object) -> Mapping[str, Line]:
    """The lines with these attributes."""
    return {
        name: line
        for name, line in LINES.items()
        if all(getattr(line, key) == value for key, value in wanted.items())
    }
