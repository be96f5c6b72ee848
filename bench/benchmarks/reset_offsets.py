"""`reset-offsets --execute` of 2,000 groups x 24 committed partitions, whole process.

Ours also writes the undo file and reads back what was written.
"""

from bench.answers import reset_rows
from bench.limits import RESET
from bench.side_by_side import AgainstOfficial

BENCHMARK = AgainstOfficial(
    name="reset-offsets --execute of 2,000 groups",
    ours=(
        *("reset-offsets", "--all-groups", "--all-topics", "--to", "earliest", "--execute"),
        *("--undo-dir", "{scratch}", "--timeout", "60s"),
    ),
    official=(
        *("--reset-offsets", "--all-groups", "--all-topics", "--to-earliest", "--execute"),
        *("--timeout", "120000"),
    ),
    answers=reset_rows,
    limit=RESET,
    rounds=3,  # the official tool takes long
    writes=True,
)
