"""`plan --add-members 2` of a `sticky` group of kafka-python members, whole process."""

from bench.live_groups import PlanOfLiveGroup

BENCHMARK = PlanOfLiveGroup(
    name="plan of a kafka-python sticky group, --add-members 2",
    library="kafka-python",
    protocol="classic",
    strategy="sticky",
    changes=("--add-members", "2"),
    joins=2,
)
