"""A member that flaps is one line, and the figures name it."""

from kgroups.core.history.changes import Change
from kgroups.core.history.repeats import Repeat, figures, repeats
from tests.support.history.group_log import GroupLog, member

A = "app-1/a"
TIMES = 27


def flapping() -> GroupLog:
    """`app-3` leaves and joins, with a commit in between; then somebody else joins."""
    log = GroupLog().group(1, member(A, [0])).group(2, member(A, [0]), member("app-3/0", [1]))
    for turn in range(1, TIMES + 1):
        log.commit(0, turn).group(2 * turn + 1, member(A, [0, 1]), after_ms=6_000)
        log.group(2 * turn + 2, member(A, [0]), member(f"app-3/{turn}", [1]), after_ms=6_000)
    return log.group(
        2 * TIMES + 3, member(A, [0]), member(f"app-3/{TIMES}", [1]), member("app-9/x")
    )


def test_one_line_for_all_of_them() -> None:
    """Commits in between are in it; what others do is not."""
    changes = flapping().read()
    first, repeat, last = repeats(changes)
    assert isinstance(repeat, Repeat)
    assert (repeat.client_id, repeat.left, repeat.joined) == ("app-3", TIMES, TIMES + 1)
    assert isinstance(first, Change)
    assert isinstance(last, Change)
    assert (first.number, last.number) == (1, 2 * TIMES + 3)
    assert [first, *repeat.changes, last] == list(changes)


def test_two_turns_are_lines_of_their_own() -> None:
    """Fewer than four rebalances are told one by one."""
    log = GroupLog().group(1, member(A, [0])).group(2, member(A, [0]), member("app-3/0", [1]))
    changes = log.group(3, member(A, [0, 1])).read()
    assert list(repeats(changes)) == list(changes)


def test_the_figures() -> None:
    """Rebalances an hour, and who is behind them."""
    found = figures(flapping().read(), span_ms=3_600_000)
    assert found.rebalances == found.rebalances_per_hour == 2 * TIMES + 3
    assert (found.client_id, found.client_rebalances) == ("app-3", 2 * TIMES + 1)
    assert (found.commits, found.backwards) == (TIMES, 0)
