"""Plans of streams groups: who will have which task, and when at the earliest."""

from collections.abc import Mapping, Sequence

from kgroups.cli.commands.plan.holders_report import holders_notes, holders_report, seconds
from kgroups.cli.exits import Note
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Item, each_of, plain_view
from kgroups.core.planning.holders import HoldersPlan
from kgroups.core.planning.tasks_plan import TaskShare, plan_tasks
from kgroups.core.snapshot import ClusterSnapshot, Group
from kgroups.core.streams_tasks import why_not_ready

SCHEMA = "kgroups.plan.tasks/1"

COLUMNS = (
    Column("group", "GROUP", shared=True),
    Column("subtopology_id", "SUBTOPOLOGY", right=True),
    Column("partition", "PARTITION", right=True),
    Column("role", "ROLE"),
    Column("from", "FROM", is_member=True),
    Column("to", "TO", is_member=True),
    Column("kind", "KIND"),
)


def tasks_report(snapshot: ClusterSnapshot, changes: Sequence[object]) -> Report:
    """The plans of groups that are all streams groups.

    Raises:
        UsageError: a change that they cannot have.
    """
    items, said = [], []
    for group in snapshot.groups:
        settings = group.settings or {}
        if not settings:
            text = (
                f"`{group.group}`: its configurations are not known; no standby tasks are assumed"
            )
            said.append(Note("OF_A_PLAN", text, group.group))
        standby = int(settings.get("streams.num.standby.replicas") or 0)
        plan = plan_tasks(group, snapshot.topics, changes, standby)
        items.append(_item(group, plan, standby, settings))
        if (why := why_not_ready(group, snapshot.topics)) is not None:
            said.append(Note("NOT_READY", why, group.group))
        said += holders_notes(items[-1], "tasks")
    return holders_report(
        SCHEMA, snapshot, items, plain_view("task", COLUMNS, each_of("tasks")), said
    )


def _item(
    group: Group, plan: HoldersPlan[TaskShare], standby: int, settings: Mapping[str, str | None]
) -> Item:
    tasks = [
        {
            "subtopology_id": part,
            "partition": number,
            "role": role,
            "from": source,
            "to": two,
            "kind": kind,
        }
        for ((part, number), role), source, two, kind in sorted(plan.moves(), key=_key)
    ]
    return {
        "group": plan.group,
        "assignor": group.assignor or "sticky",
        "confidence": plan.confidence,
        "standby_replicas": standby,
        "assignment_interval_seconds": seconds(settings, "streams.assignment.interval.ms"),
        "initial_delay_seconds": seconds(settings, "streams.initial.rebalance.delay.ms"),
        "member_count": plan.member_count,
        "moved": sum(task["kind"] != "kept" for task in tasks),
        "tasks": tasks,
    }


def _key(
    row: tuple[tuple[tuple[str, int], str], str | None, str | None, str],
) -> tuple[object, ...]:
    ((part, number), role), *_ = row
    return len(part), part, number, role
