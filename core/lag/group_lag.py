"""Lag of a group, partition by partition: the rules of `rules` on a snapshot."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from kgroups.core.errors import UsageError
from kgroups.core.lag.rules import Isolation, LagStatus, Uncommitted, partition_lag
from kgroups.core.snapshot import (
    HIDDEN,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    PartitionLog,
    Topic,
)

Owner = tuple[str, str, str, tuple[str, ...] | None]
"""Member id, client id, host, and the ids of others that are assigned the same partition."""

# What stands in where a row has no log, no commit, no member.
NO_LOG = PartitionLog(error="UNKNOWN_TOPIC_OR_PARTITION")
HIDDEN_LOG = PartitionLog(error=HIDDEN)
"""Of a topic that may not be described; of such, brokers tell no commits either."""
NO_COMMIT: tuple[int | None, int | None, str | None, int | None, int | None] = (None,) * 5
NO_COMMITS: dict[int, CommittedOffset] = {}
NO_LOGS: dict[int, PartitionLog] = {}
NO_OWNERS: dict[int, Owner] = {}
NOBODY: tuple[None, None, None, None] = (None, None, None, None)

OWNERS_UNTOLD: Final = frozenset({"PreparingRebalance", "CompletingRebalance"})
"""States in which brokers do not tell what the members of a classic group are assigned."""


class OffsetRow(NamedTuple):
    """One partition of a topic that a group reads or has committed.

    Args:
        committed_offset: next offset to read, in a share group its start offset; None if none was
            committed or it is not known.
        last_stable_offset: None unless it was asked for.
        lag: records still to be read, never negative; None if not known.
        lost: records that expired before they were read; None if not known.
        leader_epoch: epoch stored with the commit.
        metadata: the client's text of the commit; None without a commit.
        member_id, client_id, host: who is assigned the partition now; None if nobody.
        error: Kafka's error name where the partition could not be measured.
        shared_with: ids of other members that are assigned it too; None if there are none.
        leader: id of the broker that leads the partition; None if none does or it is not known.
        current_leader_epoch: the leader's, to compare with that of the commit; None if not known.
        in_sync_replicas: ids of the brokers that have everything; None if not known.
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
    shared_with: tuple[str, ...] | None
    leader: int | None
    current_leader_epoch: int | None
    in_sync_replicas: tuple[int, ...] | None


class LagSummary(NamedTuple):
    """The lag of a group in a few figures.

    Args:
        lag, lag_max: over the partitions whose lag is known; None if there are partitions and
            none of them is known.
        lost: records that expired unread; None likewise.
        unknown_partitions: partitions whose lag is not known, which the others leave out.
        unowned_partitions: partitions not assigned to any member; None if that is not known.
        beyond_end_partitions: partitions whose committed offset is beyond the log end.
    """

    lag: int | None
    lag_max: int | None
    lost: int | None
    unknown_partitions: int
    unowned_partitions: int | None
    beyond_end_partitions: int


class ReadTopic(NamedTuple):
    """A topic that a group reads or has committed.

    Args:
        logs: by partition; empty for a topic that does not exist.
        commits: by partition; empty if there are none, or they are not known.
        owners: who is assigned what now.
        partitions: ascending: all that the topic has, and others that were committed or assigned.
    """

    topic: str
    logs: Mapping[int, PartitionLog]
    commits: Mapping[int, CommittedOffset]
    owners: Mapping[int, Owner]
    partitions: list[int]


def topics_read(topics: Mapping[str, Topic], group: Group) -> Iterator[ReadTopic]:
    """The topics that a group committed, is assigned or subscribes to, by name.

    A partition that nobody owns and nobody has committed is one of them: it is not read, and
    counts. A KIP-848 pattern stands for the topics of which something is assigned.

    Args:
        topics: those that exist.
    """
    owners = partition_owners(group)
    offsets = group.offsets or {}
    subscribed = {name for member in group.members or () for name in member.subscription or ()}
    for name in sorted(offsets.keys() | owners.keys() | (subscribed & topics.keys())):
        logs = topics[name].partitions if name in topics else NO_LOGS
        commits = offsets.get(name, NO_COMMITS)
        held = owners.get(name, NO_OWNERS)
        every = logs.keys() | commits.keys() | held.keys()
        yield ReadTopic(name, logs, commits, held, sorted(every))


def owners_known(group: Group) -> bool:
    """Whether the cluster tells which partitions nobody owns."""
    is_told = group.state is not None and group.state not in OWNERS_UNTOLD
    return is_told and group.members is not None


def offset_rows(
    snapshot: ClusterSnapshot,
    group: Group,
    *,
    uncommitted: Uncommitted | None = None,
    isolation: Isolation = "read_uncommitted",
) -> list[OffsetRow]:
    """One row for each partition of the topics that a group reads or has committed.

    Args:
        snapshot: has the topics; a topic that is not in it does not exist, or is hidden.
        group: a group of the snapshot.
        uncommitted: `start` or `end`: where a partition without a commit stands; None: unknown.
        isolation: which end lag is measured to.
    Returns:
        Rows by topic, then partition; empty for a group that has no commits and reads nothing.
    """
    commits_known = group.offsets is not None
    rows: list[OffsetRow] = []
    row = tuple.__new__  # twice as fast as the class call, and a cluster has 100,000s of rows
    read_uncommitted = isolation == "read_uncommitted"
    hidden = snapshot.hidden_topics
    for name, logs, commits, owners, partitions in topics_read(snapshot.topics, group):
        is_hidden = name in hidden
        no_log = HIDDEN_LOG if is_hidden else NO_LOG
        for partition in partitions:
            start, end, stable, leader, _, error, leader_epoch, in_sync = logs.get(
                partition, no_log
            )
            if read_uncommitted:
                stable = None
            if error is None and leader is None and end is None:
                error = "LEADER_NOT_AVAILABLE"
            committed, epoch, metadata, _, lag_told = commits.get(partition, NO_COMMIT)
            lag: int | None
            status: LagStatus
            lost: int | None
            if (
                read_uncommitted
                and error is None
                and lag_told is None
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
                    commits_known=commits_known and not is_hidden,
                    lag_told=lag_told,
                    uncommitted=uncommitted,
                    isolation=isolation,
                )
            member, client, host, others = owners.get(partition, NOBODY)
            # fmt: off
            rows.append(row(OffsetRow, (
                name, partition, committed, start, end, stable, lag, status, lost, epoch, metadata,
                member, client, host, error, others, leader, leader_epoch, in_sync or None,
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
            (
                "`--isolation read_committed` (or `held_partitions`) requires last stable offsets, "
                f"which {where} does not have"
            ),
            hint="leave it out, or save a new snapshot",
        )


def partition_owners(group: Group) -> dict[str, dict[int, Owner]]:
    """Topic to partition to who is assigned it now.

    Where several members hold a partition, as a broadcasting assignor gives it, the first owns it
    and is said to share it.
    """
    owners: dict[str, dict[int, Owner]] = {}
    for member in group.members or ():
        owner: Owner = (member.member_id, member.client_id, member.host, None)
        for topic, partitions in (member.assignment or {}).items():
            held = owners.setdefault(topic, {})
            for partition in partitions:
                first = held.setdefault(partition, owner)
                if first is not owner:
                    held[partition] = (*first[:3], (*(first[3] or ()), member.member_id))
    return owners


def lag_summary(rows: Iterable[OffsetRow], *, owned: bool = True) -> LagSummary:
    """Totals of a group's rows; what is not known is counted, not guessed.

    Args:
        owned: whether owners are known, as `owners_known` says.
    """
    every = list(rows)
    lags = [row.lag for row in every if row.lag is not None]
    lost = [row.lost for row in every if row.lost is not None]
    unknown = len(every) - len(lags)
    nothing = 0 if unknown == 0 else None
    return LagSummary(
        lag=sum(lags) if lags else nothing,
        lag_max=max(lags) if lags else nothing,
        lost=sum(lost) if lost else nothing,
        unknown_partitions=unknown,
        unowned_partitions=sum(row.member_id is None for row in every) if owned else None,
        beyond_end_partitions=sum(row.lag_status == "beyond_end" for row in every),
    )
