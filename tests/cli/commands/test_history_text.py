"""What `history` says of a change, where no other test reads it."""

from kgroups.cli.commands.history.change_text import change_text
from tests.support.history.group_log import GroupLog, member


def test_a_group_that_is_older_than_its_log() -> None:
    """Who is in its first rebalance may have joined long before: they are counted."""
    log = GroupLog().compacted().group(7, member("app-1/a"), member("app-2/b"))
    log.group(8, member("app-1/a"), member("app-2/b"), member("app-3/c"))
    texts = ["generations 1 to 6 have no record", "2 members", "app-3 joined"]
    assert [change_text(change) for change in log.read()] == texts
