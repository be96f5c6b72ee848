"""Plans of share and streams groups: who will have which partition or task."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kgroups.cli.exits import Note, now_ms
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Item, each_of, plain_view
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.planning.changes.kinds import Change, Deploy
from kgroups.core.planning.holders import (
    HoldersPlan,
    Thing,
    plan_shared,
    plan_tasks,
    standby_replicas,
)
from kgroups.core.snapshot import ClusterSnapshot, Group
from kgroups.core.streams_tasks import why_not_ready

SHARE_SCHEMA = "kgroups.plan.share/1"
TASKS_SCHEMA = "kgroups.plan.tasks/1"
GROUP: Final = Column("group", "GROUP", shared=True)
PARTITION: Final = Column("partition", "PARTITION", right=True)
HOLDERS: Final = (
    Column("from", "FROM", is_member=True),
    Column("to", "TO", is_member=True),
    Column("kind", "KIND"),
)


class HeldKind(NamedTuple):
    """A type of groups where one thing may have several holders.

    Args:
        things: that are held.
        columns: of the parts of a thing.
        order: of things.
        assignor: of a group that does not tell it.
        facts: of a group, for its item.
        assumed: what is assumed of a group whose configurations are not known.
    """

    schema: str
    things: str
    columns: tuple[Column, ...]
    order: Callable[[Thing], Thing]
    assignor: str
    plan: Callable[[ClusterSnapshot, Group, Sequence[Change | Deploy]], HoldersPlan]
    facts: Callable[[Group], Item]
    assumed: str | None = None


def _seconds(group: Group, name: str) -> float | None:
    """A configuration in milliseconds; None if it is not known."""
    value = (group.settings or {}).get(name)
    return None if value is None else int(value) / 1_000


KINDS: Final[Mapping[str, HeldKind]] = {
    "share": HeldKind(
        SHARE_SCHEMA,
        "partitions",
        (Column("topic", "TOPIC", shared=True), PARTITION),
        lambda partition: partition,
        "simple",
        plan_shared,
        lambda group: {
            "assignment_interval_seconds": _seconds(group, "share.assignment.interval.ms")
        },
    ),
    "streams": HeldKind(
        TASKS_SCHEMA,
        "tasks",
        (Column("subtopology_id", "SUBTOPOLOGY", right=True), PARTITION, Column("role", "ROLE")),
        lambda task: (len(task[0]), *task),  # `2` before `10`
        "sticky",
        plan_tasks,
        lambda group: {
            "standby_replicas": standby_replicas(group),
            "assignment_interval_seconds": _seconds(group, "streams.assignment.interval.ms"),
            "initial_delay_seconds": _seconds(group, "streams.initial.rebalance.delay.ms"),
        },
        "no standby tasks are assumed",
    ),
}
"""Those types by their names."""


def holders_report(
    kind: HeldKind, snapshot: ClusterSnapshot, changes: Sequence[Change | Deploy]
) -> Report:
    """The plans of groups that are all of this kind; what cannot be planned is an error."""
    items: list[Item] = []
    said: list[Note] = []
    errors = list(snapshot.errors)
    for group in snapshot.groups:
        try:
            plan = kind.plan(snapshot, group, changes)
        except KgroupsError as error:
            errors.append(ItemError.of(group.group, error))
            continue
        items.append(_item(kind, group, plan))
        said += _notes(kind, snapshot, group, plan)
    columns = (GROUP, *kind.columns, *HOLDERS)
    return Report.of(
        snapshot,
        kind.schema,
        items,
        (plain_view(kind.things.removesuffix("s"), columns, each_of(kind.things)),),
        errors=errors,
        generated_at_ms=now_ms(),
        summary=lambda: {"groups": len(items), "moved": sum(item["moved"] for item in items)},
        notes=said,
    )


def _item(kind: HeldKind, group: Group, plan: HoldersPlan) -> Item:
    fields = [column.field for column in (*kind.columns, *HOLDERS)]
    moves = sorted(plan.moves(), key=lambda move: kind.order(move[0]))
    rows = [dict(zip(fields, (*thing, *move), strict=True)) for thing, *move in moves]
    return {
        "group": plan.group,
        "assignor": group.assignor or kind.assignor,
        "confidence": plan.confidence,
        **kind.facts(group),
        "member_count": plan.member_count,
        "moved": sum(row["kind"] != "kept" for row in rows),
        kind.things: rows,
    }


def _notes(
    kind: HeldKind, snapshot: ClusterSnapshot, group: Group, plan: HoldersPlan
) -> Iterator[Note]:
    """What was assumed, and when the coordinator assigns."""
    name, texts = plan.group, list(plan.notes)
    if kind.assumed and not group.settings:
        texts.append(f"its configurations are not known; {kind.assumed}")
    if interval := kind.facts(group)["assignment_interval_seconds"]:
        texts.append(f"the coordinator assigns at most every {interval:g} s")
    yield from (Note("OF_A_PLAN", f"`{name}`: {text}", name) for text in texts)
    if (why := why_not_ready(group, snapshot.topics)) is not None:
        yield Note("NOT_READY", why, name)
    if plan.confidence == "ids":
        text = f"`{name}`: ids were assumed for new members; others may get other {kind.things}"
        yield Note("DRAWN_IDS", text, name)
