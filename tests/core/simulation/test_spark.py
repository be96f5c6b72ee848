"""A sweep on Spark: one run a task, and the outcomes that one process gives."""

import pytest
from pyspark.sql import SparkSession

from kgroups.core.lag.simulations import sweep_in_session
from kgroups.core.simulation.sweep import plan_tasks, sweep
from tests.core.simulation.scenarios import scenario


@pytest.mark.spark
def test_a_sweep_on_spark_is_the_sweep_here(spark: SparkSession) -> None:
    """Two variations with two seeds, in order."""
    variations = [{"protocol": "eager"}, {"protocol": "consumer"}]
    tasks = plan_tasks(scenario(until="30s"), variations, (1, 2))
    assert list(sweep_in_session(tasks, spark)) == list(sweep(tasks, 1))
