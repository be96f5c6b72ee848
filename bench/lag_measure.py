"""What a command costs with every process that it starts: Spark is a JVM beside Python."""

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.measure import RunFailed
from tests.support.kafka.child import Child

SAMPLE_S = 0.1


@dataclass(frozen=True)
class TreeRun:
    """One finished run.

    Args:
        cpu_s: processor time of all its processes, as far as they were seen.
        peak_mb: highest sum of their resident memory, 10^6 bytes, sampled ten times a second.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    stdout: str


def run_tree(command: Sequence[str], timeout_s: float) -> TreeRun:
    """Run a command to its end and measure it with its children.

    Raises:
        RunFailed: it ended with another status than 0, or not in time.
    """
    with tempfile.TemporaryDirectory(prefix="kgroups-bench-") as scratch:
        out, err = Path(scratch) / "out", Path(scratch) / "err"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            started = time.perf_counter()
            child = Child(command, stdout=stdout, stderr=stderr)
            process = psutil.Process(child.pid)
            cpu: dict[int, float] = {}
            peak = 0
            while child.poll() is None:
                peak = max(peak, _sample(process, cpu))
                if time.perf_counter() - started > timeout_s:
                    child.kill()
                    raise RunFailed(f"{' '.join(command)} took longer than {timeout_s:g} s")
                time.sleep(SAMPLE_S)
            wall_s = time.perf_counter() - started
        if child.returncode != 0:
            said = err.read_text(errors="replace")[-2_000:]
            raise RunFailed(f"{' '.join(command)} ended with {child.returncode}: {said}")
        return TreeRun(wall_s, sum(cpu.values()), peak / 1e6, out.read_text(encoding="utf-8"))


def _sample(process: psutil.Process, cpu: dict[int, float]) -> int:
    """Resident bytes of the tree now; processor time of each process into `cpu`."""
    resident = 0
    try:
        tree = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    for each in tree:
        try:
            times, memory = each.cpu_times(), each.memory_info().rss
        except psutil.Error:
            continue
        cpu[each.pid] = times.user + times.system
        resident += memory
    return resident


def kgroups_command(*args: str) -> list[str]:
    """`kgroups` of this environment, with arguments."""
    return [str(Path(sys.executable).parent / "kgroups"), *args]
