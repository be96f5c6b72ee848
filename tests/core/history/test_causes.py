"""Why a group changed: each cause out of a log in which it, and nothing else, happens."""

from collections.abc import Callable
from typing import Final

import pytest

from kgroups.core.coordinator.log import records as r
from tests.support.history.group_log import POLL_MS, SESSION_MS, GroupLog, member

A, B = "app-1/a", "app-2/b"


def two() -> GroupLog:
    """Two members, both of whose partitions were committed."""
    log = GroupLog().group(1, member(A, [0, 1]))
    return log.group(2, member(A, [0]), member(B, [1])).commit(0, 1).commit(1, 1)


def _too_slow() -> GroupLog:
    """The second leaves one poll interval after its last commit, and joins under a new id."""
    log = two().wait(POLL_MS - 1_000).commit(0, 2)
    log.group(3, member(A, [0, 1]), after_ms=1_500)
    return log.group(4, member(A, [0]), member("app-2/c", [1]), after_ms=20_000)


def _too_slow_at_once() -> GroupLog:
    """It is back before the generation without it was there."""
    log = two().wait(POLL_MS).commit(0, 2)
    return log.group(3, member(A, [0]), member("app-2/c", [1]), after_ms=2_000)


def _crashed() -> GroupLog:
    """The second is silent for its session timeout, and never seen again."""
    return two().wait(SESSION_MS).commit(0, 2).group(3, member(A, [0, 1]), after_ms=3_000)


def _left() -> GroupLog:
    """It commits until it leaves."""
    return two().wait(200_000).commit(1, 9).group(3, member(A, [0, 1]))


def _left_soon() -> GroupLog:
    """It was there for a session timeout, and committed all the time."""
    return two().wait(SESSION_MS).commit(1, 9).group(3, member(A, [0, 1]))


def _left_without_commits() -> GroupLog:
    """It was there for a session timeout, and nobody knows whether it did anything."""
    log = GroupLog().group(1, member(A, [0, 1])).group(2, member(A, [0]), member(B, [1]))
    return log.wait(SESSION_MS).group(3, member(A, [0, 1]))


def _deploy() -> GroupLog:
    """Both are replaced, one after the other."""
    log = two().wait(200_000).commit(0, 5).commit(1, 5)
    log.group(3, member(A, [0, 1])).group(4, member(A, [0]), member("app-2/c", [1]))
    log.commit(0, 6).commit(1, 6)
    return log.group(5, member("app-2/c", [0, 1])).group(
        6, member("app-1/d", [0]), member("app-2/c", [1])
    )


def _more_partitions() -> GroupLog:
    return two().group(3, member(A, [0, 2]), member(B, [1]))


def _other_topics() -> GroupLog:
    return two().group(3, member(A, [0], topics=("t", "u")), member(B, [1]))


def _cooperative() -> GroupLog:
    """What was taken from the first in one round is given to the second in the next."""
    log = GroupLog().group(1, member(A, [0, 1])).group(2, member(A, [0]), member(B))
    return log.group(3, member(A, [0]), member(B, [1]))


def _nothing() -> GroupLog:
    return two().group(3, member(A, [0]), member(B, [1]))


def _compacted() -> GroupLog:
    return two().compacted().group(9, member(A, [0]), member(B, [1]))


CASES: Final[dict[Callable[[], GroupLog], list[tuple[str | None, str | None]]]] = {
    _too_slow: [("poll_timeout", "likely"), ("member_returned", "certain")],
    _too_slow_at_once: [("poll_timeout", "likely")],
    _crashed: [("session_timeout", "likely")],
    _left: [("member_left", "certain")],
    _left_soon: [("member_left", "certain")],
    _left_without_commits: [("session_timeout", "possible")],
    _deploy: [("deploy", "likely")] * 4,
    _more_partitions: [("topics_changed", "likely")],
    _other_topics: [("subscription_changed", "certain")],
    _cooperative: [("second_round", "likely")],
    _nothing: [("member_rejoined", "possible")],
    _compacted: [("compaction", "likely"), ("member_rejoined", "possible")],
}


@pytest.mark.parametrize("log", CASES, ids=lambda log: log.__name__.strip("_"))
def test_each_cause(log: Callable[[], GroupLog]) -> None:
    """Of the changes after the first two generations."""
    changes = [change for change in log().read() if change.kind != "commits"]
    assert [(one.cause, one.certainty) for one in changes[2:]] == CASES[log]


def test_two_timeouts_that_look_the_same() -> None:
    """Where both timeouts fit, the cause is only possible."""
    alike = member("app-2/b", [1])._replace(rebalance_timeout_ms=SESSION_MS)
    log = GroupLog().group(1, member(A, [0]), alike).commit(1, 1).wait(SESSION_MS)
    *_, last = log.group(2, member(A, [0, 1])).read()
    assert (last.cause, last.certainty) == ("session_timeout", "possible")


def test_a_consumer_group_tells_no_session_timeout() -> None:
    """Its configuration has it, not its records."""
    log = GroupLog().joins("a").joins("b").epoch(1).wait(SESSION_MS).leaves("b").epoch(2)
    assert log.read()[-1].cause == "member_left"
    assert isinstance(log.entries[0].record.key, r.ConsumerGroupMemberMetadataKey)
