"""`plan` of a `cooperative-sticky` group of Java members, whole process."""

from bench.live_groups import PlanOfLiveGroup

BENCHMARK = PlanOfLiveGroup(
    name="plan of a Java cooperative group",
    library="java",
    protocol="classic",
    strategy="cooperative-sticky",
)
