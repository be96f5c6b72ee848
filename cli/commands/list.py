"""`kgroups list`: the groups of a cluster."""

from collections.abc import Callable, Iterable, Set
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple

import typer

from kgroups.cli.choosing import name_pattern, parse_states
from kgroups.cli.commands.describe.time_view import COLUMNS as TIME_COLUMNS
from kgroups.cli.commands.describe.time_view import fields_shown
from kgroups.cli.commands.list_report import (
    COLUMNS,
    FIGURES,
    SCHEMA,
    figures_shown,
    list_report,
    sorted_groups,
)
from kgroups.cli.contexts.several import each_context, show_found
from kgroups.cli.exits import Note, now_ms
from kgroups.cli.expiry import (
    EXPIRES,
    Expiries,
    IdleFor,
    ShowExpiry,
    idle_groups,
    learn_expiries,
    note_of_unknown,
    parse_idle_ms,
    refuse_file,
    with_expiries,
)
from kgroups.cli.lag_times import (
    LagTime,
    Over,
    RecordTimes,
    time_question,
    timed_look,
)
from kgroups.cli.official.layouts import list_text
from kgroups.cli.output.chosen_fields import FieldNames, chosen_fields
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.openmetrics import METRICS, TextFile
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import (
    GROUP_TYPES,
    FromFile,
    options_of,
    parse_choice,
    split_names,
)
from kgroups.cli.source import match_names, snapshot_of, topics_of
from kgroups.cli.usage import Text, Texts, argument, option
from kgroups.cli.watching import Watch, interval_ms
from kgroups.cli.where import Where, WhereText, parse_where
from kgroups.core.conditions.group_figures import (
    OFFSETS,
    Source,
    isolation_for,
    source_of_fields,
)
from kgroups.core.errors import UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.lag.group_times import Times
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import ClusterSnapshot, Group

HELP = """List consumer groups.

Lists groups of every type, sorted by name. PATTERN is a glob (quote it) or
plain text that a name contains; --regex is RE2 and matches whole names.
Filters combine: a group must match all of them. --where takes a condition
(`kgroups check --fields` lists the fields), and shows the figures it names.
--lag shows LAG, LAG-MAX, LOST and MEMBERS at the cost of `describe
--all-groups`; so does lag in --fields, --sort or --where. UNKNOWN counts the
partitions that LAG leaves out. --watch refreshes the list and marks what
changed; with JSON, each refresh is one document per line.
--idle-for 30d keeps groups that have had no members and no commits for at
least this long; --expiry shows when the broker deletes their commits. Both
read __consumer_offsets; a note names groups for which that is unknown.
--output openmetrics prints metrics for Prometheus, see --textfile.

STATES  Empty  PreparingRebalance  CompletingRebalance  Stable  Dead
        Assigning  Reconciling  NotReady   (`kgroups explain STATE`)
TYPES   classic   the classic protocol, rebalanced by the clients
        consumer  KIP-848, rebalanced by the broker
        share     KIP-932 queues
        streams   KIP-1071

Both take several values, separated by commas, in any case.

EXAMPLES
  kgroups list
  kgroups list 'orders-*' --state Stable
  kgroups list --state Empty,Dead --output csv
  kgroups list --topic payments      # groups that read this topic
  kgroups list --regex 'orders-[0-9]+' --sort state
  kgroups list --lag --sort lag --top 10
  kgroups list --fields group,lag
  kgroups list --where "state = 'Empty' and lag > 0"
  kgroups list --where 'lag_seconds > 5m' --lag-time
  kgroups list --idle-for 30d --expiry
  kgroups list --state PreparingRebalance --watch 2
"""

NO_MATCH: Final = Note("NO_GROUP_MATCHES", "no group matches")
NO_GROUPS: Final = Note("NO_GROUP_MATCHES", "there are no groups")


def list_command(
    ctx: typer.Context,
    pattern: Annotated[Text, argument("[PATTERN]", "Glob, or part of a name.")] = None,
    state: Annotated[Texts, option("--state STATE", "Only groups in these states.")] = None,
    type_: Annotated[Texts, option("--type TYPE", "Only groups of these types.")] = None,
    topic: Annotated[
        Texts, option("--topic TOPIC", "Only groups that read one of these topics.")
    ] = None,
    regex: Annotated[
        Text, option("--regex REGEX", "Only groups whose whole name matches (RE2).")
    ] = None,
    sort: Annotated[
        Literal["name", "state", "type", "coordinator", "lag", "lag-max", "lost", "member-count"],
        option("--sort", "Sort by this (figures: highest first), then by name."),
    ] = "name",
    top: Annotated[int | None, option("--top N", "Show only the first N groups.", min=1)] = None,
    where: WhereText = None,
    lag: Annotated[
        bool, option("--lag", "Show lag, largest lag, lost records and members.")
    ] = False,
    lag_time: LagTime = False,
    record_times: RecordTimes = False,
    over: Over = None,
    expiry: ShowExpiry = False,
    idle_for: IdleFor = None,
    watch: Watch = None,
    fields: FieldNames = None,
    textfile: TextFile = None,
    file: FromFile = None,
) -> None:
    options = options_of(ctx, several=True)
    contexts = each_context(ctx, options, watch=watch, textfile=textfile, **{"from": file})
    printer = Printer(options, own_forms=METRICS, textfile=textfile)
    filters = Filters(
        parse_states(state),
        parse_choice(type_, GROUP_TYPES, "group type"),
        frozenset(split_names(topic)),
        pattern,
        None if regex is None else name_pattern(regex),
        parse_where(where),
    )
    offered = (*COLUMNS, *((EXPIRES,) if expiry else ()))
    of_known = (column.field for column in offered)
    chosen = chosen_fields(fields, options, (*of_known, *FIGURES, *TIME_COLUMNS))
    if lag and options.output == "plain":
        raise UsageError("the official layout has no column for lag", hint="use --output table")
    by = sort.replace("-", "_")
    named, names, source = _wanted(filters, (by, *chosen.names), lag=lag)
    question = time_question(
        lag_time=lag_time, record_times=record_times, over=over, file=file
    ).needed_by(named)
    idle_ms = parse_idle_ms(idle_for)
    dated = expiry or idle_ms is not None
    refuse_file(dated, file)
    shown = fields_shown(question)

    def look(admin: ClusterAdmin | None) -> Report:
        timed = question.is_asked

        def once() -> ClusterSnapshot:
            return _listing(admin, printer, filters, file, source, named, timed=timed, dated=dated)

        listing, times = timed_look(printer, admin, question, once)
        said: list[Note] = []
        listing = filters.cut(listing, said.append, times)
        groups, figures = sorted_groups(listing, by, names, times)
        expiries: Expiries = {}
        if dated and admin is not None:
            expiries, untold = learn_expiries(printer, admin, groups, retention=expiry)
            said += untold
        if idle_ms is not None:
            groups, unknown = idle_groups(groups, expiries, listing.captured_at_ms, idle_ms)
            said += [note_of_unknown(unknown)] if unknown else []
        if not groups and not listing.errors:
            said.append(NO_MATCH if any(filters) or idle_ms is not None else NO_GROUPS)
        report = list_report(listing, groups[:top], figures, names, times, shown)
        report = chosen.of(with_expiries(report, listing, expiries) if expiry else report)

        def plain() -> tuple[str]:
            types, states = bool(filters.types), bool(filters.states)
            return (list_text(groups[:top], types=types, states=states),)

        return replace(report, plain=plain, notes=said)

    every_ms = None if watch is None else interval_ms(watch, options.output, file)
    show_found(contexts, printer, file, every_ms, SCHEMA, look)


def _wanted(
    filters: "Filters", names: Iterable[str], *, lag: bool
) -> tuple[set[str], tuple[str, ...], Source]:
    """The fields that the options name, the figures that are shown, and what is asked for both.

    Args:
        names: those of columns and of the order.
    """
    conditions = set() if filters.where is None else filters.where.fields
    named = {*names, *conditions}
    if "lag_seconds_method" in named:
        named.add("lag_seconds")
    shown = figures_shown(named, lag=lag)
    return named, shown, source_of_fields((*shown, *conditions))


class Filters(NamedTuple):
    """Filters that a group has to fit; empty ones fit all.

    Args:
        pattern: a glob or a part of its name.
    """

    states: tuple[str, ...]
    types: tuple[str, ...]
    topics: frozenset[str]
    pattern: str | None
    name: Callable[[str], bool] | None
    where: Where | None = None

    def cut(
        self, listing: ClusterSnapshot, note: Callable[[Note], None], times: Times | None
    ) -> ClusterSnapshot:
        """The groups that fit; the condition is asked of those that fit all else."""
        fitting = filter(self.fit, match_names(listing.groups, self.pattern))
        listing = replace(listing, groups=tuple(fitting))
        return listing if self.where is None else self.where.cut(listing, note, times)

    def fit(self, group: Group) -> bool:
        """Whether a group fits all of them, the pattern aside."""
        return (
            (not self.states or group.state in self.states)
            and (not self.types or group.type in self.types)
            and (not self.topics or not self.topics.isdisjoint(topics_of(group)))
            and (self.name is None or self.name(group.group))
        )


def _listing(
    admin: ClusterAdmin | None,
    printer: Printer,
    filters: Filters,
    file: Path | None,
    source: Source,
    named: Set[str],
    *,
    timed: bool,
    dated: bool = False,
) -> ClusterSnapshot:
    """Groups with what filters and figures need; `--topic` has to look into the groups.

    Args:
        source: what has to be asked for conditions and figures.
        named: these.
        timed: whether commits and logs are needed too, for figures of time.
        dated: whether commits are.
    """
    logs = timed or source in OFFSETS
    inside = logs or dated or bool(filters.topics) or source != "listing"
    if admin is None or inside:
        report = snapshot_of(
            admin,
            file=file,
            offsets=bool(filters.topics) or logs or dated,
            log_offsets=logs,
            isolation=isolation_for(named, "read_uncommitted"),
            progress=printer.progress,
        )
        if admin is None or not filters.topics:
            return report
        # Of a hidden topic brokers show no commits either, so its readers are not known.
        hidden = admin.topics(sorted(filters.topics)).failures
        errors = (broker_error(name, code) for name, code in hidden.items())
        return replace(report, errors=(*report.errors, *errors))
    listing = admin.list_groups(states=filters.states, types=filters.types)
    return ClusterSnapshot(
        captured_at_ms=now_ms(),
        groups=tuple(sorted(listing.groups, key=lambda group: group.group)),
        topics={},
        brokers=tuple(listing.brokers),
        cluster_id=listing.cluster_id,
        bootstrap=admin.settings.bootstrap_servers,
        errors=tuple(listing.errors),
    )
