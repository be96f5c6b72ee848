"""`list` of 2,000 groups x 24 committed partitions, whole process."""

from bench.answers import list_names
from bench.limits import LIST
from bench.side_by_side import AgainstOfficial

BENCHMARK = AgainstOfficial(
    name="list",
    ours=("list",),
    official=("--list",),
    answers=list_names,
    limit=LIST,
)
