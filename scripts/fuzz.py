"""Runs tests over more random cases than `make test` has.

python -m scripts.fuzz [WHAT] [--count N] [--seed N]

Without WHAT everything runs, with as many cases as its row says; without a seed every run has other
cases, and its first line names the seed. Cases take as long as they take.
"""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.kafka.child import Child

ROOT = Path(__file__).parents[1]
LONGEST_S: Final = 24 * 3600
SEED: Final = "KGROUPS_FUZZ_SEED"
Environment = Mapping[str, str]


@dataclass(frozen=True)
class Run:
    """One run of pytest.

    Args:
        arguments: its files and options.
        environment: variables that say how many cases there are, by that count.
        seeded_by: the variable of the seed.
    """

    arguments: str
    environment: Callable[[int], Environment] = lambda count: {}
    seeded_by: str = SEED


@dataclass(frozen=True)
class Kind:
    """A row of the table.

    Args:
        counted: what a count is one of.
        count: the default.
        runs: what is run, one after the other until one fails.
    """

    counted: str
    count: int
    runs: tuple[Run, ...]


KINDS: Final[Mapping[str, Kind]] = {
    "assignors": Kind(
        "groups a strategy, beside the Java classes and other libraries",
        50_000,
        (
            Run("-m oracle tests/assignors", lambda count: {"KGROUPS_FUZZ_CASES": str(count)}),
            Run(
                "tests/assignors/other_clients",
                lambda count: {"KGROUPS_FUZZ_CASES": str(count // 10)},
            ),
            Run(
                "tests/assignors/java/test_scenarios.py -k 'million or quarter'",
                lambda count: {"KGROUPS_CATALOGUE_PARTITIONS": "1000000"},
            ),
        ),
    ),
    "coordinator": Kind(
        "operations beside Kafka's coordinator; lives of ZooKeeper consumers for each thousand",
        1_000_000,
        (
            Run(
                "-s -m oracle tests/core/coordinator",
                lambda count: {"KGROUPS_FUZZ_OPERATIONS": str(count)},
            ),
            Run(
                "tests/core/zookeeper/test_random_lives.py",
                lambda count: {"KGROUPS_FUZZ_LIVES": str(-(-count // 1_000))},
            ),
        ),
    ),
    "examples": Kind(
        "run with other examples than those of every run",
        1,
        (
            Run("-m hypothesis --hypothesis-seed={seed} tests"),
            Run("tests/core/sandbox/wire/test_malformed_frames.py"),
            Run("tests/core/kafka/test_hostile_brokers.py"),
            Run("tests/core/kafka/transport/test_bounds.py"),
        ),
    ),
    "endings": Kind(
        "run of every command under every odd stream, signal, cluster, name and file",
        1,
        (
            Run(
                "-n 2 --dist loadfile tests/cli/endings tests/cli/test_bad_files.py"
                " tests/kafka/writes/test_endings.py",
                lambda count: {"KGROUPS_ENDINGS": "all"},
                seeded_by="KGROUPS_ENDINGS_SEED",
            ),
        ),
    ),
    "lag": Kind(
        "random clusters, figure by figure beside plain Python",
        100,
        (
            Run(
                "-s tests/core/lag/window/test_plain_truth.py"
                " tests/core/lag/window/test_hourly_truth.py"
                " tests/core/lag/window/test_monthly_truth.py",
                lambda count: {"KGROUPS_FUZZ_HISTORIES": str(count)},
            ),
        ),
    ),
    "moments": Kind(
        "random lives of a group, asked for what it had committed at moments of it",
        500,
        (
            Run(
                "-s tests/core/history/test_random_moments.py",
                lambda count: {"KGROUPS_FUZZ_MOMENTS": str(count)},
            ),
        ),
    ),
    "plans": Kind(
        "moves of groups whose members share buckets of hash tables, beside a coordinator",
        300,
        (
            Run(
                "tests/core/planning/test_crowded_joins.py"
                " tests/core/planning/migration/test_crowded_ids.py"
                " tests/core/planning/migration/test_rehearsed_groups.py",
                lambda count: {"KGROUPS_FUZZ_PLANS": str(count)},
            ),
        ),
    ),
    "interrupted": Kind(
        "groups whose writes are interrupted",
        10_000,
        (
            Run(
                "tests/kafka/writes/test_interrupted.py"
                " tests/core/sandbox/suites/test_own_interrupted.py",
                lambda count: {"KGROUPS_MANY_GROUPS": str(count)},
            ),
        ),
    ),
    "simulations": Kind(
        "seeds a protocol of random lives of simulated groups",
        200,
        (
            Run(
                "tests/core/simulation/test_random.py",
                lambda count: {"KGROUPS_SIMULATIONS": str(count)},
            ),
        ),
    ),
}


def commands(what: str, count: int | None, seed: int) -> list[tuple[list[str], Environment]]:
    """The command lines of a kind, each with the variables that it adds to the environment."""
    kind = KINDS[what]
    return [
        (
            [
                *(sys.executable, "-m", "pytest", "-q", "--timeout", "14400"),
                *shlex.split(run.arguments.format(seed=seed)),
            ],
            {**run.environment(count or kind.count), run.seeded_by: str(seed)},
        )
        for run in kind.runs
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; 1 if any of it failed, after all of it ran."""
    listed = "\n".join(f"  {name:<12} {kind.count} {kind.counted}" for name, kind in KINDS.items())
    parser = argparse.ArgumentParser(
        description=f"Random cases:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="?", choices=KINDS)
    parser.add_argument("--count", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="which ones")
    chosen = parser.parse_args(arguments)
    failed = []
    for what in [chosen.what] if chosen.what else KINDS:
        print(f"fuzz: {what}, seed {chosen.seed}", flush=True)
        for command, environment in commands(what, chosen.count, chosen.seed):
            if run(command, environment):
                failed.append(what)
                break
    if failed:
        print(f"fuzz: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run(command: Sequence[str], environment: Environment) -> int:
    """Run it on this terminal; its exit code."""
    settings = {**os.environ, **environment}
    with Child(command, stdin=None, stdout=None, stderr=None, cwd=ROOT, env=settings) as child:
        return child.wait(LONGEST_S)


if __name__ == "__main__":
    sys.exit(main())
