"""A benchmark of `kgroups lag report --captures` beside DuckDB on the same Parquet."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.lag_captures import START_MS, STEP_MS, captures_of
from bench.measure import Run, RunFailed, run_measured
from bench.result import Result, summarize
from bench.stage import Stage

TOP = 20


@dataclass(frozen=True)
class BesideDuckDB:
    """Our command and DuckDB, whole processes, with equal answers.

    Args:
        series, captures: size of the data; rows are their product.
        max_times: how many times DuckDB's time ours may take.
        rounds: pairs of runs that count; one more before them warms the page cache.
    """

    name: str
    series: int
    captures: int
    max_times: float
    rounds: int = 2

    @property
    def target(self) -> str:
        """The target in words."""
        return f"within {self.max_times:g} times DuckDB's time"

    def run(self, stage: Stage) -> Result:
        """Alternate both and compare what they say each time.

        Raises:
            RunFailed: one failed, or the two do not answer the same.
        """
        folder = captures_of(self.series, self.captures)
        until_ms = START_MS + (self.captures - 1) * STEP_MS
        rounds: list[tuple[Run, Run]] = []
        for _ in range(self.rounds + 1):
            pair = (
                run_measured(self._ours(folder, until_ms)),
                run_measured(self._duckdb(folder, until_ms)),
            )
            if ours_in(pair[0].stdout) != json.loads(pair[1].stdout):
                raise RunFailed(f"{self.name}: the two do not answer the same")
            rounds.append(pair)
        return summarize(
            self.name,
            self.target,
            rounds[1:],
            min_ratio=1 / self.max_times,
            max_peak_mb=None,
        )

    def _ours(self, folder: Path, until_ms: int) -> list[str]:
        since, until = (
            datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
            for ms in (START_MS, until_ms)
        )
        kgroups = str(Path(sys.executable).parent / "kgroups")
        command = [kgroups, "lag", "report", "--captures", str(folder), "--since", since]
        return [*command, "--until", until, "--top", str(TOP), "-o", "json"]

    def _duckdb(self, folder: Path, until_ms: int) -> list[str]:
        window = [str(START_MS), str(until_ms), str(TOP)]
        return [sys.executable, "-m", "bench.lag_duckdb", str(folder), *window]


def ours_in(stdout: str) -> list[object]:
    """Our answer in the form of DuckDB's."""
    names = ("group", "partitions", "lag", "lag_max", "lag_seconds")
    rows = [[item[name] for name in names] for item in json.loads(stdout)["items"]]
    return [[*row[:-1], round(row[-1], 3)] for row in rows]
