"""The rules of lag, once: for integers and, in `lag_columns`, for Spark's columns.

The first rule that fits a partition names its status:

    topic_missing    the topic or partition does not exist
    leaderless       the partition has no leader, so nobody can say where its log ends
    unknown          the group's commits could not be read
    no_commit        the group never committed here; lag only by the `uncommitted` policy
    unknown          the log's bounds could not be learned
    below_log_start  the commit's record has expired: lag counts from log start, the rest is lost
    beyond_end       the commit lies after the log's end (truncated or recreated): lag 0
    ok               lag is end minus commit

Lag is never negative. What is not known is None (null in a column), never 0.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from kgroups.core.snapshot import PartitionLog

LagStatus = Literal[
    "ok", "no_commit", "below_log_start", "beyond_end", "topic_missing", "leaderless", "unknown"
]
Isolation = Literal["read_uncommitted", "read_committed"]
Uncommitted = Literal["start", "end"]

# The bound that lag is measured to, by the name that it has in snapshots, captures and columns.
END_OF: Final[Mapping[Isolation, Literal["log_end_offset", "last_stable_offset"]]] = (
    MappingProxyType({"read_uncommitted": "log_end_offset", "read_committed": "last_stable_offset"})
)

LAG_STATUSES: Final[tuple[LagStatus, ...]] = (
    "ok",
    "no_commit",
    "below_log_start",
    "beyond_end",
    "topic_missing",
    "leaderless",
    "unknown",
)

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


class Facts(NamedTuple):
    """What the rules look at: booleans, or Spark columns of them.

    Args:
        is_missing, is_leaderless: by the partition's error.
        commits_known: whether the group's commits could be read at all.
        has_commit: a commit of -1 is none.
        is_measured: log start, log end and what lag is measured to are known.
        is_below, is_beyond: the commit lies before the log's start, after its end; looked at only
            when the rules before have found all three known.
    """

    is_missing: Any
    is_leaderless: Any
    commits_known: Any
    has_commit: Any
    is_measured: Any
    is_below: Any
    is_beyond: Any


class Rule(NamedTuple):
    """A status, when it holds (after the rules before it), and whether lag is then measured."""

    status: LagStatus
    holds: Callable[[Facts], Any]
    is_measured: bool = False


RULES: Final[tuple[Rule, ...]] = (
    Rule("topic_missing", lambda facts: facts.is_missing),
    Rule("leaderless", lambda facts: facts.is_leaderless),
    Rule("unknown", lambda facts: _negated(facts.commits_known)),
    Rule("no_commit", lambda facts: _negated(facts.has_commit)),
    Rule("unknown", lambda facts: _negated(facts.is_measured)),
    Rule("below_log_start", lambda facts: facts.is_below, is_measured=True),
    Rule("beyond_end", lambda facts: facts.is_beyond, is_measured=True),
)
OTHERWISE: Final = Rule("ok", lambda _: True, is_measured=True)
"""Where no rule of `RULES` fits."""


@cache
def rule_of(*facts: bool) -> Rule:
    """The first rule that holds; every combination of facts is looked through once.

    Args:
        facts: in the order of `Facts`.
    """
    return next((rule for rule in RULES if rule.holds(Facts(*facts))), OTHERWISE)


def _negated(truth: Any) -> Any:
    return not truth if isinstance(truth, bool) else ~truth


def greater(first: int, second: int) -> int:
    """The greater of two numbers, in a third of the time that `max` takes."""
    return first if first > second else second


def records_between(offset: Any, log_start: Any, end: Any, greatest: Callable[..., Any]) -> Any:
    """Records that a reader at `offset` has yet to read before `end`; never negative.

    Args:
        greatest: of two; `greater`, or Spark's.
    """
    return greatest(end - greatest(offset, log_start), 0)


def records_lost(committed: Any, log_start: Any, greatest: Callable[..., Any]) -> Any:
    """Records that expired before they were read."""
    return greatest(log_start - committed, 0)


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
    end = log_end if isolation == "read_uncommitted" else last_stable
    has_commit = committed is not None and committed >= 0
    is_measured = is_below = is_beyond = False
    if log_start is not None and log_end is not None and end is not None:
        is_measured = True
        if committed is not None:
            is_below, is_beyond = committed < log_start, committed > log_end
    rule = rule_of(
        error in MISSING_ERRORS,
        error in LEADERLESS_ERRORS,
        commits_known,
        has_commit,
        is_measured,
        is_below,
        is_beyond,
    )
    if rule.is_measured:
        lag = records_between(committed, log_start, end, greater)
        return lag, rule.status, records_lost(committed, log_start, greater)
    assumed: int | None = None
    if rule.status == "no_commit" and uncommitted and log_start is not None and end is not None:
        assumed = records_between(
            log_start if uncommitted == "start" else end, log_start, end, greater
        )
    return assumed, rule.status, None


def lag_at(offset: int | None, log: PartitionLog | None) -> int | None:
    """Records between an offset and the end of the log; None if either is not known."""
    if offset is None or log is None or log.log_end_offset is None:
        return None
    start = log.log_start_offset
    return int(
        records_between(offset, offset if start is None else start, log.log_end_offset, greater)
    )
