"""Commands on an embedded cluster of 10,000 to 500,000 groups, and how their cost grows.

They take many minutes, so they are not in `make bench`. Writes bench/cluster_results.json and the
cluster block of docs/benchmarks.md. Exit 0 when nothing grows faster than the cluster, else 1.

    python -m bench.cluster_scale [--dry] [GROUPS...]
    python -m bench.cluster_scale [--dry] --broker     # 480,000 commits on a real broker
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from bench.cluster_results import (
    COMMITS,
    ON_A_BROKER,
    SIZES,
    Cost,
    commits_each,
    merge_costs,
    read_costs,
    write_costs,
)
from bench.lag_measure import kgroups_command
from bench.limits import HUGE, LARGE
from bench.measure import run_measured
from bench.side_by_side import official_command
from bench.stage import say
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.writes.group_writes import write_commits
from kgroups.core.snapshot import CommittedOffset
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.clusters import fleet
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.workload import create_topics
from tests.support.sandbox.sandbox_process import SandboxProcess

TIMEOUT_S = 3_600.0
PARTITIONS = range(COMMITS)


def cases(address: str, place: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command by its name in the table, in an order in which each finds what it needs."""

    def there(*words: str) -> list[str]:
        return _command(address, *words)

    everything = ("describe", "--all-groups")
    saved = str(place / "saved.jsonl.zst")
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
    yield from resets(address, place)


def huge_cases(address: str) -> Iterator[tuple[str, list[str]]]:
    """What is measured on the largest cluster, for its memory."""
    yield "`list`", _command(address, "list")
    yield (
        "`describe --all-groups -o jsonl`",
        _command(address, "describe", "--all-groups", "-o", "jsonl"),
    )


def resets(address: str, place: Path) -> Iterator[tuple[str, list[str]]]:
    """All commits to the start of their logs, and back."""
    reset = ("reset-offsets", "--all-groups", "--all-topics", "--to", "earliest", "--yes")
    undo_dir = place / "undo"
    yield "`reset-offsets --all-groups`", _command(address, *reset, "--undo-dir", str(undo_dir))
    (undo,) = undo_dir.glob("undo-*.json")
    back = ("reset-offsets", "--undo", str(undo), "--yes", "--no-undo")
    yield "`reset-offsets --undo`", _command(address, *back)


def _command(address: str, *words: str) -> list[str]:
    return kgroups_command("--bootstrap-server", address, "--timeout", "30m", *words)


def measure_on_a_broker() -> Iterator[Cost]:
    """What takes a real broker: the official tool beside ours, and resets by the clock."""
    with (
        tempfile.TemporaryDirectory(prefix="kgroups-bench-") as scratch,
        KafkaCluster() as cluster,
    ):
        _fill(cluster.bootstrap)
        yield _beside_the_official_tool(cluster.bootstrap)
        for name, command in resets(cluster.bootstrap, Path(scratch)):
            yield _cost(name + ON_A_BROKER, LARGE, command)


def _beside_the_official_tool(address: str) -> Cost:
    """`describe --all-groups`, once each: the official tool takes minutes."""
    name = f"`describe --all-groups`{ON_A_BROKER}"
    cost = _cost(name, LARGE, _command(address, "describe", "--all-groups"))
    words = ("--bootstrap-server", address, "--timeout", "3600000", "--describe", "--all-groups")
    official = run_measured(official_command(*words), timeout_s=TIMEOUT_S, unread=True)
    return replace(cost, times_faster=round(official.wall_s / cost.wall_s, 1))


def _fill(address: str) -> None:
    """The groups of `fleet`, in ten topics without records."""
    create_topics(address, {f"topic-{number}": COMMITS for number in range(10)})
    with ClusterAdmin(ClientSettings(address), timeout_ms=int(1_000 * TIMEOUT_S)) as admin:
        for start in range(0, LARGE, 2_000):
            commits = {
                f"group-{n:05}": {
                    (f"topic-{n % 10}", p): CommittedOffset(p + 1) for p in PARTITIONS
                }
                for n in range(start, min(start + 2_000, LARGE))
            }
            refused = [error for error in write_commits(admin, commits).values() if error]
            if refused:
                raise RuntimeError(f"the broker took not all commits: {refused[0].message}")


def _cost(name: str, groups: int, command: Sequence[str]) -> Cost:
    load = os.getloadavg()[0]
    run = run_measured(command, timeout_s=TIMEOUT_S, unread=True)
    peak_mb = round(run.peak_bytes / 1e6)
    return Cost(name, groups, round(run.wall_s, 2), round(run.cpu_s, 2), peak_mb, load)


def measure(groups: int) -> Iterator[Cost]:
    """Every command on a cluster with so many groups."""
    with tempfile.TemporaryDirectory(prefix="kgroups-bench-") as scratch:
        place = Path(scratch)
        filled = place / "cluster.jsonl.zst"
        write_snapshot(fleet(groups, commits_each(groups)), filled)
        filling = ("--from", str(filled), "--quiet")
        with SandboxProcess(*filling, start_timeout_s=TIMEOUT_S) as cluster:
            address = cluster.bootstrap_servers
            found = huge_cases(address) if groups == HUGE else cases(address, place)
            for name, command in found:
                yield _cost(name, groups, command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure those sizes, or all; 0 when every target is met, and nothing grows faster."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster_scale", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, metavar="GROUPS", help=f"of: {SIZES}")
    parser.add_argument("--dry", action="store_true", help="write neither results nor documents")
    parser.add_argument("--broker", action="store_true", help="only what takes a real broker")
    given = parser.parse_args(arguments)
    strangers = set(given.sizes) - set(SIZES)
    if strangers:
        parser.error(f"no such size: {', '.join(map(str, sorted(strangers)))}")
    costs = read_costs()
    sizes = given.sizes or SIZES
    measured = [measure_on_a_broker()] if given.broker else map(measure, sizes)
    for cost in chain.from_iterable(measured):
        say(
            f"{cost.name}, {cost.groups:,} groups: {cost.wall_s:.1f} s, {cost.cpu_s:.1f} s of"
            f" processor, peak {cost.peak_mb} MB, at a load of {cost.load:.1f}"
        )
        costs = merge_costs(costs, [cost])
        if not given.dry:
            write_costs(costs)
    return 0 if all(cost.is_linear(costs) and cost.meets_target for cost in costs) else 1


if __name__ == "__main__":
    sys.exit(main())
