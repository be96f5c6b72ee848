"""`uniform, 500,000 x 10,000`: one call in a warm process."""

from bench.against_java import AgainstJava
from bench.assignor_groups import Shape

BENCHMARK = AgainstJava(
    name="uniform, 500,000 x 10,000",
    shape=Shape("server-uniform", 1, 500_000, 10_000, "fresh"),
    min_ratio=1,
    repeats=5,
)
