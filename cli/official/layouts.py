"""The tables of Kafka's tool, column by column and blank by blank.

Every table starts with an empty line and a header, its cells stand left and one blank apart, and
a column is as wide as its longest cell but never narrower than the tool makes it. Widths are
counted as Java counts them: in UTF-16 units, not in columns of a terminal. In a pipe names are
the tool's to the byte; a terminal gets them with control characters spelled out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from kgroups.assignors.order.java_order import utf16_key
from kgroups.cli.output.escapes import for_stdout
from kgroups.core.snapshot import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    TopicPartition,
)

View = Literal["offsets", "members", "state"]

NOTHING: Final = "-"
REBALANCING: Final = frozenset(
    {"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"}
)
LIST_MARGIN: Final = 10


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Args:
        width: the least width; 0 for a cell that is not padded.
        grows: whether a longer cell widens it.
    """

    header: str
    width: int = 0
    grows: bool = False


GROUP = Column("GROUP", 15, grows=True)
TOPIC = Column("TOPIC", 15, grows=True)
PARTITION = Column("PARTITION", 10)
LEADER_EPOCH = Column("LEADER-EPOCH", 15)
CONSUMER_ID = Column("CONSUMER-ID", 15, grows=True)
HOST = Column("HOST", 15, grows=True)


def java_length(text: str) -> int:
    """Length of a text as Java counts it."""
    return len(text) if text.isascii() else len(utf16_key(text)) // 2


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, end: str = "") -> str:
    """Header and rows as lines.

    Args:
        columns: as many as a row has cells.
        rows: cells as text.
        end: what follows the last cell of every line.
    """
    shown = for_stdout()
    shown_rows = [list(map(shown, row)) for row in rows]
    widths = [
        max([column.width, *(java_length(row[at]) for row in shown_rows)])
        if column.grows
        else column.width
        for at, column in enumerate(columns)
    ]
    lines = [[column.header for column in columns], *shown_rows]
    return "".join(
        " ".join(
            cell + " " * (width - java_length(cell))
            for cell, width in zip(line, widths, strict=True)
        )
        + f"{end}\n"
        for line in lines
    )


def cell(value: object) -> str:
    """A value as text; what is not known is a dash."""
    return NOTHING if value is None or value == "" else str(value)


def list_text(groups: Iterable[Group], *, types: bool, states: bool) -> str:
    """The listing: names alone, or a table with types, states or both."""
    ordered = sorted(groups, key=lambda group: utf16_key(group.group))
    if types or states:
        return group_table(ordered, types=types, states=states)
    shown = for_stdout()
    return "".join(f"{shown(group.group)}\n" for group in ordered)


def described_text(
    snapshot: ClusterSnapshot, views: Sequence[str], *, verbose: bool
) -> Iterator[str]:
    """The tables of all groups of a snapshot, one view after the other."""
    groups = sorted(snapshot.groups, key=lambda group: utf16_key(group.group))
    for view in views:
        for group in groups:
            yield group_text(snapshot, group, view, verbose=verbose)


def group_text(snapshot: ClusterSnapshot, group: Group, view: str, *, verbose: bool) -> str:
    """One group's table."""
    if view == "offsets":
        return offset_table(group.group, offset_lines(snapshot, group), verbose=verbose)
    if view == "members":
        return member_table(group, verbose=verbose)
    return state_table(group, snapshot.broker(group.coordinator), verbose=verbose)


def group_table(groups: Iterable[Group], *, types: bool, states: bool) -> str:
    """The list with types, states or both."""
    columns = [Column("GROUP", 15 + LIST_MARGIN)]
    cells: list[Callable[[Group], str]] = [lambda group: group.group]
    if types:
        columns.append(Column("TYPE", 20))
        cells.append(lambda group: group.type.capitalize())
    if states:
        columns.append(Column("STATE", 20))
        cells.append(lambda group: group.state or "Unknown")
    rows = [[cell_of(group) for cell_of in cells] for group in groups]
    shown = for_stdout()
    longest = max([15, *(java_length(shown(row[0])) for row in rows)])
    columns[0] = Column("GROUP", longest + LIST_MARGIN)
    return table(columns, rows)


@dataclass(frozen=True, slots=True)
class OffsetLine:
    """One partition of a group; `lag` is end minus commit, negative where it is so."""

    topic: str
    partition: int
    commit: CommittedOffset | None
    end: int | None
    owner: Member | None

    @property
    def lag(self) -> int | None:
        """Records behind the end of the log; None if commit or end are not known."""
        if self.commit is None or self.end is None:
            return None
        return self.end - self.commit.offset


def offset_lines(snapshot: ClusterSnapshot, group: Group) -> list[OffsetLine]:
    """Partitions that members own, most partitions first, then those only committed."""
    offsets = group.offsets or {}
    lines: list[OffsetLine] = []
    owned: set[TopicPartition] = set()
    busy = sorted(group.members or (), key=partition_count, reverse=True)
    for member in busy:
        owned.update(member.assigned_partitions)
        lines += _lines(snapshot, offsets, set(member.assigned_partitions), member)
    left = {(topic, number) for topic, numbers in offsets.items() for number in numbers} - owned
    return lines + _lines(snapshot, offsets, left, None)


def _lines(
    snapshot: ClusterSnapshot,
    offsets: Mapping[str, Mapping[int, CommittedOffset]],
    partitions: Iterable[TopicPartition],
    owner: Member | None,
) -> list[OffsetLine]:
    lines = []
    for topic, number in sorted(partitions, key=lambda at: (utf16_key(at[0]), at[1])):
        described = snapshot.topics.get(topic)
        log = None if described is None else described.partitions.get(number)
        end = None if log is None else log.log_end_offset
        lines.append(OffsetLine(topic, number, offsets.get(topic, {}).get(number), end, owner))
    return lines


def partition_count(member: Member) -> int:
    """How many partitions a member is assigned."""
    return sum(map(len, (member.assignment or {}).values()))


def offset_table(group: str, lines: Sequence[OffsetLine], *, verbose: bool) -> str:
    """The view of partitions; empty without any."""
    if not lines:
        return ""
    columns = [
        GROUP,
        TOPIC,
        PARTITION,
        *([LEADER_EPOCH] if verbose else []),
        Column("CURRENT-OFFSET", 15),
        Column("LOG-END-OFFSET", 15),
        Column("LAG", 15),
        CONSUMER_ID,
        HOST,
        Column("CLIENT-ID"),
    ]
    rows = []
    for line in lines:
        commit, owner = line.commit, line.owner
        rows.append(
            [
                group,
                line.topic,
                str(line.partition),
                *([cell(commit and commit.leader_epoch)] if verbose else []),
                cell(None if commit is None else commit.offset),
                cell(line.end),
                cell(line.lag),
                *((owner.member_id, owner.host, owner.client_id) if owner else (NOTHING,) * 3),
            ]
        )
    return "\n" + table(columns, rows)


def member_table(group: Group, *, verbose: bool) -> str:
    """The view of members; its header stands even without any."""
    members = group.members or ()
    static = any(member.instance_id for member in members)
    columns = [GROUP, CONSUMER_ID]
    if static:
        columns.append(Column("GROUP-INSTANCE-ID", 17, grows=True))
    columns += [HOST, Column("CLIENT-ID", 15, grows=True), Column("#PARTITIONS", 15)]
    protocols = {member.member_protocol for member in members}
    mixed = group.type == "consumer" and len(protocols) > 1
    if verbose:
        columns += [
            Column("CURRENT-EPOCH", 15),
            Column("CURRENT-ASSIGNMENT", 20, grows=True),
            Column("TARGET-EPOCH", 15),
            Column("TARGET-ASSIGNMENT", 20, grows=True),
        ]
        if mixed:
            columns.append(Column("UPGRADED"))
    rows = []
    for member in members:
        row = [group.group, member.member_id]
        row += [member.instance_id or ""] if static else []
        row += [member.host, member.client_id, str(partition_count(member))]
        if verbose:
            row += [
                cell(member.member_epoch),
                assignment_text(member.assignment),
                cell(group.target_epoch),
                assignment_text(member.target_assignment),
            ]
            if mixed:
                row.append("true" if member.member_protocol == "consumer" else "false")
        rows.append(row)
    return "\n" + table(columns, rows, end="" if verbose else " ")


def assignment_text(assignment: Mapping[str, Sequence[int]] | None) -> str:
    """`topic:0,1;topic:2`, ascending; a dash for nothing."""
    named = sorted((assignment or {}).items(), key=lambda entry: utf16_key(entry[0]))
    texts = (f"{topic}:{','.join(map(str, sorted(numbers)))}" for topic, numbers in named)
    return cell(";".join(texts))


def state_table(group: Group, coordinator: Broker | None, *, verbose: bool) -> str:
    """The view of a group as a whole."""
    where = NOTHING
    if coordinator is not None:
        where = f"{coordinator.host}:{coordinator.port}  ({coordinator.id})"
    columns = [
        GROUP,
        Column("COORDINATOR (ID)", 25, grows=True),
        Column("ASSIGNMENT-STRATEGY", 20),
        Column("STATE", 20),
    ]
    row = [group.group, where, cell(group.assignor), group.state or "Unknown"]
    if verbose:
        columns += [Column("GROUP-EPOCH", 15), Column("TARGET-ASSIGNMENT-EPOCH", 25)]
        row += [cell(group.group_epoch), cell(group.target_epoch)]
    columns.append(Column("#MEMBERS"))
    row.append(str(len(group.members or ())))
    return "\n" + table(columns, [row])


def notice(group: Group) -> str | None:
    """Lines on stderr before a group's table; None for a group at rest."""
    if group.state == "Empty":
        return f"Consumer group '{group.group}' has no active members."
    if group.state in REBALANCING:
        return f"Warning: Consumer group '{group.group}' is rebalancing."
    return None


RECORDS_BEGIN: Final = "Executing records delete operation\n"
RECORDS_DONE: Final = "Records delete operation completed:\n"


def record_line(at: TopicPartition, start: int) -> str:
    """Where the log of a partition starts now."""
    return f"partition: {for_stdout()(at[0])}-{at[1]}\tlow_watermark: {start}\n"


def deleted_text(done: Sequence[str], *, failed: bool, kind: str = "consumer") -> str:
    """The sentence about deleted groups.

    Args:
        failed: whether there are others, which are told elsewhere.
    """
    names = ", ".join(f"'{name}'" for name in map(for_stdout(), done))
    if failed:
        end = "." if kind == "streams" else ""
        text = f"\nThese {kind} groups were deleted successfully: {names}{end}\n"
        return text if done else ""
    if kind == "streams" and not done:
        names = "''"
    return f"Deletion of requested {kind} groups ({names}) was successful.\n"
