"""Many runs: every variation with every seed, one after the other or on several cores."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final

from kgroups.core.simulation.engine.refusals import check_scenario
from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.figures.outcome import Outcome
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.scenario.variation import Variation, varied

# Tasks handed to a process at once: few, so that no core waits long for the others at the end.
CHUNKS_A_JOB: Final = 8
# A sweep that is over sooner is not worth the start of other processes.
ALONE_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Task:
    """One run of a sweep.

    Args:
        place: of its variation among all.
    """

    place: int
    scenario: Scenario
    seed: int


def plan_tasks(
    scenario: Scenario, variations: Sequence[Variation], seeds: Sequence[int]
) -> list[Task]:
    """Every variation with every seed, variations first.

    Raises:
        UsageError: a variation has an impossible parameter.
    """
    tasks: list[Task] = []
    for place, variation in enumerate(variations):
        one = varied(scenario, variation)
        check_scenario(one)
        tasks += [Task(place, one, seed) for seed in seeds]
    return tasks


def carry_out(task: Task) -> tuple[int, Outcome]:
    """One run, with the place of its variation."""
    return task.place, simulate(task.scenario, seed=task.seed)


def sweep(
    tasks: Sequence[Task],
    jobs: int,
    progress: Callable[[int], None] | None = None,
    *,
    alone_s: float = ALONE_S,
) -> Iterator[tuple[int, Outcome]]:
    """The outcomes of all tasks, in their order.

    Args:
        jobs: processes; 1: here.
        progress: called with the number of runs that are done.
        alone_s: runs are carried out here for so long, before processes are started for the rest.
    """
    for done, found in enumerate(_outcomes(tasks, jobs, alone_s), 1):
        if progress is not None:
            progress(done)
        yield found


def _outcomes(tasks: Sequence[Task], jobs: int, alone_s: float) -> Iterator[tuple[int, Outcome]]:
    began_s = perf_counter()
    for place, task in enumerate(tasks):
        left = len(tasks) - place
        if jobs > 1 and left > 1 and perf_counter() - began_s >= alone_s:
            yield from _on_processes(tasks[place:], min(jobs, left))
            return
        yield carry_out(task)


def _on_processes(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[int, Outcome]]:
    # Only who asks for several jobs pays for this import.
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    chunk = max(1, len(tasks) // (jobs * CHUNKS_A_JOB))
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(carry_out, tasks, chunksize=chunk)
