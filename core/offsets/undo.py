"""The plans of an undo file: back to what it replaced, and on to what it began."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from kgroups.core.errors import ItemError, RefusedError
from kgroups.core.lag.rules import lag_at
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.reset import committed
from kgroups.core.offsets.undo_format import Replaced
from kgroups.core.snapshot import CommittedOffset, Group, PartitionLog, Topic

_OVERWRITE: Final = "use --overwrite-moved to write it anyway"
_ANEW: Final = "use `reset-offsets --to TARGET` to set an offset in the current topic"


class UndoPlan(NamedTuple):
    """What is done with the rows of an undo file.

    Args:
        topics: the topics that there are now, with the bounds of their logs.
        topic_ids: the ids that the file knows.
        forward: whether to finish what the file began, instead of taking it back.
        overwrite_moved: whether commits made since are replaced too.
    """

    topics: Mapping[str, Topic]
    topic_ids: Mapping[str, str]
    forward: bool = False
    overwrite_moved: bool = False


def plan_undo(group: Group, rows: Iterable[Replaced], plan: UndoPlan) -> list[Change]:
    """A change for each row of a group; refused where the row no longer means what it did.

    Args:
        group: without members, its commits known.
        rows: of this group.
        plan: what to do.
    Returns:
        Skipped: it stands there already. Refused: the topic is another one or gone, or something
        else was committed since. A commit that is gone is no progress that could be lost, so it is
        made again.
    """
    return [_change(group, row, plan) for row in rows]


def offset_of(commit: CommittedOffset | None) -> int | None:
    """The offset of a commit; None for none."""
    return None if commit is None else commit.offset


def _change(group: Group, row: Replaced, plan: UndoPlan) -> Change:
    before, after = row.old, None if row.new_offset is None else CommittedOffset(row.new_offset)
    left, new = (before, after) if plan.forward else (after, before)
    now = committed(group, (row.topic, row.partition))
    topic = plan.topics.get(row.topic)
    log: PartitionLog | None = None if topic is None else topic.partitions.get(row.partition)
    change = Change(
        group.group,
        row.topic,
        row.partition,
        old=now,
        new=new,
        lag_before=lag_at(offset_of(now), log),
        lag_after=lag_at(offset_of(new), log),
    )
    if now is None and new is None:
        return change._replace(result="skipped")
    known, there = plan.topic_ids.get(row.topic), None if topic is None else topic.topic_id
    if known is not None and there is not None and known != there:
        return _refused(
            change,
            "INCONSISTENT_TOPIC_ID",
            "the topic was recreated since the file was written",
            _ANEW,
        )
    if offset_of(now) == offset_of(new):
        return change._replace(result="skipped")
    if log is None:
        text = "the topic or partition was deleted since the file was written"
        return _refused(change, "UNKNOWN_TOPIC_OR_PARTITION", text)
    beyond = new is not None and log.log_end_offset is not None and new.offset > log.log_end_offset
    if beyond and (known is None or there is None):  # what a topic that was made anew looks like
        text = f"the log ends at {log.log_end_offset}: the topic may have been recreated"
        return _refused(change, "OFFSET_OUT_OF_RANGE", text, _ANEW)
    if now is None or offset_of(now) == offset_of(left):
        return change
    told = f"committed since: it was {_text(row.old)}, and {_text(after)} was written"
    change = change._replace(note=told)
    if plan.overwrite_moved:
        return change
    text = (
        f"{now.offset} was committed since: it was {_text(row.old)}, and {_text(after)} was written"
    )
    return _refused(change, "OFFSET_MOVED", text, _OVERWRITE)


def _text(commit: CommittedOffset | None) -> str:
    return "no commit" if commit is None else str(commit.offset)


def _refused(change: Change, code: str, message: str, hint: str | None = None) -> Change:
    return change.failed(ItemError(change.target, code, message, hint, RefusedError.exit_code))
