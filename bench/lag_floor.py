"""Reports on few rows beside the floor: a session as ours, and one trivial query.

Run as a program it is the floor.
"""

import json
import os
import statistics
import sys
import tempfile
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from bench.lag_captures import PARTITIONS, START_MS, STEP_MS, captures_of
from bench.lag_cases import (
    TIMEOUT_S,
    TOP,
    duckdb_command,
    line_of,
    must_agree,
    must_agree_with_duckdb,
    over_arguments,
)
from bench.lag_measure import TreeRun, kgroups_command, run_tree
from bench.lag_results import Line
from bench.lag_snapshot import snapshot_of
from bench.lag_year import DAY_MS, FIRST_MS, RECORDS_A_DAY, days_of, lag_of

ROUNDS = 3


@dataclass(frozen=True)
class LiveBesideFloor:
    """`lag report --from` of a small cluster; its rows are those of Spark's defaults.

    Args:
        max_times: how many times the floor ours may take.
    """

    groups: int
    max_times: float

    def __call__(self, name: str) -> Line:
        """Once to make the archive, then by turns."""
        path = str(snapshot_of(self.groups))
        command = kgroups_command("lag", "report", "--from", path, "--top", str(TOP), "-o", "json")
        defaults = run_tree([sys.executable, "-m", "bench.lag_snapshot", path, str(TOP)], TIMEOUT_S)

        def compare(answer: str) -> None:
            must_agree(name, json.loads(answer)["items"], json.loads(defaults.stdout))

        return _beside_floor(name, command, compare, self.max_times)


@dataclass(frozen=True)
class CapturesBesideFloor:
    """`lag report --captures` on few rows; its answer is DuckDB's.

    Args:
        max_times: how many times the floor ours may take.
    """

    series: int
    captures: int
    max_times: float

    def __call__(self, name: str) -> Line:
        """Once to make the archive, then by turns."""
        folder, until_ms = _few_captures(self.series, self.captures)
        command = kgroups_command(*over_arguments(folder, until_ms))
        reference = run_tree(duckdb_command(folder, until_ms), TIMEOUT_S)

        def compare(answer: str) -> None:
            must_agree_with_duckdb(name, answer, reference.stdout)

        return _beside_floor(name, command, compare, self.max_times)


@dataclass(frozen=True)
class YearBesideFloor:
    """`lag report --captures` over days and months that are rolled up; lag and rates are known.

    Args:
        max_times: how many times the floor ours may take.
    """

    series: int
    days: int
    max_times: float

    def __call__(self, name: str) -> Line:
        """Once to make the archive, then by turns."""
        folder = days_of(self.series, self.days)
        until_ms = FIRST_MS + self.days * DAY_MS
        command = kgroups_command(*over_arguments(folder, until_ms, FIRST_MS))

        def compare(answer: str) -> None:
            document = json.loads(answer)
            lags: dict[str, int] = {}
            for number in range(self.series):
                group = f"group-{number // PARTITIONS:06}"
                lags[group] = lags.get(group, 0) + lag_of(number)
            most = sorted(lags.items(), key=lambda one: (-one[1], one[0]))[:TOP]
            per_second = RECORDS_A_DAY / (DAY_MS / 1_000)
            found = [
                (item["group"], item["lag"], item["lag_peak"], round(item["rate_in"], 6))
                for item in document["items"]
            ]
            rate = round(per_second * PARTITIONS, 6)
            must_agree(name, found, [(group, lag, lag, rate) for group, lag in most])
            first = datetime.fromtimestamp(FIRST_MS / 1_000, UTC)
            summary = document["summary"]
            read = summary["days"] + sum(
                monthrange(first.year + month // 12, month % 12 + 1)[1]
                for month in range(first.month - 1, first.month - 1 + summary["months"])
            )
            read -= (first.day - 1) * bool(summary["months"])  # the first has begun before
            must_agree(name, read, self.days)

        return _beside_floor(name, command, compare, self.max_times)


@dataclass(frozen=True)
class PageBesideNone:
    """The same report with a page of charts and without; both give the same rows.

    Args:
        max_more_s: how many seconds the page may add.
    """

    series: int
    captures: int
    max_more_s: float

    def __call__(self, name: str) -> Line:
        """Once to make the archive, then by turns."""
        load = os.getloadavg()[0]
        folder, until_ms = _few_captures(self.series, self.captures)
        plain = kgroups_command(*over_arguments(folder, until_ms))
        with tempfile.TemporaryDirectory(prefix="kgroups-bench-") as scratch:
            page = [*plain, "--html", str(Path(scratch) / "page.html")]
            ours, reference = _by_turns(page, plain)
        items = [json.loads(run.stdout)["items"] for run in (ours, reference)]
        must_agree(name, *items)
        passed = ours.wall_s - reference.wall_s <= self.max_more_s
        target = f"at most {self.max_more_s:g} s more"
        return line_of(name, target, ours, reference, passed=passed, load=load)


def _few_captures(series: int, captures: int) -> tuple[Path, int]:
    """A folder of captures and the last time in it."""
    return captures_of(series, captures), START_MS + (captures - 1) * STEP_MS


def _beside_floor(
    name: str, command: Sequence[str], compare: Callable[[str], None], max_times: float
) -> Line:
    load = os.getloadavg()[0]
    floor = [sys.executable, "-m", "bench.lag_floor"]
    ours, reference = _by_turns(command, floor)
    compare(ours.stdout)
    passed = ours.wall_s <= max_times * reference.wall_s
    target = f"within {max_times:g} times the floor"
    return line_of(name, target, ours, reference, passed=passed, load=load)


def _by_turns(first: Sequence[str], second: Sequence[str]) -> tuple[TreeRun, TreeRun]:
    """The medians of both, after a run of the first that may leave an archive of classes."""
    run_tree(first, TIMEOUT_S)
    runs = [(run_tree(first, TIMEOUT_S), run_tree(second, TIMEOUT_S)) for _ in range(ROUNDS)]
    one, other = zip(*runs, strict=True)
    return _median(one), _median(other)


def _median(runs: Sequence[TreeRun]) -> TreeRun:
    return replace(
        runs[-1],
        wall_s=statistics.median(run.wall_s for run in runs),
        cpu_s=statistics.median(run.cpu_s for run in runs),
        peak_mb=statistics.median(run.peak_mb for run in runs),
    )


def main() -> None:
    """The floor."""
    from kgroups.core.spark.session import SessionOptions, spark_session

    with spark_session(SessionOptions(small=True)) as session:
        print(session.sql("select 1 as one").collect())


if __name__ == "__main__":
    main()
