"""How far Spark's jobs are, told while they run.

A classic session is asked twice a second, by a thread of its own: its status tracker knows stages
and tasks, its status store the rows that they have read. Connect tells it by itself.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

LOOK_EVERY_S: Final = 0.5
# For an answer of the JVM that is on its way when the block ends.
END_S: Final = 10.0


class JobsDone(NamedTuple):
    """The progress of the jobs that are running; all 0 where none is.

    Args:
        stages, tasks: of how many; stages whose results are there already are not counted.
        rows: that they have read; None where that is not told.
    """

    stages: int = 0
    stages_done: int = 0
    tasks: int = 0
    tasks_done: int = 0
    rows: int | None = None


NO_JOBS: Final = JobsDone()
Watcher = Callable[[JobsDone], object]


@contextlib.contextmanager
def watched(session: SparkSession, watcher: Watcher | None) -> Iterator[None]:
    """Tell the watcher, for the length of the block, whenever there is something new.

    Args:
        watcher: called from another thread, at last with `NO_JOBS`; None: nobody watches.
    """
    if watcher is None:
        yield
        return
    try:
        with (
            _told_by_connect(session, watcher) if _is_remote(session) else _asked(session, watcher)
        ):
            yield
    finally:
        watcher(NO_JOBS)


def _is_remote(session: Any) -> bool:
    return not hasattr(session, "_jsc")


@contextlib.contextmanager
def _asked(session: SparkSession, watcher: Watcher) -> Iterator[None]:
    """A thread that asks the session's context."""
    is_over = threading.Event()

    def ask() -> None:
        shown = NO_JOBS
        while not is_over.wait(LOOK_EVERY_S):
            try:
                done = jobs_done(session)
            except (Py4JError, OSError):  # the JVM is gone, which the query itself tells best
                return
            if done != shown and not is_over.is_set():
                shown = done
                watcher(done)

    thread = threading.Thread(target=ask, name="kgroups-spark-jobs", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(END_S)


def jobs_done(session: SparkSession) -> JobsDone:
    """How far the jobs of a classic session are.

    Raises:
        Py4JError: its JVM does not answer.
    """
    context: Any = session.sparkContext
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getActiveJobsIds()]
    ids = sorted({stage for job in jobs if job is not None for stage in job.stageIds})
    running = [(stage, tracker.getStageInfo(stage)) for stage in ids]
    stages = [(stage, info) for stage, info in running if info is not None]
    if not stages:
        return NO_JOBS
    return JobsDone(
        stages=len(stages),
        stages_done=sum(info.numCompletedTasks == info.numTasks for _, info in stages),
        tasks=sum(info.numTasks for _, info in stages),
        tasks_done=sum(info.numCompletedTasks for _, info in stages),
        rows=_rows_read(context, [stage for stage, _ in stages]),
    )


def _rows_read(context: Any, stages: list[int]) -> int | None:
    """Rows that stages have read; None where Spark's store, which is its own, cannot tell."""
    try:
        store = context._jsc.sc().statusStore()
        return sum(int(store.lastStageAttempt(stage).inputRecords()) for stage in stages)
    except (Py4JError, TypeError):
        return None


@contextlib.contextmanager
def _told_by_connect(session: Any, watcher: Watcher) -> Iterator[None]:
    """The client's own progress; a server may send none."""

    def tell(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        running = list(stages or ())
        if done or not running:
            watcher(NO_JOBS)
            return
        watcher(
            JobsDone(
                stages=len(running),
                stages_done=sum(stage.done for stage in running),
                tasks=sum(stage.num_tasks for stage in running),
                tasks_done=sum(stage.num_completed_tasks for stage in running),
            )
        )

    session.registerProgressHandler(tell)
    try:
        yield
    finally:
        session.removeProgressHandler(tell)
