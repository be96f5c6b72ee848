"""`lag report` on a snapshot of 100,800 partitions, whole process, beside Spark's defaults."""

from bench.lag_snapshot import BesideDefaults

BENCHMARK = BesideDefaults(
    name="lag report on 100,000 partitions, beside Spark's defaults",
    groups=4_200,
    min_ratio=1.5,
)
