"""Listed groups as a report: items, columns, the figures that are asked for, and their order."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from kgroups.cli.commands.describe.time_view import COLUMNS as TIME_COLUMNS
from kgroups.cli.commands.describe.time_view import time_fields
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Item, heading, plain_view, with_coordinator
from kgroups.core.conditions.group_figures import (
    GROUP_FIELDS,
    document_of,
    figures_in,
    source_of_fields,
)
from kgroups.core.group_item import coordinator_item
from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.lag.group_times import Times, group_times
from kgroups.core.snapshot import ClusterSnapshot, Group

SCHEMA = "kgroups.list/1"

SORTS: Mapping[str, Callable[[Group], tuple[Any, ...]]] = {
    "name": lambda group: (group.group,),
    "state": lambda group: (group.state or "", group.group),
    "type": lambda group: (group.type, group.group),
    "coordinator": lambda group: (
        -1 if group.coordinator is None else group.coordinator,
        group.group,
    ),
}

COLUMNS = (
    Column("group", "GROUP"),
    Column("type", "TYPE"),
    Column("state", "STATE"),
    Column("protocol_type", "PROTOCOL"),
    Column("coordinator_id", "COORDINATOR", right=True, quiet=(None,)),
    Column("coordinator_host"),
    Column("coordinator_port"),
)
LAG: Final = ("lag", "lag_max", "lost", "unknown_partitions", "member_count")
"""The figures that `--lag` shows."""
_READ_WITH_LAG: Final = frozenset({"lag", "lag_max", "lost"})
FIGURES: Final[Mapping[str, Column]] = {
    field.name: Column(
        field.name,
        heading(field.name.removesuffix("_partitions")),
        right=field.kind == "number",
        quiet=(None, 0) if field.name == "unknown_partitions" else (),
    )
    for field in GROUP_FIELDS.rows
    if field.name not in TIME_COLUMNS and field.name not in {column.field for column in COLUMNS}
}
"""Columns of what conditions may name, where the list does not have it anyway."""


def figures_shown(named: Collection[str], *, lag: bool) -> tuple[str, ...]:
    """The figures that are shown: those of `--lag`, and what other options name.

    Args:
        named: fields that are shown, sorted by or part of a condition.
    """
    of_lag = LAG if lag or not _READ_WITH_LAG.isdisjoint(named) else ()
    return tuple(name for name in dict.fromkeys((*LAG, *FIGURES)) if name in {*named, *of_lag})


def sorted_groups(
    snapshot: ClusterSnapshot, sort: str, names: Sequence[str], times: Times | None = None
) -> tuple[list[Group], dict[str, Item]]:
    """The groups in order, and these figures of each by its name.

    Args:
        sort: a key of `SORTS`, or a figure: highest first, groups for which it is unknown last.
    """
    source = source_of_fields(names)
    figures: dict[str, Item] = {}
    for group in snapshot.groups if names else ():
        document = document_of(figures_in(snapshot, group, source, times=times))
        figures[group.group] = {name: document[name] for name in names}

    def by_figure(group: Group) -> tuple[Any, ...]:
        value = figures[group.group][sort]
        return (value is None, -(value or 0), group.group)

    return sorted(snapshot.groups, key=SORTS.get(sort, by_figure)), figures


def list_report(
    snapshot: ClusterSnapshot,
    groups: list[Group],
    figures: Mapping[str, Item],
    names: Sequence[str],
    times: Times | None = None,
    shown: Sequence[str] = (),
) -> Report:
    """The groups as a `kgroups.list/1` report.

    Args:
        figures: of each group by its name.
        names: the figures that are shown.
        shown: the fields of time that are shown.
    """
    states: dict[str, int] = {}
    for group in groups:
        states[group.state or "unknown"] = states.get(group.state or "unknown", 0) + 1
    return Report.of(
        snapshot,
        SCHEMA,
        (
            {
                **list_item(snapshot, group),
                **figures.get(group.group, {}),
                **_time_fields(snapshot, group, times, shown),
            }
            for group in groups
        ),
        (
            plain_view(
                "group",
                (*COLUMNS, *(FIGURES[name] for name in names), *(TIME_COLUMNS[n] for n in shown)),
                lambda item: [with_coordinator(item)],
            ),
        ),
        summary=lambda: {"groups": len(groups), "states": dict(sorted(states.items()))},
    )


def list_item(snapshot: ClusterSnapshot, group: Group) -> Item:
    """A group as an item of `kgroups.list/1`."""
    return {
        "group": group.group,
        "type": group.type,
        "state": group.state,
        "protocol_type": group.protocol_type,
        "coordinator": coordinator_item(snapshot, group.coordinator),
    }


def _time_fields(
    snapshot: ClusterSnapshot, group: Group, times: Times | None, shown: Sequence[str]
) -> Item:
    """A group's figures of time; unknown where its commits are."""
    if not shown or times is None or group.offsets is None:
        return dict.fromkeys(shown)
    total = group_times(snapshot, group, offset_rows(snapshot, group), times).total
    return time_fields(total, shown)
