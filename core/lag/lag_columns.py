"""The rules of lag (`rules`) as Spark columns."""

from typing import Any

from kgroups.core.lag.rules import (
    END_OF,
    LEADERLESS_ERRORS,
    MISSING_ERRORS,
    OTHERWISE,
    RULES,
    Facts,
    Isolation,
    Uncommitted,
    records_between,
    records_lost,
)
from kgroups.core.spark.plans.api import Column
from kgroups.core.spark.plans.api import functions as F

# States in which a group has no members.
MEMBERLESS = ("Empty", "Dead")


def greatest(left: Any, right: Any) -> Column:
    """The greater of two; an integer is taken for a column of it.

    Spark's `greatest` skips nulls: what is not known must be ruled out before it is compared.
    """
    return F.greatest(_long(left), _long(right))


def _long(value: Any) -> Column:
    return F.lit(value).cast("long") if isinstance(value, int) else value


def known_lag(committed: Column, log_start: Column, end: Column) -> Column:
    """Lag where the commit and both bounds are known, else null."""
    is_known = committed.isNotNull() & log_start.isNotNull() & end.isNotNull()
    return F.when(is_known, records_between(committed, log_start, end, greatest))


def lag_columns(
    uncommitted: Uncommitted | None = None, isolation: Isolation = "read_uncommitted"
) -> dict[str, Column]:
    """`lag`, `lag_status` and `lost` of a row, by `rules.RULES`; and `is_stale`.

    Comparisons with null are null, and the rules rule a bound that is not known out before they
    compare it. No column refers to another: Spark would write the other's expression out at every
    mention, into a method too long for the JVM to compile.
    """
    error, committed = F.col("error"), F.col("committed_offset")
    log_start, log_end, end = (
        F.col(name) for name in ("log_start_offset", "log_end_offset", END_OF[isolation])
    )
    facts = Facts(
        is_missing=F.coalesce(error.isin(*sorted(MISSING_ERRORS)), F.lit(False)),
        is_leaderless=F.coalesce(error.isin(*sorted(LEADERLESS_ERRORS)), F.lit(False)),
        commits_known=F.col("commits_known"),
        has_commit=committed.isNotNull() & (committed >= 0),
        is_measured=log_start.isNotNull() & log_end.isNotNull() & end.isNotNull(),
        is_below=committed < log_start,
        is_beyond=committed > log_end,
    )
    first, *others = RULES
    status = F.when(first.holds(facts), first.status)
    for rule in others:
        status = status.when(rule.holds(facts), rule.status)
    is_open = facts.commits_known & ~facts.is_missing & ~facts.is_leaderless
    is_known = is_open & facts.has_commit & facts.is_measured
    lag = F.when(is_known, records_between(committed, log_start, end, greatest))
    if uncommitted is not None:
        at = log_start if uncommitted == "start" else end
        is_bounded = log_start.isNotNull() & end.isNotNull()
        assumed = records_between(at, log_start, end, greatest)
        lag = lag.when(is_open & ~facts.has_commit & is_bounded, assumed)
    # A commit that nobody will move: its topic is gone, or the group reads other things now.
    is_unread = facts.has_commit & F.col("member_id").isNull()
    is_left = facts.is_missing | ~F.col("group_state").isin(*MEMBERLESS)
    return {
        "lag_status": status.otherwise(OTHERWISE.status),
        "lag": lag,
        "lost": F.when(is_known, records_lost(committed, log_start, greatest)),
        "is_stale": F.coalesce(is_unread & is_left, F.lit(False)),
    }
