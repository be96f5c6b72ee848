"""A sweep of simulations on a Spark cluster: one run a task.

Here and not beside the simulation, because only this package may know Spark. A task travels as
bytes and so does its outcome; workers need the package with xxhash and google-re2.
"""

import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pyspark.sql import SparkSession

from kgroups.core.simulation.engine.sweep import Task, carry_out
from kgroups.core.simulation.figures.outcome import Outcome
from kgroups.core.spark.session import SessionOptions, spark_session

# Runs of one Spark job, for each core: the cores wait for each other at its end only.
RUNS_A_CORE: Final = 16


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
    """The same in a session that is there: as many Spark tasks as there are runs.

    The runs of a job are carried out at the same time; a local iterator would ask for one task
    after the other. There are several jobs, so that not all outcomes are in memory at once.
    """
    context = session.sparkContext
    at_once = RUNS_A_CORE * max(1, context.defaultParallelism)
    for begin in range(0, len(tasks), at_once):
        packed = [pickle.dumps(task) for task in tasks[begin : begin + at_once]]
        for raw in context.parallelize(packed, len(packed)).map(run_packed).collect():
            yield pickle.loads(raw)


def run_packed(raw: bytes) -> bytes:
    """One task's outcome, on a worker."""
    return pickle.dumps(carry_out(pickle.loads(raw)))
