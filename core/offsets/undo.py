"""Commits now against those when a file was written: undo files, saved plans.

A row goes back to what an undo file replaced (`plan_undo`), or on to what the file
(`plan_resume`) or a saved plan (`plan_saved`) began.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from kgroups.core.errors import ItemError, RefusedError
from kgroups.core.lag.rules import commit_lag, lag_at
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.commit_rows import Replaced
from kgroups.core.offsets.reset import committed
from kgroups.core.offsets.scope import log_of
from kgroups.core.snapshot import CommittedOffset, Group, Topic

_OVERWRITE: Final = "use --overwrite-moved to write it anyway"
ACCEPT: Final = "use --drift accept to write it anyway, or --drift skip to leave it out"
_ANEW: Final = "use `reset-offsets --to TARGET` to set an offset in the current topic"


class KnownRows(NamedTuple):
    """Facts that rows of a file are compared with.

    Args:
        topics: the topics that there are now, with the bounds of their logs.
        topic_ids: the ids that the file knows.
        overwrite_moved: whether commits made since are replaced too.
        saved: whether it is a saved plan: a commit that is gone has moved, too.
    """

    topics: Mapping[str, Topic]
    topic_ids: Mapping[str, str]
    overwrite_moved: bool = False
    saved: bool = False

    @property
    def since(self) -> str:
        """When the rows were written, for messages."""
        return "the plan was saved" if self.saved else "the file was written"


def plan_undo(group: Group, rows: Iterable[Replaced], known: KnownRows) -> list[Change]:
    """Back to what a write replaced: a change for each row of an undo file.

    Args:
        group: without members, its commits known.
    Returns:
        Skipped: it stands there already. Refused: the topic is another one or gone, or something
        else was committed since. A commit that is gone is no progress that could be lost, so it is
        made again.
    """
    return [_change(group, row, row.new, row.old, known) for row in rows]


def plan_resume(group: Group, rows: Iterable[Replaced], known: KnownRows) -> list[Change]:
    """On to what a write began, as `plan_undo` goes back."""
    return [_change(group, row, row.old, row.new, known) for row in rows]


def plan_saved(group: Group, rows: Iterable[Replaced], known: KnownRows) -> list[Change]:
    """Changes of a saved plan, as far as all still stands as it did."""
    return plan_resume(group, rows, known._replace(saved=True))


def offset_of(commit: CommittedOffset | None) -> int | None:
    """The offset of a commit; None for none."""
    return None if commit is None else commit.offset


def _change(
    group: Group,
    row: Replaced,
    left: CommittedOffset | None,
    new: CommittedOffset | None,
    known: KnownRows,
) -> Change:
    """The change of a row to `new`, where `left` should stand now."""
    now = committed(group, (row.topic, row.partition))
    topic = known.topics.get(row.topic)
    log = log_of(known.topics, (row.topic, row.partition))
    change = Change(
        group.group,
        row.topic,
        row.partition,
        old=now,
        new=new,
        lag_before=commit_lag(now, log),
        lag_after=lag_at(offset_of(new), log),
    )
    if now is None and new is None:
        return change._replace(result="skipped")
    there = None if topic is None else topic.topic_id
    if is_recreated(known.topic_ids, topic):
        text = f"the topic was recreated since {known.since}"
        return _refused(change, "INCONSISTENT_TOPIC_ID", text, _ANEW)
    if offset_of(now) == offset_of(new):
        return change._replace(result="skipped")
    if log is None and not (known.saved and new is None):
        text = f"the topic or partition was deleted since {known.since}"
        return _refused(change, "UNKNOWN_TOPIC_OR_PARTITION", text)
    end = None if log is None else log.log_end_offset
    beyond = new is not None and end is not None and new.offset > end
    if beyond and None in (there, known.topic_ids.get(row.topic)):
        # what a topic that was made anew looks like
        text = f"the log ends at {end}: the topic may have been recreated"
        return _refused(change, "OFFSET_OUT_OF_RANGE", text, _ANEW)
    return _unless_moved(change, row, left, known)


def _unless_moved(
    change: Change, row: Replaced, left: CommittedOffset | None, known: KnownRows
) -> Change:
    """The change, if there still stands what was left; else it is refused, or has a note."""
    now = change.old
    if known.saved:
        if is_same(now, left):
            return change
        before = f"it was {_text(left, now)} when the plan was saved"
        text, note, hint = f"{_text(now, left)} is committed now: {before}", before, ACCEPT
    else:
        # a commit that is gone is no progress that could be lost
        if now is None or offset_of(now) == offset_of(left):
            return change
        before = f"it was {_text(row.old)}, and {_text(row.new)} was written"
        text, note = f"{_text(now)} was committed since: {before}", f"committed since: {before}"
        hint = _OVERWRITE
    change = change._replace(note=note)
    return change if known.overwrite_moved else _refused(change, "OFFSET_MOVED", text, hint)


def is_recreated(topic_ids: Mapping[str, str], topic: Topic | None) -> bool:
    """Whether a topic is known not to be the one that had its name then.

    Args:
        topic_ids: of then, as far as they are known.
        topic: that there is now.
    """
    if topic is None or topic.topic_id is None:
        return False
    return topic_ids.get(topic.topic, topic.topic_id) != topic.topic_id


def is_same(now: CommittedOffset | None, then: CommittedOffset | None) -> bool:
    """Whether a commit still stands as it did: its offset and, where both are known, its epoch."""
    if now is None or then is None:
        return now is then
    epochs = {now.leader_epoch, then.leader_epoch} - {None}
    return now.offset == then.offset and len(epochs) < 2


def _text(commit: CommittedOffset | None, other: CommittedOffset | None = None) -> str:
    """A commit in words; with its epoch, where the offset is that of the other one too."""
    if commit is None:
        return "no commit"
    if commit.offset == offset_of(other):
        return f"{commit.offset} of leader epoch {commit.leader_epoch}"
    return str(commit.offset)


def _refused(change: Change, code: str, message: str, hint: str | None = None) -> Change:
    return change.failed(ItemError(change.target, code, message, hint, RefusedError.exit_code))
