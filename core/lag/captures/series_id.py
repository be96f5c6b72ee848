"""The number of a series: 64 bits.

A series (cluster, group, topic, partition) is grouped, sorted and joined by one number. Of a
million series two share a number once in ten million fleets.
"""

from kgroups.core.spark.plans.api import Column
from kgroups.core.spark.plans.api import functions as F


def series_id() -> Column:
    """The number of a row's series."""
    group = F.xxhash64("cluster", "group")
    return group.bitwiseXOR(F.xxhash64("topic")).bitwiseXOR(F.xxhash64("partition"))
