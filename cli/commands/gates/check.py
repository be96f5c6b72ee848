"""`kgroups check`: fail when a condition holds for a group."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from kgroups.cli.choosing import (
    AllGroups,
    Choice,
    GroupNames,
    Regex,
    choice_of,
    snapshot_of_choice,
)
from kgroups.cli.commands.gates.check_report import (
    SCHEMA,
    check_report,
    failures,
    fields_report,
    junit,
    nagios,
    nagios_code,
)
from kgroups.cli.commands.gates.polling import Polls, parse_wait_ms
from kgroups.cli.commands.lag.lag_options import row_fields
from kgroups.cli.contexts.several import each_context, in_context, look_in_each
from kgroups.cli.exits import end_with, now_ms
from kgroups.cli.lag_times import (
    IsolationLevel,
    LagTime,
    Over,
    RecordTimes,
    TimeQuestion,
    UncommittedAt,
    time_question,
    timed_look,
)
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.openmetrics import METRICS, TextFile
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import FromFile, GlobalOptions, options_of
from kgroups.cli.source import asked
from kgroups.cli.usage import Text, Texts, option
from kgroups.core.conditions.grammar import parse_conditions
from kgroups.core.conditions.group_figures import (
    GROUP_FIELDS,
    OFFSETS,
    figures_in,
    isolation_for,
    source_of,
)
from kgroups.core.conditions.verdicts import Gate, Judged, judge, throughout
from kgroups.core.errors import ItemError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.planning.metrics import PLAN_FIELDS
from kgroups.core.snapshot import ClusterSnapshot

LEAST_FOR_MS: Final = 1_000

HELP = """Fail if a condition holds for a group.

Exits with 0 if no condition holds, with 6 if one does, and prints one line
for each failing group. A condition on an unknown value counts as true unless
--allow-unknown is given. Exits with 5 if a group does not exist, and with 1
if there are missing and failing groups.

CONDITIONS
  lag > 10k and state != 'Stable'
  not (member_count >= 3 or type = 'share')
  unknown_partitions > 5%        group ~ 'orders-.*' (RE2, the whole name)
  lag_seconds > 5m               catch_up_seconds > 1h (with --over 10s)
  rebalances > 0                 stalled_partitions > 0 (with --over 10s)
  held_partitions > 0            (an open transaction holds partitions)
  --fields lists the fields, those of `plan` and `lag report` too. `lag` is
  the group's sum; if only part of it is known, it is at least that much.
  --uncommitted sets what to assume for partitions without a commit.

FORMATS
  --output json    one item per group: verdict, conditions, figures
  --output junit   one test case per group, for CI
  --output openmetrics  metrics and verdicts for Prometheus, see --textfile
  --output nagios  one status line with perfdata; exits with 0 (OK),
                   1 (WARNING, see --warn-on), 2 (CRITICAL) or 3 (UNKNOWN: a
                   missing value or group, an unreachable cluster, a usage
                   error)

EXAMPLES
  kgroups check orders-app --fail-on 'lag > 10k'
  kgroups check --all-groups --fail-on "state = 'Empty' and lag > 0"
  kgroups check 'orders-*' --fail-on 'member_count < 3' --for 2m
  kgroups check --all-groups --fail-on 'lost > 0' --output junit > groups.xml
  kgroups check billing --warn-on 'lag > 1k' --fail-on 'lag > 10k' -o nagios
"""


def check(
    ctx: typer.Context,
    groups: GroupNames = None,
    all_groups: AllGroups = False,
    regex: Regex = None,
    fail_on: Annotated[Texts, option("--fail-on EXPR", "Fail if this holds: 'lag > 10k'.")] = None,
    warn_on: Annotated[
        Texts, option("--warn-on EXPR", "Warn if this holds, and exit with 0.")
    ] = None,
    allow_unknown: Annotated[
        bool, option("--allow-unknown", "Treat an unknown condition as false.")
    ] = False,
    for_: Annotated[Text, option("--for TIME", "Fail only if it holds for this long: 2m.")] = None,
    uncommitted: UncommittedAt = None,
    isolation: IsolationLevel = "read_uncommitted",
    lag_time: LagTime = False,
    record_times: RecordTimes = False,
    over: Over = None,
    fields: Annotated[bool, option("--fields", "List the fields that conditions can use.")] = False,
    textfile: TextFile = None,
    file: FromFile = None,
) -> None:
    options = options_of(ctx, several=True)
    contexts = each_context(ctx, options, textfile=textfile, **{"for": for_, "from": file})
    own_forms = () if fields else ("junit", "nagios", *METRICS)
    printer = Printer(options, own_forms=own_forms, textfile=textfile)
    if fields:
        tables = {"group": GROUP_FIELDS, "plan": PLAN_FIELDS, "lag report": row_fields()}
        printer.show(fields_report(tables, now_ms()))
        return

    def gather(options: GlobalOptions) -> Found:
        gate = gate_of(fail_on or (), warn_on or (), allow_unknown=allow_unknown)
        named = {name for condition in gate.conditions for name in condition.fields}
        question = time_question(
            lag_time=lag_time, record_times=record_times, over=over, file=file
        ).needed_by(named)
        request = Request(
            choice=choice_of(groups, regex, every=all_groups),
            gate=gate,
            question=question,
            uncommitted=uncommitted,
            isolation=isolation,
            for_ms=0 if for_ is None else parse_wait_ms(for_, least_ms=LEAST_FOR_MS),
            file=file,
        )
        if request.for_ms and file is not None:
            raise UsageError(
                "--for and --from cannot be used together", hint="leave out --for or --from"
            )
        with asked(options, file) as admin:
            polls = Polls(request.for_ms, time.sleep)
            return judged_throughout(polls, printer, lambda: look(request, printer, admin))

    if options.output == "nagios":
        _end_as_plugin(printer, lambda: gather(options))
        return
    if contexts:
        _end_in_each(printer, contexts, gather)
        return
    snapshot, judged, errors = gather(options)
    report = check_report(snapshot, judged, errors)
    forms = {"junit": lambda: junit(judged, errors, snapshot.captured_at_ms)}
    printer.show(replace(report, forms=forms))
    end_with([*failures(judged), *errors])


@dataclass(frozen=True, slots=True)
class Request:
    """Request to check groups.

    Args:
        for_ms: how long a condition has to hold; 0: one look.
    """

    choice: Choice
    gate: Gate
    question: TimeQuestion
    uncommitted: Uncommitted | None
    isolation: Isolation
    for_ms: int
    file: Path | None


class Found(NamedTuple):
    """Results of the last look.

    Args:
        judged: the groups that could be looked at.
        errors: those that could not, and other failures.
    """

    snapshot: ClusterSnapshot
    judged: list[Judged]
    errors: tuple[ItemError, ...]


def gate_of(fail_on: Sequence[str], warn_on: Sequence[str], *, allow_unknown: bool) -> Gate:
    """The gate that the options spell.

    Raises:
        UsageError: a condition cannot be understood, or there is none.
    """
    gate = Gate(
        parse_conditions(fail_on, GROUP_FIELDS),
        parse_conditions(warn_on, GROUP_FIELDS, "--warn-on"),
        allow_unknown,
    )
    if not gate.conditions:
        raise UsageError("no condition given", hint="use --fail-on 'lag > 10k'")
    return gate


def look(request: Request, printer: Printer, admin: ClusterAdmin | None) -> Found:
    """The groups before the gate, by what they are now."""
    source = "times" if request.question.is_asked else source_of(request.gate.conditions)
    fields = {name for condition in request.gate.conditions for name in condition.fields}

    def once() -> ClusterSnapshot:
        return snapshot_of_choice(
            admin,
            request.choice,
            file=request.file,
            offsets=source in OFFSETS,
            isolation=isolation_for(fields, request.isolation),
            progress=printer.progress,
        )

    snapshot, times = timed_look(printer, admin, request.question, once)
    failed = {error.target for error in snapshot.errors}
    judged = []
    for group in snapshot.groups:
        if group.group in failed:
            continue
        figures = figures_in(
            snapshot,
            group,
            source,
            uncommitted=request.uncommitted,
            isolation=request.isolation,
            times=times,
        )
        judged.append(judge(group.group, request.gate, figures))
    return Found(snapshot, judged, snapshot.errors)


def judged_throughout(polls: Polls, printer: Printer, once: Callable[[], Found]) -> Found:
    """Verdicts over all looks; they end early when nothing is left to hold."""
    looked: Found | None = None
    for _ in polls:
        before = looked
        looked = once()
        if before is not None:
            held = throughout(
                {group.group: group for group in before.judged},
                {group.group: group for group in looked.judged},
            )
            looked = looked._replace(judged=list(held.values()))
        open_ = sum(group.is_open for group in looked.judged)
        if not open_:
            break
        if polls.left_ms:
            printer.progress(f"{open_:,} of {len(looked.judged):,} may fail, {polls.left} to go")
    assert looked is not None, "there is always a first look"
    return looked


def _end_in_each(
    printer: Printer, contexts: Sequence[GlobalOptions], gather: Callable[[GlobalOptions], Found]
) -> None:
    """The groups of several contexts in one report, and the end.

    Raises:
        typer.Exit: something failed.
    """
    failed: list[ItemError] = []

    def look_in(options: GlobalOptions) -> Report:
        snapshot, judged, errors = gather(options)
        failed.extend(in_context(options.contexts[0].name, error) for error in failures(judged))
        return check_report(snapshot, judged, errors)

    report = look_in_each(contexts, SCHEMA, look_in)
    printer.show(report)
    end_with([*failed, *report.errors])


def _end_as_plugin(printer: Printer, gather: Callable[[], Found]) -> None:
    """One status line on stdout, and the exit code that monitors expect; of failures too.

    Raises:
        typer.Exit: always.
    """
    _, judged, errors = gather()
    printer.head(nagios(judged, errors))
    raise typer.Exit(nagios_code(judged, errors))
