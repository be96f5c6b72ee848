"""The page of a history: who was there when, rebalances, lag by captures, and the changes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kgroups.cli.commands.history.change_text import cause_text, change_text
from kgroups.cli.commands.history.history_report import GroupHistory, lines_of, view_of
from kgroups.cli.pages.chart_parts import TABLE_ROWS, moment
from kgroups.cli.pages.charts import lines, spans
from kgroups.cli.pages.page import Figure, Page, Section, Table
from kgroups.core.errors import counted
from kgroups.core.history.roster import Seat
from kgroups.core.lag.group_lag import lag_summary, offset_rows
from kgroups.core.snapshot import ClusterSnapshot

MAX_LANES: Final = 60
MAX_SPANS: Final = 600
MAX_MARKS: Final = 200
"""More lanes, bars or lines than these cannot be told apart."""


class Stay(NamedTuple):
    """A member, from when it joined, or the window began, until it left."""

    seat: Seat
    from_ms: int
    to_ms: int


def history_page(
    histories: Sequence[GroupHistory],
    captures: Iterable[ClusterSnapshot],
    window: tuple[int, int],
    notes: Sequence[str],
) -> Page:
    """The page of some groups.

    Args:
        captures: that lag is drawn from; none: no lag is.
        window: its first and last millisecond.
    """
    lags = _lags(captures)
    since, until = map(moment, window)
    return Page(
        title="What happened to groups",
        lead=f"From {since} to {until} (UTC).",
        facts=[
            ("groups", f"{len(histories):,}"),
            ("rebalances", f"{sum(len(_rebalances(history)) for history in histories):,}"),
            ("members", f"{sum(len(list(stays(history, window))) for history in histories):,}"),
        ],
        sections=[Section(h.group, list(_parts(h, lags, window))) for h in histories],
        notes=notes,
    )


def stays(history: GroupHistory, window: tuple[int, int]) -> list[Stay]:
    """Every member that was there, by when it came; backwards from who is there at the end."""
    since_ms, until_ms = window
    since_ms = max(since_ms, history.reader.oldest_ms or since_ms)  # before, nobody knows
    there = {seat.member_id: (seat, until_ms) for seat in history.reader.members}
    ended: list[Stay] = []
    for change in reversed(history.changes):
        for seat in change.members.came:
            came, to_ms = there.pop(seat.member_id, (seat, change.at_ms))
            ended.append(Stay(came, change.at_ms, to_ms))
        there |= {gone.seat.member_id: (gone.seat, change.at_ms) for gone in change.members.gone}
    ended += (Stay(seat, since_ms, to_ms) for seat, to_ms in there.values())
    return sorted(ended, key=lambda stay: (stay.from_ms, stay.seat.client_id))


def _parts(
    history: GroupHistory,
    lags: Mapping[str, Sequence[tuple[int, int | None]]],
    window: tuple[int, int],
) -> Iterator[Figure | Table]:
    rebalances = _rebalances(history)
    marks = rebalances[-MAX_MARKS:]
    own = lags.get(history.group, ())
    if own:
        most = max((lag for _, lag in own if lag is not None), default=None)
        peak = "It is not known." if most is None else f"The most was {most:,} records."
        yield lines(
            "Lag",
            f"{peak} Dashed lines are rebalances.",
            [(at_ms, history.group, lag) for at_ms, lag in own],
            unit="records",
            kind="group",
            marks=marks,
        )
    spent = stays(history, window)
    if spent:
        yield _members(spent, len(rebalances), marks)
    view = view_of(folded=True)
    rows = view.rows_of(list(lines_of([history], folded=True)))
    headings = [column.header or column.field for column in view.columns]
    yield Table(headings, rows[-TABLE_ROWS:], "changes", max(0, len(rows) - TABLE_ROWS))


def _members(spent: Sequence[Stay], rebalances: int, marks: Sequence[tuple[float, str]]) -> Figure:
    """A lane a client; a member where two clients of one name were there at once."""
    shared = {
        stay.seat.client_id
        for stay in spent
        for other in spent
        if stay is not other
        and stay.seat.client_id == other.seat.client_id
        and stay.from_ms < other.to_ms
        and other.from_ms < stay.to_ms
    }
    rows = [
        (
            seat.member_id if seat.client_id in shared or not seat.client_id else seat.client_id,
            *(from_ms, to_ms, seat.host.removeprefix("/") or "?"),
        )
        for seat, from_ms, to_ms in spent
    ]
    lanes = dict.fromkeys(row[0] for row in rows)
    shown = set(list(lanes)[:MAX_LANES])
    more = f"; {len(lanes) - MAX_LANES:,} more are left out" if len(lanes) > MAX_LANES else ""
    return spans(
        "Members",
        f"{counted(len(lanes), 'member')} from joining to leaving{more}. Dashed lines are "
        f"rebalances, of which there were {rebalances:,}.",
        [row for row in rows if row[0] in shown][:MAX_SPANS],
        lane="member",
        kind="host",
        axis="time",
        marks=marks,
    )


def _rebalances(history: GroupHistory) -> list[tuple[float, str]]:
    """When, and what with its cause."""
    return [
        (change.at_ms, f"{change_text(change)}: {cause_text(change)}")
        for change in history.changes
        if change.kind == "rebalance"
    ]


def _lags(captures: Iterable[ClusterSnapshot]) -> dict[str, list[tuple[int, int | None]]]:
    lags: dict[str, list[tuple[int, int | None]]] = {}
    for snapshot in captures:
        for group in snapshot.groups:
            lag = None
            if group.offsets is not None:
                lag = lag_summary(offset_rows(snapshot, group)).lag
            lags.setdefault(group.group, []).append((snapshot.captured_at_ms, lag))
    return lags
