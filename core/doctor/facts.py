"""The facts of a group that detectors look at."""

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Literal

from kgroups.core.history.changes import Change
from kgroups.core.lag.group_lag import OffsetRow
from kgroups.core.lag.group_times import GroupTimes
from kgroups.core.offsets.expiry import GroupExpiry
from kgroups.core.snapshot import ClusterSnapshot, Group

Part = Literal["offsets", "members", "rates", "history", "expiry"]
"""What a detector needs besides the group's state."""


@dataclass(frozen=True, slots=True)
class DoctorFacts:
    """One group, as far as it was looked at.

    Args:
        snapshot: of the newest look; with the group's topics.
        rows: one a partition; None if commits could not be read.
        times: rates between two looks; None without `--over`.
        over_seconds: between them.
        changes: with causes, in order; None if its log was not read.
        span_ms: the time that they cover.
        expiry: when its commits expire; None if that was not looked at.
    """

    snapshot: ClusterSnapshot
    group: Group
    rows: Sequence[OffsetRow] | None = None
    times: GroupTimes | None = None
    over_seconds: float | None = None
    changes: Sequence[Change] | None = None
    span_ms: int = 0
    expiry: GroupExpiry | None = None

    @property
    def name(self) -> str:
        """The group's name."""
        return self.group.group

    @property
    def word(self) -> str:
        """The name as one types it in a shell."""
        return quote(self.group.group)

    @property
    def has_members(self) -> bool:
        """Whether anybody is in the group."""
        return bool(self.group.members)

    def has(self, part: Part) -> bool:
        """Whether this part was looked at."""
        return {
            "offsets": self.rows,
            "members": self.group.members,
            "rates": self.times,
            "history": self.changes,
            "expiry": self.expiry,
        }[part] is not None
