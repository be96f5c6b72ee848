"""`plan` of a `cooperative-sticky` group of librdkafka members, whole process."""

from bench.live_groups import PlanOfLiveGroup

BENCHMARK = PlanOfLiveGroup(
    name="plan of a librdkafka cooperative group",
    library="librdkafka",
    protocol="classic",
    strategy="cooperative-sticky",
)
