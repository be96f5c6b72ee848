"""`describe --all-groups over TLS` of 2,000 groups x 24 committed partitions, whole process."""

from bench.answers import describe_table
from bench.limits import DESCRIBE_ALL
from bench.side_by_side import AgainstOfficial

BENCHMARK = AgainstOfficial(
    name="describe --all-groups over TLS",
    ours=("describe", "--all-groups"),
    official=("--describe", "--all-groups"),
    answers=describe_table,
    limit=DESCRIBE_ALL,
    protocol="SSL",
    rounds=3,  # the official tool takes half a minute
)
