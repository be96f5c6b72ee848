"""Histories of groups as a report: items, rows, summary."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from kgroups.cli.broker_logs import ReadLog
from kgroups.cli.commands.history.change_text import (
    cause_text,
    change_text,
    numbers_text,
    repeat_text,
    time_text,
)
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.core.history.broker_log import with_logs
from kgroups.core.history.changes import Change, Commits
from kgroups.core.history.reader import HistoryReader
from kgroups.core.history.repeats import Repeat, figures, repeats
from kgroups.core.history.roster import Departure, Seat
from kgroups.core.times import show_ms, timestamp

TABLE: Final = (
    Column("group", "GROUP", shared=True),
    Column("at", "AT"),
    Column("within", "WITHIN", right=True, quiet=(None,)),
    Column("number", "GEN", right=True, quiet=(None,)),
    Column("change", "CHANGE"),
    Column("cause", "CAUSE", quiet=("",)),
    Column("member_count", "MEMBERS", right=True, quiet=(None,)),
)
CSV: Final = tuple(
    Column(name)
    for name in (
        "group",
        "at",
        "kind",
        "type",
        "generation",
        "epoch",
        "first_missing",
        "leader",
        "protocol",
        "member_count",
        "joined",
        "left",
        "replaced",
        "cause",
        "certainty",
        "seconds_since_previous",
        "source",
        "within_seconds",
        "commits",
        "commits_backwards",
        "commits_without_owner",
        "commits_deleted",
    )
)


@dataclass(frozen=True, slots=True)
class GroupHistory:
    """History of one group.

    Args:
        reader: that has read it, to its end.
    """

    group: str
    changes: tuple[Change, ...]
    reader: HistoryReader


def explained(history: GroupHistory, logs: Sequence[ReadLog]) -> GroupHistory:
    """The history with what logs say of it."""
    changes = with_logs(history.group, history.changes, [log.log for log in logs])
    return replace(history, changes=changes)


class Line(NamedTuple):
    """A change of a group, or a repeat of changes."""

    group: str
    what: Change | Repeat


def lines_of(histories: Iterable[GroupHistory], *, folded: bool) -> Iterator[Line]:
    """The changes of all groups in order.

    Args:
        folded: repeats are one line.
    """
    for history in histories:
        for what in repeats(history.changes) if folded else history.changes:
            yield Line(history.group, what)


def view_of(*, folded: bool) -> View:
    """The rows of a table, or of CSV."""
    return View("change", TABLE, _table_rows) if folded else View("change", CSV, _csv_rows)


def _table_rows(line: Line) -> list[Row]:
    what = line.what
    if isinstance(what, Repeat):
        last = what.rebalances[-1]
        at, number, count = last.at_ms, numbers_text(what), last.member_count
        text, cause, within_ms = repeat_text(what), _common_cause(what), last.within_ms
    else:
        at, count, within_ms = what.at_ms, what.member_count, what.within_ms
        is_numbered = what.kind in ("rebalance", "members") and what.number is not None
        number = str(what.number) if is_numbered else ""
        text, cause = change_text(what), cause_text(what)
    within = None if within_ms is None else show_ms(within_ms)
    return [(line.group, time_text(at), within, number, text, cause, count)]


def _common_cause(repeat: Repeat) -> str:
    """The cause of most of the times that the client was gone."""
    causes = [cause_text(change) for change in repeat.changes if change.members.gone]
    return max(causes, key=causes.count, default="")


def _csv_rows(line: Line) -> list[Row]:
    item = change_item(line)
    commits = item["commits"] or {}
    shown = {
        **item,
        **{name: [member["client_id"] for member in item[name]] for name in ("joined", "left")},
        "replaced": [member["client_id"] for member in item["replaced"]],
        "commits": commits.get("count"),
        "commits_backwards": commits.get("backwards"),
        "commits_without_owner": commits.get("without_owner"),
        "commits_deleted": commits.get("deleted"),
    }
    return [tuple(shown[column.field] for column in CSV)]


def change_item(line: Line) -> Item:
    """A change as an item of `kgroups.history/1`."""
    change = line.what
    assert isinstance(change, Change)
    is_classic = change.type == "classic"
    return {
        "group": line.group,
        "at": timestamp(change.at_ms),
        "kind": change.kind,
        "type": change.type,
        "generation": change.number if is_classic else None,
        "epoch": None if is_classic else change.number,
        "target_epoch": change.target_epoch,
        "first_missing": change.first_number,
        "leader": change.leader,
        "protocol": change.protocol,
        "member_count": change.member_count,
        "joined": [_seat_item(seat) for seat in change.members.joined],
        "left": [_departure_item(gone) for gone in change.members.left],
        "replaced": [
            {**_departure_item(pair.old), **_seat_item(pair.new)}
            | {"old_member_id": pair.old.seat.member_id}
            for pair in change.members.replaced
        ],
        "assigned_partitions": change.partitions,
        "moved_partitions": change.moved,
        "settled_seconds": _seconds(change.settled_ms),
        "last_to_settle": change.last_member,
        "commits": None if change.commits is None else _commits_item(change.commits),
        "compacted": change.is_torn,
        "cause": change.cause,
        "certainty": change.certainty,
        "reason": change.reason,
        "seconds_since_previous": _seconds(change.since_previous_ms),
        "source": "records" if change.within_ms is None else "captures",
        "within_seconds": _seconds(change.within_ms),
    }


def _seat_item(seat: Seat) -> Item:
    return {
        "client_id": seat.client_id,
        "member_id": seat.member_id,
        "instance_id": seat.instance_id,
        "host": seat.host,
    }


def _departure_item(gone: Departure) -> Item:
    return {
        **_seat_item(gone.seat),
        "stayed_seconds": _seconds(gone.stayed_ms),
        "silent_seconds": _seconds(gone.silent_ms),
        "reason": gone.reason,
    }


def _commits_item(commits: Commits) -> Item:
    return {
        "count": commits.count,
        "until_at": timestamp(commits.until_ms),
        "partitions": commits.partitions,
        "backwards": commits.backwards,
        "without_owner": commits.unowned,
        "deleted": commits.deleted,
        "setbacks": [
            {
                "at": timestamp(setback.at_ms),
                "topic": setback.topic,
                "partition": setback.partition,
                "old_offset": setback.old_offset,
                "new_offset": setback.new_offset,
            }
            for setback in commits.setbacks
        ],
        "rivals": [one._asdict() for one in commits.rivals],
    }


def _seconds(value_ms: int | None) -> float | None:
    return None if value_ms is None else round(value_ms / 1000, 3)


def summary_of(
    histories: Iterable[GroupHistory], logs: Iterable[ReadLog], since_ms: int, until_ms: int
) -> Mapping[str, Any]:
    """Rates by group, and the member behind most changes."""
    groups = [_group_summary(history, until_ms - since_ms) for history in histories]
    return {
        "since_at": timestamp(since_ms),
        "until_at": timestamp(until_ms),
        "rebalances": sum(row["rebalances"] for row in groups),
        "commits": sum(row["commits"] for row in groups),
        "groups": groups,
        "logs": [
            {
                "file": name,
                "lines_matched": log.matched,
                "clock_ahead_seconds": _seconds(log.apart_ms),
            }
            for name, log in logs
        ],
    }


def _group_summary(history: GroupHistory, span_ms: int) -> Item:
    counts, read = figures(history.changes, span_ms), history.reader
    most = {"client_id": counts.client_id, "rebalances": counts.client_rebalances}
    return {
        "group": history.group,
        "records": read.records,
        "captures": read.captures,
        "oldest_at": None if read.oldest_ms is None else timestamp(read.oldest_ms),
        "whole_since_at": None if read.whole_since_ms is None else timestamp(read.whole_since_ms),
        "rebalances": counts.rebalances,
        "unfinished_rebalances": counts.unfinished,
        "rebalances_per_hour": counts.rebalances_per_hour,
        "most_changes": None if counts.client_id is None else most,
        "commits": counts.commits,
        "commits_backwards": counts.backwards,
        "commits_without_owner": counts.unowned,
        "repeats": [
            {
                "client_id": repeat.client_id,
                "from_at": timestamp(repeat.rebalances[0].at_ms),
                "until_at": timestamp(repeat.rebalances[-1].at_ms),
                "first": repeat.rebalances[0].number,
                "last": repeat.rebalances[-1].number,
                "rebalances": len(repeat.rebalances),
                "left": repeat.left,
                "joined": repeat.joined,
            }
            for repeat in repeats(history.changes)
            if isinstance(repeat, Repeat)
        ],
    }
