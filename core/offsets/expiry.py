"""When brokers delete commits: of groups without members, and of topics that nobody reads. Pure.

Source: OffsetExpirationConditionImpl, ClassicGroup.offsetExpirationCondition,
ConsumerGroup.offsetExpirationCondition; KIP-211.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from kgroups.core.snapshot import Group, TopicPartition

Word = Literal["expires", "in_use", "unknown"]
WORDS: Final[tuple[Word, ...]] = ("expires", "in_use", "unknown")


class CommitTimes(NamedTuple):
    """Of one commit, epoch milliseconds.

    Args:
        offset: that was committed; the commit is another one where the group shows another offset.
        expires_at_ms: None unless the commit asked for its own retention (OffsetCommit 2 to 4).
    """

    offset: int
    committed_at_ms: int
    expires_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class GroupLog:
    """Facts about a group in `__consumer_offsets`.

    Args:
        commits: as far as they were found.
        state_since_ms: when a classic group became what it is; None if not known.
        has_record: whether the group's own record was looked for and either found or is not there.
        retention_ms: of the broker that coordinates it; None if not known.
    """

    commits: Mapping[TopicPartition, CommitTimes] = field(default_factory=dict)
    state_since_ms: int | None = None
    has_record: bool = False
    retention_ms: int | None = None


class Expiry(NamedTuple):
    """When one commit is deleted.

    Args:
        expiry: `in_use`: not while things stay as they are.
        expires_at_ms: at the first check after that; None unless it expires.
    """

    expiry: Word = "unknown"
    expires_at_ms: int | None = None
    committed_at_ms: int | None = None


class GroupExpiry(NamedTuple):
    """When a group's commits are deleted.

    Args:
        total: of the group: the first that expires. It is `in_use` if none does, and unknown while
            that of a commit is.
        idle_since_ms: since when it has had no members and has committed nothing; None where it has
            members, or that is not known.
    """

    rows: Mapping[TopicPartition, Expiry]
    total: Expiry
    idle_since_ms: int | None

    @property
    def is_known(self) -> bool:
        """Whether it is, of all commits, or of one that expires."""
        return self.total.expiry != "unknown" or any(
            row.expiry == "expires" for row in self.rows.values()
        )


def group_expiry(
    group: Group, log: GroupLog, matches: Callable[[str], Callable[[str], bool]]
) -> GroupExpiry:
    """When a group's commits are deleted, if everything stays as it is.

    Args:
        group: with members and commits.
        matches: a test of names for a KIP-848 pattern.
    """
    held = {at: commit.offset for at, commit in group.commits()}
    times = {
        at: logged
        for at, offset in held.items()
        if (logged := log.commits.get(at)) is not None and logged.offset == offset
    }
    read = _topics_read(group, matches)
    rows = {at: _expiry(group, at[0], times.get(at), log, read) for at in held}
    return GroupExpiry(rows, _first(rows, group), _idle_since(group, held, times, log))


def _topics_read(
    group: Group, matches: Callable[[str], Callable[[str], bool]]
) -> Callable[[str], bool] | None:
    """Whether members read a topic; None if that is not known."""
    members = group.members
    if members is None:
        return None
    if any(m.subscription is None and m.subscription_regex is None for m in members):
        return None
    names = {topic for member in members for topic in member.subscription or ()}
    tests = [matches(m.subscription_regex) for m in members if m.subscription_regex is not None]
    return lambda topic: topic in names or any(test(topic) for test in tests)


def _expiry(
    group: Group,
    topic: str,
    times: CommitTimes | None,
    log: GroupLog,
    read: Callable[[str], bool] | None,
) -> Expiry:
    at_ms = None if times is None else times.committed_at_ms
    classic = group.type == "classic"
    simple = classic and not group.protocol_type
    if group.members and not simple:
        if classic and (group.state != "Stable" or group.protocol_type != "consumer"):
            return Expiry("in_use", None, at_ms)
        if read is None:
            return Expiry(committed_at_ms=at_ms)
        if read(topic):
            return Expiry("in_use", None, at_ms)
    if times is None or log.retention_ms is None:
        return Expiry(committed_at_ms=at_ms)
    if times.expires_at_ms is not None:
        return Expiry("expires", times.expires_at_ms, at_ms)
    start_ms: int | None = times.committed_at_ms
    if classic and not simple and group.state == "Empty":
        if not log.has_record:
            return Expiry(committed_at_ms=at_ms)
        start_ms = times.committed_at_ms if log.state_since_ms is None else log.state_since_ms
    assert start_ms is not None, "commits have times"
    return Expiry("expires", start_ms + log.retention_ms, at_ms)


def _first(rows: Mapping[TopicPartition, Expiry], group: Group) -> Expiry:
    times_ms = [row.committed_at_ms for row in rows.values() if row.committed_at_ms is not None]
    last_ms = max(times_ms) if len(times_ms) == len(rows) and times_ms else None
    due = [row.expires_at_ms for row in rows.values() if row.expires_at_ms is not None]
    if any(row.expiry == "unknown" for row in rows.values()) or group.offsets is None:
        return Expiry("unknown", None, last_ms)
    return Expiry("expires" if due else "in_use", min(due, default=None), last_ms)


def _idle_since(
    group: Group,
    held: Mapping[TopicPartition, int],
    times: Mapping[TopicPartition, CommitTimes],
    log: GroupLog,
) -> int | None:
    """Since when nobody is there and nothing was committed; the later of the two."""
    if group.members is None or group.members or group.offsets is None or len(times) < len(held):
        return None
    moments = [commit.committed_at_ms for commit in times.values()]
    if group.type == "classic" and group.protocol_type:
        if not log.has_record:
            return None
        moments += [] if log.state_since_ms is None else [log.state_since_ms]
    return max(moments, default=None)
