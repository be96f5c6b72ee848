"""Many runs: every variation with every seed, one after the other or on several cores."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from threading import Event, Lock, Thread
from time import perf_counter
from typing import Final

from kgroups.core.simulation.engine.refusals import check_scenario
from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.figures.outcome import Outcome
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.scenario.variation import Variation, varied

# How long runs are carried out here before other processes are thought of, and how often then.
ALONE_S: Final = 0.25
LEAST_PAUSE_S: Final = 0.01
# What takes less than so many times that here is not worth the start of a process.
WORTH: Final = 4
# What a process is given at once takes about so long: so none waits long for another at the end.
CHUNK_S: Final = 0.1
# A process is given the next while it has one to do.
CHUNKS_A_PROCESS: Final = 2


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
        variant = varied(scenario, variation)
        check_scenario(variant)
        tasks += [Task(place, variant, seed) for seed in seeds]
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
        jobs: processes, this one among them.
        progress: called with the number of runs that are done.
        alone_s: runs are carried out here for so long, before processes are started that help.
    """
    outcomes: Iterator[tuple[int, Outcome]] = map(carry_out, tasks)
    if jobs > 1 and len(tasks) > 1:
        outcomes = SharedSweep(tasks, jobs - 1, alone_s).outcomes()
    for done, outcome in enumerate(outcomes, 1):
        if progress is not None:
            progress(done)
        yield outcome


Numbered = tuple[int, Task]


class SharedSweep:
    """A sweep by this process and others.

    This one takes the next run that nobody has, again and again; what the others are given is
    taken from the same line. A run's outcome does not depend on where it is carried out.

    Args:
        helpers: other processes, at most.
        alone_s: when they are started at the earliest.
    """

    def __init__(self, tasks: Sequence[Task], helpers: int, alone_s: float) -> None:
        self._waiting: deque[Numbered] = deque(enumerate(tasks))
        # Runs that failed elsewhere: carried out here they fail with their own error.
        self._failed: deque[Numbered] = deque()
        self._found: dict[int, tuple[int, Outcome] | Exception] = {}
        self._total, self._helpers, self._alone_s = len(tasks), helpers, alone_s
        self._began_s, self._here, self._here_s = perf_counter(), 0, 0.0
        self._lock, self._over = Lock(), Event()
        self._pool: ProcessPoolExecutor | None = None
        self._given: dict[Future[list[tuple[int, Outcome]]], list[Numbered]] = {}

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        """All of them, in order; the first that failed raises its error."""
        feeder = Thread(target=self._feed, name="kgroups-sweep", daemon=True)
        feeder.start()
        try:
            for number in range(self._total):
                while number not in self._found:
                    self._work(number)
                outcome = self._found.pop(number)
                if isinstance(outcome, Exception):
                    raise outcome
                yield outcome
        finally:
            self._over.set()
            feeder.join()
            if self._pool is not None:
                self._pool.shutdown(cancel_futures=True)

    def _work(self, number: int) -> None:
        """Carry out one run, or wait for those of the others, until there is this one's outcome."""
        self._collect()
        if number in self._found:
            return
        if self._pool is not None:
            self._give()
        with self._lock:
            mine = self._failed or self._waiting
            task = mine.popleft() if mine else None
        if task is None:
            self._wait()
            return
        began_s = perf_counter()
        try:
            self._found[task[0]] = carry_out(task[1])
        except Exception as error:  # told in its turn
            self._found[task[0]] = error
        self._here += 1
        self._here_s += perf_counter() - began_s

    # ------------------------------------------------------------------ the others

    def _feed(self) -> None:
        """Start the others when they are worth it; and give them more where a run here is long."""
        while not self._over.wait(max(self._alone_s, LEAST_PAUSE_S)):
            if self._pool is not None or self._is_worth_it():
                self._give()

    def _is_worth_it(self) -> bool:
        """Whether the runs that nobody has would take long here."""
        each_s = (perf_counter() - self._began_s) / max(1, self._here)
        return each_s * len(self._waiting) > WORTH * self._alone_s

    def _give(self) -> None:
        """Give the others what they can do next; where there can be none, all is done here."""
        with self._lock:
            while self._waiting and len(self._given) < CHUNKS_A_PROCESS * self._helpers:
                chunk = [self._waiting.popleft() for _ in range(self._chunk())]
                try:
                    future = self._started().submit(carry_out_all, [task for _, task in chunk])
                except (OSError, BrokenExecutor):
                    self._waiting.extendleft(reversed(chunk))
                    self._helpers = 0
                else:
                    self._given[future] = chunk

    def _chunk(self) -> int:
        """Runs to be given at once: few, so that all are done at about the same time."""
        each_s = self._here_s / self._here if self._here else CHUNK_S
        fair = len(self._waiting) // (CHUNKS_A_PROCESS * (self._helpers + 1))
        return max(1, min(int(CHUNK_S / each_s), fair))

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Only who asks for several jobs pays for this import.
            from multiprocessing import get_context

            self._pool = ProcessPoolExecutor(self._helpers, mp_context=get_context("spawn"))
        return self._pool

    def _wait(self) -> None:
        """Until one of the others has done something."""
        with self._lock:
            given = list(self._given)
        wait(given, return_when=FIRST_COMPLETED)

    def _collect(self) -> None:
        """Take what the others have done; what they have not is done here."""
        with self._lock:
            for future in [future for future in self._given if future.done()]:
                chunk = self._given.pop(future)
                try:
                    outcomes = future.result()
                except BrokenExecutor:  # somebody has ended the process
                    outcomes, self._helpers = [], 0
                for (number, _), outcome in zip(chunk, outcomes, strict=False):
                    self._found[number] = outcome
                self._failed.extend(chunk[len(outcomes) :])


def carry_out_all(tasks: Sequence[Task]) -> list[tuple[int, Outcome]]:
    """Some runs, up to the first that fails."""
    outcomes: list[tuple[int, Outcome]] = []
    for task in tasks:
        try:
            outcomes.append(carry_out(task))
        except Exception:  # whoever carries it out again is told why
            break
    return outcomes
