"""The tables of the tools for share groups and streams groups, as `layouts` has those of others.

Those of streams groups have no empty line before their headers. Sources: `ShareGroupCommand`,
`StreamsGroupCommand` of Kafka 4.4.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from kgroups.assignors.order.java_order import utf16_key
from kgroups.cli.official.layouts import (
    CONSUMER_ID,
    GROUP,
    HOST,
    PARTITION,
    TOPIC,
    Column,
    View,
    assignment_text,
    cell,
    java_length,
    offset_lines,
    partition_count,
    table,
)
from kgroups.cli.output.escapes import for_stdout
from kgroups.core.offsets.reset import committed_partitions
from kgroups.core.snapshot import ClusterSnapshot, Group, StreamsMember, Tasks

MEMBERS: Final = Column("#MEMBERS")
STATE: Final = Column("STATE")


def states_text(groups: Iterable[Group]) -> str:
    """The list with states."""
    ordered = sorted(groups, key=lambda group: utf16_key(group.group))
    return table([GROUP, STATE], [[group.group, group.state or "Unknown"] for group in ordered])


def group_text(snapshot: ClusterSnapshot, group: Group, view: View, *, verbose: bool) -> str:
    """One group's table; empty where the tool prints none."""
    if view == "members" and not group.members:
        return ""
    if group.type == "streams":
        return _STREAMS[view](snapshot, group, verbose)
    return "\n" + _SHARE[view](snapshot, group, verbose)


def _share_offsets(_: ClusterSnapshot, group: Group, verbose: bool) -> str:
    offsets = group.offsets or {}
    owned = (member.assigned_partitions for member in group.members or ())
    held = {*committed_partitions(group)}.union(*owned)
    if not held:
        return f"Share group '{group.group}' has no offset information.\n"
    columns = [GROUP, TOPIC, PARTITION]
    columns += [Column("LEADER-EPOCH", 13)] if verbose else []
    columns += [Column("START-OFFSET", 13), Column("LAG")]
    rows = []
    for topic, number in sorted(held, key=lambda at: (utf16_key(at[0]), at[1])):
        start = offsets.get(topic, {}).get(number)
        row = [group.group, topic, str(number)]
        row += [cell(start and start.leader_epoch)] if verbose else []
        rows.append([*row, cell(start and start.offset), cell(start and start.lag)])
    return table(columns, rows)


def _share_members(_: ClusterSnapshot, group: Group, verbose: bool) -> str:
    columns = [GROUP, CONSUMER_ID, HOST, Column("CLIENT-ID", 15, grows=True)]
    columns.append(Column("#PARTITIONS", 12))
    columns += [Column("MEMBER-EPOCH", 13)] if verbose else []
    rows = []
    for member in sorted(group.members or (), key=lambda member: utf16_key(member.member_id)):
        row = [group.group, member.member_id, member.host, member.client_id]
        row.append(str(partition_count(member)))
        row += [cell(member.member_epoch)] if verbose else []
        rows.append([*row, assignment_text(member.assignment) if member.assignment else ""])
    return table([*columns, Column("ASSIGNMENT")], rows)


def _share_state(snapshot: ClusterSnapshot, group: Group, verbose: bool) -> str:
    columns = [GROUP, Column("COORDINATOR (ID)", 25, grows=True), Column("STATE", 15)]
    row = [group.group, _coordinator(snapshot, group, "  "), group.state or "Unknown"]
    if verbose:
        columns += [Column("GROUP-EPOCH", 12), Column("ASSIGNMENT-EPOCH", 17)]
        row += [cell(group.group_epoch), cell(group.target_epoch)]
    return table([*columns, MEMBERS], [[*row, str(len(group.members or ()))]])


def _streams_offsets(snapshot: ClusterSnapshot, group: Group, verbose: bool) -> str:
    if not group.members:
        return ""
    columns = [Column("GROUP", max(15, java_length(for_stdout()(group.group)))), TOPIC, PARTITION]
    if verbose:
        columns += [Column(name, 15) for name in ("CURRENT-OFFSET", "LEADER-EPOCH")]
        columns.append(Column("LOG-END-OFFSET", 15))
    columns.append(Column("OFFSET-LAG", 15 if verbose else 0))
    rows = []
    for line in offset_lines(snapshot, group):
        if line.owner is None:
            continue
        commit, lag = line.commit, line.lag
        if commit is None and line.end is not None:  # the whole log is left to read
            log = snapshot.topics[line.topic].partitions[line.partition]
            lag = None if log.log_start_offset is None else line.end - log.log_start_offset
        row = [group.group, line.topic, str(line.partition)]
        if verbose:
            row += [cell(commit and commit.offset), cell(commit and commit.leader_epoch)]
            row.append(cell(line.end))
        rows.append([*row, cell(lag)])
    return table(columns, rows)


def _streams_members(_: ClusterSnapshot, group: Group, verbose: bool) -> str:
    columns = [GROUP]
    if verbose:
        columns += [Column("TARGET-ASSIGNMENT-EPOCH", 25), Column("TOPOLOGY-EPOCH", 14)]
    columns.append(Column("MEMBER", 15, grows=True))
    columns += [Column("MEMBER-PROTOCOL", 15), Column("MEMBER-EPOCH", 15)] if verbose else []
    columns += [Column("PROCESS", 15, grows=True), Column("CLIENT-ID", 15, grows=True)]
    rows = []
    for member in group.members or ():
        own = member.streams or StreamsMember("", 0)
        row = [group.group]
        row += [cell(group.target_epoch), cell(own.topology_epoch)] if verbose else []
        row.append(member.member_id)
        if verbose:
            classic = member.member_protocol == "classic"
            row += ["classic" if classic else "streams", cell(member.member_epoch)]
        texts = [*_tasks(own.assigned_tasks)]
        texts += _tasks(own.target_tasks, "TARGET-") if verbose else ()
        rows.append([*row, own.process_id, member.client_id, "".join(texts)])
    return table([*columns, Column("ASSIGNMENTS")], rows)


def _tasks(tasks: Tasks, prefix: str = "") -> Iterator[str]:
    """`ACTIVE: 0:[0,1]; 1:[0]; `, for each kind of tasks that there are."""
    kinds: Sequence[tuple[str, Mapping[str, tuple[int, ...]]]] = (
        ("ACTIVE", tasks.active),
        ("STANDBY", tasks.standby),
        ("WARMUP", tasks.warmup),
    )
    for name, held in kinds:
        if held:
            yield f"{prefix}{name}: "
        for subtopology, numbers in held.items():
            yield f"{subtopology}:[{','.join(map(str, numbers))}]; "


def _streams_state(snapshot: ClusterSnapshot, group: Group, verbose: bool) -> str:
    columns = [
        GROUP,
        Column("COORDINATOR (ID)", 25, grows=True),
        Column("ASSIGNOR", 15, grows=True),
        Column("STATE", 25),
    ]
    row = [group.group, _coordinator(snapshot, group, " "), group.assignor or ""]
    row.append(group.state or "Unknown")
    if verbose:
        columns += [Column("GROUP-EPOCH", 15), Column("TARGET-ASSIGNMENT-EPOCH", 25)]
        row += [cell(group.group_epoch), cell(group.target_epoch)]
    return table([*columns, MEMBERS], [[*row, str(len(group.members or ()))]])


def _coordinator(snapshot: ClusterSnapshot, group: Group, blank: str) -> str:
    broker = snapshot.broker(group.coordinator)
    return cell(broker and f"{broker.host}:{broker.port}{blank}({broker.id})")


_SHARE: Final = {"offsets": _share_offsets, "members": _share_members, "state": _share_state}
_STREAMS: Final = {
    "offsets": _streams_offsets,
    "members": _streams_members,
    "state": _streams_state,
}
