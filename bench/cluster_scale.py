"""Commands on an embedded cluster of 10,000 to 100,000 groups, and how their cost grows.

They take many minutes, so they are not in `make bench`. Writes bench/cluster_results.json and the
cluster block of docs/benchmarks.md. Exit 0 when nothing grows faster than the cluster, else 1.

    python -m bench.cluster_scale [--dry] [GROUPS...]
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.cluster_results import COMMITS, SIZES, Cost, merge_costs, read_costs, write_costs
from bench.lag_measure import kgroups_command
from bench.measure import run_measured
from bench.stage import say
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.clusters import fleet
from tests.support.sandbox.sandbox_process import SandboxProcess

TIMEOUT_S = 3_600.0


def cases(address: str, place: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command by its name in the table, in an order in which each finds what it needs."""

    def there(*words: str) -> list[str]:
        return kgroups_command("--bootstrap-server", address, "--timeout", "30m", *words)

    everything = ("describe", "--all-groups")
    saved = str(place / "saved.jsonl.zst")
    reset = ("reset-offsets", "--all-groups", "--all-topics", "--to", "earliest", "--yes")
    yield "`list`", there("list")
    yield "`describe` of one group", there("describe", "group-00001")
    for form in ("table", "csv", "json", "jsonl"):
        yield f"`describe --all-groups -o {form}`", there(*everything, "-o", form)
    yield "`plan --all-groups`", there("plan", "--all-groups")
    yield "`snapshot save` as `.jsonl.zst`", there("snapshot", "save", saved)
    yield (
        "`describe --all-groups -o jsonl --from` it",
        kgroups_command(*everything, "-o", "jsonl", "--from", saved),
    )
    yield "`reset-offsets --all-groups`", there(*reset, "--undo-dir", str(place / "undo"))
    (undo,) = (place / "undo").glob("undo-*.json")
    yield (
        "`reset-offsets --undo`",
        there("reset-offsets", "--undo", str(undo), "--yes", "--no-undo"),
    )


def measure(groups: int) -> Iterator[Cost]:
    """Every command on a cluster with so many groups."""
    with tempfile.TemporaryDirectory(prefix="kgroups-bench-") as scratch:
        place = Path(scratch)
        filled = place / "cluster.jsonl.zst"
        write_snapshot(fleet(groups, COMMITS), filled)
        filling = ("--from", str(filled), "--quiet")
        with SandboxProcess(*filling, start_timeout_s=TIMEOUT_S) as cluster:
            for name, command in cases(cluster.bootstrap_servers, place):
                load = os.getloadavg()[0]
                run = run_measured(command, timeout_s=TIMEOUT_S, unread=True)
                peak_mb = round(run.peak_bytes / 1e6)
                yield Cost(name, groups, round(run.wall_s, 2), round(run.cpu_s, 2), peak_mb, load)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure those sizes, or all; 0 when every target is met, and nothing grows faster."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster_scale", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, metavar="GROUPS", help=f"of: {SIZES}")
    parser.add_argument("--dry", action="store_true", help="write neither results nor documents")
    given = parser.parse_args(arguments)
    strangers = set(given.sizes) - set(SIZES)
    if strangers:
        parser.error(f"no such size: {', '.join(map(str, sorted(strangers)))}")
    costs = read_costs()
    for groups in given.sizes or SIZES:
        for cost in measure(groups):
            say(
                f"{cost.name}, {groups:,} groups: {cost.wall_s:.1f} s, {cost.cpu_s:.1f} s of"
                f" processor, peak {cost.peak_mb} MB"
            )
            costs = merge_costs(costs, [cost])
            if not given.dry:
                write_costs(costs)
    return 0 if all(cost.is_linear(costs) and cost.meets_target for cost in costs) else 1


if __name__ == "__main__":
    sys.exit(main())
