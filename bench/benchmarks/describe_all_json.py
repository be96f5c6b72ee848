"""`describe --all-groups as JSON` of 2,000 groups x 24 committed partitions, whole process."""

from bench.answers import describe_json
from bench.limits import DESCRIBE_ALL
from bench.side_by_side import AgainstOfficial

BENCHMARK = AgainstOfficial(
    name="describe --all-groups as JSON",
    ours=("describe", "--all-groups", "--output", "json"),
    official=("--describe", "--all-groups"),
    answers=describe_json,
    limit=DESCRIBE_ALL,
    rounds=3,  # the official tool takes half a minute
)
