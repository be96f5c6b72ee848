"""`kgroups doctor`: what is wrong with groups, with evidence, and what to type next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from kgroups.cli.broker_logs import check_logs, log_notes, read_logs
from kgroups.cli.captures import Captures, read_captures
from kgroups.cli.choosing import (
    AllGroups,
    Choice,
    GroupNames,
    Regex,
    choice_of,
    snapshot_of_choice,
)
from kgroups.cli.commands.doctor.cluster_lookups import look_around, uncoordinated, with_orphans
from kgroups.cli.commands.doctor.doctor_report import doctor_report, found_at
from kgroups.cli.exits import Note, end_with, now_ms
from kgroups.cli.expiry import learn_expiries
from kgroups.cli.lag_times import (
    LEAST_OVER_MS,
    MOST_OVER_MS,
    Over,
    captured_times,
    time_question,
    timed_look,
)
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import FromFile, options_of
from kgroups.cli.source import asked
from kgroups.cli.usage import Text, Texts, option
from kgroups.core.doctor.examine import examine
from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Level
from kgroups.core.doctor.proofs import Prover
from kgroups.core.errors import ClusterError, UsageError
from kgroups.core.history.broker_log import BrokerLog, elections, fenced_members, with_logs
from kgroups.core.history.causes import with_causes
from kgroups.core.history.changes import Change
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.offsets_by_time import offsets_at_times
from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.lag.group_times import Times, group_times
from kgroups.core.lag.stores.places import Place
from kgroups.core.offsets.expiry import GroupExpiry
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition
from kgroups.core.times import parse_duration_ms, parse_instant_ms

MOST_HISTORIES: Final = 20
"""Groups whose logs are read: of more it would take as long as reading all of the topic."""
MANY_LOOKS: Final = 2
"""Captures that are read of more groups: for rates, and whether a rebalance had ended."""

HELP = """Find out what is wrong with groups, and what to do.

Shows facts, then findings, worst first, each with its evidence and the
command to type next. `kgroups explain CODE` explains a code. Nothing is
changed. What was not examined, and why, is said; --over 30s examines rates
and stalled partitions too, --captures DIR does so without waiting, from
captures of `lag collect` of the last --over (10m). The history of up to 20
groups is read from __consumer_offsets, which requires READ, and from
captures. Streams groups are not covered.

EXAMPLES
  kgroups doctor orders-app
  kgroups doctor orders-app --over 30s
  kgroups doctor orders-app --since 2h --log server.log
  kgroups doctor orders-app --captures ~/captures
  kgroups doctor --all-groups --fail-on-level warning
  kgroups doctor 'orders-*' --output json | jq '.items[].findings'

LEVELS
  error    the group does not do its work, or loses records
  warning  it does, but not as it should
  info     worth knowing

CERTAINTY
  certain   the facts say so
  likely    the pattern is known
  possible  other causes look the same
"""


def doctor(
    ctx: typer.Context,
    groups: GroupNames = None,
    all_groups: AllGroups = False,
    regex: Regex = None,
    over: Over = None,
    since: Annotated[Text, option("--since TIME", "History to read: 24h (default), 7d.")] = None,
    log: Annotated[Texts, option("--log FILE", "Read a broker's log too; - for stdin.")] = None,
    captures: Captures = None,
    fail_on_level: Annotated[
        Level, option("--fail-on-level", "Exit with 6 from this level on.")
    ] = "error",
    file: FromFile = None,
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    choice = choice_of(groups, regex, every=all_groups)
    check_logs(log or [])
    wait = over if captures is None else None
    question = time_question(lag_time=False, record_times=False, over=wait, file=file)
    if log and file is not None:
        raise UsageError("--log and --from cannot be used together", hint="leave out --from")
    since_ms = parse_instant_ms(since or "24h", now_ms())
    with asked(options, file) as admin:
        snapshot, times = timed_look(
            printer, admin, question, lambda: _look(printer, admin, choice, file)
        )
        captured = Captured()
        if captures is not None:
            captured = _captured(printer, admin, snapshot, captures, (over or "10m", since_ms))
            times = captured.times
        failed = {error.target for error in snapshot.errors}
        unseen = {g.group for g in snapshot.groups if g.offsets is None and g.group in failed}
        examined = [
            group
            for group in snapshot.groups
            if group.group not in unseen and group.type != "streams"
        ]
        recorded = [group for group in examined if group.type != "share"]
        told = _histories(printer, admin, recorded, since_ms, captured.history)
        over_s = None if times is None else captured.over_s or question.over_ms / 1_000
        facts = look_around(
            admin, [_facts(snapshot, group, times, over_s) for group in examined], printer.progress
        )
        if admin is not None and choice.every:
            facts = with_orphans(admin, snapshot, facts)
        lost = uncoordinated(admin, snapshot)
    epochs = {
        each.group.offsets_partition or 0: each.offsets_partition.log.current_leader_epoch
        for each in (*facts, *lost)
        if each.offsets_partition is not None
    }
    logs = read_logs(log or [], told.changes, epochs)
    read = [each.log for each in logs]
    printer.progress("trying the advice")
    prover = Prover()
    results = [examine(_with_past(each, told, read, since_ms), prover) for each in (*facts, *lost)]
    reasons = {"history": told.reason, "expiry": told.no_expiry or told.reason}
    report = doctor_report(snapshot, results, reasons, csv=options.output == "csv")
    left_out = {group.group for group in snapshot.groups} - unseen - {g.group for g in examined}
    notes = [*log_notes(logs), *_notes(sorted(left_out)), *report.notes]
    errors = [each for each in snapshot.errors if each.target not in {one.name for one in lost}]
    printer.show(replace(report, notes=notes, errors=errors))
    end_with([*found_at(results, fail_on_level), *errors])


def _look(
    printer: Printer, admin: ClusterAdmin | None, choice: Choice, file: Path | None
) -> ClusterSnapshot:
    return snapshot_of_choice(
        admin,
        choice,
        file=file,
        isolation="read_uncommitted" if admin is None else "read_committed",
        progress=printer.progress,
    )


class Captured(NamedTuple):
    """Facts from captures.

    Args:
        times: rates since the oldest capture of `--over`.
        over_s: how old that is.
        history: captures since `--since`; none if there are many groups.
    """

    times: Times | None = None
    over_s: float = 0.0
    history: Sequence[ClusterSnapshot] = ()


def _captured(
    printer: Printer,
    admin: ClusterAdmin | None,
    snapshot: ClusterSnapshot,
    folder: Place,
    since: tuple[str, int],
) -> Captured:
    """Captures of the groups from before the first look at them.

    Args:
        since: the length of time for rates, and when histories begin.
    Raises:
        NotFoundError: there are no captures in that time.
        UsageError: they are of another cluster.
    """
    over, since_ms = since
    over_ms = round(parse_duration_ms(over, least_ms=LEAST_OVER_MS, most_ms=MOST_OVER_MS))
    at_ms = snapshot.captured_at_ms
    names = [group.group for group in snapshot.groups]
    are_few = len(names) <= MOST_HISTORIES
    printer.progress("reading captures")

    def read(from_ms: int, most: int | None) -> Sequence[ClusterSnapshot]:
        window = (from_ms, at_ms)
        return read_captures(printer.options, folder, names, snapshot.cluster_id, window, most)

    looks = read(at_ms - over_ms, None if are_few else MANY_LOOKS)
    times = captured_times(printer, admin, snapshot, looks)
    over_s = (at_ms - looks[0].captured_at_ms) / 1_000
    return Captured(times, over_s, read(since_ms, None) if are_few else ())


class Histories(NamedTuple):
    """Histories read from groups' logs.

    Args:
        changes: by group, with causes.
        reason: why the others have none.
        expiries: by group: when commits expire.
        no_expiry: why the others have none.
        standing: by group: commits, and since when each has stood.
        ends: by group: log ends of added partitions when they got their first owners.
    """

    changes: Mapping[str, Sequence[Change]]
    reason: str
    expiries: Mapping[str, GroupExpiry] = {}
    no_expiry: str | None = None
    standing: Mapping[str, Mapping[TopicPartition, tuple[int, int]]] = {}
    ends: Mapping[str, Mapping[TopicPartition, int]] = {}


def _with_past(
    facts: DoctorFacts, told: Histories, logs: Sequence[BrokerLog], since_ms: int
) -> DoctorFacts:
    """The facts with the group's history, and what brokers' logs say of it."""
    name, number = facts.name, facts.group.offsets_partition
    changes = told.changes.get(name)
    return replace(
        facts,
        changes=None if changes is None else with_logs(name, changes, logs),
        span_ms=now_ms() - since_ms,
        expiry=told.expiries.get(name),
        ends=told.ends.get(name, {}),
        standing=told.standing.get(name, {}),
        fenced=fenced_members(name, logs),
        elections=None if number is None else elections(number, logs, since_ms),
    )


def _histories(
    printer: Printer,
    admin: ClusterAdmin | None,
    groups: Sequence[Group],
    since_ms: int,
    captures: Sequence[ClusterSnapshot],
) -> Histories:
    """The changes of the groups, where they are few enough and their logs can be read.

    Captures tell what logs do not, or all of it where those cannot be read.
    """
    if len(groups) > MOST_HISTORIES:
        return Histories({}, f"history is read for {MOST_HISTORIES} groups at most")
    found = Histories({}, "a snapshot file has no history")
    if admin is not None:
        try:
            found = _read_histories(printer, admin, groups, since_ms, captures)
        except ClusterError as error:  # the rest is examined all the same
            found = Histories({}, error.message)
    if found.changes or not captures:
        return found
    if admin is not None:
        printer.note("LOG_UNREAD", f"history is from captures only: {found.reason}")
    from kgroups.cli.group_histories import readers_of

    readers = readers_of([group.group for group in groups], since_ms, captures)
    return Histories(
        {name: with_causes(one.end()) for name, one in readers.items() if one.captures},
        "no captures",
        found.expiries,
        found.no_expiry or found.reason,
    )


def _read_histories(
    printer: Printer,
    admin: ClusterAdmin,
    groups: Sequence[Group],
    since_ms: int,
    captures: Sequence[ClusterSnapshot],
) -> Histories:
    from kgroups.cli.group_histories import read_histories, readers_of  # records: 40 ms of a start

    names = [group.group for group in groups]
    readers, _, logs, _ = read_histories(
        printer, admin, names, lambda _: readers_of(names, since_ms, captures)
    )
    if logs is None:
        return Histories({}, "not authorized to describe `__consumer_offsets`")
    codes = sorted(set(logs.failures.values()))
    reason = f"`__consumer_offsets` cannot be read ({', '.join(codes)})" if codes else "no records"
    expiries, notes = learn_expiries(printer, admin, groups)
    changes = {
        name: with_causes(reader.end())
        for name, reader in readers.items()
        if name not in logs.failures and reader.records
    }
    return Histories(
        changes,
        reason,
        {
            name: expiry
            for name, expiry in expiries.items()
            if name not in logs.failures and expiry.is_known
        },
        reason if codes or not notes else notes[0].message,
        {name: reader.standing for name, reader in readers.items()},
        {name: _ends(admin, told) for name, told in changes.items()},
    )


def _ends(admin: ClusterAdmin, changes: Sequence[Change]) -> dict[TopicPartition, int]:
    """Where the logs of added partitions ended when they got their first owners."""
    commits = [each.commits for each in changes if each.commits is not None]
    firsts = [first for each in commits for first in each.first]
    times = {(first.topic, first.partition): first.assigned_ms for first in firsts}
    found = offsets_at_times(admin, times)
    return {at: end for at, end in found.items() if isinstance(end, int)}


def _facts(
    snapshot: ClusterSnapshot, group: Group, times: Times | None, over_seconds: float | None
) -> DoctorFacts:
    rows = timed = None
    if group.offsets is not None:
        rows = offset_rows(snapshot, group)
        timed = None if times is None else group_times(snapshot, group, rows, times)
    facts = DoctorFacts(snapshot, group, rows, timed, over_seconds)
    if times is None or times.before is None:
        return facts
    return replace(
        facts,
        before=times.before.group(group.group),
        snapshot_before=times.before,
        has_settled=any(group.group in rounds for rounds in times.between),
        gaps=times.gaps,
    )


def _notes(others: Sequence[str]) -> list[Note]:
    if not others:
        return []
    shown = ", ".join(f"`{name}`" for name in others[:5])
    text = f"streams groups are not examined: {shown}"
    return [Note("GROUPS_LEFT_OUT", text)]
