"""Reports over random captures, figure by figure, beside plain Python.

A share of it by a fixed seed; `make fuzz WHAT=lag` has any number: KGROUPS_FUZZ_HISTORIES clusters
with a history each, KGROUPS_FUZZ_SEED.
"""

import os
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any, cast

from kgroups.core.lag.report import LagQuery, LagReport
from kgroups.core.lag.report_columns import report_columns
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.figure_differences import differences
from tests.support.lag.odd_history import Capture
from tests.support.lag.plain_truth import KEYS, LEVELS, Asked, truth

HISTORIES = int(os.environ.get("KGROUPS_FUZZ_HISTORIES", "12"))
SEED = int(os.environ.get("KGROUPS_FUZZ_SEED", "17"))
IS_FUZZ = "KGROUPS_FUZZ_HISTORIES" in os.environ
SHOWN = 12
ISOLATIONS = ("read_uncommitted", "read_committed")


def choices(
    states: Iterable[str], windows: Iterable[tuple[int, int]], step: int
) -> list[tuple[str, Asked]]:
    """What is asked of which state of the files: everything, or each so many-th.

    Args:
        step: one that walks through all of each kind.
    """
    every = [
        (state, Asked(by, *window, isolation, uncommitted))
        for by, state, window, isolation, uncommitted in product(
            KEYS, states, windows, ISOLATIONS, (None, "start", "end")
        )
    ]
    return every if IS_FUZZ else every[::step]


class Checks:
    """Reports beside plain Python.

    Attributes:
        named: what the columns that name figures of roll-ups have said.
    """

    def __init__(self, engine: dict[str, Any]) -> None:
        self.named: dict[str, set[str | None]] = {level: set() for level in LEVELS}
        self._engine, self._compared = engine, 0
        self._wrong: list[tuple[Any, ...]] = []

    def check(
        self,
        folder: Path,
        captures: list[Capture],
        asked: Asked,
        rolled_up: Callable[[Capture], str | None] = lambda _: None,
    ) -> LagReport:
        """One report.

        Args:
            rolled_up: as in `plain_truth.truth`.
        """
        items, summary = truth(captures, asked, rolled_up)
        query = LagQuery(
            by=asked.by,
            top=100_000,
            isolation=cast("Isolation", asked.isolation),
            uncommitted=cast("Uncommitted | None", asked.uncommitted),
        )
        report = lag_report_over(
            folder,
            query,
            since_ms=asked.since_ms,
            until_ms=asked.until_ms,
            **self._engine,
        )
        assert report.columns == report_columns(query, "captures")
        for level, named in self.named.items():
            named |= {item[level] for item in report.items}
        count, found = differences(report.items, items, KEYS[asked.by])
        self._compared += count + len(summary)
        found += [
            ("summary", name, report.summary[name], value)
            for name, value in summary.items()
            if report.summary[name] != value
        ]
        self._wrong += [(folder.name, tuple(asked), *difference) for difference in found]
        return report

    def end(self) -> None:
        """Fails where a figure differed."""
        wrong = self._wrong
        print(f"{self._compared:,} figures compared, {len(wrong):,} differ")
        lines = "\n".join(map(repr, wrong[:SHOWN]))
        assert not wrong, f"{len(wrong):,} of {self._compared:,} figures differ:\n{lines}"
