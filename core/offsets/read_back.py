"""Commits read back after they were written: done, lost, or overwritten.

A coordinator that has just changed may show what stood there before for a while, and a write
whose answer never came may be done later. So what is not seen is looked for again, until the
deadline, before anything is said of it.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from kgroups.core.errors import ItemError
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.result import seen
from kgroups.core.snapshot import CommittedOffset

Held = Mapping[str, Mapping[int, CommittedOffset]]
"""Commits of one group: topic to partition to commit."""

OVERWRITTEN: Final = "OVERWRITTEN"


def as_wanted(
    held: Held, wanted: Mapping[tuple[str, int], CommittedOffset | None]
) -> dict[str, dict[int, CommittedOffset]]:
    """Commits read of the partitions that are asked about; one object for what is as wanted.

    Many groups are put to the same offsets: a cluster's commits are not held twice so.
    """
    commits: dict[str, dict[int, CommittedOffset]] = {}
    for (topic, partition), new in wanted.items():
        commit = held.get(topic, {}).get(partition)
        if commit is not None:
            same = new is not None and new.offset == commit.offset
            commits.setdefault(topic, {})[partition] = new if same and new is not None else commit
    return commits


class ReadBack:
    """Writes that are to be seen in the cluster, and what was seen so far.

    Args:
        changes: those that are done, or of which it is not known, are looked for.
    """

    def __init__(self, changes: Iterable[Change]) -> None:
        self.held: dict[str, Held] = {}
        self._written: dict[str, list[Change]] = {}
        self._overwritten: set[str] = set()
        for change in changes:
            if change.result in ("done", "unknown") and change.topic is not None:
                self._written.setdefault(change.group, []).append(change)

    def take(self, held: Mapping[str, Held | None]) -> list[str]:
        """Take what was read of groups: None where it could not be.

        Returns:
            The groups that are worth another look: not read, or still as before, or, the first
            time, neither as before nor as written.
        """
        again: list[str] = []
        for group, commits in held.items():
            if commits is None:
                again.append(group)
                continue
            self.held[group] = commits
            settled = (_settled(change, commits) for change in self._written.get(group, ()))
            codes = {change.error.code for change in settled if change.error is not None}
            is_new = OVERWRITTEN in codes and group not in self._overwritten
            if is_new or codes - {OVERWRITTEN}:
                again.append(group)
            if is_new:
                self._overwritten.add(group)
        return again

    @property
    def left(self) -> list[str]:
        """The groups of which nothing was read yet."""
        return [group for group in self._written if group not in self.held]


def settle(changes: Iterable[Change], commits: Mapping[str, Held]) -> list[Change]:
    """The changes after a look at the cluster.

    Args:
        changes: with the brokers' answers.
        commits: of each group, as last read; a group that is missing could not be read.
    Returns:
        Done: it reads back as written, whatever the answer was. Unknown: the answer never came,
        and it does not read back so far, or cannot be read. Failed: it reads back as before
        (`NOT_VERIFIED`), or as something else (`OVERWRITTEN`).
    """
    return [
        _settled(change, commits.get(change.group))
        if change.result in ("done", "unknown") and change.topic is not None
        else change
        for change in changes
    ]


def _settled(change: Change, commits: Held | None) -> Change:
    if commits is None:
        if change.result == "unknown":
            return change
        return change._replace(note="written, but could not be read back")
    _, topic, partition, old, new, *_ = change
    now = commits.get(topic or "", {}).get(partition or 0)
    offset_now = None if now is None else now.offset
    if offset_now == (new and new.offset):
        return change if change.error is None else seen(change, is_done=True, text="")
    text = "no commit" if offset_now is None else offset_now
    if offset_now != (old and old.offset):
        written = "written, but now" if change.result == "done" else "another write came first:"
        return change.failed(
            ItemError(
                change.target,
                OVERWRITTEN,
                f"{written} reads back as {text}",
                "something else is committing: a consumer, or another reset",
            )
        )
    return seen(
        change,
        is_done=False,
        text=f"written, but still reads back as {text}",
        hint="`kgroups describe GROUP` shows the current offset",
    )
