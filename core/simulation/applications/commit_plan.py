"""How an application commits what it has processed, where its consumer does not do it by itself."""

from dataclasses import dataclass
from typing import Final, Literal

CommitMode = Literal["sync", "async", "outside", "none"]
MODES: Final[tuple[CommitMode, ...]] = ("sync", "async", "outside", "none")
CommitUnit = Literal["poll", "partition"]
UNITS: Final[tuple[CommitUnit, ...]] = ("poll", "partition")


@dataclass(frozen=True, slots=True)
class CommitPlan:
    """What stands in the place of auto-commit.

    Args:
        mode: `commitSync`, `commitAsync`; `outside`: offsets are stored with the results, and
            where a partition is assigned the application seeks to what it has stored; or nothing.
        per: after the records of a poll, or of each partition in it.
        every_ms: not before so long after the last time; a poll's end decides.
    """

    mode: CommitMode
    per: CommitUnit = "poll"
    every_ms: int = 0
