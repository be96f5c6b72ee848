"""The lag report: snapshots in, at most `top` rows out, everything between them in Spark."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, cast

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from kgroups.core.errors import ItemError, UsageError
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
from kgroups.core.lag.pictures import Pictures, picture_frames, pictures_of
from kgroups.core.lag.report_columns import (
    PLANNED_KEYS,
    Source,
    check_columns,
    compared_figures,
)
from kgroups.core.lag.report_rows import (
    ITEMS,
    Found,
    answer_frames,
    collect_rows,
    collect_together,
    compared,
    failed_rows,
)
from kgroups.core.lag.rosters import member_loads, with_members
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.spark.late_session import LateSession, running
from kgroups.core.spark.plans.api import DataFrame
from kgroups.core.spark.plans.api import functions as F
from kgroups.core.spark.plans.frames import asked, to_ask
from kgroups.core.spark.session import (
    Progress,
    SessionOptions,
)

# Below this many rows Spark interprets: code for them would take longer to compile than to run.
SMALL_ROWS = 120_000
# The same where groups are planned: that is Python, and so worth a task a core sooner.
PLANNED_ROWS = 10_000

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
    tables = capture_tables(snapshots, record_times)
    if session is None or isinstance(session, SessionOptions):
        few, kind = is_few(tables.rows.num_rows, query), kind_of("snapshot", query)
        session = replace(session or SessionOptions(), small=few, kind=kind)
    with running(session, progress) as spark:
        spark.tell(
            f"reading {tables.rows.num_rows:,} partitions of {_group_count(snapshots):,} groups"
        )
        plan = _planned_tables(snapshots, later, query) if query.assignors else None
        return _run(spark, tables, query, plan)


def kind_of(source: Source, query: LagQuery) -> str:
    """The kind of job that a report is: those of a kind load the same classes of Spark's."""
    return "page" if query.pictures else "plan" if query.assignors else source


def is_few(rows: int, query: LagQuery) -> bool:
    """Whether rows are so few that they are best looked at by one task.

    All that is made of frames of one partition is one task: nothing is shuffled, and no job waits
    for another.
    """
    return rows < (PLANNED_ROWS if query.assignors else SMALL_ROWS)


def _group_count(snapshots: Sequence[ClusterSnapshot]) -> int:
    return sum(len(snapshot.groups) for snapshot in snapshots)


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
    if query.compare_ms and source != "captures":
        raise UsageError(
            "only windows of captures are compared", hint="use `--compare` with `--captures`"
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
    session: LateSession,
    tables: CaptureTables,
    query: LagQuery,
    plan: _Tables | None,
) -> LagReport:
    """Both jobs of a report, its rows and its totals."""

    def frame_of(table: Any, schema: StructType) -> DataFrame:
        few = is_few(tables.rows.num_rows, query)
        return cast("DataFrame", session.rows(table, schema, few=few))

    rows = frame_of(tables.rows, ROWS)
    lagged = transforms.with_lag(rows, uncommitted=query.uncommitted, isolation=query.isolation)
    members = frame_of(tables.members, MEMBERS)
    if plan is not None:
        then = frame_of(plan.members, PLAN_MEMBERS)
        topics = frame_of(plan.topics, TOPICS)
        if not plan.is_changed:
            return planned_answer(then, topics, lagged, query, session.tell)
        known = frame_of(tables.topics, TOPICS)
        later = as_planned.Later(then, known)
        return planned_answer(members, topics, lagged, query, session.tell, later=later)
    keys = transforms.KEYS[query.by]
    by_key = transforms.lag_by(lagged, keys, times=query.times)
    report = with_members(by_key, lagged, members, query.by, keys)
    session.tell(f"computing lag by {query.by}")
    sort = query.sort or "lag"
    return answered(report, query, sort, keys, totals_of(lagged, members), drawn(query, lagged))


def answered(
    report: DataFrame,
    query: LagQuery,
    sort: str,
    keys: Sequence[str],
    *others: Mapping[str, DataFrame],
) -> LagReport:
    """A report by one query.

    Args:
        others: from `totals_of` and `drawn`.
    """
    frames = answer_frames(report, query, sort, keys)
    found = collect_together(reduce(or_, others, frames))
    return LagReport(
        found.rows[ITEMS],
        found.schemas[ITEMS],
        summary_of(found),
        failed_rows(found, query, keys),
        pictures_of(found.rows) if query.pictures else None,
    )


def totals_of(lagged: DataFrame, members: DataFrame) -> dict[str, DataFrame]:
    """What `summary_of` is made of: `transforms.totals`, and how many members there are."""
    counts = member_loads(lagged, members).agg(
        F.count(F.lit(1)).alias("members"), F.count_if(F.col("held") == 0).alias("idle_members")
    )
    return {"totals": transforms.totals(lagged), "loads": counts}


def summary_of(found: Found) -> dict[str, Any]:
    """The summary of a report."""
    (summary,), (of_members,) = (found.rows[name] for name in ("totals", "loads"))
    return {"groups": summary.pop("groups"), **of_members, **summary}


def planned_answer(
    members: DataFrame,
    topics: DataFrame,
    lagged: DataFrame,
    query: LagQuery,
    tell: Progress,
    rows: DataFrame | None = None,
    later: as_planned.Later | None = None,
    before: as_planned.Fleet | None = None,
) -> LagReport:
    """The report with planned assignments, its totals, and the groups that were not planned.

    Args:
        members: of one capture, in `table_columns.MEMBERS` or `table_columns.PLAN_MEMBERS`.
        topics: as they are planned with, in `table_columns.TOPICS`.
        lagged: rows of the same capture with lag, over a window with rates too.
        rows: captures of the window with lag, for charts.
        later: the fleet after what-if changes; None: as it is.
        before: the fleet that this one is compared with.
    """
    members, topics, lagged = asked(members), asked(topics), asked(lagged)
    if later is not None:
        later = as_planned.Later(asked(later.members), asked(later.known))
    then = members if later is None else later.members
    with contextlib.ExitStack() as kept:

        def planned(who: DataFrame, topics: DataFrame, lagged: DataFrame) -> DataFrame:
            plans = dryrun.plan_groups(who, topics, lagged, query.assignors).persist()
            kept.callback(plans.unpersist)
            return plans

        plans = planned(then, topics, lagged)
        by_member = as_planned.members_now_and_planned(
            members, lagged, plans, query.assignors, later
        )
        report, keys = _planned_report(by_member, query)
        sort = query.sort or PLANNED_SORT[query.by]
        earlier = None
        if before is not None:
            fleet = as_planned.Fleet(*map(asked, before))
            earlier = planned(*fleet)
            were = as_planned.members_now_and_planned(
                fleet.members, fleet.lagged, earlier, query.assignors
            )
            figures = compared_figures(query)
            report = compared(report, _planned_report(were, query)[0], keys, figures)
            sort = query.sort or ("lag_change" if "lag" in figures else "gain_change")
        tell(f"planning every group with {', '.join(query.assignors)}")
        others = totals_of(to_ask(lagged), members), drawn(query, lagged, rows)
        answer = answered(report, query, sort, keys, *others)
        tell("computing totals")
        errors = _failed_plans(plans, query.top, answer.summary)
        if earlier is not None:
            errors += _failed_plans(earlier, query.top, {}, "in the window before, ")
        return replace(answer, errors=(*errors, *answer.errors))


def drawn(
    query: LagQuery, series: DataFrame, rows: DataFrame | None = None
) -> dict[str, DataFrame]:
    """What the pictures of a report are drawn from, if the query wants them."""
    return picture_frames(series, rows) if query.pictures else {}


def _planned_report(by_member: DataFrame, query: LagQuery) -> tuple[DataFrame, tuple[str, ...]]:
    """The report with planned assignments, and its keys."""
    keys = PLANNED_KEYS[query.by]
    if query.by == "member":
        return by_member, keys
    if query.by == "assignor":
        by_group = as_planned.groups_now_and_planned(by_member, PLANNED_KEYS["group"])
        return as_planned.assignors_compared(by_group), keys
    return as_planned.groups_now_and_planned(by_member, keys), keys


def _failed_plans(
    plans: DataFrame, top: int, summary: dict[str, Any], when: str = ""
) -> tuple[ItemError, ...]:
    """The first `top` groups that an assignor failed on; how many go into the summary.

    A group whose type an assignor is not made for is only counted.
    """
    not_planned = to_ask(plans).where(F.col("error").isNotNull())
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
        ItemError(row["group"], "PLAN_FAILED", f"{when}{row['assignor']}: {row['error']}")
        for row in collect_rows(failed)
    )
