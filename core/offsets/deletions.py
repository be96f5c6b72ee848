"""Deletions from groups and their outcomes: groups, their commits, members. Pure.

Only a group without members can be deleted; the broker refuses the others one by one. Here all
of them are looked at first, so that a command can refuse as a whole.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kgroups.core.errors import ClusterError, ItemError, RefusedError
from kgroups.core.lag.rules import commit_lag
from kgroups.core.offsets.change import IDLE_STATES, Change
from kgroups.core.offsets.reset import committed, committed_partitions
from kgroups.core.offsets.result import Result, result_of, seen
from kgroups.core.offsets.scope import Scope, log_of
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, Topic, TopicPartition


class Deletion(NamedTuple):
    """One group that is to be deleted, and what became of it.

    Args:
        state: of the group when it was looked at; None if it was not found.
        result: `planned` until it is done, refused, failed or, since others were, skipped.
    """

    group: str
    state: str | None = None
    note: str | None = None
    result: Result = "planned"
    error: ItemError | None = None

    @property
    def key(self) -> str:
        """The group."""
        return self.group

    @property
    def target(self) -> str:
        """Its name in messages."""
        return self.group

    def failed(self, error: ItemError) -> "Deletion":
        """The same deletion that came to nothing, or of which it is not known."""
        return self._replace(result=result_of(error), error=error)


def plan_deletion(
    groups: Iterable[Group],
    names: Sequence[str],
    *,
    listing_failures: Sequence[ItemError] = (),
    hidden: Sequence[ItemError] = (),
) -> list[Deletion]:
    """Outcome of a deletion for each named group, in the order of the names.

    Args:
        listing_failures: brokers that did not answer; a group that is not in the listing may
            live there, so it is not said to be unknown.
        hidden: why some of the named groups may not be looked at.
    Returns:
        One entry a name: planned; refused, as it has members; failed, as it is not there.
    """
    by_name = {group.group: group for group in groups}
    failures = {error.target: error for error in hidden}
    deletions = []
    for name in names:
        group = by_name.get(name)
        deletion = Deletion(name)
        if name in failures:
            deletion = deletion.failed(failures[name])
        elif group is None:
            deletion = deletion.failed(_not_found(name, listing_failures))
        else:
            deletion = deletion._replace(state=group.state)
            if group.state not in IDLE_STATES:
                text = f"the group has members (it is {group.state})"
                deletion = deletion.failed(broker_error(name, "NON_EMPTY_GROUP", text))
        deletions.append(deletion)
    return deletions


def _not_found(name: str, failures: Sequence[ItemError]) -> ItemError:
    if not failures:
        return broker_error(name, "GROUP_ID_NOT_FOUND")
    return ItemError(
        target=name,
        code=failures[0].code,
        message="not found, and not every broker answered",
        hint="try again when all brokers answer",
        exit_code=ClusterError.exit_code,
    )


def plan_commit_deletions(
    group: Group, scope: Scope | None, topics: Mapping[str, Topic]
) -> list[Change]:
    """A deletion for each commit in the scope; a named partition without commit is skipped.

    Args:
        group: without members, its commits known.
        scope: None for every commit.
        topics: with the bounds of their logs; one that is missing has been deleted.
    """
    if group.type == "share" and scope is not None and scope.partitions:
        text = "the offsets of a share group are deleted by topic"
        hint = f"use --topic {scope.partitions[0][0]}"
        code = RefusedError.exit_code
        return [
            Change(group.group).failed(ItemError(group.group, "NOT_BY_PARTITION", text, hint, code))
        ]
    held = committed_partitions(group)
    if scope is None:
        wanted = held
    else:
        named = {at for at in held if scope.holds(at)}
        wanted = sorted(named | set(scope.partitions))
    return [_deletion(group, at, topics) for at in wanted]


def _deletion(group: Group, at: TopicPartition, topics: Mapping[str, Topic]) -> Change:
    old = committed(group, at)
    log = log_of(topics, at)
    return Change(
        group.group,
        *at,
        old=old,
        lag_before=commit_lag(old, log),
        result="skipped" if old is None else "planned",
    )


class Removal(NamedTuple):
    """One member that is to be removed, and what became of it."""

    group: str
    member: Member
    note: str | None = None
    result: Result = "planned"
    error: ItemError | None = None

    @property
    def key(self) -> str:
        """The member's id."""
        return self.member.member_id

    @property
    def target(self) -> str:
        """Its name in messages."""
        return self.member.member_id

    def failed(self, error: ItemError) -> "Removal":
        """The same removal that came to nothing, or of which it is not known."""
        return self._replace(result=result_of(error), error=error)


def verify_removal(removal: Removal, looked: ClusterSnapshot) -> Removal:
    """The removal after a look at the group: a member that is gone was removed."""
    if removal.result not in ("done", "unknown"):
        return removal
    is_gone = any(error.code == "GROUP_ID_NOT_FOUND" for error in looked.errors)
    group = looked.group(removal.group)
    if not is_gone and (group is None or group.members is None):
        return removal
    left = {member.member_id for member in (group.members if group else None) or ()}
    text = "removed, but still in the group"
    return seen(removal, is_done=removal.member.member_id not in left, text=text)
