"""The lag report: snapshots in, at most `top` rows out, everything between them in Spark."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kgroups.core.errors import ItemError, KgroupsError, UsageError
from kgroups.core.lag import dryrun, transforms
from kgroups.core.lag.arithmetic import Isolation, Uncommitted
from kgroups.core.lag.schemas import (
    MEMBERS,
    PLAN_MEMBERS,
    ROWS,
    TOPICS,
    CaptureTables,
    capture_tables,
    plan_tables,
)
from kgroups.core.lag.session import Progress, SessionOptions, first_line, spark_session
from kgroups.core.planning.fleet import Fleet
from kgroups.core.planning.leaders import infer_leader
from kgroups.core.snapshot import ClusterSnapshot

DEFAULT_TOP = 100

# Below this many rows Spark interprets: code for them would take longer to compile than to run.
SMALL_ROWS = 50_000

# What a report with planned assignments is by, and its keys.
PLANNED_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "member": dryrun.MEMBER_KEYS,
        "group": ("cluster", "group", "assignor"),
        "client": ("cluster", "assignor", "client_id"),
        "host": ("cluster", "assignor", "host"),
        "assignor": ("cluster", "assignor"),
    }
)
PLANNED_SORT: Mapping[str, str] = MappingProxyType(
    {
        "member": "planned_lag",
        "group": "gain",
        "client": "gain",
        "host": "gain",
        "assignor": "gain",
    }
)


@dataclass(frozen=True, slots=True)
class LagQuery:
    """What is asked of a capture.

    Args:
        by: `group`, `topic`, `partition`, `member`, `client` or `host`; with `assignors` also
            `assignor`, and neither `topic` nor `partition`.
        assignors: names of strategies to plan every group with.
        leader: client library of the leaders of classic groups; None: inferred group by group.
        top: most rows that the answer may have.
        sort: column to sort by, the most first; None: lag, or what planning would change.
        where: only rows of which this is true: a SQL condition on the columns of the report.
        uncommitted, isolation: as in `arithmetic.offset_rows`.
    """

    by: str = "group"
    assignors: Sequence[str] = ()
    leader: str | None = None
    top: int = DEFAULT_TOP
    sort: str | None = None
    where: str | None = None
    uncommitted: Uncommitted | None = None
    isolation: Isolation = "read_uncommitted"


@dataclass(frozen=True, slots=True)
class LagReport:
    """The answer.

    Args:
        items: rows, columns as in `columns`; the most first.
        columns: names in their order.
        summary: `groups`, `members`, `partitions`, `lag`, `lag_max`, `lost`,
            `unknown_partitions` over everything, shown or not; with assignors also
            `failed_plans` and `plans_not_applicable` (group and assignor of different protocols).
        errors: groups that could not be planned, at most `top`.
    """

    items: list[dict[str, Any]]
    columns: tuple[str, ...]
    summary: dict[str, Any]
    errors: tuple[ItemError, ...] = field(default=())


def lag_report(
    snapshots: Sequence[ClusterSnapshot],
    query: LagQuery | None = None,
    *,
    later: Fleet | None = None,
    session: SparkSession | SessionOptions | None = None,
    progress: Progress | None = None,
) -> LagReport:
    """Lag of whole clusters, by what the query says.

    Args:
        snapshots: one or more clusters, each at one time.
        later: the one cluster of the snapshots after what-if changes, for planned assignments.
        session: a running session, or how to make one; None: local.
        progress: told what is being waited for.
    Raises:
        UsageError: the query names a grouping, column or assignor that does not exist.
        ClusterError: a master or Connect server does not answer.
        KgroupsError: Spark failed.
    """
    query = query or LagQuery()
    check_query(query)
    tell = progress or (lambda _text: None)
    tables = capture_tables(snapshots)
    if session is None or isinstance(session, SessionOptions):
        is_small = tables.rows.num_rows < SMALL_ROWS
        session = replace(session or SessionOptions(), small=is_small)
    with running(session, progress) as spark:
        tell(f"reading {tables.rows.num_rows:,} partitions of {_group_count(snapshots):,} groups")
        changed = _Later(snapshots, later, query) if query.assignors else None
        return _run(spark, tables, query, tell, changed)


@contextlib.contextmanager
def running(
    session: SparkSession | SessionOptions | None, progress: Progress | None
) -> Iterator[SparkSession]:
    """The session given, or one made for the length of the block; what Spark throws is ours."""
    try:
        if session is None or isinstance(session, SessionOptions):
            with spark_session(session, progress) as started:
                yield started
        else:
            yield session
    except PySparkException as exc:
        raise spark_failure(exc) from exc


def _group_count(snapshots: Sequence[ClusterSnapshot]) -> int:
    return sum(len(snapshot.groups) for snapshot in snapshots)


def spark_failure(exc: PySparkException) -> KgroupsError:
    """What Spark threw, as one sentence."""
    return KgroupsError(
        f"Spark failed: {first_line(exc)}",
        hint="run again with --verbose to see what Spark says",
        code="SPARK_FAILED",
    )


def check_query(query: LagQuery) -> None:
    """Fails on what cannot be answered, before Spark is started."""
    groupings = PLANNED_KEYS if query.assignors else transforms.KEYS
    if query.by not in groupings:
        with_or_without = "with" if query.assignors else "without"
        raise UsageError(
            f"a lag report {with_or_without} planned assignments cannot be by `{query.by}`",
            hint="one of " + ", ".join(groupings),
        )
    if query.top < 1:
        raise UsageError("`--top` must be at least 1")
    known = dryrun.known_assignors()
    for name in query.assignors:
        if name not in known:
            raise UsageError(f"no assignor is called `{name}`", hint="known: " + ", ".join(known))


class _Later:
    """Members and topics as they are to be planned, and whether changes made them other ones."""

    def __init__(
        self, snapshots: Sequence[ClusterSnapshot], later: Fleet | None, query: LagQuery
    ) -> None:
        planned = [later.snapshot] if later is not None else snapshots
        self.is_changed = later is not None
        self.members, self.topics = plan_tables(
            planned,
            later.assumed_ids if later is not None else {},
            lambda group: infer_leader(group, query.leader).likeliest,
        )


def _run(
    session: Any, tables: CaptureTables, query: LagQuery, tell: Progress, later: _Later | None
) -> LagReport:
    """Both jobs of a report, its rows and its totals; with assignors also the failed plans."""
    rows = session.createDataFrame(tables.rows, schema=ROWS)
    lagged = transforms.with_lag(rows, uncommitted=query.uncommitted, isolation=query.isolation)
    planned: DataFrame | None = None
    if later is not None:
        then = session.createDataFrame(later.members, schema=PLAN_MEMBERS)
        topics = session.createDataFrame(later.topics, schema=TOPICS)
        planned = dryrun.planned_assignments(then, topics, lagged, query.assignors).persist()
        members, was = then, None
        if later.is_changed:
            members = session.createDataFrame(tables.members, schema=MEMBERS)
            was = session.createDataFrame(tables.topics, schema=TOPICS)
        by_member = dryrun.members_now_and_planned(
            members, lagged, planned, query.assignors, later=then, topics=was
        )
        report, keys = _planned_report(by_member, query)
        sort = query.sort or PLANNED_SORT[query.by]
        tell(f"planning every group with {', '.join(query.assignors)}")
    else:
        keys = transforms.KEYS[query.by]
        report = transforms.lag_by(lagged, keys)
        sort = query.sort or "lag"
        tell(f"computing lag by {query.by}")
    try:
        items = answer_rows(report, query, sort, keys)
        tell("computing totals")
        (summary,) = collect_rows(transforms.totals(lagged))
        errors = _failed_plans(planned, query.top, summary) if planned is not None else ()
    finally:
        if planned is not None:
            planned.unpersist()
    return LagReport(items, tuple(report.columns), summary, errors)


def answer_rows(
    report: DataFrame, query: LagQuery, sort: str, keys: Sequence[str]
) -> list[dict[str, Any]]:
    """The rows that the query asks for, `top` at most.

    Raises:
        UsageError: the sort column or the condition does not fit the report.
    """
    if sort not in report.columns:
        raise UsageError(
            f"a lag report by {query.by} has no column `{sort}` to sort by",
            hint="one of " + ", ".join(report.columns),
        )
    if query.where:
        try:
            report = report.where(query.where)
            report.schema  # noqa: B018  Connect looks at the condition only when it must
        except (AnalysisException, ParseException) as exc:
            raise UsageError(
                f"`--where {query.where}` cannot be understood: {first_line(exc)}",
                hint="a SQL condition such as `lag > 1000 and topic like 'audit%'`, on "
                + ", ".join(report.columns),
            ) from exc
    return collect_rows(transforms.top_rows(report, sort, keys, query.top))


def _planned_report(by_member: DataFrame, query: LagQuery) -> tuple[DataFrame, tuple[str, ...]]:
    """The report with planned assignments, and its keys."""
    keys = PLANNED_KEYS[query.by]
    if query.by == "member":
        return by_member, keys
    if query.by == "assignor":
        by_group = dryrun.groups_now_and_planned(by_member, PLANNED_KEYS["group"])
        return dryrun.assignors_compared(by_group), keys
    return dryrun.groups_now_and_planned(by_member, keys), keys


def _failed_plans(planned: DataFrame, top: int, summary: dict[str, Any]) -> tuple[ItemError, ...]:
    """The first `top` groups that an assignor failed on; how many go into the summary.

    A group whose type an assignor is not made for is only counted.
    """
    not_planned = planned.where(F.col("error").isNotNull())
    (counts,) = collect_rows(
        not_planned.agg(
            F.count_if("applies").alias("failed_plans"),
            F.count_if(~F.col("applies")).alias("plans_not_applicable"),
        )
    )
    summary |= counts
    if not counts["failed_plans"]:
        return ()
    failed = not_planned.where("applies").orderBy("cluster", "group", "assignor").limit(top)
    return tuple(
        ItemError(row["group"], "PLAN_FAILED", f"{row['assignor']}: {row['error']}")
        for row in collect_rows(failed)
    )


def collect_rows(bounded: DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame that is already bounded: the one place that brings rows home."""
    return [row.asDict() for row in bounded.collect()]
