"""`lag report` on 100,000 partitions, whole process, beside the same report on Spark's defaults."""

from bench.lag_snapshot import BesideDefaults

BENCHMARK = BesideDefaults("lag report on 100,000 partitions", groups=4_200, min_ratio=1.5)
