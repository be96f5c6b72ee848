"""`roundrobin, 1,000,000 x 2,000, one topic`: one call in a warm process."""

from bench.against_java import AgainstJava
from bench.assignor_groups import Shape

BENCHMARK = AgainstJava(
    name="roundrobin, 1,000,000 x 2,000, one topic",
    shape=Shape("roundrobin", 1, 1_000_000, 2_000, "fresh"),
    min_ratio=10,
    repeats=5,
)
