"""Results: on the screen, in results.json and between markers in docs/benchmarks.md."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from bench.result import Row, seconds, verdict

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "bench" / "results.json"
PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


class Report(TypedDict):
    """Shape of results.json."""

    machine: dict[str, object]
    benchmarks: list[dict[str, object]]


def read_report(path: Path = RESULTS) -> Report | None:
    """The report on disk, or None when there is none yet."""
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    return Report(machine=found["machine"], benchmarks=found["benchmarks"])


def merge_report(
    old: Report | None, machine: dict[str, object], results: Sequence[Row], names: Sequence[str]
) -> Report:
    """The new results in the order of `names`; of the old, those of the same machine stay."""
    kept = old["benchmarks"] if old is not None and old["machine"] == machine else []
    rows = {str(row["name"]): row for row in kept} | {each.name: each.as_json() for each in results}
    return Report(machine=machine, benchmarks=[rows[name] for name in names if name in rows])


def render_figures(report: Report) -> str:
    """The page's block, without its markers."""
    machine = report["machine"]
    rows = report["benchmarks"]
    plans = [row for row in rows if "broker_s" in row]
    calls = [row for row in rows if "reference_cold_s" in row]
    commands = [row for row in rows if row not in plans and row not in calls]
    lines = [
        (
            f"One real broker (Kafka {machine['kafka']}) with 2,000 groups x 24 committed"
            f" partitions, whole process, medians, both tools by turns in one run (bare starts:"
            f" our time in times of `python -c pass`), on"
            f" {machine['cores']} cores and {machine['memory_gib']} GiB, Python"
            f" {machine['python']}."
        ),
        "",
        "| | kgroups | official tool | times faster | bare starts | peak memory | target | |",
        "|---|---|---|---|---|---|---|---|",
        *map(_command_row, commands),
        "",
        (
            "Plans of groups of four live members and 24 partitions of two topics, whole process,"
            " medians, on that broker and on the embedded cluster. Members and clusters run beside"
            " on the same processors: processor time is what compares and what the target is about."
        ),
        "",
        "| | broker | processor | embedded | processor | peak memory | target | |",
        "|---|---|---|---|---|---|---|---|",
        *map(_plan_row, plans),
        "",
        (
            "Strategies (partitions x members), one call, in the same run: warm beside the Java"
            " class in a warm JVM, and the first call in a fresh process beside the first call in a"
            " fresh JVM. Memory is what the call adds, Java's the peak of its heap."
        ),
        "",
        "| | kgroups | Java, warm | times faster | first call | Java, cold | memory | target | |",
        "|---|---|---|---|---|---|---|---|---|",
        *map(_call_row, calls),
    ]
    return "\n".join(lines)


def _command_row(row: dict[str, object]) -> str:
    return (
        f"| {row['name']} | {seconds(row['ours_s'])} | {seconds(row['reference_s'])} |"
        f" {row['ratio']} | {row.get('starts', '-')} |"
        f" {row['ours_peak_mb']} MB, official {row['reference_peak_mb']} MB |"
        f" {row['target']} | {verdict(row['passed'])} |"
    )


def _plan_row(row: dict[str, object]) -> str:
    times = ("broker_s", "broker_cpu_s", "embedded_s", "embedded_cpu_s")
    cells = [str(row["name"]), *(seconds(row[key]) for key in times), f"{row['peak_mb']} MB"]
    return f"| {' | '.join(cells)} | {row['target']} | {verdict(row['passed'])} |"


def _call_row(row: dict[str, object]) -> str:
    return (
        f"| {row['name']} | {seconds(row['ours_s'])} | {seconds(row['reference_s'])} |"
        f" {row['ratio']} | {seconds(row['ours_cold_s'])} | {seconds(row['reference_cold_s'])} |"
        f" {row['ours_peak_mb']} MB, Java {row['reference_peak_mb']} MB | {row['target']} |"
        f" {verdict(row['passed'])} |"
    )


def figures_block(text: str) -> str | None:
    """What stands between the page's markers, or None without markers."""
    if BEGIN not in text or END not in text:
        return None
    return text.split(BEGIN, 1)[1].split(END, 1)[0].strip("\n")


def write_report(report: Report) -> None:
    """Write results.json and the page's block."""
    RESULTS.write_text(json.dumps(report, indent=2) + "\n")
    text = PAGE.read_text()
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{render_figures(report)}\n{END}{after}")
