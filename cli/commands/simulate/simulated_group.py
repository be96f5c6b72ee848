"""`simulate --from-group`: a group as it is, its load assumed, measured, or taken from captures."""

from pathlib import Path
from typing import Annotated, Any, Final

from kgroups.cli.captures import place_of, read_captures
from kgroups.cli.exits import now_ms
from kgroups.cli.lag_times import LEAST_OVER_MS, MOST_OVER_MS, TimeQuestion, timed_look
from kgroups.cli.output.printer import Printer
from kgroups.cli.source import asked, snapshot_of, take_snapshot
from kgroups.cli.usage import Text, option
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.extras import require_extra
from kgroups.core.lag.stores.places import Place
from kgroups.core.simulation.live.from_group import scenario_of_group
from kgroups.core.simulation.live.measured_load import MeasuredLoad, looks_in, measured_load
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.times import MAX_MS, parse_duration_ms

Over = Annotated[Text, option("--over TIME", "Measure the group's load for this long: 30s.")]
# `Any` is a `Place`: typer takes no union of classes.
Captures = Annotated[
    Any,
    option("--captures DIR", "Measure the load in captures, over --over (24h).", parser=place_of),
]
DEFAULT_WINDOW: Final = "24h"


def check_measuring(
    over: str | None, captures: Place | None, group: str | None, file: Path | None
) -> None:
    """That a load can be measured at all.

    Raises:
        UsageError: there is no group, or only a snapshot file, which is one look.
        MissingExtraError: captures, without what reads them.
    """
    if over is None and captures is None:
        return
    if group is None:
        raise UsageError("`--over` and `--captures` require `--from-group`")
    if file is not None and captures is None:
        raise UsageError("`--over` requires a cluster or `--captures DIR`", hint="leave out --from")
    if captures is not None:
        require_extra("collect", "`simulate --captures`")


def scenario_of(
    printer: Printer, group: str, file: Path | None, over: str | None, captures: Place | None
) -> Scenario:
    """The scenario of a group as it is.

    Raises:
        ClusterError: it may not be looked at, or could not be.
        NotFoundError: there is no such group, or no captures of it.
        UsageError: it cannot be simulated, or a length of time is none.
    """
    printer.progress("reading the group")
    load: MeasuredLoad | None = None
    if captures is not None:
        snapshot = take_snapshot(printer.options, [group], file=file)
        load = _captured(printer, snapshot, group, captures, over or DEFAULT_WINDOW)
    elif over is not None:
        over_ms = round(parse_duration_ms(over, least_ms=LEAST_OVER_MS, most_ms=MOST_OVER_MS))
        snapshot, load = _measured(printer, group, over_ms)
    else:
        snapshot = take_snapshot(printer.options, [group], file=file)
    printer.wipe()
    return scenario_of_group(snapshot, group, load)


def _measured(
    printer: Printer, group: str, over_ms: int
) -> tuple[ClusterSnapshot, MeasuredLoad | None]:
    """The group now, and its load since a look before."""
    with asked(printer.options, None) as admin:
        assert admin is not None, "no file takes its place"
        question = TimeQuestion(over_ms=over_ms, rates_only=True)
        snapshot, times = timed_look(printer, admin, question, lambda: snapshot_of(admin, [group]))
    before = None if times is None else times.before
    looks = [] if before is None else looks_in((before, snapshot), group)
    return snapshot, measured_load(looks) if len(looks) > 1 else None


def _captured(
    printer: Printer, snapshot: ClusterSnapshot, group: str, captures: Place, over: str
) -> MeasuredLoad:
    """Its load in the captures of a window that ends now."""
    until_ms = now_ms()
    window = until_ms - round(parse_duration_ms(over, least_ms=1, most_ms=MAX_MS)), until_ms
    cluster = snapshot.cluster_id or snapshot.bootstrap
    looks = looks_in(read_captures(printer.options, captures, [group], cluster, window), group)
    if len(looks) < 2:
        raise NotFoundError(
            f"`{group}` is in {len(looks)} captures of the window; rates require two",
            hint="choose a longer window with --over",
        )
    return measured_load(looks)
