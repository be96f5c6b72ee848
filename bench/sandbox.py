"""The embedded cluster measured: heartbeats, a rebalance of 1,000 members, its start.

Runs beside franz-go's kfake where go is found (and says so where it is not). Prints a line each
with target and PASS or MISS, writes bench/sandbox_results.json. Exit 0 when all passed, else 1.
"""

import asyncio
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from bench.machine import describe_machine
from bench.sandbox_load import Crowd, beat, steady_member
from tests.support.kafka.child import Child, run_program
from tests.support.sandbox.frame_client import WireClient
from tests.support.sandbox.sandbox_process import SandboxProcess

RESULTS = Path(__file__).parent / "sandbox_results.json"
KFAKE = Path(__file__).parent / "kfake"
ROUNDS = 3
HEARTBEATS = 20_000
IN_FLIGHT = 64
CROWD = 1_000
SETTLE_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Measure:
    """One line.

    Args:
        ours, kfake: median of the rounds in `unit`; kfake None where go is missing.
        target: in `unit`; at least that for rates, at most that for seconds.
    """

    name: str
    unit: str
    target: float
    ours: float
    kfake: float | None

    @property
    def passed(self) -> bool:
        """Whether the target is met."""
        return self.ours >= self.target if self.unit == "/s" else self.ours <= self.target


@dataclass(frozen=True, slots=True)
class Server:
    """A running cluster under test."""

    address: str
    pid: int
    start_s: float


@contextmanager
def ours() -> Iterator[Server]:
    """`kgroups sandbox up` in a process of its own."""
    begun = time.perf_counter()
    with SandboxProcess("--topic", "t=4", "--quiet") as running:
        took = time.perf_counter() - begun
        yield Server(running.bootstrap_servers, running.process.pid, took)


@contextmanager
def kfake(binary: Path) -> Iterator[Server]:
    """franz-go's fake cluster."""
    begun = time.perf_counter()
    with Child([binary], stdin=subprocess.PIPE, stderr=None) as running:
        assert running.stdin is not None
        address = running.line().strip()
        try:
            yield Server(address, running.pid, time.perf_counter() - begun)
        finally:
            running.stdin.close()


def build_kfake(folder: Path) -> Path | None:
    """The binary, or None where there is no go."""
    if shutil.which("go") is None:
        return None
    binary = folder / "kfake"
    run_program(["go", "build", "-o", binary, "."], cwd=KFAKE, check=True)
    return binary


def heartbeats(server: Server) -> float:
    """Heartbeats a second, one at a time."""
    return _rate(server, in_flight=1)


def heartbeats_pipelined(server: Server) -> float:
    """Heartbeats a second, 64 in flight on one connection."""
    return _rate(server, in_flight=IN_FLIGHT)


def _rate(server: Server, *, in_flight: int) -> float:
    with WireClient(server.address) as client:
        member = steady_member(client, f"bench-{in_flight}")
        begun = time.perf_counter()
        beat(client, member, HEARTBEATS, in_flight=in_flight)
        return HEARTBEATS / (time.perf_counter() - begun)


def rebalance(server: Server) -> float:
    """Seconds until 1,000 members that join at once are in one generation."""

    async def run() -> float:
        begun = time.perf_counter()
        async with asyncio.timeout(SETTLE_TIMEOUT_S):
            await Crowd(server.address, "bench-crowd", CROWD).settle()
        return time.perf_counter() - begun

    return asyncio.run(run())


def start(server: Server) -> float:
    """Seconds from the command to the first address on its stdout."""
    return server.start_s


def memory_mb(server: Server) -> float:
    """Resident memory after the load, 10^6 bytes."""
    return float(psutil.Process(server.pid).memory_info().rss) / 1e6


MEASURES: tuple[tuple[str, str, float, Callable[[Server], float]], ...] = (
    ("heartbeats on one connection", "/s", 5_000, heartbeats),
    (f"heartbeats, {IN_FLIGHT} in flight", "/s", 5_000, heartbeats_pipelined),
    (f"{CROWD:,} members join and settle", "s", 10, rebalance),
    ("start of the server", "s", 2, start),
    ("memory after that", "MB", 200, memory_mb),
)


def measure_all(binary: Path | None) -> list[Measure]:
    """Every measure, ours and kfake's by turns in one run."""
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name, *_ in MEASURES}
    for _ in range(ROUNDS):
        with ours() as server:
            for name, _unit, _target, measure in MEASURES:
                found[name][0].append(measure(server))
        if binary is not None:
            with kfake(binary) as server:
                for name, _unit, _target, measure in MEASURES:
                    found[name][1].append(measure(server))
    return [
        Measure(
            name,
            unit,
            target,
            round(statistics.median(found[name][0]), 3),
            round(statistics.median(found[name][1]), 3) if found[name][1] else None,
        )
        for name, unit, target, _ in MEASURES
    ]


def main() -> int:
    """Measure, print, write. 0 when every target is met, else 1."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 8192), hard), hard))
    with tempfile.TemporaryDirectory(prefix="kgroups-bench-") as scratch:
        binary = build_kfake(Path(scratch))
        if binary is None:
            print("go is missing: franz-go's kfake is not measured beside ours", file=sys.stderr)
        measures = measure_all(binary)
    for one in measures:
        beside = "" if one.kfake is None else f", kfake {one.kfake:,.6g} {one.unit}"
        verdict = "PASS" if one.passed else "MISS"
        print(
            f"{verdict}  {one.name}: {one.ours:,.6g} {one.unit}{beside}"
            f" (target: {one.target:,g} {one.unit})",
            flush=True,
        )
    rows = [{**asdict(one), "passed": one.passed} for one in measures]
    document = {"machine": describe_machine(), "measures": rows}
    RESULTS.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0 if all(one.passed for one in measures) else 1


if __name__ == "__main__":
    sys.exit(main())
