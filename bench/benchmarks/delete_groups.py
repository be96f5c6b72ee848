"""`delete` of 2,000 groups x 24 committed partitions, whole process."""

from bench.answers import deleted_names
from bench.limits import DELETE
from bench.side_by_side import AgainstOfficial

BENCHMARK = AgainstOfficial(
    name="delete of 2,000 groups",
    ours=("delete", "--all-groups", "--yes", "--timeout", "60s"),
    official=("--delete", "--all-groups", "--timeout", "120000"),
    answers=deleted_names,
    limit=DELETE,
    writes=True,
)
