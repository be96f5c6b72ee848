"""`reset-offsets --dry-run, far away`: of 2,000 groups on a broker that is 100 ms away."""

from bench.answers import reset_rows
from bench.limits import FAR
from bench.side_by_side import AgainstOfficial
from bench.stage import ONE_GROUP

BENCHMARK = AgainstOfficial(
    name="reset-offsets --dry-run, far away",
    ours=("reset-offsets", ONE_GROUP, "--all-topics", "--to", "earliest", "--dry-run"),
    official=(
        "--reset-offsets",
        "--group",
        ONE_GROUP,
        "--all-topics",
        "--to-earliest",
        "--dry-run",
    ),
    answers=reset_rows,
    limit=FAR,
    is_far=True,
)
