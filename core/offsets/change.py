"""One change of one partition's commit: from what to what, and what became of it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from kgroups.core.errors import ClusterError, ItemError
from kgroups.core.offsets.result import Result, result_of
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import CommittedOffset, Group, Member

# States in which a group has no members; None where the broker is too old to tell.
IDLE_STATES: Final = frozenset({"Empty", "Dead", None})
NAMED_MEMBERS: Final = 5

Key = tuple[str, str | None, int | None]


class Effects(NamedTuple):
    """Effects of a new offset, in records: how many are passed over unread, how many read again."""

    skipped: int
    again: int


class Change(NamedTuple):
    """A commit that is to be replaced or deleted; a group without partitions stands for itself.

    Args:
        topic, partition: None where the whole group is refused or not found.
        old: the commit now; None if there is none.
        new: the commit to make; None if the commit is to be deleted.
        lag_before, lag_after: records still to be read; None if not known.
        asked: the offset asked for; None where none was.
        clamped: whether the offset asked for lies outside the log and was moved to its edge.
        effects: where they are known otherwise than from the lags: of share groups.
        note: why the new offset is not the one asked for, or what else to know.
        result: `skipped` where nothing is to be done, or others could not be done.
    """

    group: str
    topic: str | None = None
    partition: int | None = None
    old: CommittedOffset | None = None
    new: CommittedOffset | None = None
    lag_before: int | None = None
    lag_after: int | None = None
    asked: int | None = None
    clamped: bool = False
    effects: Effects | None = None
    note: str | None = None
    result: Result = "planned"
    error: ItemError | None = None

    @property
    def key(self) -> Key:
        """Group, topic and partition."""
        return self.group, self.topic, self.partition

    @property
    def whole(self) -> Key:
        """The key of the whole group."""
        return self.group, None, None

    @property
    def target(self) -> str:
        """The change's name in messages."""
        return self.group if self.topic is None else f"{self.group} {self.topic}-{self.partition}"

    @property
    def skipped_records(self) -> int | None:
        """Unread records that will not be read; None if not known, or if the commit is deleted."""
        if self.effects is not None:
            return self.effects.skipped
        return self._less(self.lag_before, self.lag_after)

    @property
    def read_again(self) -> int | None:
        """Records that will be read another time; None likewise."""
        if self.effects is not None:
            return self.effects.again
        return self._less(self.lag_after, self.lag_before)

    def _less(self, more: int | None, less: int | None) -> int | None:
        given = None not in (self.new, more, less)
        return max(0, more - less) if given and more is not None and less is not None else None

    def failed(self, error: ItemError) -> "Change":
        """The same change that came to nothing, or of which it is not known."""
        return self._replace(result=result_of(error), error=error)


def blocked_group(
    name: str, group: Group | None, failures: Iterable[ItemError] = ()
) -> Change | None:
    """The refusal of a group whose commits cannot be changed; None if they can.

    Args:
        group: with its members; None if it was not found.
        failures: of the look at the cluster; that of this group says why it is missing.
    """
    whole = Change(name)
    for failure in failures:
        if failure.target == name:
            return whole.failed(failure)
    if group is None or (group.state == "Dead" and not group.offsets):
        return whole.failed(broker_error(name, "GROUP_ID_NOT_FOUND"))
    if group.state in IDLE_STATES and not group.members:
        if group.offsets is not None:
            return None
        return whole.failed(
            ItemError(name, "FAILED", "its commits could not be read", None, ClusterError.exit_code)
        )
    text = f"the group is {group.state} with {members_text(group.members or ())}"
    return whole.failed(broker_error(name, "NON_EMPTY_GROUP", text))


def members_text(members: Sequence[Member]) -> str:
    """`2 members: app-1 on /10.0.0.5, app-2 on /10.0.0.6`, the first few by name."""
    if not members:
        return "members that the broker does not show"
    named = [f"{member.instance_id or member.client_id} on {member.host}" for member in members]
    more = [f"{len(named) - NAMED_MEMBERS} more"] if len(named) > NAMED_MEMBERS else []
    count = "1 member" if len(named) == 1 else f"{len(named)} members"
    return f"{count}: {', '.join(named[:NAMED_MEMBERS] + more)}"


def whole_groups(
    answers: Mapping[Key, ItemError | None], sizes: Mapping[str, int]
) -> dict[Key, ItemError | None]:
    """The same answers, with one for a group of which every partition was done: they are many.

    Args:
        sizes: of how many partitions of each group there should be an answer.
    """
    done = Counter(group for (group, _, _), error in answers.items() if error is None)
    whole = {group for group, size in sizes.items() if done[group] == size}
    kept = {key: error for key, error in answers.items() if key[0] not in whole}
    return dict.fromkeys((group, None, None) for group in whole) | kept
