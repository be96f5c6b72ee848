"""`plan --add-members 2` of a KIP-848 group of Java members, whole process."""

from bench.live_groups import PlanOfLiveGroup

BENCHMARK = PlanOfLiveGroup(
    name="plan of a KIP-848 group, --add-members 2",
    library="java",
    protocol="consumer",
    strategy="uniform",
    changes=("--add-members", "2"),
    joins=2,
)
