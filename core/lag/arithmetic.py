"""Lag of a group, partition by partition: pure arithmetic on a snapshot.

The rules, in order of precedence (the first that fits names the status):

    topic_missing    the topic or partition does not exist
    leaderless       the partition has no leader, so nobody can say where its log ends
    no_commit        the group never committed here; lag only by the `uncommitted` policy
    unknown          the commit or the log's bounds could not be learned
    below_log_start  the commit's record has expired: lag counts from log start, the rest is lost
    beyond_end       the commit lies after the log's end (truncated or recreated): lag 0
    ok               lag is end minus commit

What is not known is None, never 0, and lag is never negative. `transforms.lag_columns` is the
same table as Spark columns; the tests run one list of cases through both.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from kgroups.core.errors import UsageError
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group, PartitionLog

LagStatus = Literal[
    "ok", "no_commit", "below_log_start", "beyond_end", "topic_missing", "leaderless", "unknown"
]
Isolation = Literal["read_uncommitted", "read_committed"]
Uncommitted = Literal["start", "end"]

# The bound that lag is measured to, by the name that it has in snapshots, captures and columns.
END_OF: Mapping[Isolation, Literal["log_end_offset", "last_stable_offset"]] = MappingProxyType(
    {"read_uncommitted": "log_end_offset", "read_committed": "last_stable_offset"}
)

LAG_STATUSES: tuple[LagStatus, ...] = (
    "ok",
    "no_commit",
    "below_log_start",
    "beyond_end",
    "topic_missing",
    "leaderless",
    "unknown",
)

# Error names that say that a partition is not there, and that it has no leader now.
MISSING_ERRORS = frozenset(
    {"UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID", "INVALID_TOPIC_EXCEPTION"}
)
LEADERLESS_ERRORS = frozenset(
    {
        "LEADER_NOT_AVAILABLE",
        "NOT_LEADER_OR_FOLLOWER",
        "LISTENER_NOT_FOUND",
        "REPLICA_NOT_AVAILABLE",
        "BROKER_NOT_AVAILABLE",
    }
)


Owner = tuple[str, str, str]

# What stands in where a row has no log, no commit, no member.
NO_LOG = PartitionLog(error="UNKNOWN_TOPIC_OR_PARTITION")
NO_COMMIT: tuple[int | None, int | None, str | None, int | None] = (None, None, None, None)
NO_COMMITS: dict[int, CommittedOffset] = {}
NO_OWNERS: dict[int, Owner] = {}
NOBODY: tuple[None, None, None] = (None, None, None)


class OffsetRow(NamedTuple):
    """One partition that a group reads or has committed.

    Args:
        committed_offset: next offset to read; None if none was committed or it is not known.
        last_stable_offset: None unless it was asked for.
        lag: records still to be read, never negative; None if not known.
        lost: records that expired before they were read; None if not known.
        leader_epoch: epoch stored with the commit.
        metadata: the client's text of the commit; None without a commit.
        member_id, client_id, host: who is assigned the partition now; None if nobody.
        error: Kafka's error name where the partition could not be measured.
    """

    topic: str
    partition: int
    committed_offset: int | None
    log_start_offset: int | None
    log_end_offset: int | None
    last_stable_offset: int | None
    lag: int | None
    lag_status: LagStatus
    lost: int | None
    leader_epoch: int | None
    metadata: str | None
    member_id: str | None
    client_id: str | None
    host: str | None
    error: str | None


class LagSummary(NamedTuple):
    """The lag of a group in four figures.

    Args:
        total, max: over the partitions whose lag is known; None if there are partitions and
            none of them is known.
        lost: records that expired unread; None likewise.
        unknown_partitions: partitions whose lag is not known, which the others leave out.
    """

    total: int | None
    max: int | None
    lost: int | None
    unknown_partitions: int


def partition_lag(
    committed: int | None,
    log_start: int | None,
    log_end: int | None,
    *,
    last_stable: int | None = None,
    error: str | None = None,
    commits_known: bool = True,
    uncommitted: Uncommitted | None = None,
    isolation: Isolation = "read_uncommitted",
) -> tuple[int | None, LagStatus, int | None]:
    """Lag, status and lost records of one partition.

    Args:
        committed: next offset to read; None or negative if there is none.
        log_start, log_end, last_stable: bounds of the log; None if not known.
        error: Kafka's error name where the partition could not be measured.
        commits_known: whether the group's commits could be read at all.
        uncommitted: where a group without a commit is taken to stand; None: unknown.
        isolation: `read_committed` measures to the last stable offset.
    """
    if error in MISSING_ERRORS:
        return None, "topic_missing", None
    if error in LEADERLESS_ERRORS:
        return None, "leaderless", None
    if not commits_known:
        return None, "unknown", None
    end = log_end if isolation == "read_uncommitted" else last_stable
    if committed is None or committed < 0:
        if uncommitted is None or log_start is None or end is None:
            return None, "no_commit", None
        return (max(end - log_start, 0) if uncommitted == "start" else 0), "no_commit", None
    if log_start is None or log_end is None or end is None:
        return None, "unknown", None
    if committed < log_start:
        return max(end - log_start, 0), "below_log_start", log_start - committed
    if committed > log_end:
        return 0, "beyond_end", 0
    lag = end - committed
    # A read_uncommitted reader may have committed past the last stable offset.
    return (lag if lag > 0 else 0), "ok", 0


def offset_rows(
    snapshot: ClusterSnapshot,
    group: Group,
    *,
    uncommitted: Uncommitted | None = None,
    isolation: Isolation = "read_uncommitted",
) -> list[OffsetRow]:
    """One row for each partition that the group committed or a member is assigned.

    Args:
        snapshot: has the topics; a topic that is not in it does not exist.
        group: a group of the snapshot.
        uncommitted: where the group is taken to stand on partitions that it never committed:
            `start` or `end` of the log; None: unknown.
        isolation: which end lag is measured to.
    Returns:
        Rows by topic, then partition; empty for a group with neither commits nor assignment.
    """
    owners = partition_owners(group)
    commits_known = group.offsets is not None
    offsets = group.offsets or {}
    topics = snapshot.topics
    rows: list[OffsetRow] = []
    append = rows.append
    row = tuple.__new__  # twice as fast as the class call, and a cluster has 100,000s of rows
    read_uncommitted = isolation == "read_uncommitted"
    for name in sorted(offsets.keys() | owners.keys()):
        logs = topics[name].partitions if name in topics else {}
        commits = offsets.get(name, NO_COMMITS)
        members = owners.get(name, NO_OWNERS)
        partitions = commits.keys() | members.keys() if members else commits
        for partition in sorted(partitions):
            start, end, stable, leader, _, error = logs.get(partition, NO_LOG)
            if read_uncommitted:
                stable = None
            if error is None and leader is None and end is None:
                error = "LEADER_NOT_AVAILABLE"
            committed, epoch, metadata, _ = commits.get(partition, NO_COMMIT)
            lag: int | None
            status: LagStatus
            lost: int | None
            if (
                read_uncommitted
                and error is None
                and committed is not None
                and start is not None
                and end is not None
                and start <= committed <= end
            ):  # nearly every row: the "ok" line of `partition_lag`, without the call
                lag, status, lost = end - committed, "ok", 0
            else:
                lag, status, lost = partition_lag(
                    committed,
                    start,
                    end,
                    last_stable=stable,
                    error=error,
                    commits_known=commits_known,
                    uncommitted=uncommitted,
                    isolation=isolation,
                )
            member, client, host = members.get(partition, NOBODY)
            # fmt: off
            append(row(OffsetRow, (
                name, partition, committed, start, end, stable, lag, status, lost, epoch, metadata,
                member, client, host, error,
            )))
            # fmt: on
    return rows


def check_isolation(
    snapshot: ClusterSnapshot, isolation: Isolation, where: str = "the snapshot"
) -> None:
    """Fails on a snapshot that cannot be measured to last stable offsets.

    Raises:
        UsageError: they are wanted, and were not read when it was taken.
    """
    lacks_them = isolation == "read_committed" and any(
        log.error is None and log.log_end_offset is not None and log.last_stable_offset is None
        for topic in snapshot.topics.values()
        for log in topic.partitions.values()
    )
    if lacks_them:
        raise UsageError(
            f"`--isolation read_committed` needs last stable offsets, and {where} does not hold "
            "them",
            hint="leave out `--isolation`, or take a new snapshot: it holds them",
        )


def partition_owners(group: Group) -> dict[str, dict[int, Owner]]:
    """Topic to partition to the (member id, client id, host) that is assigned it now.

    Where several members hold a partition, as a broadcasting assignor gives it, the first wins.
    """
    owners: dict[str, dict[int, Owner]] = {}
    for member in group.members or ():
        owner = (member.member_id, member.client_id, member.host)
        for topic, partitions in (member.assignment or {}).items():
            held = owners.setdefault(topic, {})
            for partition in partitions:
                held.setdefault(partition, owner)
    return owners


def lag_summary(rows: Iterable[OffsetRow]) -> LagSummary:
    """Totals of a group's rows; what is not known is counted, not guessed."""
    known = list(rows)
    lags = [row.lag for row in known if row.lag is not None]
    lost = [row.lost for row in known if row.lost is not None]
    unknown = len(known) - len(lags)
    nothing = 0 if unknown == 0 else None
    return LagSummary(
        total=sum(lags) if lags else nothing,
        max=max(lags) if lags else nothing,
        lost=sum(lost) if lost else nothing,
        unknown_partitions=unknown,
    )
