"""`plan --add-members 2` of a `cooperative-sticky` group of librdkafka members, whole process."""

from bench.live_groups import PlanOfLiveGroup

BENCHMARK = PlanOfLiveGroup(
    name="plan of a librdkafka cooperative group, --add-members 2",
    library="librdkafka",
    protocol="classic",
    strategy="cooperative-sticky",
    changes=("--add-members", "2"),
    joins=2,
)
