"""`kgroups wait`: come back when a condition holds."""

import time
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from typing import Annotated, Final

import typer

from kgroups.cli.choosing import exact_names
from kgroups.cli.commands.gates.polling import Polls, parse_wait_ms
from kgroups.cli.exits import end_with, now_ms
from kgroups.cli.lag_times import (
    IsolationLevel,
    RecordTimes,
    TimeQuestion,
    UncommittedAt,
    gaps_of,
    times_of,
)
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster
from kgroups.cli.usage import Text, argument, option
from kgroups.core.conditions.condition import Condition
from kgroups.core.conditions.fields import Values
from kgroups.core.conditions.grammar import parse_condition
from kgroups.core.conditions.group_figures import (
    GROUP_FIELDS,
    OF_AGES,
    OFFSETS,
    Source,
    document_of,
    figures_in,
    isolation_for,
    source_of,
)
from kgroups.core.conditions.waits import SHORTHANDS, Wait
from kgroups.core.errors import ClusterError, ItemError, UsageError, guess
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.lag.group_times import Times
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.protocol.errors import LASTING
from kgroups.core.rounds import rounds_of
from kgroups.core.snapshot import ClusterSnapshot

SCHEMA = "kgroups.wait/1"

HELP = """Wait until a condition holds for groups.

Polls at growing intervals, at most twice a second, and exits with 0 as soon
as the condition holds for all groups. With --stable it must hold for that
long; a rebalance starts the time over, and polls are at most a second apart.
Progress is printed on stderr. Also waits for groups that do not exist yet,
and retries while the cluster is unreachable.

Exits with 7 if the deadline has passed, with 3 if the cluster could not be
reached then, with 5 if a group never appeared. The last poll may take up to
--timeout longer than --deadline.

UNTIL
  empty      the group has no members (state = 'Empty')
  stable     it is not rebalancing (state = 'Stable')
  caught-up  it has read everything (partitions > 0 and lag = 0)
  or any condition: 'lag < 1k', see `kgroups check --help`;
  rates are measured since the previous poll

EXAMPLES
  kgroups wait orders-app --until empty --deadline 5m
  kgroups wait orders-app --until stable --stable 30s
  kgroups wait orders-app --until 'lag < 100 and member_count = 3'
"""
COLUMNS: Final = (
    Column("group", "GROUP"),
    Column("holds", "HOLDS"),
    Column("held_seconds", "HELD-SECONDS", right=True, quiet=(None, 0)),
    Column("figures", "FIGURES"),
)


def wait(
    ctx: typer.Context,
    groups: Annotated[list[str], argument("GROUP...", "Group names, no globs.")],
    until: Annotated[str, option("--until EXPR", "Condition to wait for: empty, 'lag < 1k'.")],
    stable: Annotated[
        Text, option("--stable TIME", "Hold this long without a rebalance: 30s.")
    ] = None,
    deadline: Annotated[str, option("--deadline TIME", "How long to wait.")] = "10m",
    uncommitted: UncommittedAt = None,
    isolation: IsolationLevel = "read_uncommitted",
    record_times: RecordTimes = False,
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    names = exact_names(groups)
    condition = _condition_of(until)
    stable_ms = 0 if stable is None else parse_wait_ms(stable)
    deadline_ms = parse_wait_ms(deadline)
    if stable_ms > deadline_ms:
        raise UsageError(
            "--stable cannot be longer than --deadline", hint="use a longer --deadline"
        )
    waited = Wait(names, condition, stable_ms)
    polls = Polls(deadline_ms, time.sleep)
    named = set(condition.fields)
    question = TimeQuestion(
        not record_times and not named.isdisjoint(OF_AGES),
        record_times,
        rates_only="stalled_partitions" not in named,
    )
    looks = Looks(source_of([condition]), named, uncommitted, isolation, question)
    with cluster(options) as admin:
        snapshot, ended_ms = wait_for(waited, polls, looks, admin, printer)
    reached = waited.is_over(ended_ms)
    errors = [] if reached else list(waited.failures(ended_ms))
    printer.show(_report(waited, snapshot, polls, ended_ms, errors))
    end_with(errors)


@dataclass(frozen=True, slots=True)
class Looks:
    """How a group is looked at.

    Args:
        fields: those of the condition.
    """

    source: Source
    fields: Set[str]
    uncommitted: Uncommitted | None
    isolation: Isolation
    question: TimeQuestion

    def take(
        self,
        admin: ClusterAdmin,
        names: list[str],
        printer: Printer,
        before: ClusterSnapshot | None,
    ) -> tuple[ClusterSnapshot, dict[str, Values]]:
        """The groups as they are now, and their figures.

        Args:
            before: the look before, which rates are counted from.
        """
        offsets = self.source in OFFSETS
        snapshot = admin.snapshot(
            names,
            offsets=offsets,
            log_offsets=offsets,
            isolation=isolation_for(self.fields, self.isolation),
        )
        times: Times | None = None
        if self.source == "times":
            times, errors = times_of(admin, snapshot, self.question, printer)
            snapshot = replace(snapshot, errors=(*snapshot.errors, *errors))
            times = replace(times, before=before)
            if before is not None and not self.question.rates_only:
                times = replace(times, gaps=gaps_of(admin, before, snapshot, printer))
        figures: dict[str, Values] = {
            group.group: figures_in(
                snapshot,
                group,
                self.source,
                uncommitted=self.uncommitted,
                isolation=self.isolation,
                times=times,
            )
            for group in snapshot.groups
        }
        return snapshot, figures


def wait_for(
    waited: Wait, polls: Polls, looks: Looks, admin: ClusterAdmin, printer: Printer
) -> tuple[ClusterSnapshot, float]:
    """Look until it is over or the deadline has passed; the last look, and when it was.

    Raises:
        ClusterError: the cluster cannot be asked, at the end or for good.
    """
    last: ClusterSnapshot | ClusterError | None = None
    at_ms = 0.0
    for _ in polls:
        try:
            before = last if isinstance(last, ClusterSnapshot) else None
            snapshot, figures = looks.take(admin, list(waited.groups), printer, before)
        except ClusterError as error:
            if error.code in LASTING:
                raise
            if not isinstance(last, ClusterError):
                printer.note("RETRYING", f"{error.message}; retrying")
            waited.miss()
            last = error
            continue
        for failure in snapshot.errors:
            if failure.code in LASTING:
                raise failure.as_error()
        if isinstance(last, ClusterError):
            printer.note("REACHABLE_AGAIN", "the cluster is reachable again")
        last, at_ms = snapshot, polls.elapsed_ms
        failures = {error.target: error for error in snapshot.errors}
        rounds = {group.group: rounds_of(group) for group in snapshot.groups}
        for text in waited.look(at_ms, figures, failures, rounds):
            printer.note("PROGRESS", text)
        if waited.is_over(at_ms):
            break
        polls.look_at(waited.next_look_ms(at_ms))
    if isinstance(last, ClusterError):
        raise last
    assert last is not None, "there is always a first look"
    return last, at_ms


def _condition_of(until: str) -> Condition:
    """Condition that is waited for.

    Raises:
        UsageError: it is neither one of the words nor a condition.
    """
    word = until.strip().lower()
    if word.isidentifier() and word not in (*SHORTHANDS, *GROUP_FIELDS.names):
        near = guess(word, (*SHORTHANDS, *GROUP_FIELDS.names))
        raise UsageError(
            f"`--until {until}` is not a condition{near}",
            hint=f"use {', '.join(SHORTHANDS)}, or a condition such as `lag < 100`",
        )
    return parse_condition(SHORTHANDS.get(word, until), GROUP_FIELDS, "--until")


def _report(
    waited: Wait,
    snapshot: ClusterSnapshot,
    polls: Polls,
    ended_ms: float,
    errors: list[ItemError],
) -> Report:
    items = list(_items(waited, ended_ms))
    reached = sum(waited.reached(name, ended_ms) for name in waited.groups)
    return Report.of(
        snapshot,
        SCHEMA,
        items,
        (View("group", COLUMNS, lambda item: [_row(waited, item)]),),
        generated_at_ms=now_ms(),
        errors=errors,
        summary=lambda: {
            "groups": len(items),
            "reached": reached,
            "waited_seconds": round(ended_ms / 1_000, 3),
            "looks": polls.count,
        },
    )


def _items(waited: Wait, ended_ms: float) -> Iterator[Item]:
    for name, group in waited.groups.items():
        held_ms = None if group.since_ms is None else ended_ms - group.since_ms
        yield {
            "group": name,
            "holds": group.holds,
            "held_seconds": None if held_ms is None else round(held_ms / 1_000, 3),
            "figures": document_of(group.figures),
        }


def _row(waited: Wait, item: Item) -> Row:
    group = waited.groups[item["group"]]
    values = ", ".join(waited.condition.told(group.figures)) if group.figures else None
    holds = {True: "yes", False: "no", None: "unknown"}[item["holds"]]
    return (item["group"], holds, item["held_seconds"], values)
