"""Plans of streams groups: who will have which task, and when at the earliest."""

from collections.abc import Iterator, Mapping, Sequence

from kgroups.cli.exits import Note
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.cli.source import now_ms
from kgroups.core.planning.tasks_plan import TasksPlan, plan_tasks
from kgroups.core.snapshot import ClusterSnapshot, Group

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
        interval = items[-1]["assignment_interval_seconds"]
        if interval:
            text = f"`{group.group}`: the coordinator assigns at most every {interval:g} s"
            said.append(Note("OF_A_PLAN", text, group.group))
        if plan.confidence == "ids":
            text = f"`{group.group}`: ids were assumed for new members; others may get other tasks"
            said.append(Note("DRAWN_IDS", text, group.group))
    return Report(
        schema=SCHEMA,
        cluster={"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap},
        generated_at_ms=now_ms(),
        items=items,
        views=(View("task", COLUMNS, _rows),),
        errors=snapshot.errors,
        summary=lambda: {"groups": len(items), "moved": sum(item["moved"] for item in items)},
        notes=said,
    )


def _seconds(settings: Mapping[str, str | None], name: str) -> float | None:
    value = settings.get(name)
    return None if value is None else int(value) / 1_000


def _item(group: Group, plan: TasksPlan, standby: int, settings: Mapping[str, str | None]) -> Item:
    tasks = list(_tasks(plan))
    return {
        "group": plan.group,
        "assignor": group.assignor or "sticky",
        "confidence": plan.confidence,
        "standby_replicas": standby,
        "assignment_interval_seconds": _seconds(settings, "streams.assignment.interval.ms"),
        "initial_delay_seconds": _seconds(settings, "streams.initial.rebalance.delay.ms"),
        "member_count": len(plan.members),
        "moved": sum(task["kind"] != "kept" for task in tasks),
        "tasks": tasks,
    }


def _tasks(plan: TasksPlan) -> Iterator[Item]:
    """Each task and role with who has it and who will; several holders stand in several rows."""
    for (task, role), _ in sorted(
        {**plan.before, **plan.after}.items(), key=lambda row: _key(row[0])
    ):
        old = set(plan.before.get((task, role), ()))
        new = set(plan.after.get((task, role), ()))
        gone, come = sorted(old - new), sorted(new - old)
        pairs: list[tuple[str | None, str | None, str]]
        pairs = [(name, name, "kept") for name in sorted(old & new)]
        pairs += [(source, two, "moved") for source, two in zip(gone, come, strict=False)]
        shared = min(len(gone), len(come))
        pairs += [(name, None, "ended") for name in gone[shared:]]
        pairs += [(None, name, "started") for name in come[shared:]]
        for source, two, kind in pairs:
            yield {
                "subtopology_id": task[0],
                "partition": task[1],
                "role": role,
                "from": source,
                "to": two,
                "kind": kind,
            }


def _key(row: tuple[tuple[str, int], str]) -> tuple[int, str, int, str]:
    (part, number), role = row
    return len(part), part, number, role


def _rows(item: Item) -> list[Row]:
    return [(item["group"], *task.values()) for task in item["tasks"]]
