"""`list, far away`: of 2,000 groups on a broker that is 100 ms away."""

from bench.answers import list_names
from bench.limits import FAR
from bench.side_by_side import AgainstOfficial

BENCHMARK = AgainstOfficial(
    name="list, far away",
    ours=("list",),
    official=("--list",),
    answers=list_names,
    limit=FAR,
    is_far=True,
)
