"""Runs the benchmarks: all of them, or the ones named.

Prints a line each with target, ratio and PASS or MISS, writes bench/results.json and the
figures in docs/benchmarks.md. Exit 0 when all passed, 1 when one missed its target.
"""

import argparse
import compileall
import os
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import cast

from bench import benchmarks
from bench.machine import describe_machine
from bench.report import merge_report, read_report, write_report
from bench.result import verdict
from bench.side_by_side import Benchmark
from bench.stage import Stage, say


def all_benchmarks() -> dict[str, Benchmark]:
    """Every benchmark by its name, in the order of their modules."""
    modules = sorted(module.name for module in iter_modules(benchmarks.__path__))
    found = [
        cast(Benchmark, import_module(f"bench.benchmarks.{name}").BENCHMARK) for name in modules
    ]
    return {each.name: each for each in found}


def main() -> int:
    """Run, print, write. 0 when every target is met, else 1."""
    known = all_benchmarks()
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {'; '.join(known)}")
    parser.add_argument("--dry", action="store_true", help="write neither results nor documents")
    arguments = parser.parse_args()
    strangers = set(arguments.names) - set(known)
    if strangers:
        parser.error(f"no such benchmark: {', '.join(sorted(strangers))}")
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > cores / 2:
        say(f"others keep this machine busy (load {load:.1f} on {cores} cores): expect less")
    for room in ("assignors", "core", "cli"):  # as after an installation
        compileall.compile_dir(str(Path(__file__).parent.parent / room), quiet=2)
    results = []
    with Stage() as stage:
        for name in arguments.names or known:
            say(name)
            result = known[name].run(stage)
            results.append(result)
            print(
                f"{verdict(result.passed)}  {result.name}: {result.figures}"
                f" (target: {result.target})",
                flush=True,
            )
    if not arguments.dry:
        write_report(merge_report(read_report(), describe_machine(), results, list(known)))
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
