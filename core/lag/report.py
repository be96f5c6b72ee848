"""The lag report on snapshots: at most `top` rows out, everything between by SQL in Spark."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from kgroups.core.errors import UsageError
from kgroups.core.lag.answer import LagReport as LagReport
from kgroups.core.lag.answer import answered, totals_of, with_members
from kgroups.core.lag.captures.capture_tables import (
    NO_TIMES,
    RecordTimes,
    capture_tables,
    plan_tables,
)
from kgroups.core.lag.engines import Frame, listed
from kgroups.core.lag.group_lag import check_isolation
from kgroups.core.lag.lag_query import KEYS, EngineName
from kgroups.core.lag.lag_query import LagQuery as LagQuery
from kgroups.core.lag.pictures import picture_frames
from kgroups.core.lag.questions import Questions
from kgroups.core.lag.report_columns import PLANNED_KEYS, Source, check_columns
from kgroups.core.snapshot import ClusterSnapshot

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kgroups.core.spark.session import Progress, SessionOptions

# Below this many rows one task is as fast as several, which shuffle rows and read files anew.
SMALL_ROWS: Final = 120_000
# The same where groups are planned: that is Python, and so worth a task a core sooner.
PLANNED_ROWS: Final = 10_000

NOT_ROLLED: Final = (
    "CAST(NULL AS STRUCT<level: INT, held: BIGINT, hour_last_ms: BIGINT, most_lag: BIGINT,"
    " end_reset_t: BIGINT"
    + "".join(
        f", {name}_{what}: BIGINT"
        for name in ("end", "committed", "start")
        for what in ("first", "first_t", "last", "last_t", "added")
    )
    + ">)"
)
"""The value of `rolled` (hours.sql) for a capture."""
END_OF_TIME_MS: Final = (1 << 63) - 1


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
    session: "SparkSession | SessionOptions | None" = None,
    progress: "Progress | None" = None,
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
    from kgroups.core.lag.spark_engine import spark_engine  # PySpark

    query = query or LagQuery()
    check_query(query, "snapshot")
    for snapshot in snapshots:
        check_isolation(snapshot, query.isolation)
    tables = capture_tables(snapshots, record_times)
    rows, few = tables.rows, is_few(tables.rows.num_rows, query)
    tell = progress or (lambda _text: None)
    with spark_engine(session, progress, kind_of("snapshot", query), small=few) as engine:
        groups = sum(len(snapshot.groups) for snapshot in snapshots)
        tell(f"reading {rows.num_rows:,} partitions of {groups:,} groups")
        questions = Questions.of(engine, query, KEYS.get(query.by, ()))
        lagged = lagged_of(questions, engine.rows(rows, few=few), rows.schema.names)
        series = questions.ask("snapshot", lagged=lagged)
        members = engine.rows(tables.members, few=few)
        loads = questions.ask("loads", lagged=lagged, members=members)
        others = totals_of(questions, lagged, loads)
        if query.pictures:
            others |= picture_frames(questions, series, verdict="lag_status")
        if query.assignors:
            from kgroups.core.lag.fleet.planned import Fleet, planned_answer  # all assignors

            changed = [later.snapshot] if later is not None else snapshots
            ids = later.assumed_ids if later is not None else {}
            planned, topics = (
                engine.rows(table, few=few) for table in plan_tables(changed, ids, query.leader_of)
            )
            fleet = Fleet(planned, topics, series, is_planned=True)
            if later is not None:
                topics_now = engine.rows(tables.topics, few=few)
                fleet = Fleet(members, topics, series, later=planned, known=topics_now)
            tell(f"planning every group with {', '.join(query.assignors)}")
            return planned_answer(questions, fleet, query, "snapshot", others)
        tell(f"computing lag by {query.by}")
        report = questions.by_key(series, None)
        report = with_members(questions, report, query.by, loads)
        return answered(questions, report, query, "snapshot", query.sort or "lag", others)


def lagged_of(
    questions: Questions, rows: Frame, names: Sequence[str], *, is_rolled: bool = False
) -> Frame:
    """Rows with lag.

    Args:
        names: the columns of the rows that are facts.
        is_rolled: whether there are roll-ups among them, with `rolled`.
    """
    bounds = {"since_ms": 0, "until_ms": END_OF_TIME_MS, **questions.parameters}
    texts = {"facts": listed(names), "rolled": "rolled" if is_rolled else "NULL"}
    return replace(questions, parameters=bounds).ask("lagged", texts, rows=rows)


def kind_of(source: Source, query: LagQuery) -> str:
    """The kind of job that a report is: those of a kind load the same classes of Spark's."""
    return "page" if query.pictures else "plan" if query.assignors else source


def is_few(rows: int, query: LagQuery) -> bool:
    """Whether rows are so few that they are best looked at by one task.

    All that is made of frames of one partition is one task: nothing is shuffled, and no job waits
    for another.
    """
    return rows < (PLANNED_ROWS if query.assignors else SMALL_ROWS)


def check_query(query: LagQuery, source: Source, engine: EngineName = "spark") -> None:
    """Fails on what cannot be answered, before an engine is started.

    Raises:
        UsageError: a grouping, an assignor, a column or a condition that is not possible.
    """
    groupings = PLANNED_KEYS if query.assignors else KEYS
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
    if engine == "duckdb" and (query.assignors or source != "captures"):
        raise UsageError(
            "`--engine duckdb` answers reports on captures only, without `--assignor`",
            hint="leave out `--engine`",
        )
    if query.top < 1:
        raise UsageError("`--top` must be at least 1")
    if query.assignors:
        from kgroups.core.lag.fleet.worker_planner import known_assignors  # all of them

        names = known_assignors()
        for name in query.assignors:
            if name not in names:
                raise UsageError(f"unknown assignor `{name}`", hint="known: " + ", ".join(names))
    check_columns(query, source)
