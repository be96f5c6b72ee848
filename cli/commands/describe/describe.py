"""`kgroups describe`: offsets, members and state of groups."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from kgroups.cli.captures import Captures
from kgroups.cli.choosing import (
    AllGroups,
    Choice,
    GroupNames,
    Regex,
    choice_of,
    snapshot_of_choice,
)
from kgroups.cli.commands.describe import delivery_view
from kgroups.cli.commands.describe.describe_report import (
    VIEW_COLUMNS,
    describe_items,
    describe_report,
    largest_lag,
    notes,
    streams_notes,
    with_leader_ends,
)
from kgroups.cli.commands.describe.time_view import fields_shown
from kgroups.cli.commands.describe.topology_view import with_topologies
from kgroups.cli.contexts.several import each_context, show_found
from kgroups.cli.exits import Note
from kgroups.cli.expiry import EXPIRES, ShowExpiry, learn_expiries, refuse_file, with_expiries
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
from kgroups.cli.official.layouts import described_text
from kgroups.cli.output.chosen_fields import ChosenFields, FieldNames, chosen_fields
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.openmetrics import METRICS, TextFile
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import FromFile, options_of, split_names
from kgroups.cli.source import topics_of
from kgroups.cli.usage import Text, Texts, option
from kgroups.cli.watching import Watch, interval_ms
from kgroups.cli.where import Where, WhereText, parse_where
from kgroups.core.conditions.group_figures import isolation_for
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.group_item import View as ItemView
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.leader_ends import leader_ends
from kgroups.core.lag.held_back import held_notes, held_partitions
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.lag.uncommitted import uncommitted_notes
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.topic_cut import cut_to_topics

SCHEMA = "kgroups.describe/1"

HELP = """Describe groups: committed offsets, lag, members, state.

By default, shows one row per partition of the topics that a group reads or
has committed. Views combine, except in CSV. A group that does not exist is
reported on stderr (exit code 5) and the others are still shown. --topic
selects the groups that read a topic and shows only that topic; --where
selects those for which a condition holds, where `lag` is the group's sum
(`kgroups check --fields` lists the fields). --watch refreshes the view and
marks what changed; with JSON, each refresh is one document per line.
--output openmetrics prints metrics for Prometheus;
--textfile writes them to a file for node_exporter, whole or not at all.

EXAMPLES
  kgroups describe orders-app
  kgroups describe orders-app billing --members --verbose
  kgroups describe --all-groups --sort lag --top 20
  kgroups describe --all-groups --output json | jq '.summary'
  kgroups describe 'orders-*' --regex 'billing-[0-9]+'
  kgroups describe --topic payments
  kgroups describe billing --lag-time --over 10s
  kgroups describe --where 'lag > 10k or lost > 0'
  kgroups describe orders-app --watch 2
  kgroups describe orders-app --at 03:00 --captures ~/captures
  kgroups describe -- -odd-name

TIMES    (of partitions and of groups; null or - is unknown)
  --lag-time      age of the oldest unread record, from offsets by timestamp:
                  some 12 requests, DESCRIBE permission only, to within 1 %
  --record-times  the same from the record itself, which requires READ
  --over 10s      records per second in and out, and the time to catch up;
                  partitions that are stalled; rebalances seen
  --expiry        when commits are deleted: of groups without members, and of
                  topics that no member reads (reads __consumer_offsets)

THE PAST (--at 2h, --at 03:00, --at 2026-11-21T03:00Z)
  What the named groups had committed then, deleted ones too, from the records
  of __consumer_offsets (requires READ) and with --captures DIR from captures
  of `lag collect`. 03:00 is the last 03:00 in UTC, 03:00+02:00 elsewhere.
  Nothing is guessed; EXACTNESS says of each row:
  exact          the commit at that time; without an offset: there was none
  at_the_latest  so it stood at KNOWN-AT; commits after that may be missing
  unknown        compaction has removed what would tell it

VIEWS
  --offsets  committed offset, log end, lag and owner of each partition
  --members  members with their number of partitions and their lag
  --tasks    tasks of streams groups: active, standby, warm-up, with member;
             --verbose adds internal topics, and nodes if brokers keep them;
             STATE-LAG: records of the changelogs beyond the last STATE-OFFSET
             that the member told
  --deliveries
             records of share groups that are available again, acknowledged
             or archived, and how often they were delivered; what is not
             delivered yet or for the first time has no state
             (reads __share_group_state)
  --state    state, assignor, coordinator, number of members

LAG is log end minus committed offset, counted from the log start if the
committed records have expired. It is never negative; unknown (- or null) is
not 0. LOG-END is the high watermark: records beyond it are not on every
in-sync replica yet, and no consumer gets them; --verbose adds LEADER-END, the
end of the leader's log, where a broker tells it. A note names groups that an
open transaction holds back. A coordinator that moves causes no rebalance. The
committed offset of a share group is its start offset; what it acknowledged
beyond that is not in its lag.

STATUS           (shown if any partition is not ok)
  no_commit        nothing committed; see --uncommitted
  below_log_start  records expired before they were read; LOST counts them
  beyond_end       the committed offset is beyond the log end
  topic_missing    the topic or partition does not exist
  leaderless       the partition has no leader
  unknown          the commit or the log could not be read
  stalled          with --over: the commit stands still while records wait,
                   and a member owns the partition
  held             an open transaction, not the consumer, holds the partition:
                   the commit is the last stable offset (of named groups)
"""


def describe(
    ctx: typer.Context,
    groups: GroupNames = None,
    all_groups: AllGroups = False,
    regex: Regex = None,
    topic: Annotated[
        Texts, option("--topic TOPIC", "Groups that read TOPIC, and only this topic.")
    ] = None,
    offsets: Annotated[bool, option("--offsets", "Show partitions (default).")] = False,
    members: Annotated[bool, option("--members", "Show members.")] = False,
    tasks: Annotated[bool, option("--tasks", "Show tasks of streams groups.")] = False,
    deliveries: Annotated[bool, option("--deliveries", "Show deliveries of share groups.")] = False,
    state: Annotated[bool, option("--state", "Show the groups' state.")] = False,
    sort: Annotated[
        Literal["name", "lag"] | None, option("--sort", "Sort by name, or by lag, highest first.")
    ] = None,
    top: Annotated[
        int | None, option("--top N", "Show only the N rows with the highest lag.", min=1)
    ] = None,
    uncommitted: UncommittedAt = None,
    isolation: IsolationLevel = "read_uncommitted",
    where: WhereText = None,
    lag_time: LagTime = False,
    record_times: RecordTimes = False,
    over: Over = None,
    expiry: ShowExpiry = False,
    at: Annotated[Text, option("--at TIME", "What was committed then: 2h, 03:00.")] = None,
    captures: Captures = None,
    watch: Watch = None,
    fields: FieldNames = None,
    textfile: TextFile = None,
    file: FromFile = None,
) -> None:
    if at is not None or captures is not None:
        from kgroups.cli.commands.describe.moment_view import describe_at  # records: 40 ms

        describe_at(ctx, at, captures)
        return
    options = options_of(ctx, several=True)
    contexts = each_context(ctx, options, watch=watch, textfile=textfile, **{"from": file})
    printer = Printer(options, own_forms=METRICS, textfile=textfile)
    topics = split_names(topic)
    filtered = bool(topics) or where is not None
    choice = choice_of(groups, regex, every=all_groups or (filtered and not (groups or regex)))
    asked: dict[ItemView, bool] = {"state": state, "members": members, "tasks": tasks}
    asked["deliveries"] = deliveries
    views = [view for view, is_asked in asked.items() if is_asked]
    if offsets or not views:
        views.append("offsets")
    by_lag = sort == "lag" or top is not None
    if by_lag and not {"offsets", "members"} & {*views}:
        raise UsageError(
            f"the {views[0]} view cannot be sorted by lag", hint="add --offsets or --members"
        )
    if by_lag and options.output == "plain":
        raise UsageError("the official layout has a fixed order", hint="use --output table")
    kept = parse_where(where, uncommitted, isolation)
    question = time_question(
        lag_time=lag_time, record_times=record_times, over=over, file=file
    ).needed_by(set() if kept is None else kept.fields)
    if question.is_asked and "offsets" not in views:
        raise UsageError(
            "--lag-time, --record-times and --over require --offsets", hint="add --offsets"
        )
    refuse_file(expiry, file)
    delivery_view.refuse(deliveries, file, options.output)
    if expiry and "offsets" not in views:
        raise UsageError("--expiry requires --offsets", hint="add --offsets")
    dated = (EXPIRES.field,) if expiry and views[0] != "members" else ()
    columns = (*VIEW_COLUMNS[views[0]], *fields_shown(question), *dated)
    chosen = chosen_fields(fields, options, columns, len(views))
    request = Request(
        choice,
        topics,
        tuple(views),
        uncommitted,
        isolation,
        by_lag,
        top,
        file,
        kept,
        question,
        chosen,
        expiry,
    )
    every_ms = None if watch is None else interval_ms(watch, options.output, file)
    show_found(
        contexts, printer, file, every_ms, SCHEMA, lambda admin: look(printer, request, admin)
    )


class Request(NamedTuple):
    """Request to describe groups.

    Args:
        topics: only groups that read one of these, and only these; empty for all.
        top: only so many rows.
        where: only groups for which this holds.
        expiry: whether it is wanted when commits expire.
    """

    choice: Choice
    topics: tuple[str, ...]
    views: tuple[ItemView, ...]
    uncommitted: Uncommitted | None
    isolation: Isolation
    by_lag: bool
    top: int | None
    file: Path | None
    where: Where | None
    question: TimeQuestion
    chosen: ChosenFields
    expiry: bool = False


def _isolation(request: Request, admin: ClusterAdmin | None) -> Isolation:
    """The bounds to ask logs for: of few groups last stable offsets too, one request more each."""
    if admin is not None and "offsets" in request.views and request.choice.plain is not None:
        return "read_committed"
    fields = () if request.where is None else request.where.fields
    return isolation_for(fields, request.isolation)


def look(printer: Printer, request: Request, admin: ClusterAdmin | None) -> Report:
    """Report on the groups as they are now.

    Raises:
        ClusterError: a topic that is asked for may not be looked at.
        NotFoundError: it does not exist.
    """
    views = request.views
    needs_offsets = request.where is not None and request.where.needs_offsets
    with_offsets = set(views) != {"state"} or bool(request.topics) or needs_offsets

    def once() -> ClusterSnapshot:
        return snapshot_of_choice(
            admin,
            request.choice,
            file=request.file,
            offsets=with_offsets,
            isolation=_isolation(request, admin),
            progress=printer.progress,
        )

    snapshot, times = timed_look(printer, admin, request.question, once)
    if request.topics:
        _check_topics(request, admin, snapshot)
        snapshot = cut_to_topics(snapshot, request.topics)
    said: list[Note] = []
    if request.where is not None:
        snapshot = request.where.cut(snapshot, said.append, times)
    held = {group.group: held_partitions(snapshot, group) for group in snapshot.groups}
    said += (Note("HELD_BY_TRANSACTION", text) for text in held_notes(held))
    deliveries, unknown = delivery_view.learn_deliveries(printer, admin, snapshot, views)
    said += unknown
    items = describe_items(
        snapshot,
        views,
        uncommitted=request.uncommitted,
        isolation=request.isolation,
        times=times,
        held=held,
        deliveries=deliveries,
    )
    if request.by_lag:
        items = iter(largest_lag(list(items), request.top))
    report = describe_report(
        snapshot, views, items, schema=SCHEMA, by_lag=request.by_lag, question=request.question
    )

    def plain() -> Iterator[str]:
        return described_text(snapshot, views, verbose=printer.options.verbose)

    if request.expiry and admin is not None:
        expiries, untold = learn_expiries(printer, admin, snapshot.groups)
        report = with_expiries(report, snapshot, expiries)
        said += untold
    if printer.options.verbose and admin is not None and "offsets" in views:
        report = with_leader_ends(report, leader_ends(admin, snapshot.topics))
    report = with_topologies(request.chosen.of(report), printer, admin, snapshot)
    said += _notes(request, snapshot)
    told = printer.options.output in ("table", "plain")
    return replace(report, plain=plain, notes=[*said, *report.notes], tells_notes=told)


def _notes(request: Request, snapshot: ClusterSnapshot) -> Iterator[Note]:
    yield from notes(snapshot.groups)
    yield from streams_notes(snapshot, request.views)
    if "offsets" in request.views and request.uncommitted is None:
        for text in uncommitted_notes(snapshot, snapshot.groups):
            yield Note("UNCOMMITTED_PARTITIONS", text)
    if request.topics and request.where is None and not snapshot.groups:
        text = "no group reads " + ", ".join(f"`{name}`" for name in request.topics)
        yield Note("NO_GROUP_MATCHES", text)


def _check_topics(request: Request, admin: ClusterAdmin | None, snapshot: ClusterSnapshot) -> None:
    missing = [name for name in request.topics if name not in snapshot.topics]
    if missing and admin is not None:  # no group reads them: do they exist?
        known = admin.topics(missing)
        for name, code in known.failures.items():
            raise broker_error(name, code).as_error()
        missing = [name for name in missing if name not in known.topics]
    read = {topic for group in snapshot.groups for topic in topics_of(group)}
    missing = [name for name in missing if name not in read]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise NotFoundError(f"no such topic: {names}", code="UNKNOWN_TOPIC_OR_PARTITION")
