"""What the rounds hold against a state."""

from tests.support.chaos.held import neither, with_starts
from tests.support.chaos.state import Commit, State

LOG, COMMIT = ("", "records", 1), ("group", "orders", 0)


def test_a_log_may_begin_earlier_after_a_kill() -> None:
    """Its broker forgot the last deletion; nothing else may be older than it was."""
    before: State = {LOG: 8, COMMIT: Commit(5, -1, "")}
    found: State = {LOG: 6, COMMIT: Commit(5, -1, "")}
    assert neither(before, before, found)
    assert with_starts(before, before, found) == before


def test_a_deletion_of_records_holds() -> None:
    """The start that a work moves is where it was, or where it is to be."""
    old: State = {LOG: 8}
    new: State = {LOG: 9}
    found: State = {LOG: 6}
    assert with_starts(old, new, found) == found
    assert neither(old, new, found)


def test_a_start_may_come_back() -> None:
    """Another broker still knew of the deletion."""
    before: State = {LOG: 6}
    assert with_starts(before, before, {LOG: 8}) == before


def test_commits_are_as_they_are() -> None:
    """Older ones too."""
    before: State = {COMMIT: Commit(5, -1, "")}
    found: State = {COMMIT: Commit(3, -1, "")}
    assert with_starts(before, before, found) == found
