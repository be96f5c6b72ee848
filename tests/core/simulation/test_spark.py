"""A sweep on Spark: one run a task, and the outcomes that one process gives."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kgroups.core.simulation.engine.sweep import plan_tasks, sweep
from kgroups.core.spark.simulation_sweep import sweep_in_session
from tests.support.cli.process import environment, finish
from tests.support.lag.spark_servers import QUICK_JVM, standalone
from tests.support.simulation.sample_scenarios import BASE, scenario

pytestmark = pytest.mark.spark

SWEEP = ["--vary", "protocol=eager,consumer", "--repeat", "2", "-o", "json"]


@pytest.mark.slow("a sweep on Spark; on processes here: tests/core/simulation/test_run.py")
def test_a_sweep_on_spark_is_the_sweep_here(spark: SparkSession) -> None:
    """Two variations with two seeds, in order."""
    variations = [{"protocol": "eager"}, {"protocol": "consumer"}]
    tasks = plan_tasks(scenario(until="30s"), variations, (1, 2))
    assert list(sweep_in_session(tasks, spark)) == list(sweep(tasks, 1))


def test_many_runs_take_several_jobs_and_every_core(spark: SparkSession) -> None:
    """Twenty seeds, fewer a job, several a task: the runs here, in order, side by side."""
    tasks = plan_tasks(scenario(until="20s"), [{}], range(1, 21))
    context = spark.sparkContext
    with pytest.MonkeyPatch.context() as patch:
        cores = context.defaultParallelism
        patch.setattr("kgroups.core.spark.simulation_sweep.RUNS_A_CORE", 6)
        patch.setattr("kgroups.core.spark.simulation_sweep.TASKS_A_CORE", 2)
        context.setJobGroup("sweep", "twenty runs")
        found = list(sweep_in_session(tasks, spark))
        jobs = context.statusTracker().getJobIdsForGroup("sweep")
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    assert found == list(sweep(tasks, 1))
    a_job = 6 * cores
    assert len(jobs) == -(-20 // a_job)
    counts = [min(a_job, 20 - begin) for begin in range(0, 20, a_job)]
    expected = [-(-count // max(1, count // (2 * cores))) for count in counts]
    stages = [context.statusTracker().getJobInfo(job).stageIds[0] for job in jobs]  # type: ignore[union-attr]
    sizes = [context.statusTracker().getStageInfo(one).numTasks for one in stages]  # type: ignore[union-attr]
    assert sorted(sizes) == sorted(expected)


def swept(path: Path, *more: str, **variables: str) -> dict[str, Any]:
    """What the program prints of the sweep, but for when it was made."""
    arguments = ("simulate", str(path), *SWEEP, *more)
    code, stdout, stderr = finish(*arguments, env=environment(**variables))
    assert code == 0, stderr
    assert stderr in ("", "starting Spark\n")
    found: dict[str, Any] = json.loads(stdout)
    del found["generated_at"]
    return found


@pytest.mark.slow("a master of its own; Spark in this process is in every run")
def test_a_sweep_on_a_standalone_master_is_the_sweep_here(tmp_path: Path) -> None:
    """The program with `--master`: both workers have an executor, and the answer is the same."""
    path = tmp_path / "deploy.yaml"
    path.write_text(BASE.replace("until: 4m", "until: 1m"), encoding="utf-8")
    # What an executor takes is the cluster's affair: its own file of defaults says it.
    defaults = f"spark.executor.memory 512m\nspark.executor.extraJavaOptions {QUICK_JVM}\n"
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    with standalone(tmp_path, workers=2) as master:
        elsewhere = swept(path, "--master", master, SPARK_CONF_DIR=str(tmp_path))
    for number in range(2):
        assert list((tmp_path / f"work-{number}").glob("app-*/*")), "this worker had no executor"
    assert elsewhere == swept(path, "--jobs", "1")
