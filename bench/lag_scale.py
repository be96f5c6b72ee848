"""The lag reports at their sizes: over captures beside DuckDB, start-up, Connect, batch dry runs.

They take minutes, so they are not in `make bench`. Writes bench/lag_results.json and the
lag block of docs/benchmarks.md. Exit 0 when all named have met their targets, else 1.

    python -m bench.lag_scale [--dry] [NAME...]
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping

from bench.lag_cases import (
    ConnectBeside,
    DryRun,
    DuckDbBesideFloor,
    OverBeside,
    StartUp,
)
from bench.lag_floor import (
    CapturesBesideFloor,
    LiveBesideFloor,
    PageBesideNone,
    YearBesideFloor,
)
from bench.lag_results import NAMES_BY_KEY, Line, merge_lines, read_lines, write_lines
from bench.stage import say

CASES: Mapping[str, Callable[[str], Line]] = {
    "start-up": StartUp(),
    "live": LiveBesideFloor(10, max_times=1.3),
    "4800": CapturesBesideFloor(48, 100, max_times=2),
    "1e5": CapturesBesideFloor(1_000, 100, max_times=2),
    "duckdb": DuckDbBesideFloor(30, 100, max_s=1.5),
    "year": YearBesideFloor(10_000, 365, max_times=2),
    "html": PageBesideNone(48, 100, max_more_s=3),
    "1e6": OverBeside(10_000, 100, max_times=8),
    "1e7": OverBeside(100_000, 100, max_times=5),
    "1e8": OverBeside(100_000, 1_000, max_times=3, max_mb=3_000),
    "connect": ConnectBeside(48, 100, max_s=3),
    "dry-run-2500": DryRun(2_500, max_s=30),
    "dry-run-5000": DryRun(5_000, max_s=60),
    "dry-run-10000": DryRun(10_000, max_s=120),
}


def main() -> int:
    """Run those named, or all; 0 when every target is met."""
    parser = argparse.ArgumentParser(prog="python -m bench.lag_scale", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(CASES)}")
    parser.add_argument("--dry", action="store_true", help="write neither results nor documents")
    arguments = parser.parse_args()
    strangers = set(arguments.names) - set(CASES)
    if strangers:
        parser.error(f"no such benchmark: {', '.join(sorted(strangers))}")
    lines = []
    for key in arguments.names or CASES:
        load, cores = os.getloadavg()[0], os.cpu_count() or 1
        if load > cores / 2:
            say(f"others keep this machine busy (load {load:.1f} on {cores} cores)")
        line = CASES[key](NAMES_BY_KEY[key])
        lines.append(line)
        say(
            f"{line.verdict}  {line.name}: {line.ours_s:.1f} s ({line.ours_cpu_s:.1f} s of"
            f" processor) against {line.reference_s:.1f} s ({line.reference_cpu_s:.1f} s); peak"
            f" {line.ours_peak_mb:g} MB against {line.reference_peak_mb:g} MB"
            f" (target: {line.target})"
        )
        if not arguments.dry:
            write_lines(merge_lines(read_lines(), [line]))
    return 0 if all(line.passed for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
