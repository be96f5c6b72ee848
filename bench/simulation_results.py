"""Figures of the simulation, in simulation_results.json and docs/benchmarks.md."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.machine import describe_machine
from bench.report import PAGE, ROOT

RESULTS = ROOT / "bench" / "simulation_results.json"
BEGIN, END = "<!-- simulation-bench:begin -->", "<!-- simulation-bench:end -->"


@dataclass(frozen=True)
class Row:
    """One figure with its target, in words."""

    name: str
    value: float
    unit: str
    target: str
    passed: bool

    @property
    def verdict(self) -> str:
        """PASS or MISS."""
        return "PASS" if self.passed else "MISS"


def render_report(report: Mapping[str, Any]) -> str:
    """The page's block, without its markers."""
    text = [
        "Requests that are simulated in a second of one processor's time, with the real"
        " coordinator, the real client half and every invariant checked; the fastest of"
        f" {report['runs']} runs, each in a process of its own, at a load of {report['load']}"
        " (what else runs on the machine takes its share of the caches).",
        "",
        "| | | target | |",
        "|---|---|---|---|",
    ]
    return "\n".join([*text, *map(_rendered, report["rows"])])


def _rendered(row: Mapping[str, Any]) -> str:
    value = f"{row['value']:,.0f}" if row["value"] >= 1_000 else f"{row['value']:g}"
    verdict = "PASS" if row["passed"] else "MISS"
    return f"| {row['name']} | {value} {row['unit']} | {row['target']} | {verdict} |"


def report_block(text: str) -> str:
    """What stands between the page's markers."""
    return text.split(BEGIN, 1)[1].split(END, 1)[0].strip("\n")


def write_report(rows: Sequence[Row], runs: int, load: float) -> None:
    """Write simulation_results.json and the page's block.

    Args:
        runs: of each case, of which the fastest counts.
        load: of the machine, before the first of them.
    """
    report = {
        "machine": describe_machine(),
        "runs": runs,
        "load": round(load, 1),
        "rows": [asdict(row) for row in rows],
    }
    RESULTS.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    before, rest = PAGE.read_text().split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{render_report(report)}\n{END}{after}")
