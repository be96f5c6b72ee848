"""What has changed since a plan was saved: groups, logs and members, now against then. Pure.

Of commits `kgroups.core.offsets.undo` tells it, as it does for undo files.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from kgroups.core.deletion import Deletion
from kgroups.core.errors import ItemError, RefusedError
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.record_deletions import RecordDeletion, plan_deletions
from kgroups.core.offsets.reset import Known
from kgroups.core.offsets.result import Result
from kgroups.core.offsets.targets import Target
from kgroups.core.offsets.undo import ACCEPT, UndoPlan, is_recreated, is_same, plan_undo
from kgroups.core.offsets.undo_rows import Replaced
from kgroups.core.saved_plans.plan_rows import (
    PlannedDeletion,
    PlannedRecords,
    PlannedRemoval,
    commits_of,
)
from kgroups.core.snapshot import Group, Member, Topic

Drift = Literal["refuse", "accept", "skip"]
DRIFTS: Final[tuple[Drift, ...]] = ("refuse", "accept", "skip")
"""What is done with what has changed: nothing at all is written; it is written; it is left out."""

_NAMED: Final = 3
_THEN: Final = "when the plan was saved"


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
        rows: of this group.
        topics: that there are now, with the bounds of their logs.
        ids: of the topics when the plan was saved, as far as they are known.
    """
    plan = UndoPlan(topics, ids, forward=True, overwrite_moved=drift == "accept", saved=True)
    changes = plan_undo(group, rows, plan)
    if drift != "skip":
        return changes
    return [
        change
        if change.error is None
        else change._replace(result="skipped", note=change.error.message, error=None)
        for change in changes
    ]


def deletions_now(
    planned: Iterable[Deletion],
    rows: Mapping[str, PlannedDeletion],
    groups: Mapping[str, Group],
) -> tuple[list[Deletion], dict[str, str]]:
    """The planned deletions as things stand now, and what has changed, by group.

    Args:
        planned: as a look at the groups gives them now.
        rows: of the plan, by group.
        groups: as they are now, with their commits.
    Returns:
        Skipped: the group is gone already.
    """
    found: list[Deletion] = []
    drifts: dict[str, str] = {}
    for each in planned:
        if each.error is not None and each.error.code == "GROUP_ID_NOT_FOUND":
            found.append(Deletion(each.group, None, "skipped"))
            continue
        found.append(each)
        text = _of_commits(rows[each.group], groups.get(each.group))
        if each.result == "planned" and text is not None:
            drifts[each.group] = text
    return found, drifts


def _of_commits(row: PlannedDeletion, group: Group | None) -> str | None:
    """`the group committed since: orders-0 is at 50, was 40`; None where it did not."""
    now = commits_of(group)
    moved = [
        at
        for at in sorted(now.keys() | row.commits.keys())
        if not is_same(now.get(at), row.commits.get(at))
    ]
    if not moved:
        return None
    named = []
    for at in moved[:_NAMED]:
        here, there = (
            "no commit" if commit is None else str(commit.offset)
            for commit in (now.get(at), row.commits.get(at))
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
        _records(each, row, is_recreated(ids, topics.get(row.topic)), drift)
        for each, row in zip(planned, rows, strict=True)
    ]


def _records(
    each: RecordDeletion, row: PlannedRecords, recreated: bool, drift: Drift
) -> RecordDeletion:
    accepted = drift == "accept"
    if recreated:
        code, text = "INCONSISTENT_TOPIC_ID", "the topic was recreated since the plan was saved"
        accepted = False
    elif each.error is not None and each.error.code == "UNKNOWN_TOPIC_OR_PARTITION":
        code, text = each.error.code, "the topic or partition was deleted since the plan was saved"
        accepted = False
    elif each.result != "planned":
        return each
    elif each.clamped:
        code = "OFFSET_OUT_OF_RANGE"
        text = f"the log ends at {each.end}: it ended at {row.log_end_offset} {_THEN}"
    elif each.old_start != row.old_start:
        code = "OFFSET_MOVED"
        text = f"the log starts at {each.old_start}: it started at {row.old_start} {_THEN}"
    else:
        return each
    if accepted:
        return each._replace(note="; ".join(filter(None, (text, each.note))))
    if drift == "skip":
        return each._replace(result="skipped", note=text, error=None)
    return each.failed(refusal(each.target, code, text))


class RemovalNow(NamedTuple):
    """A planned removal as things stand now.

    Args:
        member: that is to be removed.
        result: `skipped` where it is gone already.
        drift: what has changed; None if nothing has.
    """

    member: Member
    result: Result = "planned"
    drift: str | None = None


def removals_now(rows: Iterable[PlannedRemoval], group: Group | None) -> list[RemovalNow]:
    """The planned removals of one group.

    Args:
        group: with its members; None if it is gone.
    """
    here = (group.members if group is not None else None) or ()
    by_id = {member.member_id: member for member in here}
    by_instance = {member.instance_id: member for member in here if member.instance_id is not None}
    found = []
    for row in rows:
        member = by_id.get(row.member_id) or by_instance.get(row.instance_id or "")
        if member is None:
            gone = Member(row.member_id, row.client_id, row.host, row.instance_id)
            found.append(RemovalNow(gone, "skipped"))
            continue
        text = None
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
        found.append(RemovalNow(member, drift=text))
    return found


def refusal(target: str, code: str, text: str) -> ItemError:
    """The refusal of something that has changed."""
    return ItemError(target, code, text, ACCEPT, RefusedError.exit_code)
