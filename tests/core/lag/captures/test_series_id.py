"""The number of a series: what Python computes against what Spark computes."""

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from kgroups.core.lag.captures.series_id import SEED, hash_of, series_id, series_ids

# Around each of the algorithm's steps: 4, 8 and 32 bytes, and characters of more than one.
NAMES = ["", "a", "abc", "abcd", "abcde", "orders-7", "payments-", "überweisung", "日本語"]
NAMES += ["x" * length for length in (31, 32, 33, 36, 39, 40, 63, 64, 95, 97, 249)]


def signed(number: int) -> int:
    """As Java has it."""
    return number - (1 << 64) if number >> 63 else number


@pytest.mark.spark
def test_names_hash_as_in_spark(spark: SparkSession) -> None:
    """Names of every length that the algorithm tells apart, after one and after two columns."""
    frame = spark.createDataFrame([(name,) for name in NAMES], "name string")
    found = frame.select(
        "name", F.xxhash64("name"), F.xxhash64(F.lit("my cluster"), "name")
    ).collect()
    for name, alone, after in found:
        assert signed(hash_of(name, SEED)) == alone, name
        assert signed(hash_of(name, hash_of("my cluster", SEED))) == after, name


@pytest.mark.spark
def test_series_numbers_as_in_spark(spark: SparkSession) -> None:
    """Every series of a small fleet has the number that Spark gives it, and one of its own."""
    rows = [(group, topic, p) for group in NAMES for topic in NAMES for p in (0, 1, 7, 4_000)]
    frame = spark.createDataFrame(
        [("c", *row) for row in rows], "cluster string, group string, topic string, partition int"
    )
    expected = [row[0] for row in frame.select(series_id()).collect()]
    groups, topics, partitions = zip(*rows, strict=True)
    found = series_ids(
        "c",
        pa.array(groups).dictionary_encode(),
        pa.array(topics).dictionary_encode(),
        np.array(partitions, np.int32),
    )
    assert found.tolist() == expected
    assert len(set(expected)) == len(rows)
