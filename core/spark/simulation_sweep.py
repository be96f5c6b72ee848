"""A sweep of simulations on a Spark cluster: a few runs a task.

Here and not beside the simulation, because only this package may know Spark. Runs travel as bytes
and so do their outcomes; workers need the package with xxhash and google-re2.
"""

import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pyspark.sql import SparkSession

from kgroups.core.simulation.engine.sweep import Task, carry_out
from kgroups.core.simulation.figures.outcome import Outcome
from kgroups.core.spark.session import SessionOptions, spark_session

# Runs of one Spark job, for each core: the cores wait for each other at its end only.
RUNS_A_CORE: Final = 64
# Spark's tasks of a job, for each core: each costs as much as a short run, so one has several runs.
TASKS_A_CORE: Final = 8


def sweep_on_spark(
    tasks: Sequence[Task], master: str, conf: Mapping[str, str]
) -> Iterator[tuple[int, Outcome]]:
    """The outcomes of all tasks with the places of their variations, in the tasks' order.

    Args:
        master: `local[2]`, `spark://host:port`, ...
        conf: more settings of Spark.

    Raises:
        ClusterError: the master does not answer.
    """
    with spark_session(SessionOptions(master=master, conf=conf)) as session:
        yield from sweep_in_session(tasks, session)


def sweep_in_session(tasks: Sequence[Task], session: SparkSession) -> Iterator[tuple[int, Outcome]]:
    """The same in a session that is there.

    The runs of a job are carried out at the same time; a local iterator would ask for one task
    after the other. There are several jobs, so that not all outcomes are in memory at once.
    """
    context = session.sparkContext
    cores = max(1, context.defaultParallelism)
    for some in _parts(tasks, RUNS_A_CORE * cores):
        packed = [pickle.dumps(part) for part in _parts(some, len(some) // (TASKS_A_CORE * cores))]
        for raw in context.parallelize(packed, len(packed)).map(run_packed).collect():
            yield from pickle.loads(raw)


def _parts(tasks: Sequence[Task], size: int) -> Iterator[Sequence[Task]]:
    """The tasks in parts of so many, one at least."""
    size = max(1, size)
    for begin in range(0, len(tasks), size):
        yield tasks[begin : begin + size]


def run_packed(raw: bytes) -> bytes:
    """The outcomes of some runs, on a worker."""
    return pickle.dumps([carry_out(task) for task in pickle.loads(raw)])
