"""The rules of lag for one partition; `sql/lagged.sql` has them for rows, held to the same cases.

The first rule that fits a partition names its status:

    topic_missing    the topic or partition does not exist
    leaderless       the partition has no leader, so nobody can say where its log ends
    unknown          the group's commits could not be read
    no_commit        the group never committed here; lag only by the `uncommitted` policy
    unknown          the log's bounds could not be learned
    below_log_start  the commit's record has expired: lag counts from log start, the rest is lost
    beyond_end       the commit lies after the log's end (truncated or recreated): lag 0
    ok               lag is end minus commit

Two looks tell one more, `stalled` (`group_times`), and last stable offsets another, `held`
(`held_back`).

A share group's commit is its start offset. What it has acknowledged or archived beyond it is no
lag: its coordinator tells how much is left (`lag_told`), and what was written since is not counted.

Lag is never negative. What is not known is None (null in a column), never 0.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from kgroups.core.snapshot import CommittedOffset, PartitionLog

_OfOneLook = Literal[
    "ok", "no_commit", "below_log_start", "beyond_end", "topic_missing", "leaderless", "unknown"
]
LagStatus = Literal[_OfOneLook, "stalled", "held"]
Isolation = Literal["read_uncommitted", "read_committed"]
Uncommitted = Literal["start", "end"]

# The bound that lag is measured to, by the name that it has in snapshots, captures and columns.
END_OF: Final[Mapping[Isolation, Literal["log_end_offset", "last_stable_offset"]]] = (
    MappingProxyType({"read_uncommitted": "log_end_offset", "read_committed": "last_stable_offset"})
)

LAG_STATUSES: Final[tuple[LagStatus, ...]] = get_args(_OfOneLook)
"""The statuses of the rules above."""

# Error names that say that a partition is not there, and that it has no leader now.
MISSING_ERRORS: Final = frozenset(
    {"UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID", "INVALID_TOPIC_EXCEPTION"}
)
LEADERLESS_ERRORS: Final = frozenset(
    {
        "LEADER_NOT_AVAILABLE",
        "NOT_LEADER_OR_FOLLOWER",
        "LISTENER_NOT_FOUND",
        "REPLICA_NOT_AVAILABLE",
        "BROKER_NOT_AVAILABLE",
    }
)


def greater(first: int, second: int) -> int:
    """The greater of two numbers, in a third of the time that `max` takes."""
    return first if first > second else second


def records_between(offset: Any, log_start: Any, end: Any, greatest: Callable[..., Any]) -> Any:
    """Records that a reader at `offset` has yet to read before `end`; never negative.

    Args:
        greatest: of two; `greater`, or numpy's.
    """
    return greatest(end - greatest(offset, log_start), 0)


def partition_lag(
    committed: int | None,
    log_start: int | None,
    log_end: int | None,
    *,
    last_stable: int | None = None,
    error: str | None = None,
    commits_known: bool = True,
    lag_told: int | None = None,
    uncommitted: Uncommitted | None = None,
    isolation: Isolation = "read_uncommitted",
) -> tuple[int | None, LagStatus, int | None]:
    """Lag, status and lost records of one partition.

    Args:
        committed: next offset to read; None or negative if there is none.
        log_start, log_end, last_stable: bounds of the log; None if not known.
        error: Kafka's error name where the partition could not be measured.
        commits_known: whether the group's commits could be read at all.
        lag_told: lag to the log end that the coordinator of a share group reports, if it does.
        uncommitted: where a group without a commit is taken to stand; None: unknown.
        isolation: `read_committed` measures to the last stable offset.
    """
    end = log_end if isolation == "read_uncommitted" else last_stable
    if error in MISSING_ERRORS:
        return None, "topic_missing", None
    if error in LEADERLESS_ERRORS:
        return None, "leaderless", None
    if not commits_known:
        return None, "unknown", None
    if committed is None or committed < 0:
        at = log_start if uncommitted == "start" else end
        if uncommitted is None or at is None or log_start is None or end is None:
            return None, "no_commit", None
        return records_between(at, log_start, end, greater), "no_commit", None
    if log_start is None or log_end is None or end is None:
        return None, "unknown", None
    status: LagStatus = "ok"
    if committed < log_start:
        status = "below_log_start"
    elif committed > log_end:
        status = "beyond_end"
    lag = records_between(committed, log_start, end, greater)
    if lag_told is not None:
        lag = min(lag, greater(lag_told - (log_end - end), 0))
    return lag, status, greater(log_start - committed, 0)


def commit_lag(commit: CommittedOffset | None, log: PartitionLog | None) -> int | None:
    """Records after a commit up to the end of the log; None if either is not known."""
    if commit is None:
        return None
    lag = lag_at(commit.offset, log)
    return lag if lag is None or commit.lag is None else min(lag, commit.lag)


def lag_at(offset: int | None, log: PartitionLog | None) -> int | None:
    """Records between an offset and the end of the log; None if either is not known."""
    if offset is None or log is None or log.log_end_offset is None:
        return None
    start = log.log_start_offset
    return int(
        records_between(offset, offset if start is None else start, log.log_end_offset, greater)
    )
