"""The published figures are the measured ones, and a verdict follows from its figures."""

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bench import cluster_results, simulation_results
from bench.__main__ import all_benchmarks
from bench.answers import describe_json, describe_table
from bench.cluster_results import ON_A_BROKER, Cost
from bench.lag_measure import run_tree
from bench.lag_results import NAMES_BY_KEY, RESULTS, lines_block, render_lines
from bench.lag_scale import CASES
from bench.limits import LARGE, ON_LARGE_CLUSTERS
from bench.measure import Run, RunFailed, run_measured
from bench.report import PAGE, figures_block, merge_report, read_report, render_figures
from bench.result import Result, summarize, summarize_plan, verdict


def test_the_figures_are_those_of_results_json() -> None:
    """`make bench` writes both; an edit of one alone is caught."""
    report = read_report()
    assert report is not None
    assert figures_block(PAGE.read_text()) == render_figures(report)


WAITING = {"describe --all-groups over TLS"}
"""Benchmarks that wait for a quiet machine: nothing else may be without a figure."""


def test_every_benchmark_has_a_figure() -> None:
    """A benchmark that was added but never run is caught."""
    report = read_report()
    assert report is not None
    measured = [str(row["name"]) for row in report["benchmarks"]]
    assert measured == [name for name in all_benchmarks() if name in measured]
    assert all_benchmarks().keys() - set(measured) <= WAITING


def runs(*pairs: tuple[float, float]) -> list[tuple[Run, Run]]:
    """Rounds of (our seconds, their seconds), with a peak of 100 and 150 MB."""
    return [
        (Run(ours, ours, 100_000_000, ""), Run(theirs, theirs, 150_000_000, ""))
        for ours, theirs in pairs
    ]


@pytest.mark.parametrize(
    ("rounds", "min_ratio", "max_peak_mb", "word"),
    [
        (((1.0, 5.0), (1.0, 6.0), (1.0, 7.0)), 6, None, "PASS"),
        (((1.0, 5.0), (1.0, 5.9), (1.0, 90.0)), 6, None, "MISS"),
        (((1.0, 9.0),), 6, 100, "MISS"),
        (((1.0, 9.0),), 6, 101, "PASS"),
    ],
    ids=["median enough", "one lucky round is not enough", "too much memory", "just in memory"],
)
def test_a_verdict_is_the_median_ratio_and_the_highest_peak(
    rounds: Sequence[tuple[float, float]], min_ratio: float, max_peak_mb: float | None, word: str
) -> None:
    """PASS needs both the ratio and the memory."""
    result = summarize("n", "t", runs(*rounds), min_ratio=min_ratio, max_peak_mb=max_peak_mb)
    assert verdict(result.passed) == word


@pytest.mark.parametrize(
    ("broker", "embedded", "passed"),
    [((0.2, 0.29, 0.9), (0.2,), True), ((0.2,), (0.1, 0.3, 0.3), False)],
    ids=["one slow run is none", "both clusters count"],
)
def test_a_plan_is_held_to_the_processor_time_of_the_whole_command(
    broker: Sequence[float], embedded: Sequence[float], passed: bool
) -> None:
    """The median on either cluster; the time from start to end is told beside it."""
    each = [[Run(2 * cpu, cpu, 30_000_000, "") for cpu in runs] for runs in (broker, embedded)]
    result = summarize_plan("plan", "t", *each, limit_s=0.3)
    assert result.passed is passed
    told = (result.broker_s, result.broker_cpu_s, result.embedded_s, result.embedded_cpu_s)
    cpus = [statistics.median(runs) for runs in (broker, embedded)]
    assert told == (2 * cpus[0], cpus[0], 2 * cpus[1], cpus[1])


@pytest.mark.parametrize(("bare_s", "passed"), [(0.1, True), (0.05, False)])
def test_a_command_is_held_to_a_bare_start_of_the_same_round(bare_s: float, passed: bool) -> None:
    """Its own median of ratios, as for the official tool."""
    rounds = runs((1.0, 9.0), (1.0, 9.0), (4.0, 36.0))
    bare = [Run(bare_s, bare_s, 0, "") for _ in rounds]
    result = summarize("n", "t", rounds, min_ratio=6, max_peak_mb=None, bare=bare, max_starts=16)
    assert (result.starts, result.passed) == (1 / bare_s, passed)


def result_named(name: str, ratio: float) -> Result:
    """A result with this name and ratio."""
    return summarize(name, "t", runs((1.0, ratio)), min_ratio=5, max_peak_mb=None)


def test_a_partial_run_keeps_the_other_figures_of_the_same_machine() -> None:
    """Running one benchmark replaces its row; another machine's rows never mix with ours."""
    names = ["a", "b"]
    first = merge_report(None, {"cores": 2}, [result_named("a", 6), result_named("b", 7)], names)
    again = merge_report(first, {"cores": 2}, [result_named("b", 9)], names)
    assert [(row["name"], row["ratio"]) for row in again["benchmarks"]] == [("a", 6), ("b", 9)]
    moved = merge_report(first, {"cores": 8}, [result_named("b", 9)], names)
    assert [(row["name"], row["ratio"]) for row in moved["benchmarks"]] == [("b", 9)]


def test_a_run_is_measured_in_a_small_parent() -> None:
    """Peak memory is the command's own: 80 MB more shows, and this process' does not."""
    code = "x = bytearray({} * 10**6); print(len(x))"
    small = run_measured([sys.executable, "-S", "-c", code.format(1)])
    large = run_measured([sys.executable, "-S", "-c", code.format(81)])
    assert large.stdout == "81000000\n"
    assert 70e6 < large.peak_bytes - small.peak_bytes < 90e6
    assert small.peak_bytes < 40e6


def test_a_command_that_fails_stops_the_bench() -> None:
    """Its status and its words are in the error."""
    with pytest.raises(RunFailed, match=r"ended with 3: .*no luck"):
        run_measured(
            [sys.executable, "-c", "import sys; print('no luck', file=sys.stderr); exit(3)"]
        )


OFFICIAL = """
GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG    CONSUMER-ID
group-0001      events          0          90              100             10     -
"""


def test_both_tools_answers_are_compared_row_by_row() -> None:
    """Equal figures are equal whatever the layout; another lag is not."""
    table = "GROUP  TOPIC  PARTITION  COMMITTED  LOG-END  LAG\ngroup-0001  events  0  90  100  {}\n"
    json_text = (
        '{{"items": [{{"group": "group-0001", "offsets": [{{"topic": "events", "partition": 0,'
        ' "committed_offset": 90, "log_end_offset": 100, "lag": {}}}]}}]}}'
    )
    for compare, text in ((describe_table, table), (describe_json, json_text)):
        mine, theirs = compare(text.format(10), OFFICIAL)
        assert mine == theirs
        assert mine
        mine, theirs = compare(text.format(11), OFFICIAL)
        assert mine != theirs


def test_the_readmes_lag_figures_are_those_of_lag_results_json() -> None:
    """`make bench-scale` writes both; it takes minutes, so a case may wait for its first figure."""
    lines = json.loads(RESULTS.read_text())["benchmarks"]
    assert lines_block(PAGE.read_text()) == render_lines(lines)
    measured = [line["name"] for line in lines]
    assert measured == [NAMES_BY_KEY[key] for key in CASES if NAMES_BY_KEY[key] in measured]
    assert measured


def test_the_figures_of_large_clusters_are_those_of_cluster_results_json() -> None:
    """`python -m bench.cluster_scale` writes both; the largest size may wait for its figures.

    Those of a real broker, too: they are by the clock, so they take a machine that is quiet.
    """
    costs = [Cost(**row) for row in json.loads(cluster_results.RESULTS.read_text())["costs"]]
    assert cluster_results.costs_block(PAGE.read_text()) == cluster_results.render_costs(costs)
    wanted = {
        name
        for name, limit in ON_LARGE_CLUSTERS.items()
        if limit.groups == LARGE and limit.times_faster is None
    }
    assert {cost.name for cost in costs} >= wanted


def test_growth_is_told_by_processor_time_a_group() -> None:
    """Ten times the groups may take fifteen times as long, and no target covers for more."""
    small = Cost("`list`", 10_000, 1.0, 1.0, 30, 0.0)
    linear, steep = (
        replace(small, groups=100_000, cpu_s=15.0),
        replace(small, groups=100_000, cpu_s=16),
    )
    assert [each.is_linear([small, each]) for each in (small, linear, steep)] == [True, True, False]
    assert "| 1.60 |  | MISS |" in cluster_results.render_costs([small, steep])


def test_on_a_real_broker_the_clock_counts() -> None:
    """There the command has a processor to itself."""
    name = f"`reset-offsets --all-groups`{ON_A_BROKER}"
    slow = Cost(name, LARGE, 11.0, 4.0, 300, 0.0)
    assert (slow.target, slow.meets_target) == (
        "10 s by the clock, 400 MB with 24,000 groups",
        False,
    )
    assert replace(slow, wall_s=10.0, cpu_s=11.0).meets_target


@pytest.mark.parametrize(
    ("cpu_s", "peak_mb", "meets"), [(4, 200, True), (5, 9, False), (1, 201, False)]
)
def test_targets_of_large_clusters(cpu_s: float, peak_mb: int, meets: bool) -> None:
    """Processor time and memory, each for itself."""
    name = "`snapshot save` as `.jsonl.zst`"
    cost = Cost(name, LARGE, 1.0, cpu_s, peak_mb, 0.0)
    assert cost.meets_target is meets


@pytest.mark.parametrize(("times", "meets"), [(20, True), (19.9, False), (None, False)])
def test_the_official_tool_on_a_large_cluster(times: float | None, meets: bool) -> None:
    """It is run beside ours there; without a run there is no pass."""
    name = f"`describe --all-groups`{ON_A_BROKER}"
    assert Cost(name, LARGE, 1.0, 1.0, 100, 0.0, times).meets_target is meets


def test_the_readmes_figures_of_simulations_are_those_of_simulation_results_json() -> None:
    """`python -m bench.simulation` writes both."""
    report = json.loads(simulation_results.RESULTS.read_text())
    assert simulation_results.report_block(PAGE.read_text()) == (
        simulation_results.render_report(report)
    )


def test_a_tree_is_measured_with_its_children() -> None:
    """80 MB and the processor time of a child count."""
    busy = "x = bytearray(80 * 10**6); print(sum(range(20_000_000)) > 0)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}], check=True)"
    alone = run_tree([sys.executable, "-c", busy], 60)
    tree = run_tree([sys.executable, "-c", parent], 60)
    assert tree.stdout == alone.stdout == "True\n"
    assert alone.peak_mb > 80
    assert tree.peak_mb > alone.peak_mb
    assert tree.cpu_s > 0.1
    with pytest.raises(RunFailed, match="ended with 3"):
        run_tree([sys.executable, "-c", "raise SystemExit(3)"], 60)
