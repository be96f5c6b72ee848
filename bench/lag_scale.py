"""The lag reports over captures, beside DuckDB.

They take minutes, so they are not in `make bench`. At 1e8 rows ours may take 2.5 times DuckDB's.

    python -m bench.lag_scale [1e6] [1e7] [1e8]
"""

import sys

from bench.lag_over import BesideDuckDB
from bench.side_by_side import Benchmark
from bench.stage import Stage

BENCHMARKS: dict[str, Benchmark] = {
    "1e6": BesideDuckDB("lag report over 1e6 rows", 10_000, 100, max_times=25),
    "1e7": BesideDuckDB("lag report over 1e7 rows", 100_000, 100, max_times=6, rounds=1),
    "1e8": BesideDuckDB("lag report over 1e8 rows", 100_000, 1_000, max_times=2.5, rounds=1),
}


def main() -> int:
    """Run those named, or all; 0 when every target is met."""
    results = []
    with Stage() as stage:
        for name in sys.argv[1:] or BENCHMARKS:
            result = BENCHMARKS[name].run(stage)
            results.append(result)
            print(
                f"{result.verdict}  {result.name}: {result.ours_s:.1f} s against"
                f" {result.reference_s:.1f} s; peak {result.ours_peak_mb:g} MB against"
                f" {result.reference_peak_mb:g} MB (target: {result.target})",
                flush=True,
            )
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
