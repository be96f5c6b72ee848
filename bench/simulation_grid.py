"""A grid of 1,000 short runs by the program: on one core, on two, and on Spark.

Every way must print the same document, byte for byte but for when it was made.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.lag_measure import kgroups_command
from bench.measure import run_measured
from bench.simulation_results import Row
from bench.stage import say

SCENARIO = """\
until: 90s
topics: {orders: {partitions: 6, rate: 60}}
groups:
  billing:
    members: {app: {count: 3, topics: [orders], processing: 2ms}}
events:
  - {at: 20s, crash: {group: billing, member: app-1, restart_after: 5s}}
"""
# 20 combinations with 50 seeds each.
GRID = [
    *("--vary", "protocol=eager,cooperative"),
    *("--vary", "members=2,3"),
    *("--vary", "session.timeout.ms=6s,10s,20s,30s,45s"),
    *("--repeat", "50"),
]
RUNS = 1_000
WAYS = {
    "--jobs 1": ("--jobs", "1"),
    "--jobs 2": ("--jobs", "2"),
    "--master local[2]": ("--master", "local[2]"),
}
TIMEOUT_S = 1_200.0


def grid_rows() -> Iterator[Row]:
    """The time of each way, and whether it says what the first one says."""
    with tempfile.TemporaryDirectory(prefix="kgroups-bench-") as scratch:
        path = Path(scratch) / "grid.yaml"
        path.write_text(SCENARIO, encoding="utf-8")
        first: str | None = None
        for name, arguments in WAYS.items():
            say(f"{RUNS:,} runs with {name}")
            command = kgroups_command(
                "simulate", str(path), *GRID, *arguments, "-o", "json", "--quiet"
            )
            run = run_measured(command, timeout_s=TIMEOUT_S)
            document = json.loads(run.stdout)
            assert document["summary"]["runs"] == RUNS
            said = run.stdout.replace(document["generated_at"], "")
            first = said if first is None else first
            yield Row(
                f"a grid of {RUNS:,} short runs with `{name}`, by the clock",
                round(run.wall_s, 2),
                "s",
                "the same bytes",
                said == first,
            )


def main() -> None:
    """Print them."""
    for row in grid_rows():
        print(f"{row.verdict}  {row.name}: {row.value:,g} {row.unit} ({row.target})")


if __name__ == "__main__":
    main()
