"""Changes since a plan was saved: commits, groups, logs, members, now against then. Pure.

Of commits `kgroups.core.offsets.undo` tells it, as it does for undo files.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from kgroups.core.errors import ItemError, RefusedError
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.commit_rows import Replaced
from kgroups.core.offsets.deletions import Deletion, Removal
from kgroups.core.offsets.record_deletions import RecordDeletion, plan_deletions
from kgroups.core.offsets.reset import Known
from kgroups.core.offsets.result import Item
from kgroups.core.offsets.targets import Target
from kgroups.core.offsets.undo import ACCEPT, KnownRows, is_recreated, is_same, plan_saved
from kgroups.core.offsets.write_file import PlannedRecords, PlannedRemoval
from kgroups.core.snapshot import CommittedOffset, Group, Member, Topic, TopicPartition

Drift = Literal["refuse", "accept", "skip"]
DRIFTS: Final[tuple[Drift, ...]] = ("refuse", "accept", "skip")
"""Policies for what has changed: nothing at all is written; it is written; it is left out."""

_NAMED: Final = 3
_THEN: Final = "when the plan was saved"


def drifted(item: Item, code: str, text: str, drift: Drift, *, never: bool = False) -> Item:
    """An item of which something has changed: refused, written with a note, or left out.

    Args:
        never: it means nothing any more, so it is written in no case.
    """
    if drift == "skip":
        return item._replace(result="skipped", note=text, error=None)
    if drift == "accept" and not never:
        return item._replace(note="; ".join(filter(None, (text, item.note))))
    return item.failed(ItemError(item.target, code, text, ACCEPT, RefusedError.exit_code))


def left_out(items: Iterable[Item], drift: Drift) -> list[Item]:
    """The items of a look at groups; groups with members are left out where that is meant."""
    return [
        drifted(item, item.error.code, item.error.message, drift)
        if drift == "skip" and item.error is not None and item.error.code == "NON_EMPTY_GROUP"
        else item
        for item in items
    ]


def changes_now(
    group: Group,
    rows: Iterable[Replaced],
    topics: Mapping[str, Topic],
    ids: Mapping[str, str],
    drift: Drift,
) -> list[Change]:
    """The planned changes of a group, as things stand now.

    Args:
        group: without members, its commits known.
        topics: that there are now, with the bounds of their logs.
        ids: of the topics when the plan was saved, as far as they are known.
    """
    changes = plan_saved(group, rows, KnownRows(topics, ids, overwrite_moved=drift == "accept"))
    return [
        change
        if change.error is None or drift != "skip"
        else drifted(change, change.error.code, change.error.message, drift)
        for change in changes
    ]


def deletions_now(
    planned: Iterable[Deletion],
    rows: Mapping[str, Iterable[Replaced]],
    groups: Mapping[str, Group],
    drift: Drift,
) -> list[Deletion]:
    """The planned deletions as things stand now; skipped where the group is gone already.

    Args:
        planned: as a look at the groups gives them now.
        rows: of the plan, by group.
        groups: as they are now, with their commits.
    """
    deletions = []
    for deletion in left_out(planned, drift):
        if deletion.error is not None and deletion.error.code == "GROUP_ID_NOT_FOUND":
            deletion = Deletion(deletion.group, result="skipped")
        elif deletion.result == "planned":
            text = _of_commits(rows[deletion.group], groups.get(deletion.group))
            if text is not None:
                deletion = drifted(deletion, "OFFSET_MOVED", text, drift)
        deletions.append(deletion)
    return deletions


def commits_of(group: Group | None) -> dict[TopicPartition, CommittedOffset]:
    """Every commit of a group, by partition."""
    held = (group.offsets if group is not None else None) or {}
    return {
        (topic, number): commit
        for topic, commits in held.items()
        for number, commit in commits.items()
    }


def _of_commits(rows: Iterable[Replaced], group: Group | None) -> str | None:
    """`its commits have changed …: orders-0 is at 50, was 40`; None where they have not."""
    now = commits_of(group)
    then = {(row.topic, row.partition): row.old for row in rows}
    moved = [
        at for at in sorted(now.keys() | then.keys()) if not is_same(now.get(at), then.get(at))
    ]
    if not moved:
        return None
    named = []
    for at in moved[:_NAMED]:
        here, there = (
            "no commit" if commit is None else str(commit.offset)
            for commit in (now.get(at), then.get(at))
        )
        named.append(f"{at[0]}-{at[1]} is at {here}, was {there}")
    more = [f"{len(moved) - _NAMED:,} more"] if len(moved) > _NAMED else []
    return "its commits have changed since the plan was saved: " + ", ".join(named + more)


def records_now(
    rows: Sequence[PlannedRecords],
    topics: Mapping[str, Topic],
    ids: Mapping[str, str],
    readers: Iterable[Group],
    drift: Drift,
) -> list[RecordDeletion]:
    """The planned deletions of records, as the logs are now.

    Args:
        topics: that there are now, with the bounds of their logs.
        ids: of the topics when the plan was saved, as far as they are known.
        readers: groups with their commits, for the note on who has not read what goes.
    Returns:
        Skipped: the log starts there already.
    """
    given = {(row.topic, row.partition): row.new_start for row in rows}
    planned = plan_deletions(list(given), Target("file"), Known(topics, given=given), readers)
    return [
        _records(deletion, row, is_recreated(ids, topics.get(row.topic)), drift)
        for deletion, row in zip(planned, rows, strict=True)
    ]


def _records(
    deletion: RecordDeletion, row: PlannedRecords, recreated: bool, drift: Drift
) -> RecordDeletion:
    if recreated:
        text = "the topic was recreated since the plan was saved"
        return drifted(deletion, "INCONSISTENT_TOPIC_ID", text, drift, never=True)
    error = deletion.error
    if error is not None and error.code == "UNKNOWN_TOPIC_OR_PARTITION":
        text = "the topic or partition was deleted since the plan was saved"
        return drifted(deletion, error.code, text, drift, never=True)
    if deletion.result != "planned":
        return deletion
    if deletion.clamped:
        text = f"the log ends at {deletion.end}: it ended at {row.log_end_offset} {_THEN}"
        return drifted(deletion, "OFFSET_OUT_OF_RANGE", text, drift)
    if deletion.old_start != row.old_start:
        text = f"the log starts at {deletion.old_start}: it started at {row.old_start} {_THEN}"
        return drifted(deletion, "OFFSET_MOVED", text, drift)
    return deletion


def removals_now(
    rows: Iterable[PlannedRemoval], group: Group | None, drift: Drift
) -> list[Removal]:
    """The planned removals of one group; skipped where the member is gone already.

    Args:
        group: with its members; None if it is gone.
    """
    here = (group.members if group is not None else None) or ()
    by_id = {member.member_id: member for member in here}
    by_instance = {member.instance_id: member for member in here if member.instance_id is not None}
    removals = []
    for row in rows:
        member = by_id.get(row.member_id) or by_instance.get(row.instance_id or "")
        if member is None:
            gone = Member(row.member_id, row.client_id, row.host, row.instance_id)
            removals.append(Removal(row.group, gone, result="skipped"))
            continue
        removal, text = Removal(row.group, member), None
        if member.member_id != row.member_id:
            text = (
                f"instance `{row.instance_id}` is member `{member.member_id}` now: it was "
                f"`{row.member_id}` {_THEN}"
            )
        elif (member.client_id, member.host) != (row.client_id, row.host):
            text = (
                f"the member is {member.client_id} on {member.host} now: it was {row.client_id} "
                f"on {row.host} {_THEN}"
            )
        removals.append(
            removal if text is None else drifted(removal, "FENCED_INSTANCE_ID", text, drift)
        )
    return removals
