"""The lag report: snapshots in, at most `top` rows out, everything between them in Spark."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from kgroups.core.errors import ItemError, KgroupsError, UsageError
from kgroups.core.lag import transforms
from kgroups.core.lag.captures.capture_tables import (
    NO_TIMES,
    CaptureTables,
    RecordTimes,
    capture_tables,
    plan_tables,
)
from kgroups.core.lag.captures.spark_columns import MEMBERS, PLAN_MEMBERS, ROWS, TOPICS
from kgroups.core.lag.fleet import as_planned, dryrun, worker_planner
from kgroups.core.lag.group_lag import check_isolation
from kgroups.core.lag.lag_query import LagQuery as LagQuery
from kgroups.core.lag.pictures import Pictures, take_pictures
from kgroups.core.lag.report_columns import PLANNED_KEYS, Source, check_columns
from kgroups.core.lag.report_rows import answer_rows, collect_rows, failed_rows
from kgroups.core.lag.rosters import member_loads, with_members
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.spark.session import (
    SPARK_ERRORS,
    Progress,
    SessionOptions,
    first_line,
    spark_session,
)

# Below this many rows Spark interprets: code for them would take longer to compile than to run.
SMALL_ROWS = 50_000

PLANNED_SORT: Mapping[str, str] = MappingProxyType(
    {
        "member": "planned_lag",
        "group": "best_gain",
        "client": "best_gain",
        "host": "best_gain",
        "assignor": "gain",
    }
)


@dataclass(frozen=True, slots=True)
class LagReport:
    """The answer.

    Args:
        items: rows, columns as in `schema`; the most first.
        schema: names and types of the columns in their order.
        summary: `groups`, `members`, `partitions`, `lag`, `lag_max`, `lost`,
            `unknown_partitions` over everything, shown or not; with assignors also
            `failed_plans` and `plans_not_applicable` (group and assignor of different protocols).
        errors: groups that could not be planned, and rows that meet a condition that they may
            not, at most `top` of each.
        pictures: rows for charts, if they were asked for.
    """

    items: list[dict[str, Any]]
    schema: StructType
    summary: dict[str, Any]
    errors: tuple[ItemError, ...] = field(default=())
    pictures: Pictures | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns in their order."""
        return tuple(self.schema.fieldNames())


class ChangedFleet(Protocol):
    """A cluster after what-if changes: `planning.fleet.Fleet`."""

    @property
    def snapshot(self) -> ClusterSnapshot:
        """Its groups and topics then."""

    @property
    def assumed_ids(self) -> Mapping[tuple[str, str], str]:
        """The ids of members that join, by group and the name that stands for them."""


def lag_report(
    snapshots: Sequence[ClusterSnapshot],
    query: LagQuery | None = None,
    *,
    later: ChangedFleet | None = None,
    session: SparkSession | SessionOptions | None = None,
    progress: Progress | None = None,
    record_times: RecordTimes = NO_TIMES,
) -> LagReport:
    """Lag of whole clusters, by what the query says.

    Args:
        snapshots: one or more clusters, each at one time.
        later: the one cluster of the snapshots after what-if changes, for planned assignments.
        session: a running session, or how to make one; None: local.
        progress: told what is being waited for.
        record_times: when the next records were written, for `times`.
    Raises:
        UsageError: the query names a grouping, column or assignor that does not exist, or wants
            last stable offsets that the snapshots do not hold.
        ClusterError: a master or Connect server does not answer.
        KgroupsError: Spark failed.
    """
    query = query or LagQuery()
    check_query(query, "snapshot")
    for snapshot in snapshots:
        check_isolation(snapshot, query.isolation)
    tell = progress or (lambda _text: None)
    tables = capture_tables(snapshots, record_times)
    if session is None or isinstance(session, SessionOptions):
        is_small = tables.rows.num_rows < SMALL_ROWS
        session = replace(session or SessionOptions(), small=is_small)
    with running(session, progress) as spark:
        tell(f"reading {tables.rows.num_rows:,} partitions of {_group_count(snapshots):,} groups")
        plan = _planned_tables(snapshots, later, query) if query.assignors else None
        return _run(spark, tables, query, tell, plan)


@contextlib.contextmanager
def running(
    session: SparkSession | SessionOptions | None, progress: Progress | None
) -> Iterator[SparkSession]:
    """The session given, or one made for the length of the block; what Spark throws is ours."""
    try:
        if session is None or isinstance(session, SessionOptions):
            with spark_session(session, progress) as started:
                try:
                    yield started
                except SPARK_ERRORS as exc:  # says nothing any more once the session has ended
                    raise spark_failure(exc) from exc
        else:
            yield session
    except SPARK_ERRORS as exc:
        raise spark_failure(exc) from exc


def _group_count(snapshots: Sequence[ClusterSnapshot]) -> int:
    return sum(len(snapshot.groups) for snapshot in snapshots)


def spark_failure(exc: Exception) -> KgroupsError:
    """What Spark threw, as one sentence."""
    return KgroupsError(
        f"Spark failed: {first_line(exc)}",
        hint="run with --verbose for Spark's own messages",
        code="SPARK_FAILED",
    )


def check_query(query: LagQuery, source: Source) -> None:
    """Fails on what cannot be answered, before Spark is started.

    Raises:
        UsageError: a grouping, an assignor, a column or a condition that is not possible.
    """
    groupings = PLANNED_KEYS if query.assignors else transforms.KEYS
    if query.by not in groupings:
        with_or_without = "with" if query.assignors else "without"
        raise UsageError(
            f"a lag report {with_or_without} planned assignments cannot be by `{query.by}`",
            hint="one of " + ", ".join(groupings),
        )
    if query.compare_ms and (query.assignors or source != "captures"):
        raise UsageError(
            "only windows of captures are compared, as they are",
            hint="use `--compare` with `--captures`, and without `--assignor`",
        )
    if query.top < 1:
        raise UsageError("`--top` must be at least 1")
    known = worker_planner.known_assignors()
    for name in query.assignors:
        if name not in known:
            raise UsageError(f"unknown assignor `{name}`", hint="known: " + ", ".join(known))
    check_columns(query, source)


class _Tables(NamedTuple):
    """Members and topics as they are to be planned, and whether changes made them other ones."""

    members: Any
    topics: Any
    is_changed: bool


def _planned_tables(
    snapshots: Sequence[ClusterSnapshot], later: ChangedFleet | None, query: LagQuery
) -> _Tables:
    members, topics = plan_tables(
        [later.snapshot] if later is not None else snapshots,
        later.assumed_ids if later is not None else {},
        query.leader_of,
    )
    return _Tables(members, topics, later is not None)


def _run(
    session: Any, tables: CaptureTables, query: LagQuery, tell: Progress, plan: _Tables | None
) -> LagReport:
    """Both jobs of a report, its rows and its totals."""
    rows = session.createDataFrame(tables.rows, schema=ROWS)
    lagged = transforms.with_lag(rows, uncommitted=query.uncommitted, isolation=query.isolation)
    members = session.createDataFrame(tables.members, schema=MEMBERS)
    if plan is not None:
        then = session.createDataFrame(plan.members, schema=PLAN_MEMBERS)
        topics = session.createDataFrame(plan.topics, schema=TOPICS)
        if not plan.is_changed:
            return planned_answer(then, topics, lagged, query, tell)
        known = session.createDataFrame(tables.topics, schema=TOPICS)
        later = as_planned.Later(then, known)
        return planned_answer(members, topics, lagged, query, tell, later=later)
    keys = transforms.KEYS[query.by]
    by_key = transforms.lag_by(lagged, keys, times=query.times)
    report = with_members(by_key, lagged, members, query.by, keys)
    tell(f"computing lag by {query.by}")
    items = answer_rows(report, query, query.sort or "lag", keys)
    failed = failed_rows(report, query, query.sort or "lag", keys)
    tell("computing totals")
    summary = totals_of(lagged, members)
    return LagReport(items, report.schema, summary, failed, drawn(query, tell, lagged))


def totals_of(lagged: DataFrame, members: DataFrame) -> dict[str, Any]:
    """The summary of a report: `transforms.totals`, and how many members there are."""
    (summary,) = collect_rows(transforms.totals(lagged))
    loads = member_loads(lagged, members)
    counts = loads.agg(
        F.count(F.lit(1)).alias("members"), F.count_if(F.col("held") == 0).alias("idle_members")
    )
    (of_members,) = collect_rows(counts)
    return {"groups": summary.pop("groups"), **of_members, **summary}


def planned_answer(
    members: DataFrame,
    topics: DataFrame,
    lagged: DataFrame,
    query: LagQuery,
    tell: Progress,
    rows: DataFrame | None = None,
    later: as_planned.Later | None = None,
) -> LagReport:
    """The report with planned assignments, its totals, and the groups that were not planned.

    Args:
        members: of one capture, in `table_columns.MEMBERS` or `table_columns.PLAN_MEMBERS`.
        topics: as they are planned with, in `table_columns.TOPICS`.
        lagged: rows of the same capture with lag, over a window with rates too.
        rows: captures of the window with lag, for charts.
        later: the fleet after what-if changes; None: as it is.
    """
    then = members if later is None else later.members
    plans = dryrun.plan_groups(then, topics, lagged, query.assignors).persist()
    try:
        by_member = as_planned.members_now_and_planned(
            members, lagged, plans, query.assignors, later
        )
        report, keys = _planned_report(by_member, query)
        tell(f"planning every group with {', '.join(query.assignors)}")
        sort = query.sort or PLANNED_SORT[query.by]
        items = answer_rows(report, query, sort, keys)
        failed = failed_rows(report, query, sort, keys)
        tell("computing totals")
        summary = totals_of(lagged, members)
        errors = _failed_plans(plans, query.top, summary)
        pictures = drawn(query, tell, lagged, rows)
        return LagReport(items, report.schema, summary, (*errors, *failed), pictures)
    finally:
        plans.unpersist()


def drawn(
    query: LagQuery, tell: Progress, series: DataFrame, rows: DataFrame | None = None
) -> Pictures | None:
    """The pictures of a report, if the query wants them."""
    if not query.pictures:
        return None
    tell("computing charts")
    return take_pictures(series, rows)


def _planned_report(by_member: DataFrame, query: LagQuery) -> tuple[DataFrame, tuple[str, ...]]:
    """The report with planned assignments, and its keys."""
    keys = PLANNED_KEYS[query.by]
    if query.by == "member":
        return by_member, keys
    if query.by == "assignor":
        by_group = as_planned.groups_now_and_planned(by_member, PLANNED_KEYS["group"])
        return as_planned.assignors_compared(by_group), keys
    return as_planned.groups_now_and_planned(by_member, keys), keys


def _failed_plans(plans: DataFrame, top: int, summary: dict[str, Any]) -> tuple[ItemError, ...]:
    """The first `top` groups that an assignor failed on; how many go into the summary.

    A group whose type an assignor is not made for is only counted.
    """
    not_planned = plans.where(F.col("error").isNotNull())
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
