"""The columns of lag reports, known before an engine is started, and questions that name others."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from kgroups.core.errors import UsageError, guess, shorten
from kgroups.core.lag.lag_query import KEYS, LagQuery
from kgroups.core.lag.sql_condition import check_sql

Source = Literal["snapshot", "captures", "history"]

# What a report with planned assignments is by, and its keys.
PLANNED_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "member": ("cluster", "group", "assignor", "member_id", "client_id", "host"),
        "group": ("cluster", "group", "assignor"),
        "client": ("cluster", "assignor", "client_id"),
        "host": ("cluster", "assignor", "host"),
        "assignor": ("cluster", "assignor"),
    }
)
# Groupings that members belong to; a topic or a partition has none of its own.
OF_MEMBERS: Final = frozenset({"group", "client", "host", "assignor", "member"})
SECONDS: Final = ("lag_seconds", "lag_seconds_method", "lag_seconds_confidence")
# The ends of which stretches figures are made of, where captures are rolled up.
LEVELS: Final = ("hourly", "daily", "monthly")
LAG: Final = ("partitions", "lag", "lag_max", "lag_p50", "lag_p95", "lag_p99")
DOUBTS: Final = (
    *("lost", "unknown_partitions", "stale_partitions"),
    *("unowned_partitions", "beyond_end_partitions"),
)
OVER_TIME: Final = (
    *LAG,
    *("lag_peak", "partition_lag_peak"),
    *DOUBTS,
    *("rate_in", "rate_out"),
    *SECONDS,
    *("catch_up_seconds", "trend", "verdict", "verdict_rule", "retention_seconds_left"),
)


# What two windows are compared by, and whether it is a number; of a number also its change.
COMPARED: Final[Mapping[str, bool]] = MappingProxyType(
    dict.fromkeys(("lag", "lag_max", "lag_peak", "lag_seconds", "rate_in", "rate_out"), True)
    | dict.fromkeys(("lost", "unknown_partitions"), True)
    | dict.fromkeys(("verdict", *LEVELS), False)
)


# The same of planned assignments, of those that their rows have.
COMPARED_PLANS: Final[Mapping[str, bool]] = MappingProxyType(
    {"best": False}
    | dict.fromkeys(("best_gain", "gain", "gain_with_member", "moved"), True)
    | dict.fromkeys(("lag", "lag_max", "planned_lag", "planned_lag_max"), True)
    | dict.fromkeys(("member_lag_max", "planned_member_lag_max", "rate_in", "rate_out"), True)
)


def compared_figures(query: LagQuery) -> Mapping[str, bool]:
    """The columns that two windows are compared by, and whether each is a number."""
    if not query.assignors:
        return COMPARED
    figures = _planned(query.by, has_rates=True)
    return {name: is_number for name, is_number in COMPARED_PLANS.items() if name in figures}


def compared_columns(figures: Mapping[str, bool]) -> Iterator[str]:
    """The columns of two windows side by side, without the keys."""
    yield "compared"
    for name, is_number in figures.items():
        yield from (name, f"{name}_before")
        if is_number:
            yield f"{name}_change"


def report_columns(query: LagQuery, source: Source) -> tuple[str, ...]:
    """The columns of a report in their order.

    Args:
        query: with a grouping that the report has.
        source: what it is made of.
    """
    keys = PLANNED_KEYS[query.by] if query.assignors else KEYS[query.by]
    if query.compare_ms:
        return (*keys, *compared_columns(compared_figures(query)))
    if query.assignors:
        return _planned(query.by, has_rates=source == "captures")
    if source == "snapshot":
        counts = () if "group" in keys else ("groups",)
        figures: tuple[str, ...] = (*counts, *LAG, *DOUBTS, *(SECONDS if query.times else ()))
    else:
        figures = OVER_TIME
    if source == "captures":
        figures += LEVELS
    if source == "history":
        figures += ("commits", "commit_age_seconds")
    if query.by in OF_MEMBERS and query.by != "member":
        figures = ("member_count", "idle_members", *figures, "skew")
    return (*keys, *figures)


def _planned(by: str, *, has_rates: bool) -> tuple[str, ...]:
    """The columns of a report with planned assignments."""
    keys = PLANNED_KEYS[by]
    if by == "member":
        side: tuple[str, ...] = ("partitions", "lag", "lag_max", "unknown_partitions")
        side += ("rate_in", "rate_out") if has_rates else ()
        return (*keys, "change", *_now_and_planned(side), "kept", "moved_in", "moved_out")
    members = ("member_count", "planned_member_count")
    if by == "assignor":
        idle = ("idle_members", "planned_idle_members")
        sums = ("moved", "gain", "gain_with_member")
        return (*keys, "groups", "better", "worse", *members, *idle, *sums)
    side = ("idle_members", "partitions", "lag", "member_lag_max", "member_lag_stddev")
    side += ("member_rate_in_max",) if has_rates else ()
    gains = ("best", "best_gain", "gain", "gain_with_member")
    return (*keys, *gains, *members, *_now_and_planned(side), "moved")


def _now_and_planned(side: Sequence[str]) -> Iterator[str]:
    yield from side
    yield from (f"planned_{name}" for name in side)


def check_columns(query: LagQuery, source: Source) -> None:
    """Fails where the query sorts by, filters by or forbids what its report does not have.

    Raises:
        UsageError: names the columns that are nearest.
    """
    columns = report_columns(query, source)
    if query.sort is not None and query.sort not in columns:
        raise UsageError(
            f"a lag report by {query.by} has no column `{query.sort}` to sort by"
            + guess(query.sort.lower(), columns, most=3),
            hint="one of " + ", ".join(columns),
        )
    if query.sql is not None:
        for name in check_sql(query.sql, "--sql"):
            _must_have(name, columns, f"--sql {query.sql}")
    for condition in query.fail_on:
        for name in condition.fields:
            _must_have(name, columns, f"--fail-on {condition.text}")


def _must_have(name: str, columns: Sequence[str], option: str) -> None:
    if name.lower() not in columns:  # Spark takes them in any case
        raise UsageError(
            f"`{shorten(option)}`: this report has no column `{shorten(name)}`"
            + guess(name.lower(), columns, most=3),
            hint="its columns: " + ", ".join(columns),
        )
