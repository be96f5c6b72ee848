"""`plan` of a `sticky` group of kafka-python members, whole process."""

from bench.live_groups import PlanOfLiveGroup

BENCHMARK = PlanOfLiveGroup(
    name="plan of a kafka-python sticky group",
    library="kafka-python",
    protocol="classic",
    strategy="sticky",
)
