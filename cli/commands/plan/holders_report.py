"""Common parts of plans whose partitions or tasks may have several holders: share, streams."""

from collections.abc import Iterator, Mapping, Sequence

from kgroups.cli.exits import Note, now_ms
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import Item, View
from kgroups.core.snapshot import ClusterSnapshot


def holders_report(
    schema: str, snapshot: ClusterSnapshot, items: Sequence[Item], view: View, said: Sequence[Note]
) -> Report:
    """The report of these plans."""
    return Report.of(
        snapshot,
        schema,
        items,
        (view,),
        generated_at_ms=now_ms(),
        summary=lambda: {"groups": len(items), "moved": sum(item["moved"] for item in items)},
        notes=said,
    )


def holders_notes(item: Item, things: str) -> Iterator[Note]:
    """When the coordinator assigns, and whether the plan depends on ids that are not known.

    Args:
        things: that are held: `tasks`.
    """
    group, interval = item["group"], item["assignment_interval_seconds"]
    if interval:
        text = f"`{group}`: the coordinator assigns at most every {interval:g} s"
        yield Note("OF_A_PLAN", text, group)
    if item["confidence"] == "ids":
        text = f"`{group}`: ids were assumed for new members; others may get other {things}"
        yield Note("DRAWN_IDS", text, group)


def seconds(settings: Mapping[str, str | None], name: str) -> float | None:
    """A configuration in milliseconds; None if it is not known."""
    value = settings.get(name)
    return None if value is None else int(value) / 1_000
