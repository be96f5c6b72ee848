"""What an open transaction holds: a commit at the last stable offset, with records behind it."""

import pytest

from kgroups.core.lag.held_back import held_notes, held_partition_count, held_partitions
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group, PartitionLog, Topic

CASES = [
    ("held", 5, 5, 9, {("t", 0): 4}),
    ("the consumer is behind, too", 3, 5, 9, {}),
    ("it reads uncommitted records", 7, 5, 9, {}),
    ("no transaction is open", 5, 5, 5, {}),
    ("not asked for", 5, None, 9, {}),
]


@pytest.mark.parametrize(
    ("committed", "stable", "end", "held"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_held(
    committed: int, stable: int | None, end: int, held: dict[tuple[str, int], int]
) -> None:
    """The records from there on, a note, a figure; unknown without last stable offsets."""
    log = PartitionLog(leader=1, log_start_offset=0, log_end_offset=end, last_stable_offset=stable)
    group = Group("g", "classic", "Empty", offsets={"t": {0: CommittedOffset(committed)}})
    snapshot = ClusterSnapshot(0, groups=(group,), topics={"t": Topic("t", {0: log})})
    assert held_partitions(snapshot, group) == held
    assert len(list(held_notes({"g": held}))) == len(held)
    assert held_partition_count(snapshot, group) == (None if stable is None else len(held))
