"""One local Spark session for the whole test run; folders that need it import the fixture."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from kgroups.core.spark.session import SessionOptions, spark_session

# It lives for minutes, where that of a command lives for seconds: the optimising compiler pays.
OPTIMISING = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=4"}
TEST_OPTIONS = SessionOptions(master="local[2]", memory="512m", small=True, conf=OPTIMISING)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session made the way the command makes it, stopped when the tests end."""
    with spark_session(TEST_OPTIONS) as session:
        yield session
