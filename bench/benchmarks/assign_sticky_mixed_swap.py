"""`sticky`, mixed subscriptions, one leaves and one joins: one call in a warm process."""

from bench.against_java import AgainstJava
from bench.assignor_groups import Shape

BENCHMARK = AgainstJava(
    name="sticky, mixed subscriptions, one leaves, one joins, 20,000 x 500",
    shape=Shape("sticky", 100, 200, 500, "mixed,swap"),
    min_ratio=100,
    repeats=3,
)
