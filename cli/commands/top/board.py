"""The state of each group from look to look: figures, rates, rebalances since the start."""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kgroups.cli.source import match_names
from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.lag.group_lag import lag_summary, offset_rows
from kgroups.core.lag.group_times import TimeFigures, Times, group_times
from kgroups.core.lag.held_back import held_partition_count
from kgroups.core.rounds import rebalances_seen
from kgroups.core.snapshot import ClusterSnapshot, Group

AT_ONCE: Final = 200
"""Groups of one look: those on the screen, and of the others those that wait longest."""
RATES_OVER_MS: Final = 10_000
"""Rates are over this time, or since the start: auto-commit commits every five seconds."""


class GroupRow(NamedTuple):
    """A group on the screen; None is unknown.

    Args:
        rebalances: seen since the start.
    """

    group: str
    state: str | None
    member_count: int | None = None
    lag: int | None = None
    held_partitions: int | None = None
    rate_in: float | None = None
    rate_out: float | None = None
    catch_up_seconds: float | None = None
    rebalances: int | None = None


@dataclass(slots=True)
class _Seen:
    """The looks at a group that rates need, the newest last, and what they told."""

    looks: deque[ClusterSnapshot] = field(default_factory=deque)
    group: Group | None = None
    rebalances: int = 0
    row: GroupRow | None = None
    at_ms: int = 0


class Board:
    """The groups of a cluster that fit a pattern.

    Args:
        pattern: a glob or part of a name; None for all.
    """

    def __init__(self, pattern: str | None) -> None:
        self._pattern = pattern
        self._seen: dict[str, _Seen] = {}
        self.rows: list[GroupRow] = []
        self.errors: Sequence[ItemError] = ()
        self.newest: ClusterSnapshot | None = None

    def look(
        self, admin: ClusterAdmin, shown: Collection[str] = (), *, every: bool = False
    ) -> None:
        """Learn all states, and the figures of the groups on the screen and of some others.

        Args:
            shown: names of those on the screen.
            every: learn the figures of all groups.
        """
        listing = admin.list_groups()
        states = {group.group: group.state for group in match_names(listing.groups, self._pattern)}
        self._seen = {name: self._seen.get(name) or _Seen() for name in states}
        waiting = sorted(states, key=lambda name: (name not in shown, self._seen[name].at_ms))
        names = waiting if every else waiting[:AT_ONCE]
        snapshot = admin.snapshot(names, isolation="read_committed")
        for group in snapshot.groups:
            if group.group in self._seen:
                _take(self._seen[group.group], snapshot, group)
        self.rows = [
            GroupRow(name, state) if row is None else row._replace(state=state)
            for name, state in states.items()
            for row in [self._seen[name].row]
        ]
        self.errors = (*listing.errors, *snapshot.errors)
        self.newest = snapshot

    def of_group(self, name: str) -> ClusterSnapshot | None:
        """The newest look at a group."""
        seen = self._seen.get(name)
        return seen.looks[-1] if seen is not None and seen.looks else None


def _take(seen: _Seen, snapshot: ClusterSnapshot, group: Group) -> None:
    """Take a look at a group in."""
    now_ms = snapshot.captured_at_ms
    while len(seen.looks) > 1 and seen.looks[1].captured_at_ms <= now_ms - RATES_OVER_MS:
        seen.looks.popleft()
    seen.rebalances += rebalances_seen(seen.group, (), group) or 0
    rows = None if group.offsets is None else offset_rows(snapshot, group)
    before = seen.looks[0] if seen.looks else None
    total = TimeFigures()
    if rows is not None and before is not None:
        total = group_times(snapshot, group, rows, Times(before=before)).total
    seen.looks.append(snapshot)
    seen.group, seen.at_ms = group, now_ms
    seen.row = GroupRow(
        group.group,
        group.state,
        None if group.members is None else len(group.members),
        None if rows is None else lag_summary(rows).lag,
        held_partition_count(snapshot, group),
        total.rate_in,
        total.rate_out,
        total.catch_up_seconds,
        None if before is None else seen.rebalances,
    )


def sorted_rows(rows: Iterable[GroupRow], by: str, *, ascending: bool) -> list[GroupRow]:
    """The rows in order; where the value is unknown they come last, equal ones by name."""
    rows_known: list[GroupRow] = []
    unknown: list[GroupRow] = []
    for row in sorted(rows, key=lambda row: row.group):
        (unknown if getattr(row, by) is None else rows_known).append(row)
    return sorted(rows_known, key=lambda row: getattr(row, by), reverse=not ascending) + unknown
