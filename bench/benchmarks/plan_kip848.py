"""`plan` of a KIP-848 group of Java members, whole process."""

from bench.live_groups import PlanOfLiveGroup

BENCHMARK = PlanOfLiveGroup(
    name="plan of a KIP-848 group",
    library="java",
    protocol="consumer",
    strategy="uniform",
)
