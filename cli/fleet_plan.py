"""`kgroups plan --all-groups --report`: every group planned inside Spark, beside its lag."""

from dataclasses import dataclass
from pathlib import Path

from kgroups.cli.lag_answer import lag_document, show_and_end
from kgroups.cli.output import Printer
from kgroups.cli.source import take_snapshot
from kgroups.core.snapshot import ClusterSnapshot


@dataclass(frozen=True, slots=True)
class FleetQuery:
    """What is asked of the fleet's dry run.

    Args:
        by: what a row stands for.
        assignors: names; none: every one that a group of the fleet uses.
        master, remote: where Spark runs; None: here.
    """

    by: str
    assignors: tuple[str, ...]
    top: int
    master: str | None = None
    remote: str | None = None


def fleet_report(printer: Printer, query: FleetQuery, file: Path | None) -> None:
    """Plan every group with every assignor of the query and show lag before and after.

    Raises:
        UsageError: the query names a grouping or assignor that does not exist.
    """
    from kgroups.core.lag.report import LagQuery, check_query, lag_report
    from kgroups.core.lag.session import SessionOptions

    check_query(LagQuery(by=query.by, assignors=query.assignors or ("range",), top=query.top))
    snapshot = take_snapshot(printer.options, file=file, progress=printer.progress)
    assignors = query.assignors or used_assignors(snapshot)
    answer = lag_report(
        [snapshot],
        LagQuery(by=query.by, assignors=assignors, top=query.top),
        session=SessionOptions(
            master=query.master, remote=query.remote, verbose=printer.options.verbose
        ),
        progress=printer.waiting,
    )
    show_and_end(printer, lag_document(snapshot, query.by, answer))


def used_assignors(snapshot: ClusterSnapshot) -> tuple[str, ...]:
    """Assignors that groups of the fleet use and that are known; Kafka's defaults if none."""
    from kgroups.core.lag.dryrun import known_assignors

    used = {group.assignor for group in snapshot.groups if group.assignor}
    return tuple(sorted(used & set(known_assignors()))) or ("range", "uniform")
