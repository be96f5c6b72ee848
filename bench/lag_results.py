"""Figures of the lag reports, in lag_results.json and between markers in docs/benchmarks.md."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from bench.machine import describe_machine
from bench.report import PAGE, ROOT
from bench.result import seconds

RESULTS = ROOT / "bench" / "lag_results.json"
BEGIN, END = "<!-- lag-bench:begin -->", "<!-- lag-bench:end -->"

# What each benchmark is called in the table, in its order.
NAMES_BY_KEY: Mapping[str, str] = MappingProxyType(
    {
        "start-up": "start-up: report on 240 partitions, beside Spark's defaults",
        "live": "live report of 240 partitions, beside the floor",
        "4800": "report over 4,800 rows of captures, beside the floor",
        "1e5": "report over 1e5 rows of captures, beside the floor",
        "duckdb": "report over 3,000 rows of captures by DuckDB, beside a Spark session's start",
        "year": "report over a year of 10,000 series rolled up by day and month, beside the floor",
        "html": "the same over 4,800 rows with a page, beside without",
        "1e6": "report over 1e6 rows of captures, beside DuckDB",
        "1e7": "report over 1e7 rows of captures, beside DuckDB",
        "1e8": "report over 1e8 rows of captures, beside DuckDB",
        "connect": "report over 4,800 rows through a warm Connect server, beside DuckDB",
        "dry-run-2500": "dry run of 2,500 groups x 3 assignors, beside a Python loop",
        "dry-run-5000": "dry run of 5,000 groups x 3 assignors, beside a Python loop",
        "dry-run-10000": "dry run of 10,000 groups x 3 assignors, beside a Python loop",
    }
)


@dataclass(frozen=True)
class Line:
    """One line of the table: seconds, processor seconds and 10^6 bytes of whole process trees.

    Args:
        target: in words.
        load: what else ran on the machine, as its load average before the first run.
        measured: on which day (UTC).
    """

    name: str
    target: str
    ours_s: float
    ours_cpu_s: float
    ours_peak_mb: float
    reference_s: float
    reference_cpu_s: float
    reference_peak_mb: float
    passed: bool
    load: float
    measured: str

    @property
    def verdict(self) -> str:
        """PASS or MISS."""
        return "PASS" if self.passed else "MISS"


def read_lines() -> list[dict[str, Any]]:
    """The lines on disk; none of another machine."""
    if not RESULTS.exists():
        return []
    found = json.loads(RESULTS.read_text())
    lines: list[dict[str, Any]] = found["benchmarks"]
    return lines if found["machine"] == describe_machine() else []


def merge_lines(old: Sequence[Mapping[str, Any]], new: Sequence[Line]) -> list[dict[str, Any]]:
    """The new lines and those of the old that are not among them, in the table's order."""
    rows = {row["name"]: dict(row) for row in old} | {line.name: asdict(line) for line in new}
    return [rows[name] for name in NAMES_BY_KEY.values() if name in rows]


def render_lines(lines: Sequence[Mapping[str, Any]]) -> str:
    """The page's block, without its markers."""
    text = [
        "The same formulation on both sides, whole process with all its children, by turns in one"
        " run on two cores; `load` is what else ran on the machine then (above 2, seconds are"
        " longer for both and processor time is what compares). The floor is our session, with its"
        " archive of classes, and one trivial query: the median of three, by turns with ours.",
        "",
        "| | kgroups | processor | beside | processor | peak memory | load | measured | target | |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*text, *map(_rendered, lines)])


def _rendered(row: Mapping[str, Any]) -> str:
    return (
        f"| {row['name']} | {seconds(row['ours_s'])} | {seconds(row['ours_cpu_s'])} |"
        f" {seconds(row['reference_s'])} | {seconds(row['reference_cpu_s'])} |"
        f" {row['ours_peak_mb']:.0f} MB against {row['reference_peak_mb']:.0f} MB |"
        f" {row['load']:.1f} | {row['measured']} | {row['target']} |"
        f" {'PASS' if row['passed'] else 'MISS'} |"
    )


def lines_block(text: str) -> str:
    """What stands between the page's markers."""
    return text.split(BEGIN, 1)[1].split(END, 1)[0].strip("\n")


def write_lines(lines: Sequence[Mapping[str, Any]]) -> None:
    """Write lag_results.json and the page's block."""
    document = {"machine": describe_machine(), "benchmarks": list(lines)}
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")
    before, rest = PAGE.read_text().split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{render_lines(lines)}\n{END}{after}")
