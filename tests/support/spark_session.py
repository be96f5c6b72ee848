"""One local Spark session for the whole test run; folders that need it import the fixture."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from kgroups.core.spark.session import SessionOptions, spark_session

TEST_OPTIONS = SessionOptions(master="local[2]", memory="512m", small=True)
# In a run of the slow tests it lives for minutes, where that of a command lives for seconds: there
# the optimising compiler pays. The few reports of `make test` take less than half without it.
OPTIMISING = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=4"}


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """A local session made the way the command makes it, stopped when the tests end."""
    asking = (item for item in request.session.items if item.get_closest_marker("spark"))
    is_long = any(item.get_closest_marker("slow") for item in asking)
    with spark_session(replace(TEST_OPTIONS, conf=OPTIMISING if is_long else {})) as session:
        yield session
