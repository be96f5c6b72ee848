"""Groups as captures have them (`lag collect`), as snapshots again, by Arrow alone."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kgroups.core.errors import UsageError
from kgroups.core.lag.captures.capture_files import whole_files
from kgroups.core.lag.captures.capture_window import Window, open_window
from kgroups.core.lag.captures.delta_table import DATE, ActiveFile, rows_in
from kgroups.core.lag.captures.hour_table import SERIES
from kgroups.core.lag.captures.table_columns import arrow_schema
from kgroups.core.lag.group_lag import OWNERS_UNTOLD
from kgroups.core.lag.rules import MISSING_ERRORS
from kgroups.core.lag.stores.places import Place
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    Member,
    MemberProtocol,
    PartitionLog,
    Topic,
)

ROW_COLUMNS: Final = (
    *("captured_at_ms", "group", "group_type", "group_state", "topic", "partition"),
    *("commits_known", "committed_offset", "committed_at_ms", "leader_epoch", "error"),
    *("log_start_offset", "log_end_offset", "last_stable_offset", "assignor", "lag_told"),
)
Row = Mapping[str, Any]


def captured_snapshots(
    folder: Place,
    groups: Collection[str] | None,
    cluster: str | None,
    *,
    since_ms: int,
    until_ms: int,
    most: int | None = None,
) -> list[ClusterSnapshot]:
    """The captures of a cluster in a window of time, the oldest first.

    A group that a capture does not have is not in its snapshot. What captures do not keep is not
    known: brokers, leaders of partitions, a KIP-848 group without members its epoch. Captures of
    before members kept their epochs have no members.

    Args:
        groups: their names; None: every group.
        cluster: its id, or where it was reached; None: not known, so that there may be only one.
        since_ms, until_ms: both included.
        most: only so many of them.
    Raises:
        NotFoundError: no captures in the window.
        UsageError: they are of other clusters.
        KgroupsError: a table cannot be read.
    """
    window = open_window(folder, since_ms=since_ms, until_ms=until_ms)
    chosen = _cluster(folder, window, cluster)
    marks = window.captures.filter(pc.equal(window.captures["cluster"], chosen))
    times = sorted(set(marks["captured_at_ms"].to_pylist()))[:most]
    series = window.hours.files[SERIES] if window.hours is not None else ()
    wanted = pc.is_in(pc.field("captured_at_ms"), pa.array(times))
    if groups is not None:
        wanted &= pc.is_in(pc.field("group"), pa.array(sorted(groups), pa.string()))
    facts = {
        table: whole_files([file for file in window.facts[table] if file.cluster == chosen])[0]
        for table in ("members", "topics")
    }
    of_cluster = [file for file in (*window.files, *series) if file.cluster == chosen]
    rows = _by_capture(of_cluster, "rows", ROW_COLUMNS, wanted)
    members = _by_capture(facts["members"], "members", arrow_schema("members").names, wanted)
    ids = _topic_ids(facts["topics"])
    return [
        _snapshot(at_ms, chosen, rows.get(at_ms, {}), members.get(at_ms, {}), ids)
        for at_ms in times
    ]


def _cluster(folder: Place, window: Window, cluster: str | None) -> str:
    """Which of the captured clusters."""
    clusters = sorted(window.spans)
    if cluster in clusters:
        return cluster
    listed = ", ".join(f"`{name}`" for name in clusters)
    if cluster is not None:
        raise UsageError(
            f"captures in `{folder}` are of {listed}, not of cluster `{cluster}`",
            hint="choose the folder of this cluster's captures",
        )
    if len(clusters) > 1:
        raise UsageError(
            f"captures in `{folder}` are of {len(clusters)} clusters: {listed}",
            hint="--bootstrap-server says which one is meant",
        )
    return clusters[0]


def _by_capture(
    files: Sequence[ActiveFile], table: str, columns: Sequence[str], wanted: pc.Expression
) -> dict[int, dict[str, list[Row]]]:
    """Rows of a table by capture and group."""
    whole = arrow_schema(table).append(DATE)
    schema = pa.schema([whole.field(name) for name in columns])
    looks: dict[int, dict[str, list[Row]]] = {}
    for batch in rows_in(files, schema):
        for row in pa.Table.from_batches([batch]).filter(wanted).to_pylist():
            looks.setdefault(row["captured_at_ms"], {}).setdefault(row["group"], []).append(row)
    return looks


def _topic_ids(files: Sequence[ActiveFile]) -> dict[str, str | None]:
    """The ids of topics, the last of each name."""
    whole = arrow_schema("topics").append(DATE)
    schema = pa.schema([whole.field(name) for name in ("topic", "topic_id")])
    ids: dict[str, str | None] = {}
    for batch in rows_in(files, schema):
        for row in pa.Table.from_batches([batch]).group_by(schema.names).aggregate([]).to_pylist():
            ids[row["topic"]] = row["topic_id"]
    return ids


def _snapshot(
    at_ms: int,
    cluster: str,
    rows: Mapping[str, list[Row]],
    members: Mapping[str, list[Row]],
    ids: Mapping[str, str | None],
) -> ClusterSnapshot:
    """One capture."""
    logs: dict[str, dict[int, PartitionLog]] = {}
    for row in (row for of_group in rows.values() for row in of_group):
        if row["error"] not in MISSING_ERRORS:
            logs.setdefault(row["topic"], {})[row["partition"]] = PartitionLog(
                row["log_start_offset"],
                row["log_end_offset"],
                row["last_stable_offset"],
                error=row["error"],
            )
    names = sorted({*rows, *members})
    return ClusterSnapshot(
        captured_at_ms=at_ms,
        groups=tuple(_group(name, rows.get(name, ()), members.get(name, ())) for name in names),
        topics={
            name: Topic(name, partitions, ids.get(name))
            for name, partitions in sorted(logs.items())
        },
        cluster_id=cluster,
    )


def _group(name: str, rows: Sequence[Row], members: Sequence[Row]) -> Group:
    """A group of a capture."""
    first: Row = (members or rows)[0]
    kind: GroupType = first["group_type"]
    state: str | None = rows[0]["group_state"] if rows else first["group_state"]
    is_told = state in ("Empty", "Dead") if not members else first["group_state"] is not None
    return Group(
        name,
        kind,
        state,
        assignor=first["assignor"],
        group_epoch=first.get("group_epoch"),
        target_epoch=first.get("target_epoch"),
        leader=next((row["member_id"] for row in members if row["leads"]), None),
        generation=first.get("generation"),
        members=tuple(_members(kind, state, members)) if is_told else None,
        offsets=_offsets(rows),
    )


def _offsets(rows: Sequence[Row]) -> Mapping[str, Mapping[int, CommittedOffset]] | None:
    """The commits of a group; None where they could not be read."""
    commits: dict[str, dict[int, CommittedOffset]] = {}
    for row in rows:
        if not row["commits_known"]:
            return None
        if row["committed_offset"] is not None:
            commits.setdefault(row["topic"], {})[row["partition"]] = CommittedOffset(
                row["committed_offset"],
                row["leader_epoch"],
                committed_at_ms=row["committed_at_ms"],
                lag=row["lag_told"],
            )
    return commits


def _members(kind: GroupType, state: str | None, members: Sequence[Row]) -> Iterator[Member]:
    """The members of a group, in the order of the broker's answer."""
    is_new = kind == "consumer"
    protocol: MemberProtocol = "consumer" if is_new else "classic"
    for row in sorted(members, key=lambda row: row["ordinal"]):
        owned = _assignment(row["owned"])
        assigned = owned if row["assigned"] is None else _assignment(row["assigned"])
        is_untold = state in OWNERS_UNTOLD
        yield Member(
            row["member_id"],
            row["client_id"],
            row["host"],
            row["instance_id"],
            protocol,
            member_epoch=row["member_epoch"],
            subscription=None if is_untold else tuple(row["subscription"]),
            assignment=None if is_untold else assigned,
            target_assignment=owned if is_new else None,
            rack=row["rack"],
            generation=row["joined_with"],
        )


def _assignment(topics: Sequence[Row]) -> dict[str, tuple[int, ...]]:
    return {held["topic"]: tuple(held["partitions"]) for held in topics}
