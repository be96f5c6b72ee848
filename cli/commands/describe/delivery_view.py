"""`describe --deliveries`: what became of the records that share groups were given."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from kgroups.cli.exits import Note
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.core.deliveries import STATE_TOPIC, DeliveryRow
from kgroups.core.errors import UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.snapshot import ClusterSnapshot

COLUMNS: Final = (
    Column("group", "GROUP"),
    Column("topic", "TOPIC"),
    Column("partition", "PARTITION", right=True),
    Column("start_offset", "START", right=True),
    Column("log_end_offset", "LOG-END", right=True),
    Column("available", "AVAILABLE", right=True),
    Column("acknowledged", "ACKNOWLEDGED", right=True),
    Column("archived", "ARCHIVED", right=True),
    Column("no_state", "NO-STATE", right=True),
    Column("delivery_count_limit", "LIMIT", right=True, verbose=True),
    Column("delivery_count_max", "DELIVERIES", right=True),
    Column("last_delivery", "LAST-DELIVERY", right=True),
    Column("gave_up", "GAVE-UP", right=True),
    Column("dead_letter_topic", "DEAD-LETTERS", verbose=True, quiet=(None,)),
    Column("in_flight", "IN-FLIGHT", right=True, verbose=True),
    Column("record_lock_limit", "LOCK-LIMIT", right=True, verbose=True, quiet=(None,)),
    Column("ranges", "RANGES", verbose=True, quiet=("",)),
    Column("error", "ERROR", quiet=(None,)),
)

assert [column.field for column in COLUMNS[1:]] == list(DeliveryRow._fields)

Deliveries = Mapping[str, list[DeliveryRow]]


def refuse(wanted: bool, file: object, output: str) -> None:
    """See that a cluster is asked, and in a layout of ours: snapshot files have no deliveries.

    Raises:
        UsageError: it is not so.
    """
    if wanted and file is not None:
        raise UsageError("--deliveries requires a cluster", hint="leave out --from")
    if wanted and output == "plain":
        raise UsageError("the official layout has no deliveries", hint="use --output table")


def learn_deliveries(
    printer: Printer, admin: ClusterAdmin | None, snapshot: ClusterSnapshot, views: Collection[str]
) -> tuple[Deliveries, list[Note]]:
    """The deliveries of the share groups in a snapshot, if wanted, and what to know of them."""
    if admin is None or "deliveries" not in views:
        return {}, []
    from kgroups.core.kafka.lookups.dead_letters import no_dead_letters
    from kgroups.core.kafka.lookups.share_state import deliveries  # records: 60 modules

    shared = [group for group in snapshot.groups if group.type == "share"]
    if shared:
        printer.progress(f"reading {STATE_TOPIC} for {len(shared):,} groups")
    found = deliveries(admin, shared, snapshot.topics)
    notes = [
        Note("NO_DELIVERIES", f"`{each.group}` is not a share group", each.group)
        for each in snapshot.groups
        if each.type != "share"
    ]
    for name, rows in found.items():
        if rows and rows[0].delivery_count_limit is None:
            text = f"the delivery limit of `{name}` requires DESCRIBE_CONFIGS on the group"
            notes.append(Note("DELIVERIES_UNKNOWN", text, name))
    named = {
        name: rows[0].dead_letter_topic
        for name, rows in found.items()
        if rows and rows[0].dead_letter_topic
    }
    notes += [Note("NO_DEAD_LETTERS", why) for why in no_dead_letters(admin, named)]
    codes = {row.error for rows in found.values() for row in rows if row.error is not None}
    if codes:
        text = f"cannot read `{STATE_TOPIC}` ({', '.join(sorted(codes))}): READ is required"
        notes.append(Note("DELIVERIES_UNKNOWN", text))
    if any(group.members for group in shared):
        text = "records that members hold now are shown in their last stored state"
        notes.append(Note("LOCKS_UNKNOWN", text))
    return found, notes


def delivery_view() -> View:
    """The rows as a table."""
    return View("delivery", COLUMNS, _rows)


def _rows(item: Item) -> Iterator[Row]:
    for row in item["deliveries"] or ():
        yield (item["group"], *row._replace(ranges=_text(row)))


def _text(row: DeliveryRow) -> str:
    """`10-12 available (2), 20 archived (1)`, the number of deliveries in brackets."""
    return ", ".join(
        f"{each.first_offset}"
        + (f"-{each.last_offset}" if each.last_offset > each.first_offset else "")
        + f" {each.state} ({each.delivery_count})"
        for each in row.ranges
    )


def delivery_items(rows: Iterable[DeliveryRow] | None) -> list[Item] | None:
    """The rows in a document."""
    if rows is None:
        return None
    return [row._asdict() | {"ranges": [each._asdict() for each in row.ranges]} for row in rows]
