"""When commits expire, rule by rule, and since when groups are idle."""

import fnmatch
from collections.abc import Callable

import pytest

from kgroups.core.offsets.expiry import CommitTimes, Expiry, GroupLog, group_expiry
from kgroups.core.snapshot import CommittedOffset, Group, Member

KEPT = 1_000
LOG = GroupLog({("t", 0): CommitTimes(5, 100), ("u", 0): CommitTimes(6, 200)}, 700, True, KEPT)
OFFSETS = {"t": {0: CommittedOffset(5)}, "u": {0: CommittedOffset(6)}}
READER = Member("m", "c", "/h", subscription=("t",))
BY_PATTERN = Member("m", "c", "/h", subscription=(), subscription_regex="t*")
UNSEEN = Member("m", "c", "/h", subscription=None)


def matching(pattern: str) -> Callable[[str], bool]:
    """A glob will do."""
    return lambda name: fnmatch.fnmatchcase(name, pattern)


def group(kind: str, state: str, *members: Member, protocol: str = "consumer") -> Group:
    """A group with two commits."""
    return Group("g", kind, state, protocol, members=members, offsets=OFFSETS)  # type: ignore[arg-type]


CASES: dict[str, tuple[Group, GroupLog, tuple[int | str, int | str], int | None]] = {
    "an empty classic group: from when it became empty": (
        group("classic", "Empty"), LOG, (1_700, 1_700), 700
    ),
    "without that time: from each commit": (
        group("classic", "Empty"), GroupLog(LOG.commits, None, True, KEPT), (1_100, 1_200), 200
    ),
    "the group's record was not found": (
        group("classic", "Empty"), GroupLog(LOG.commits, None, False, KEPT),
        ("unknown", "unknown"), None,
    ),
    "a group that only commits": (
        group("classic", "Empty", protocol=""), LOG, (1_100, 1_200), 200
    ),
    "an empty consumer group": (group("consumer", "Empty"), LOG, (1_100, 1_200), 200),
    "a topic that nobody reads": (
        group("classic", "Stable", READER), LOG, ("in_use", 1_200), None
    ),
    "the same in KIP-848": (group("consumer", "Stable", READER), LOG, ("in_use", 1_200), None),
    "by pattern": (group("consumer", "Stable", BY_PATTERN), LOG, ("in_use", 1_200), None),
    "a group that rebalances": (
        group("classic", "PreparingRebalance", READER), LOG, ("in_use", "in_use"), None
    ),
    "of connectors": (
        group("classic", "Stable", UNSEEN, protocol="connect"), LOG, ("in_use", "in_use"), None
    ),
    "subscriptions that cannot be read": (
        group("classic", "Stable", UNSEEN), LOG, ("unknown", "unknown"), None
    ),
    "a retention that is not known": (
        group("classic", "Empty"), GroupLog(LOG.commits, 700, True), ("unknown", "unknown"), 700
    ),
    "another commit since": (
        group("consumer", "Empty"),
        GroupLog({**LOG.commits, ("u", 0): CommitTimes(5, 200)}, None, True, KEPT),
        (1_100, "unknown"),
        None,
    ),
    "a retention of its own": (
        group("consumer", "Empty"),
        GroupLog({**LOG.commits, ("t", 0): CommitTimes(5, 100, 150)}, None, True, KEPT),
        (150, 1_200),
        200,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_rule(case: str) -> None:
    """As OffsetExpirationConditionImpl has it."""
    held, log, wanted, idle = CASES[case]
    found = group_expiry(held, log, matching)
    rows = tuple(found.rows[at] for at in (("t", 0), ("u", 0)))
    assert tuple(row.expires_at_ms or row.expiry for row in rows) == wanted
    assert found.idle_since_ms == idle
    if "unknown" in wanted:
        assert found.total.expiry == "unknown"
    else:
        due = [each for each in wanted if isinstance(each, int)]
        assert found.total == Expiry("expires" if due else "in_use", min(due, default=None), 200)
