"""How far Spark's jobs are: told while one runs, then no more."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from kgroups.cli.commands.lag.spark_line import SparkLine, words_of
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions
from kgroups.core.spark.jobs import NO_JOBS, JobsDone, watched
from tests.support.kafka.waiting import wait_until

TASKS = 3
TIMEOUT_S = 60.0


@pytest.mark.spark
def test_a_job_is_told_while_it_runs(spark: SparkSession, tmp_path: Path) -> None:
    """Its tasks when some of them are done and one waits; nothing when it has ended."""
    told: list[JobsDone] = []
    go_on = tmp_path / "go on"

    def held(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if 0 in batch["id"].to_pylist():
                wait_until(go_on.exists, "the test lets the task go on", timeout_s=TIMEOUT_S)
            yield batch

    rows = spark.range(0, TASKS, 1, TASKS).mapInArrow(held, "id long")
    with ThreadPoolExecutor(1) as pool, watched(spark, told.append):
        job = pool.submit(rows.collect)
        try:
            wait_until(
                lambda: any(done.tasks_done == TASKS - 1 for done in told),
                f"all tasks but one are told as done: {told}",
                timeout_s=TIMEOUT_S,
            )
        finally:
            go_on.touch()
        assert len(job.result(TIMEOUT_S)) == TASKS
    last = next(done for done in told if done.tasks_done == TASKS - 1)
    assert (last.stages, last.stages_done, last.tasks) == (1, 0, TASKS)
    assert told[-1] == NO_JOBS
    wait_until(
        lambda: "kgroups-spark-jobs" not in {thread.name for thread in threading.enumerate()},
        "the thread that asks ends",
        timeout_s=TIMEOUT_S,
    )


class Connected:
    """A session of Connect, as far as its progress goes: the client's own handlers."""

    def __init__(self) -> None:
        self.handlers: list[Any] = []
        self.registerProgressHandler = self.handlers.append
        self.removeProgressHandler = self.handlers.remove


def test_what_connect_tells() -> None:
    """Stages as they come; a server that sends none is not told of."""
    session: Any = Connected()
    told: list[JobsDone] = []
    with watched(session, told.append):
        (handler,) = session.handlers
        stages = [
            SimpleNamespace(num_tasks=4, num_completed_tasks=4, done=True),
            SimpleNamespace(num_tasks=2, num_completed_tasks=1, done=False),
        ]
        handler(stages=stages, inflight_tasks=1, operation_id="o", done=False)
        handler(stages=None, inflight_tasks=0, operation_id="o", done=False)
    assert told == [JobsDone(2, 1, 6, 5), NO_JOBS, NO_JOBS]
    assert session.handlers == []


@pytest.mark.parametrize(
    ("is_terminal", "options"),
    [(False, GlobalOptions()), (True, GlobalOptions(quiet=True))],
    ids=["in a pipe", "quiet"],
)
def test_nobody_watches_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, options: GlobalOptions
) -> None:
    """No thread, and nothing written."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal, raising=False)
    assert SparkLine(Printer(options)).watcher is None


def test_the_line_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The step, how far its jobs are, and the step alone when they have ended."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    line = SparkLine(Printer(GlobalOptions()))
    line.step("computing")
    assert line.watcher is not None
    line.watcher(JobsDone(3, 1, 12, 5, 1_234))
    line.watcher(NO_JOBS)
    begin = "\r\x1b[K"
    told = f"{begin}computing{begin}computing: stage 2 of 3, 5 of 12 tasks, 1,234 rows read"
    assert capsys.readouterr().err == f"{told}{begin}computing"
    assert words_of(JobsDone(1, 1, 2, 2)) == "stage 1 of 1, 2 of 2 tasks"
