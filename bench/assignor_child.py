"""Measures our assignor on one group: STRATEGY TOPICS PARTITIONS MEMBERS MODE REPEATS.

Prints one JSON line like AssignorBench.java: first call, median of the later ones, their least
processor time, the memory that a call adds, and a check sum of who got what.
"""

import gc
import json
import statistics
import sys
import time
from pathlib import Path

from bench.assignor_groups import Shape, checksum, request_of
from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.kip848.target import TargetAssignment
from kgroups.assignors.registry import assignor, server_assignor


def resident(field: str) -> int:
    """A memory figure of this process in MiB: `VmRSS` now, `VmHWM` at its highest."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) >> 10
    return 0


def measure(shape: Shape, repeats: int) -> dict[str, object]:
    """The figures of one shape."""
    if shape.server:
        strategy = server_assignor(shape.strategy.removeprefix("server-"))
    else:
        strategy = assignor(shape.strategy)
    request = request_of(shape)
    times: list[float] = []
    cpu: list[float] = []
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of building the input
    before = resident("VmRSS")
    for _ in range(repeats + 1):
        started, used = time.perf_counter(), time.process_time()
        result = strategy.assign(request)
        times.append((time.perf_counter() - started) * 1e3)
        cpu.append((time.process_time() - used) * 1e3)
    peak = resident("VmHWM") - before
    assert isinstance(result, CompactAssignment | TargetAssignment)
    return {
        "strategy": shape.strategy,
        "partitions": shape.topics * shape.partitions,
        "members": shape.members,
        "mode": shape.mode,
        "cold_ms": round(times[0], 2),
        "warm_ms": round(statistics.median(times[1:]), 2),
        "cpu_ms": round(min(cpu[1:]), 2),
        "peak_mb": peak,
        "checksum": checksum(shape, result),
    }


if __name__ == "__main__":
    name, topics, partitions, members, mode, calls = sys.argv[1:]
    print(
        json.dumps(
            measure(Shape(name, int(topics), int(partitions), int(members), mode), int(calls))
        )
    )
