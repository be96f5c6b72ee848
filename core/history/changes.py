"""A change of a group, as `kgroups history` shows it."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from kgroups.core.history.rivals import Rivalry
from kgroups.core.history.roster import Difference

Kind = Literal["rebalance", "members", "commits", "deleted", "gap"]
Protocol = Literal["classic", "consumer"]
Certainty = Literal["certain", "likely", "possible"]


class Setback(NamedTuple):
    """A commit that went backwards."""

    at_ms: int
    topic: str
    partition: int
    old_offset: int
    new_offset: int


class FirstCommit(NamedTuple):
    """The first commit of a partition that was added while the group read the topic.

    Args:
        assigned_ms: epoch milliseconds, when it got its first owner.
    """

    at_ms: int
    topic: str
    partition: int
    offset: int
    assigned_ms: int


@dataclass(frozen=True, slots=True)
class Commits:
    """Commits between two changes, counted.

    Args:
        count: commits of one partition each.
        until_ms: epoch milliseconds of the last one.
        partitions: how many were committed.
        backwards: how many were lower than the one before.
        setbacks: the first of them.
        unowned: how many were of partitions that no member had, though there were members.
        deleted: commits that were deleted, or expired.
        first: of partitions that were added.
        rivals: who committed partitions in turn.
    """

    count: int = 0
    until_ms: int = 0
    partitions: int = 0
    backwards: int = 0
    setbacks: tuple[Setback, ...] = ()
    unowned: int = 0
    deleted: int = 0
    first: tuple[FirstCommit, ...] = ()
    rivals: tuple[Rivalry, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    Args:
        at_ms: epoch milliseconds; of commits, the first one's.
        kind: `members`: they changed without a rebalance, as when a static member is back;
            `gap`: generations or epochs without a record.
        number: generation or group epoch after it; of a gap, the last one that is missing.
        first_number: of a gap, the first one that is missing.
        leader: member id.
        protocol: the strategy of a classic group.
        members: who joined, left or was replaced.
        partitions: how many members have together; None where that cannot be read.
        moved: how many of them have another owner than before.
        target_epoch: the last one that was computed before the next change.
        settled_ms: until every member had reached the epoch; None: not before the next change.
        last_member: client id of the one that was last to.
        is_torn: compaction has removed records before it.
        facts: what the records say besides; see `causes.py`.
        since_previous_ms: since the rebalance before it.
        reason: why the broker began the rebalance, by its log.
        within_ms: what only captures tell happened so long before `at_ms` at most; None of what
            records tell.
    """

    at_ms: int
    kind: Kind
    number: int | None = None
    first_number: int | None = None
    type: Protocol | None = None
    leader: str | None = None
    protocol: str | None = None
    member_count: int | None = None
    members: Difference = field(default_factory=Difference)
    partitions: int | None = None
    moved: int | None = None
    target_epoch: int | None = None
    settled_ms: int | None = None
    last_member: str | None = None
    commits: Commits | None = None
    is_torn: bool = False
    facts: frozenset[str] = frozenset()
    since_previous_ms: int | None = None
    cause: str | None = None
    certainty: Certainty | None = None
    reason: str | None = None
    within_ms: int | None = None
