"""`describe one group, far away`: of 2,000 groups on a broker that is 100 ms away."""

from bench.answers import describe_table
from bench.limits import FAR
from bench.side_by_side import AgainstOfficial
from bench.stage import ONE_GROUP

BENCHMARK = AgainstOfficial(
    name="describe one group, far away",
    ours=("describe", ONE_GROUP),
    official=("--describe", "--group", ONE_GROUP),
    answers=describe_table,
    limit=FAR,
    is_far=True,
)
