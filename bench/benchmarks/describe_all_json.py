"""`describe --all-groups as JSON` of 2,000 groups x 24 committed partitions, whole process."""

from bench.answers import describe_json
from bench.side_by_side import AgainstOfficial

BENCHMARK = AgainstOfficial(
    name="describe --all-groups as JSON",
    ours=("describe", "--all-groups", "--output", "json"),
    official=("--describe", "--all-groups"),
    answers=describe_json,
    min_ratio=30,
    max_peak_mb=200,
    rounds=3,  # the official tool takes half a minute
)
