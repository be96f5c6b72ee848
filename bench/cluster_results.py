"""Figures of commands on large clusters: cluster_results.json, and the block in the docs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from bench.limits import HUGE, LARGE, ON_LARGE_CLUSTERS, SizeLimit
from bench.machine import describe_machine
from bench.report import PAGE, ROOT
from bench.result import seconds

RESULTS = ROOT / "bench" / "cluster_results.json"
BEGIN, END = "<!-- cluster-bench:begin -->", "<!-- cluster-bench:end -->"

SIZES: Final = (10_000, LARGE, 30_000, 100_000, HUGE)

COMMITS: Final = 20
"""Of each group, but of those of the largest cluster: these have one."""

ON_A_BROKER: Final = ", a real broker"
"""Behind the names of commands that were not measured on the embedded cluster."""

MOST_TIMES: Final = 1.5
"""More processor time or memory a group than in the smallest cluster is no linear growth."""


@dataclass(frozen=True)
class Cost:
    """What one command took on a cluster with so many groups.

    Args:
        wall_s, cpu_s: seconds, of the command alone.
        peak_mb: the most resident memory, 10^6 bytes.
        load: what else ran on the machine, as its load average before the run.
        times_faster: than the official tool; None where it was not run.
    """

    name: str
    groups: int
    wall_s: float
    cpu_s: float
    peak_mb: int
    load: float
    times_faster: float | None = None

    def growth(self, costs: Sequence["Cost"]) -> float | None:
        """Processor time a group, in times of that in the smallest cluster; None for that one."""
        least = [cost for cost in costs if cost.name == self.name and cost.groups < self.groups]
        if not least:
            return None
        first = min(least, key=lambda cost: cost.groups)
        return (self.cpu_s / self.groups) / (first.cpu_s / first.groups)

    @property
    def limit(self) -> SizeLimit | None:
        """What it is held to; None: to nothing."""
        limit = ON_LARGE_CLUSTERS.get(self.name.removesuffix(ON_A_BROKER))
        return limit if limit is not None and limit.groups == self.groups else None

    @property
    def target(self) -> str:
        """The target in words; empty where there is none."""
        if self.limit is None:
            return ""
        clock = " by the clock" if self.name.endswith(ON_A_BROKER) else ""
        words = [
            *([] if self.limit.max_s is None else [f"{self.limit.max_s:g} s{clock}"]),
            *([] if self.limit.max_peak_mb is None else [f"{self.limit.max_peak_mb} MB"]),
            *(
                []
                if self.limit.times_faster is None
                else [f"{self.limit.times_faster:g} times faster than the official tool"]
            ),
        ]
        return f"{', '.join(words)} with {self.groups:,} groups"

    @property
    def meets_target(self) -> bool:
        """Whether it took no more than the target, where there is one."""
        if self.limit is None:
            return True
        took_s = self.wall_s if self.name.endswith(ON_A_BROKER) else self.cpu_s
        limit = self.limit
        return (
            (limit.max_s is None or took_s <= limit.max_s)
            and (limit.max_peak_mb is None or self.peak_mb <= limit.max_peak_mb)
            and (limit.times_faster is None or (self.times_faster or 0) >= limit.times_faster)
        )

    def is_linear(self, costs: Sequence["Cost"]) -> bool:
        """Whether it grows no faster than the cluster."""
        growth = self.growth(costs)
        return growth is None or growth <= MOST_TIMES


def commits_each(groups: int) -> int:
    """How many commits each group of such a cluster has."""
    return 1 if groups == HUGE else COMMITS


def read_costs() -> list[Cost]:
    """The figures on disk; none of another machine."""
    if not RESULTS.exists():
        return []
    found = json.loads(RESULTS.read_text())
    costs = [Cost(**row) for row in found["costs"]]
    return costs if found["machine"] == describe_machine() else []


def merge_costs(old: Sequence[Cost], new: Sequence[Cost]) -> list[Cost]:
    """The new figures and those of the old that are of another command or size."""
    found = {(cost.name, cost.groups): cost for cost in (*old, *new)}
    return list(found.values())


def render_costs(costs: Sequence[Cost]) -> str:
    """The page's block, without its markers."""
    sizes = [size for size in SIZES if any(cost.groups == size for cost in costs)]
    heads = [f"{size:,} groups, {size * commits_each(size):,} commits" for size in sizes]
    text = [
        (
            "Embedded cluster (a real broker where the row says so), no members; the command's own"
            " process: time, processor time, peak memory. The cluster runs beside it on the same"
            " two cores, at a load of"
            f" {min(cost.load for cost in costs):.0f} to {max(cost.load for cost in costs):.0f}:"
            " processor time is what compares, and what the targets are about. Growth is processor"
            " time a group, the largest cluster's in times of the smallest's: at most"
            f" {MOST_TIMES:g}."
        ),
        "",
        f"| | {' | '.join(heads)} | growth | target | |",
        f"|---|{'---|' * len(heads)}---|---|---|",
    ]
    for name in dict.fromkeys(cost.name for cost in costs):
        own = {cost.groups: cost for cost in costs if cost.name == name}
        cells = [_cell(own.get(size)) for size in sizes]
        growth = own[max(own)].growth(costs)
        times = "-" if growth is None else f"{growth:.2f}"
        passed = all(cost.is_linear(costs) and cost.meets_target for cost in own.values())
        target = next((cost.target for cost in own.values() if cost.target), "")
        verdict = "PASS" if passed else "MISS"
        text.append(f"| {name} | {' | '.join(cells)} | {times} | {target} | {verdict} |")
    return "\n".join(text)


def _cell(cost: Cost | None) -> str:
    if cost is None:
        return "-"
    faster = "" if cost.times_faster is None else f", {cost.times_faster:g} times faster"
    return f"{seconds(cost.wall_s)}, {seconds(cost.cpu_s)} of processor, {cost.peak_mb} MB{faster}"


def costs_block(text: str) -> str:
    """What stands between the page's markers."""
    return text.split(BEGIN, 1)[1].split(END, 1)[0].strip("\n")


def write_costs(costs: Sequence[Cost]) -> None:
    """Write cluster_results.json and the page's block."""
    document = {"machine": describe_machine(), "costs": [asdict(cost) for cost in costs]}
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")
    before, rest = PAGE.read_text().split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{render_costs(costs)}\n{END}{after}")
