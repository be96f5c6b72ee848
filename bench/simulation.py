"""Speed of the simulation: requests a second, linear cost, flat memory, two cores for a sweep.

Times of a run are processor times, because it has one thread and the machine may be shared; a
case is run several times, each in a process of its own, and the fastest counts, because others
slow a run down and nothing speeds it up. Only the sweep on two cores is timed by the clock.
Writes bench/simulation_results.json and docs/benchmarks.md; exit 1 when a target was missed.
"""

import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from bench.simulation_grid import grid_rows
from bench.simulation_results import Row, write_report
from bench.stage import say
from kgroups.core.input_files.document import parse_document
from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.engine.sweep import plan_tasks, sweep
from kgroups.core.simulation.scenario.scenario_file import parse_simulation
from kgroups.core.simulation.scenario.scenario_model import Scenario

RUNS = 2
SWEPT_SEEDS = 8

SCENARIO = """\
until: {minutes}m
topics: {{orders: {{partitions: {partitions}, rate: {partitions}}}}}
groups:
  app:
    protocol: {protocol}
    members:
      m: {{count: {members}, topics: [orders], processing: 2ms}}
"""


@dataclass(frozen=True)
class Case:
    """One run: so many members, for so many virtual minutes.

    Args:
        share: partitions a member; a record comes to each of them every second.
    """

    members: int
    minutes: int
    protocol: str = "eager"
    share: int = 2


@dataclass(frozen=True)
class Measured:
    """What one run took.

    Args:
        commits: requests of these that were OffsetCommit.
        checks: invariants that were checked on the way.
    """

    requests: int
    commits: int
    events: int
    checks: int
    cpu_s: float
    peak_mb: float

    @property
    def requests_a_second(self) -> float:
        """Simulated requests in a second of processor time."""
        return self.requests / self.cpu_s


def scenario_of(case: Case) -> Scenario:
    """What a case runs."""
    text = SCENARIO.format(
        minutes=case.minutes,
        members=case.members,
        partitions=case.share * case.members,
        protocol=case.protocol,
    )
    return parse_simulation(parse_document(text, "bench", "yaml"))


def measure(case: Case) -> Measured:
    """One run, in this process."""
    scenario = scenario_of(case)
    began_s = time.process_time()
    outcome = simulate(scenario)
    cpu_s = time.process_time() - began_s
    assert outcome.settled, "the group of the bench settles"
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    commits = sum(group.requests["OffsetCommit"] for group in outcome.groups)
    return Measured(outcome.requests, commits, outcome.steps, outcome.checks, cpu_s, peak_mb)


def alone(case: Case) -> Measured:
    """One run in a process of its own, so that its peak of memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, case).result(600)


def fastest(case: Case) -> Measured:
    """The run that took least of several."""
    return min((alone(case) for _ in range(RUNS)), key=lambda one: one.cpu_s)


def gain_of_two_jobs() -> float:
    """How many times sooner a sweep is over on two cores than on one, by turns."""
    tasks = plan_tasks(scenario_of(Case(50, 40)), [{}], range(SWEPT_SEEDS))
    took_s: dict[int, list[float]] = {1: [], 2: []}
    for jobs in (1, 2) * 3:
        began_s = time.perf_counter()
        outcomes = list(sweep(tasks, jobs))
        took_s[jobs].append(time.perf_counter() - began_s)
        assert len(outcomes) == SWEPT_SEEDS
    return min(took_s[1]) / min(took_s[2])


def rows() -> list[Row]:
    """Every figure."""
    found: list[Row] = []

    def add(name: str, value: float, unit: str, target: str, good: Callable[[float], bool]) -> None:
        found.append(Row(name, round(value, 2), unit, target, good(value)))
        say(f"{found[-1]}")

    for protocol in ("eager", "consumer"):
        speed = fastest(Case(100, 20, protocol)).requests_a_second
        add(f"{protocol}, 100 members", speed, "requests/s", "50,000", lambda v: v >= 50_000)
    wide = Case(20, 20, share=200)
    measured = fastest(wide)
    # Every partition gets records between two commits, so each commit names them all.
    named = measured.commits * wide.share / measured.cpu_s
    add("200 partitions a member", named, "committed offsets/s", "200,000", lambda v: v >= 200_000)
    big = fastest(Case(1_000, 30))
    add("1,000 members, half an hour", big.cpu_s, "s", "60 s", lambda v: v <= 60)
    add("1,000 members", big.requests_a_second, "requests/s", "20,000", lambda v: v >= 20_000)
    most = fastest(Case(1_000, 10, share=20))
    add("1,000 members, 20,000 partitions, 10 minutes", most.cpu_s, "s", "30 s", lambda v: v <= 30)
    day = fastest(Case(10, 24 * 60))
    add("10 members, 24 hours", day.cpu_s, "s", "20 s", lambda v: v <= 20)
    short, long = fastest(Case(50, 20)), fastest(Case(50, 160))
    cost = (long.cpu_s / long.events) / (short.cpu_s / short.events)
    add("cost of an event, 160 minutes by 20", cost, "times", "below 1.3", lambda v: v < 1.3)
    growth = long.peak_mb - short.peak_mb
    add("memory, 160 minutes less 20", growth, "MB", "below 5 MB", lambda v: v < 5)
    gain = gain_of_two_jobs()
    add("a sweep with --jobs 2, by the clock", gain, "times faster", "1.5", lambda v: v >= 1.5)
    for row in grid_rows():
        found.append(row)
        say(f"{row}")
    return found


def main() -> int:
    """Run, print, write. 0 when every target is met, else 1."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > cores / 2:
        say(f"others keep this machine busy (load {load:.1f} on {cores} cores): expect less")
    found = rows()
    for row in found:
        print(f"{row.verdict}  {row.name}: {row.value:,g} {row.unit} (target: {row.target})")
    write_report(found, RUNS, load)
    return 0 if all(row.passed for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
