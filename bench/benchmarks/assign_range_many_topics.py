"""`range, 1,000,000 x 2,000, 1,000 topics`: one call in a warm process."""

from bench.against_java import AgainstJava
from bench.assignor_groups import Shape

BENCHMARK = AgainstJava(
    name="range, 1,000,000 x 2,000, 1,000 topics",
    shape=Shape("range", 1_000, 1_000, 2_000, "fresh"),
    min_ratio=10,
    repeats=5,
)
