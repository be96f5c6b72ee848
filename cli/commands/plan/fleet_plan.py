"""`kgroups plan --all-groups --report`: every group planned inside Spark, beside its lag."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kgroups.cli.commands.lag.lag_answer import lag_document, show_and_end
from kgroups.cli.commands.lag.spark_line import SparkLine
from kgroups.cli.commands.plan.plan_texts import PlanTexts, live_snapshot
from kgroups.cli.output.printer import Printer
from kgroups.cli.source import snapshot_of_file
from kgroups.core.errors import counted
from kgroups.core.extras import require_extra
from kgroups.core.planning.fleet import Fleet, next_fleet
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.snapshot import ClusterSnapshot


@dataclass(frozen=True, slots=True)
class FleetQuery:
    """Request to plan a fleet.

    Args:
        by: what a row stands for.
        assignors: names; none: every one that a group of the fleet uses.
        master, remote: where Spark runs; None: here.
        conf: `KEY=VALUE`, settings of Spark.
    """

    by: str
    assignors: tuple[str, ...]
    top: int
    master: str | None = None
    remote: str | None = None
    conf: tuple[str, ...] = ()


def fleet_report(printer: Printer, query: FleetQuery, file: Path | None, texts: PlanTexts) -> None:
    """Plan every group with every assignor of the query and show lag before and after.

    Args:
        texts: the changes, made to every group in which they make sense.
    Raises:
        UsageError: the query names a grouping or assignor that does not exist, or a change that
            cannot be made.
        NotFoundError: a change names what no group or no topic of the cluster has.
    """
    require_extra("spark", "`plan --report`")
    from kgroups.core.lag.report import LagQuery, check_query, lag_report

    asked = LagQuery(by=query.by, assignors=query.assignors or ("range",), top=query.top)
    check_query(asked, "snapshot")
    line = SparkLine(printer)
    session = line.session(query.master, query.remote, query.conf)
    if file is None:
        snapshot = live_snapshot(printer, None, texts)
    else:
        snapshot = snapshot_of_file(file)
    assignors = query.assignors or used_assignors(snapshot)
    fleet = next_fleet(snapshot, texts.one_rebalance_for) if texts.has_changes else None
    answer = lag_report(
        [snapshot],
        LagQuery(
            by=query.by,
            assignors=assignors,
            leader_of=lambda group: infer_leader(Evidence(group), texts.library).likeliest,
            top=query.top,
        ),
        later=fleet,
        session=session,
        progress=line.step,
    )
    if fleet is not None:
        _say_what_was_assumed(printer, fleet)
        answer = replace(answer, errors=(*fleet.errors, *answer.errors))
    show_and_end(printer, lag_document(snapshot, query.by, answer))


def _say_what_was_assumed(printer: Printer, fleet: Fleet) -> None:
    """Notes beside the table: drawn ids, groups that nothing was done to."""
    if fleet.assumed_ids:
        count = len(fleet.assumed_ids)
        printer.note(
            "DRAWN_IDS",
            f"{counted(count, 'member')} {'joins' if count == 1 else 'join'} with ids that were"
            " drawn; the assignment may depend on them: `kgroups plan GROUP` tries all",
        )
    if fleet.untouched:
        printer.note(
            "LEFT_AS_IS",
            f"left as it is, without members: {counted(len(fleet.untouched), 'group')}"
            f" ({_some(fleet.untouched)})",
        )
    if fleet.errors:
        names = [error.target or "" for error in fleet.errors]
        printer.note(
            "LEFT_AS_IS",
            f"left as it is, could not be changed: {counted(len(names), 'group')} ({_some(names)})",
        )


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


def used_assignors(snapshot: ClusterSnapshot) -> tuple[str, ...]:
    """Assignors that groups of the fleet use and that are known; Kafka's defaults if none."""
    from kgroups.core.lag.fleet.worker_planner import known_assignors

    used = {group.assignor for group in snapshot.groups if group.assignor}
    return tuple(sorted(used & set(known_assignors()))) or ("range", "uniform")
