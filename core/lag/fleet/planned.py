"""Reports with planned assignments: every group's next assignment, computed inside Spark.

Groups are planned where their rows are: a group with its members and topics becomes one row, and
`mapInArrow` hands the assignors on a worker many at a time. No group ever passes through the
driver. The assignors are Python; everything around them is SQL.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kgroups.core.errors import ItemError
from kgroups.core.lag.answer import LagReport, answered, compared
from kgroups.core.lag.captures.table_columns import arrow_schema
from kgroups.core.lag.engines import Frame, Given
from kgroups.core.lag.fleet.worker_planner import fleet_planner
from kgroups.core.lag.lag_query import LagQuery
from kgroups.core.lag.questions import Questions
from kgroups.core.lag.report_columns import PLANNED_KEYS, Source, compared_figures

PLANNED_SORT = {
    "member": "planned_lag",
    "group": "best_gain",
    "client": "best_gain",
    "host": "best_gain",
    "assignor": "gain",
}


class Fleet(NamedTuple):
    """Members, topics and series of one capture.

    Args:
        members: as they are, in `table_columns.MEMBERS`.
        topics: as they are planned with, in `table_columns.TOPICS`.
        series: from series.sql or snapshot.sql.
        is_planned: whether `members` are in `PLAN_MEMBERS`.
        later: members after what-if changes, in `PLAN_MEMBERS`; None: as they are.
        known: topics as they are now, where changes are made.
    """

    members: Frame
    topics: Frame
    series: Frame
    is_planned: bool = False
    later: Frame | None = None
    known: Frame | None = None


def planned_answer(
    questions: Questions,
    fleet: Fleet,
    query: LagQuery,
    source: Source,
    others: dict[str, Frame],
    before: Fleet | None = None,
) -> LagReport:
    """The report with planned assignments, its totals, and the groups that were not planned.

    Args:
        others: as in `answered`.
        before: the fleet that this one is compared with.
    """
    asking = replace(questions, keys=PLANNED_KEYS[query.by])
    plans, report = _planned(asking, fleet, query)
    sort = query.sort or PLANNED_SORT[query.by]
    every = [(plans, "")]
    if before is not None:
        earlier, was = _planned(asking, before, query)
        report = compared(asking, report, was, query)
        sort = query.sort or ("lag_change" if "lag" in compared_figures(query) else "gain_change")
        every.append((earlier, "in the window before, "))
    answer = answered(asking, report, query, source, sort, others)
    errors: tuple[ItemError, ...] = ()
    for own, when in reversed(every):  # the counts are those of the fleet as it is now
        failures, counts = _failed_plans(asking, own, query.top, when)
        errors = failures + errors if own is plans else failures
        answer.summary.update(counts)
    return replace(answer, errors=(*errors, *answer.errors))


def plan_groups(questions: Questions, fleet: Fleet, assignors: Sequence[str]) -> Frame:
    """Who would get which partitions under each assignor, in `table_columns.PLANS`."""
    from pyspark.sql.pandas.types import from_arrow_schema

    from kgroups.core.lag.spark_engine import Spark

    is_planned = fleet.later is not None or fleet.is_planned
    texts = {
        name: name if is_planned else f"CAST(NULL AS STRING) AS {name}"
        for name in ("assumed_id", "leader")
    }
    members = fleet.members if fleet.later is None else fleet.later
    rosters = questions.ask(
        "rosters", texts, members=members, topics=fleet.topics, lagged=fleet.series
    )
    engine = questions.engine
    assert isinstance(engine, Spark)
    plans = engine.frame(rosters).mapInArrow(
        fleet_planner(tuple(assignors)), schema=from_arrow_schema(arrow_schema("plans"))
    )
    return engine.keep(Given(plans))


def _planned(questions: Questions, fleet: Fleet, query: LagQuery) -> tuple[Frame, Frame]:
    """Plans, and the report on them by the keys of the questions."""
    plans = plan_groups(questions, fleet, query.assignors)
    is_changed = fleet.later is not None
    more = {"assignors": list(query.assignors), "is_changed": is_changed}
    asking = replace(questions, parameters={**questions.parameters, **more})
    planned = asking.ask(
        "planned_members",
        members=fleet.members,
        later=fleet.later or fleet.members,
        series=fleet.series,
        plans=plans,
        topics=fleet.known or fleet.topics,
    )
    if query.by == "member":
        return plans, planned
    by_group = query.by == "assignor"
    groups = replace(asking, keys=PLANNED_KEYS["group"]) if by_group else asking
    report = groups.ask("planned_groups", planned=planned)
    return plans, asking.ask("planned_assignors", planned=report) if by_group else report


def _failed_plans(
    questions: Questions, plans: Frame, top: int, when: str
) -> tuple[tuple[ItemError, ...], dict[str, Any]]:
    """The first `top` groups that an assignor failed on, and how many there are.

    A group whose type an assignor is not made for is only counted.
    """
    counts = (
        "SELECT count_if(applies) AS failed_plans, count_if(NOT applies) AS plans_not_applicable"
    )
    failed = (
        "SELECT `group`, assignor, error FROM {plans} WHERE error IS NOT NULL AND applies"
        f" ORDER BY cluster, `group`, assignor LIMIT {top}"
    )
    tables = questions.together(
        {
            "counts": questions.put(
                f"{counts} FROM {{plans}} WHERE error IS NOT NULL", plans=plans
            ),
            "failed": questions.put(failed, plans=plans),
        }
    )
    (summary,) = tables["counts"].to_pylist()
    errors = (
        ItemError(row["group"], "PLAN_FAILED", f"{when}{row['assignor']}: {row['error']}")
        for row in tables["failed"].to_pylist()
    )
    return tuple(errors), summary
