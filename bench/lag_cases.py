"""Benchmarks of the lag reports: each runs ours and a reference by turns and compares answers."""

import json
import math
import os
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.lag_captures import START_MS, STEP_MS, captures_of
from bench.lag_measure import TreeRun, kgroups_command, run_tree
from bench.lag_results import Line
from bench.lag_snapshot import snapshot_of
from bench.measure import RunFailed
from tests.support.lag.spark_servers import connect_server

TOP = 20
TIMEOUT_S = 1_800.0


def line_of(
    name: str,
    target: str,
    ours: TreeRun,
    reference: TreeRun,
    *,
    passed: bool,
    load: float,
    reference_peak_mb: float | None = None,
) -> Line:
    """The figures of two runs as a line."""
    peak_mb = reference.peak_mb if reference_peak_mb is None else reference_peak_mb
    return Line(
        name,
        target,
        ours_s=round(ours.wall_s, 2),
        ours_cpu_s=round(ours.cpu_s, 2),
        ours_peak_mb=round(ours.peak_mb),
        reference_s=round(reference.wall_s, 2),
        reference_cpu_s=round(reference.cpu_s, 2),
        reference_peak_mb=round(peak_mb),
        passed=passed,
        load=round(load, 1),
        measured=datetime.now(UTC).date().isoformat(),
    )


def must_agree(name: str, ours: object, reference: object) -> None:
    """Being fast and wrong is a failure.

    Raises:
        RunFailed: the answers differ.
    """
    if ours != reference or not ours:
        raise RunFailed(f"{name}: the two do not answer the same: {ours} and {reference}")


@dataclass(frozen=True)
class OverBeside:
    """`lag report --captures` and DuckDB on the same Parquet.

    Args:
        series, captures: size of the data; rows are their product.
        max_times: how many times DuckDB's time ours may take.
        max_mb: memory that it may take, if that is bounded.
    """

    series: int
    captures: int
    max_times: float
    max_mb: float | None = None

    def __call__(self, name: str) -> Line:
        """DuckDB first, that the files are in the page cache; then one of each."""
        folder, load = captures_of(self.series, self.captures), os.getloadavg()[0]
        until_ms = START_MS + (self.captures - 1) * STEP_MS
        reference = run_tree(duckdb_command(folder, until_ms), TIMEOUT_S)
        ours = run_tree(kgroups_command(*over_arguments(folder, until_ms)), TIMEOUT_S)
        must_agree_with_duckdb(name, ours.stdout, reference.stdout)
        reference = run_tree(duckdb_command(folder, until_ms), TIMEOUT_S)
        target = f"within {self.max_times:g} times DuckDB's time"
        passed = ours.wall_s <= self.max_times * reference.wall_s
        if self.max_mb is not None:
            target += f", in at most {self.max_mb:g} MB"
            passed = passed and ours.peak_mb <= self.max_mb
        return line_of(name, target, ours, reference, passed=passed, load=load)


def over_arguments(folder: Path, until_ms: int, since_ms: int = START_MS) -> list[str]:
    """Arguments of `kgroups` for a report over all captures of a folder."""
    since, until = (
        datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
        for ms in (since_ms, until_ms)
    )
    window = ["--captures", str(folder), "--since", since, "--until", until]
    return ["lag", "report", *window, "--top", str(TOP), "-o", "json"]


def duckdb_command(folder: Path, until_ms: int) -> list[str]:
    """The same report by the other engine."""
    return kgroups_command(*over_arguments(folder, until_ms), "--engine", "duckdb")


def must_agree_with_duckdb(name: str, ours: str, reference: str) -> None:
    """Every row, column and total, numbers up to rounding.

    Raises:
        RunFailed: the answers differ.
    """
    answer, expected = json.loads(ours), json.loads(reference)
    if not expected["items"] or len(answer["items"]) != len(expected["items"]):
        counts = f"{len(answer['items'])} rows, in DuckDB {len(expected['items'])}"
        raise RunFailed(f"{name}: {counts}")
    totals = answer["summary"], expected["summary"]
    pairs = [totals, *zip(answer["items"], expected["items"], strict=True)]
    for found, known in pairs:
        for key, value in known.items():
            is_number = isinstance(value, float) and found[key] is not None
            same = math.isclose(found[key], value) if is_number else found[key] == value
            if not same:
                where = f"{name}: {key} of {known.get('group', 'all groups')}"
                raise RunFailed(f"{where} is {found[key]} and in DuckDB {value}")


@dataclass(frozen=True)
class DuckDbBesideFloor:
    """`lag report --captures --engine duckdb` on few rows, beside a Spark session's start.

    Args:
        max_s: seconds that it may take.
    """

    series: int
    captures: int
    max_s: float

    def __call__(self, name: str) -> Line:
        """Once that the files are in the page cache, then one of each."""
        folder, load = captures_of(self.series, self.captures), os.getloadavg()[0]
        command = duckdb_command(folder, START_MS + (self.captures - 1) * STEP_MS)
        run_tree(command, TIMEOUT_S)
        ours = run_tree(command, TIMEOUT_S)
        floor = run_tree([sys.executable, "-m", "bench.lag_floor"], TIMEOUT_S)
        passed = ours.wall_s <= self.max_s
        return line_of(name, f"at most {self.max_s:g} s", ours, floor, passed=passed, load=load)


@dataclass(frozen=True)
class ConnectBeside:
    """The same through a Spark Connect server that has answered before.

    Args:
        max_s: seconds that the second answer may take.
    """

    series: int
    captures: int
    max_s: float

    def __call__(self, name: str) -> Line:
        """The server is asked three times; the last counts."""
        folder, load = captures_of(self.series, self.captures), os.getloadavg()[0]
        until_ms = START_MS + (self.captures - 1) * STEP_MS
        reference = run_tree(duckdb_command(folder, until_ms), TIMEOUT_S)
        with (
            tempfile.TemporaryDirectory(prefix="kgroups-bench-") as scratch,
            connect_server(Path(scratch)) as address,
        ):
            arguments = [*over_arguments(folder, until_ms), "--remote", address]
            for _ in range(3):
                ours = run_tree(kgroups_command(*arguments), TIMEOUT_S)
                must_agree_with_duckdb(name, ours.stdout, reference.stdout)
        target = f"at most {self.max_s:g} s; without the server's processor time and memory"
        return line_of(name, target, ours, reference, passed=ours.wall_s <= self.max_s, load=load)


@dataclass(frozen=True)
class StartUp:
    """A small report with our settings and class archive, and on Spark as it comes."""

    groups: int = 10

    def __call__(self, name: str) -> Line:
        """Once to make the archive, then one of each."""
        path, load = str(snapshot_of(self.groups)), os.getloadavg()[0]
        arguments = ["lag", "report", "--from", path, "--top", str(TOP), "-o", "json"]
        defaults = [sys.executable, "-m", "bench.lag_snapshot", path, str(TOP)]
        run_tree(kgroups_command(*arguments), TIMEOUT_S)
        reference = run_tree(defaults, TIMEOUT_S)
        ours = run_tree(kgroups_command(*arguments), TIMEOUT_S)
        must_agree(name, json.loads(ours.stdout)["items"], json.loads(reference.stdout))
        passed = 2 * ours.wall_s <= reference.wall_s
        return line_of(name, "at most half the time", ours, reference, passed=passed, load=load)


@dataclass(frozen=True)
class DryRun:
    """Groups of 24 partitions and 6 members, planned with three assignors.

    Args:
        max_s: seconds that it may take.
    """

    groups: int
    max_s: float
    assignors: tuple[str, ...] = ("range", "roundrobin", "cooperative-sticky")

    def __call__(self, name: str) -> Line:
        """One of each."""
        path, load = str(snapshot_of(self.groups)), os.getloadavg()[0]
        planned = ["--by", "assignor", "--assignor", ",".join(self.assignors)]
        arguments = ["lag", "report", "--from", path, *planned, "-o", "json"]
        loop = [sys.executable, "-m", "bench.lag_plain", path, *self.assignors]
        ours = run_tree(kgroups_command(*arguments), TIMEOUT_S)
        reference = run_tree(loop, TIMEOUT_S)
        found = {
            item["assignor"]: [item["groups"], item["moved"], item["gain"]]
            for item in json.loads(ours.stdout)["items"]
        }
        must_agree(name, found, json.loads(reference.stdout))
        return line_of(
            name,
            f"at most {self.max_s:g} s",
            ours,
            reference,
            passed=ours.wall_s <= self.max_s,
            load=load,
        )
