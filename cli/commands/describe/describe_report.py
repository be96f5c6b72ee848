"""Described groups as a report: items, the rows of each view, and what to know of them."""

import heapq
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any, Final

from kgroups.cli.commands.describe import delivery_view
from kgroups.cli.commands.describe.time_view import (
    TIMES,
    fields_shown,
    timed_document,
    timed_view,
)
from kgroups.cli.exits import Note
from kgroups.cli.lag_times import TimeQuestion
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import (
    Column,
    Item,
    Row,
    View,
    cell_text,
    each_of,
    plain_view,
    with_coordinator,
)
from kgroups.core.deliveries import DeliveryRow
from kgroups.core.group_item import View as ItemView
from kgroups.core.group_item import describe_item, offset_item
from kgroups.core.lag.group_lag import LagSummary, OffsetRow, offset_rows
from kgroups.core.lag.group_times import Times, group_times
from kgroups.core.lag.held_back import held_partition_count
from kgroups.core.lag.rules import Isolation, LagStatus, Uncommitted
from kgroups.core.rounds import REBALANCING
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition
from kgroups.core.streams_tasks import TaskRow, why_not_ready

OFFSET_COLUMNS = (
    Column("group", "GROUP"),
    Column("topic", "TOPIC"),
    Column("partition", "PARTITION", right=True),
    Column("committed_offset", "COMMITTED", right=True),
    Column("log_start_offset", "LOG-START", right=True, verbose=True),
    Column("log_end_offset", "LOG-END", right=True),
    Column("last_stable_offset", "LAST-STABLE", right=True, quiet=(None,)),
    Column("lag", "LAG", right=True),
    Column("lag_status", "STATUS", quiet=("ok",)),
    Column("lost", "LOST", right=True, quiet=(None, 0)),
    Column("leader_epoch", "EPOCH", right=True, verbose=True),
    Column("metadata", "METADATA", verbose=True, quiet=(None, "")),
    Column("member_id", "MEMBER-ID", quiet=(None,), is_member=True),
    Column("client_id", "CLIENT-ID", quiet=(None,)),
    Column("host", "HOST", quiet=(None,)),
    Column("error", "ERROR", quiet=(None,)),
    Column("shared_with", "SHARED-WITH", quiet=(None,)),
    Column("leader", "LEADER", right=True, verbose=True, quiet=(None,)),
    Column("current_leader_epoch", "LEADER-EPOCH", right=True, verbose=True, quiet=(None,)),
    Column("in_sync_replicas", "IN-SYNC", verbose=True, quiet=(None,)),
)
LEADER_END = Column("leader_end_offset", "LEADER-END", right=True, verbose=True, quiet=(None,))
MEMBER_COLUMNS = (
    Column("group", "GROUP"),
    Column("member_id", "MEMBER-ID", is_member=True),
    Column("instance_id", "INSTANCE-ID", quiet=(None,)),
    Column("client_id", "CLIENT-ID"),
    Column("host", "HOST"),
    Column("member_protocol", "PROTOCOL", verbose=True),
    Column("member_epoch", "EPOCH", right=True, verbose=True),
    Column("partitions", "PARTITIONS", right=True),
    Column("lag", "LAG", right=True),
    Column("subscription", "SUBSCRIPTION", verbose=True),
    Column("assignment", "ASSIGNMENT", verbose=True),
    Column("target_assignment", "TARGET", verbose=True, quiet=("", None)),
)
STATE_COLUMNS = (
    Column("group", "GROUP"),
    Column("type", "TYPE"),
    Column("state", "STATE"),
    Column("assignor", "ASSIGNOR"),
    Column("coordinator_id", "COORDINATOR", right=True),
    Column("coordinator_host"),
    Column("coordinator_port"),
    Column("coordinator", "ADDRESS", quiet=(None,)),
    Column("offsets_partition", "OFFSETS-PARTITION", right=True, verbose=True),
    Column("group_epoch", "EPOCH", right=True, verbose=True),
    Column("target_epoch", "TARGET-EPOCH", right=True, verbose=True),
    Column("member_count", "MEMBERS", right=True),
    Column("topology", "SUBTOPOLOGIES", verbose=True, quiet=(None,)),
)
TASK_COLUMNS = (
    Column("group", "GROUP"),
    Column("subtopology_id", "SUBTOPOLOGY", right=True),
    Column("partition", "PARTITION", right=True),
    Column("role", "ROLE"),
    Column("status", "STATUS", quiet=("assigned",)),
    Column("member_id", "MEMBER-ID", is_member=True),
    Column("client_id", "CLIENT-ID", verbose=True),
    Column("host", "HOST"),
    Column("process_id", "PROCESS-ID", verbose=True),
    Column("endpoint", "ENDPOINT", quiet=(None,)),
    Column("topics", "TOPICS", verbose=True),
    Column("lag", "LAG", right=True),
    Column("state_offset", "STATE-OFFSET", right=True, quiet=(None,)),
    Column("state_lag", "STATE-LAG", right=True, quiet=(None,)),
)

VIEW_COLUMNS: Final[Mapping[ItemView, tuple[str, ...]]] = {
    "state": tuple(column.field for column in STATE_COLUMNS),
    "members": tuple(column.field for column in MEMBER_COLUMNS),
    "tasks": tuple(column.field for column in TASK_COLUMNS),
    "deliveries": tuple(column.field for column in delivery_view.COLUMNS),
    "offsets": tuple(column.field for column in OFFSET_COLUMNS),
}
"""The columns of each view by their names."""

SUMMED: Final = (*(name for name in LagSummary._fields if name != "lag_max"), "held_partitions")
"""Figures of groups that the summary adds up."""

NAMES_IN_A_NOTE = 3

assert [column.field for column in OFFSET_COLUMNS[1:]] == list(OffsetRow._fields)

assert [column.field for column in TASK_COLUMNS[1:]] == list(TaskRow._fields)

_NONE_HELD: Final[Mapping[str, Container[TopicPartition]]] = {}
_NONE: Final[Mapping[str, list[DeliveryRow]]] = {}

_member_values = itemgetter(*(c.field for c in MEMBER_COLUMNS[1:]))


def describe_items(
    snapshot: ClusterSnapshot,
    views: Collection[ItemView],
    *,
    uncommitted: Uncommitted | None,
    isolation: Isolation,
    times: Times | None = None,
    held: Mapping[str, Container[TopicPartition]] = _NONE_HELD,
    deliveries: Mapping[str, list[DeliveryRow]] = _NONE,
) -> Iterator[dict[str, Any]]:
    """The groups as items of `kgroups.describe/1`, one at a time; offsets stay `OffsetRow`s."""
    for group in snapshot.groups:
        rows = None
        if group.offsets is not None and set(views) != {"state"}:
            rows = offset_rows(snapshot, group, uncommitted=uncommitted, isolation=isolation)
        item = describe_item(snapshot, group, rows, views, flat=True)
        if "deliveries" in views:
            item["deliveries"] = deliveries.get(group.group)
        if "state" in views:
            item["member_count"] = None if group.members is None else len(group.members)
        if times is not None and rows is not None:
            found = item[TIMES] = group_times(snapshot, group, rows, times)
            _mark(item, found.stalled, "stalled")
        _mark(item, held.get(group.group), "held")
        if "offsets" in views:
            item["held_partitions"] = held_partition_count(snapshot, group)
        yield item


def _mark(
    item: dict[str, Any], places: Container[TopicPartition] | None, status: LagStatus
) -> None:
    """Give the rows of these partitions this status."""
    if places and item.get("offsets"):
        item["offsets"] = [
            row._replace(lag_status=status) if (row.topic, row.partition) in places else row
            for row in item["offsets"]
        ]


def largest_lag(items: list[dict[str, Any]], top: int | None) -> list[dict[str, Any]]:
    """Items with their rows by falling lag, and only the `top` rows of each kind over all items.

    Rows whose lag is not known come last; items that keep no row are left out.
    """
    for kind, lag_of in (("offsets", attrgetter("lag")), ("members", itemgetter("lag"))):
        if any(item.get(kind) is not None for item in items):
            _sort_rows(items, kind, lag_of, top)
    if top is not None:
        items = [item for item in items if item.get("offsets") or item.get("members")]
    return sorted(items, key=_total_lag, reverse=True)


def _sort_rows(
    items: list[dict[str, Any]], kind: str, lag_of: Callable[[Any], int | None], top: int | None
) -> None:
    def lag(row: Any) -> int:
        known = lag_of(row)
        return -1 if known is None else known

    kept: set[int] | None = None
    if top is not None:
        every = (row for item in items for row in item[kind] or ())
        kept = {id(row) for row in heapq.nlargest(top, every, key=lag)}
    for item in items:
        if item[kind] is not None:
            rows = (row for row in item[kind] if kept is None or id(row) in kept)
            item[kind] = sorted(rows, key=lag, reverse=True)


def _total_lag(item: Item) -> int:
    if item.get("offsets"):
        return sum(row.lag or 0 for row in item["offsets"])
    return sum(row["lag"] or 0 for row in item.get("members") or ())


def describe_report(
    snapshot: ClusterSnapshot,
    views: Sequence[ItemView],
    items: Iterable[dict[str, Any]],
    *,
    schema: str,
    by_lag: bool = False,
    question: TimeQuestion = TimeQuestion(),  # noqa: B008 - it is frozen
) -> Report:
    """The items as a report; its summary counts while they pass: null where nothing is known."""
    counts = dict.fromkeys(
        ("groups",) if "offsets" not in views else ("groups", "partitions", *SUMMED), 0
    )
    known: set[str] = set()

    def counted() -> Iterator[Item]:
        for item in items:
            counts["groups"] += 1
            if item.get("offsets") is not None:
                counts["partitions"] += len(item["offsets"])
                for name in SUMMED:
                    if item[name] is not None and item["offsets"]:
                        known.add(name)
                        counts[name] += item[name]
            yield item

    def summary() -> dict[str, int | None]:
        unknown = set(SUMMED) - known if counts.get("partitions") else ()
        return {name: None if name in unknown else count for name, count in counts.items()}

    kinds: dict[str, View] = {
        "state": plain_view("group", STATE_COLUMNS, _state_rows),
        "members": View("member", MEMBER_COLUMNS, _member_rows, _by_lag(MEMBER_COLUMNS, by_lag)),
        "tasks": plain_view("task", TASK_COLUMNS, _task_rows),
        "deliveries": delivery_view.delivery_view(),
        "offsets": View("partition", OFFSET_COLUMNS, _offset_rows, _by_lag(OFFSET_COLUMNS, by_lag)),
    }
    shown = fields_shown(question)
    if shown:
        kinds["offsets"] = timed_view(shown, kinds["offsets"])
    return Report.of(
        snapshot,
        schema,
        counted(),
        [kinds[view] for view in views],
        document_of=lambda item: _document(item, shown),
        summary=summary,
    )


def _document(item: Item, times: Sequence[str]) -> Item:
    rows = item.get("offsets")
    if "deliveries" in item:
        item = {**item, "deliveries": delivery_view.delivery_items(item["deliveries"])}
    if times:
        return timed_document(item, times)
    return item if rows is None else {**item, "offsets": [offset_item(row) for row in rows]}


def _by_lag(columns: Sequence[Column], wanted: bool) -> Callable[[Row], int] | None:
    if not wanted:
        return None
    at = [column.field for column in columns].index("lag")
    return lambda row: 1 if row[at] is None else -int(row[at])


def _offset_rows(item: Item) -> Iterator[Row]:
    group = item["group"]
    for row in item["offsets"] or ():
        yield (group,) + row  # noqa: RUF005 - unpacking would build a list first


def _member_rows(item: Item) -> Iterator[Row]:
    group = item["group"]
    for member in item["members"] or ():
        *values, subscription, assignment, target = _member_values(member)
        yield (group, *values, _joined(subscription), _joined(assignment), _joined(target))


def _task_rows(item: Item) -> Iterator[Item]:
    return ({**task, "topics": _joined(task["topics"])} for task in each_of("tasks")(item))


def _joined(value: Any) -> str | None:
    """Lists and assignments as one hashable cell; empty where there is nothing, None unknown."""
    return None if value is None else cell_text(value)


def _state_rows(item: Item) -> list[Item]:
    at = with_coordinator(item)
    host = at.get("coordinator_host")
    address = None if host is None else f"{host}:{at['coordinator_port']}"
    return [{**at, "coordinator": address, "topology": _sources(item.get("topology"))}]


def _sources(topology: list[Item] | None) -> str | None:
    """The topics of each subtopology: `0 (orders), 1 (app-by-key-repartition)`."""
    if topology is None:
        return None
    topics = ("source_topics", "repartition_source_topics")
    read = [", ".join(name for field in topics for name in part[field]) for part in topology]
    return ", ".join(
        f"{part['subtopology_id']} ({names})" for part, names in zip(topology, read, strict=True)
    )


def with_leader_ends(report: Report, ends: Mapping[TopicPartition, int]) -> Report:
    """The report with where each leader's log ends, in partitions of which it is known or not."""
    document_of = report.document_of

    def document(item: Any) -> Item:
        made = dict(document_of(item))
        if made.get("offsets") is not None:
            made["offsets"] = [
                {**row, LEADER_END.field: ends.get((row["topic"], row["partition"]))}
                for row in made["offsets"]
            ]
        return made

    def seen(view: View) -> View:
        if view.name != "partition":
            return view
        places = [view.columns.index(column) for column in OFFSET_COLUMNS[1:3]]

        def rows(item: Any) -> Iterator[Row]:
            for row in view.rows(item):
                topic, partition = (row[place] for place in places)
                yield (*row, ends.get((topic, partition)))

        return replace(view, columns=(*view.columns, LEADER_END), rows=rows)

    return replace(report, document_of=document, views=[seen(view) for view in report.views])


def notes(groups: Sequence[Group]) -> Iterator[Note]:
    """Notes on these groups to read before a table of them."""
    if not groups:
        return
    empty = [group.group for group in groups if group.state == "Empty"]
    if empty:
        yield Note("NO_MEMBERS", f"{_some(empty)} no active members", _only(empty))
    moving = [group.group for group in groups if group.state in REBALANCING]
    if moving:
        some = _some(moving, "is rebalancing", "are rebalancing")
        yield Note("REBALANCING", f"{some}; owners may be out of date", _only(moving))


def streams_notes(snapshot: ClusterSnapshot, views: Collection[ItemView]) -> Iterator[Note]:
    """Why streams groups are not ready, and groups of which tasks are asked that have none."""
    for group in snapshot.groups:
        if (why := why_not_ready(group, snapshot.topics)) is not None:
            yield Note("NOT_READY", why, group.group)
        if "tasks" not in views or group.type == "streams":
            continue
        text = f"`{group.group}` is a {group.type} group: it has no tasks"
        if group.assignor == "stream":  # Kafka Streams on the classic protocol
            text = (
                f"`{group.group}` is a Kafka Streams application on the classic protocol, which "
                "tells no tasks; moving it to the streams protocol is broken on brokers of "
                "Kafka 4.2.0 (KAFKA-20254)"
            )
        yield Note("NO_TASKS", text, group.group)


def _only(names: list[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _some(names: list[str], one: str = "has", many: str = "have") -> str:
    """A few of the names and how many more, with the verb that fits."""
    shown = ", ".join(f"`{name}`" for name in names[:NAMES_IN_A_NOTE])
    more = len(names) - NAMES_IN_A_NOTE
    rest = f" and {more} more" if more > 0 else ""
    return f"{shown}{rest} {one if len(names) == 1 else many}"
