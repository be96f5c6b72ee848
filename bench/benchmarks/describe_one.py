"""`describe one group` of 2,000 groups x 24 committed partitions, whole process."""

from bench.answers import describe_table
from bench.limits import DESCRIBE_ONE
from bench.side_by_side import AgainstOfficial
from bench.stage import ONE_GROUP

BENCHMARK = AgainstOfficial(
    name="describe one group",
    ours=("describe", ONE_GROUP),
    official=("--describe", "--group", ONE_GROUP),
    answers=describe_table,
    limit=DESCRIBE_ONE,
)
