"""Plans of share groups: who will have which partition."""

from collections.abc import Sequence
from dataclasses import replace

from kgroups.cli.commands.plan.holders_report import holders_notes, holders_report, seconds
from kgroups.cli.exits import Note
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Column, Item, each_of, plain_view
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.planning.changes.kinds import Change, Deploy
from kgroups.core.planning.share_plan import plan_shared
from kgroups.core.snapshot import ClusterSnapshot

SCHEMA = "kgroups.plan.share/1"

COLUMNS = (
    Column("group", "GROUP", shared=True),
    Column("topic", "TOPIC", shared=True),
    Column("partition", "PARTITION", right=True),
    Column("from", "FROM", is_member=True),
    Column("to", "TO", is_member=True),
    Column("kind", "KIND"),
)


def share_report(snapshot: ClusterSnapshot, changes: Sequence[Change | Deploy]) -> Report:
    """The plans of groups that are all share groups."""
    items: list[Item] = []
    said: list[Note] = []
    errors = list(snapshot.errors)
    for group in snapshot.groups:
        try:
            plan = plan_shared(snapshot, group, changes)
        except KgroupsError as error:
            errors.append(ItemError.of(group.group, error))
            continue
        partitions = [
            {"topic": topic, "partition": number, "from": source, "to": two, "kind": kind}
            for (topic, number), source, two, kind in sorted(plan.moves(), key=lambda row: row[0])
        ]
        items.append(
            {
                "group": plan.group,
                "assignor": group.assignor or "simple",
                "confidence": plan.confidence,
                "assignment_interval_seconds": seconds(
                    group.settings or {}, "share.assignment.interval.ms"
                ),
                "member_count": plan.member_count,
                "moved": sum(row["kind"] != "kept" for row in partitions),
                "partitions": partitions,
            }
        )
        said += [Note("OF_A_PLAN", f"`{plan.group}`: {text}", plan.group) for text in plan.notes]
        said += holders_notes(items[-1], "partitions")
    snapshot = replace(snapshot, errors=tuple(errors))
    return holders_report(
        SCHEMA, snapshot, items, plain_view("partition", COLUMNS, each_of("partitions")), said
    )
