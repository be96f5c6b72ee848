"""`kgroups reset-offsets`: reset committed offsets, undo a reset, finish an interrupted one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from kgroups.cli.captures import Captures
from kgroups.cli.choosing import Choice, GroupNames, Regex, choice_of, chosen
from kgroups.cli.commands.gates.polling import parse_wait_ms
from kgroups.cli.commands.writes.internal_topics import AllInternalTopics, InternalTopics
from kgroups.cli.commands.writes.lookups import (
    free_groups,
    read_logs,
    resolved,
    warn_of_unknown_ids,
)
from kgroups.cli.commands.writes.moment_targets import (
    asked_partitions,
    given_offsets,
    moment_item,
    moments_of,
    with_moments,
)
from kgroups.cli.commands.writes.offset_writes import (
    AllTopics,
    NoUndo,
    Topics,
    UndoDir,
    offset_write,
    uncollected,
    undo_dir_of,
    untold,
)
from kgroups.cli.commands.writes.prompts import Consent, DryRun, Execute, KeepGoing, SavePlan
from kgroups.cli.commands.writes.record_skips import (
    Limit,
    View,
    WhereHeader,
    WhereKey,
    offsets_of,
    passed_by,
    passed_items,
    search_of,
    with_passed,
)
from kgroups.cli.commands.writes.reset_request import Request, request_of
from kgroups.cli.commands.writes.share_effects import with_effects
from kgroups.cli.commands.writes.vigil import wait_until_empty
from kgroups.cli.commands.writes.writing import (
    Run,
    Write,
    carry_out,
    note_lost_acknowledgements,
    share_groups,
    with_internal_topics,
)
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster, cluster_to_change
from kgroups.cli.tree import WriteCommand
from kgroups.cli.usage import Text, option
from kgroups.cli.write_files import default_undo_dir, load_undo, newest_undo
from kgroups.core.errors import UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.offsets_by_time import offsets_at
from kgroups.core.kafka.lookups.record_search import Passed
from kgroups.core.kafka.reads.log_bounds import led_only
from kgroups.core.offsets.change import Change, Key
from kgroups.core.offsets.commit_rows import Replaced
from kgroups.core.offsets.reset import Known, committed_partitions, plan_reset
from kgroups.core.offsets.undo import KnownRows, plan_resume, plan_undo
from kgroups.core.offsets.write_file import WriteFile
from kgroups.core.snapshot import ClusterSnapshot, Group, Topic, TopicPartition

Passages = dict[Key, Passed | str]
MakeWrite = Callable[..., Write[Change]]
"""Makes the write of a run, given its topics."""

HELP = """Reset committed offsets, or undo a reset.

Checks everything before the first write: if a group has members or does not
exist, or a partition cannot be reset, nothing is changed, unless --keep-going
is given. Shows the plan and asks for confirmation unless --yes (or --execute)
is given; without a terminal and without --yes it does nothing (exit code 2).
Saves replaced offsets to an undo file first, and reads back what it wrote.

TARGETS (--to)
  earliest, latest      start or end of the log
  current               the committed offset, clamped to the log
  next, next:5          past the next record that can be read, or five
  first                 the first record with --where-header or --where-key
  1500                  an offset
  +10, -10              relative to the committed offset
  2026-11-21T06:00:00Z  the first record that is not older; needs a zone
  90m, 1h30m, PT2H      a duration ago
  file:PATH             lines `[group,]topic,partition,offset`
  group:NAME            the committed offsets of another group
  committed@03:00       what the group had committed then, deleted groups too
An offset outside the log is refused, or with --clamp moved to its edge. What
other targets give is clamped without being asked, and the row says so.

In a share group this sets start offsets, and forgets what was acknowledged or
archived beyond them: READS-AGAIN counts these records, which are delivered
again. --undo restores start offsets only.

--wait-empty 5m waits until the groups have no members, and names those that
remain; a group that still has members then is refused as usual. --watch-after
30s reports commits that overwrite the new offsets; those rows have failed.

next and first read the log from the commit on, over compacted and aborted
records and transactions' markers (READ on the topic is required), at most
--limit 1m records or, by --limit 30s, so long; rows say what they skip.

EXAMPLES
  kgroups reset-offsets billing --to earliest --topic orders:0,3-5 --dry-run
  kgroups reset-offsets billing --to next --topic orders:3
  kgroups reset-offsets billing --to first --where-header v=2 --topic orders:3
  kgroups reset-offsets billing --to committed@2h --captures ~/captures
  kgroups reset-offsets 'billing-*' --to earliest --all-topics --only-lagging
  kgroups reset-offsets billing --to 2h --all-topics --wait-empty 5m --yes
  kgroups reset-offsets billing --to 2h --all-topics --dry-run --plan p.json
  kgroups reset-offsets --undo last
  kgroups reset-offsets --resume ~/.local/state/kgroups/undo-….json

THE PAST (--to committed@03:00, the last 03:00 in UTC)
Reads __consumer_offsets (requires READ) and --captures, as `kgroups describe
--at` does; partitions of which it is not known are refused.

UNDO FILES (--undo, --resume)
--undo FILE restores the offsets in FILE, --undo last those in the newest
file of this cluster. --resume FILE finishes the reset recorded in FILE. A
row is refused, and the others are written, if its topic was deleted or
recreated since, or if the group has committed another offset since
(--overwrite-moved replaces that too).

RESULTS, one per partition
  planned  would be changed (--dry-run)
  done     is changed, and reads back so
  refused  the group has members, or a row of an undo file no longer applies
                                              exit code 4
  failed   not found (5), refused by the broker, or overwritten since
  skipped  already there, others could not be changed, or you declined
  unknown  no answer within --timeout, so it may or may not be done (3)
"""
COMMAND = WriteCommand
LAST = Path("last")
"""The argument of `--undo` for the newest undo file."""


def reset_offsets(
    ctx: typer.Context,
    groups: GroupNames = None,
    to: Annotated[Text, option("--to TARGET", "Where to: earliest, 2h, +100.")] = None,
    topic: Topics = None,
    all_groups: Annotated[
        bool, option("--all-groups", "Every group that committed offsets.")
    ] = False,
    regex: Regex = None,
    all_topics: AllTopics = False,
    only_lagging: Annotated[bool, option("--only-lagging", "Only partitions with lag.")] = False,
    clamp: Annotated[
        bool, option("--clamp", "Move an offset outside the log to its edge.")
    ] = False,
    where_header: WhereHeader = None,
    where_key: WhereKey = None,
    limit: Limit = None,
    isolation: View = "read_committed",
    internal_topic: InternalTopics = None,
    all_internal_topics: AllInternalTopics = False,
    captures: Captures = None,
    undo: Annotated[
        Path | None, option("--undo FILE", "Restore the offsets in FILE; `last`: the newest.")
    ] = None,
    resume: Annotated[
        Path | None, option("--resume FILE", "Finish the reset recorded in FILE.")
    ] = None,
    overwrite_moved: Annotated[
        bool, option("--overwrite-moved", "With --undo or --resume: replace newer commits too.")
    ] = False,
    wait_empty: Annotated[
        Text, option("--wait-empty TIME", "First wait this long for members to leave: 5m.")
    ] = None,
    watch_after: Annotated[
        Text, option("--watch-after TIME", "Then watch for other commits: 30s.")
    ] = None,
    undo_dir: UndoDir = None,
    no_undo: NoUndo = False,
    keep_going: KeepGoing = False,
    dry_run: DryRun = False,
    plan: SavePlan = None,
    yes: Execute = False,
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    consent = Consent(yes=yes, dry_run=dry_run, keep_going=keep_going, plan=plan)
    folder = undo_dir_of(undo_dir, no_undo=no_undo)
    alone = (groups, regex, topic, to, all_groups, all_topics, only_lagging, clamp)
    wheres = (where_header, where_key, limit, captures)
    internals = (internal_topic, all_internal_topics)
    old = choice = request = None
    file = undo or resume
    is_last = undo == LAST
    if file is None:
        if overwrite_moved:
            raise UsageError("--overwrite-moved requires --undo or --resume")
        choice = choice_of(groups, regex, every=all_groups)
        which = {"all_topics": all_topics, "only_lagging": only_lagging}
        request = request_of(to, topic or (), captures, **which)
        search = search_of(request.target, where_header, where_key, limit, isolation)
        request = replace(request, clamp=clamp, search=search, internal_topics=internals)
    elif any((*alone, *wheres, *internals)) or (undo and resume):
        raise UsageError(
            "--undo and --resume take no groups, topics or target: the file names them"
        )
    elif is_last and wait_empty is not None:
        raise UsageError("--wait-empty needs the undo file's name: --undo FILE")
    elif not is_last:
        with uncollected():
            old = load_undo(file)
    wait_ms = 0 if wait_empty is None else parse_wait_ms(wait_empty)
    watch_ms = 0 if watch_after is None else parse_wait_ms(watch_after)
    if wait_ms and not dry_run:
        with cluster(options, to_change=True) as admin:
            wait_until_empty(printer, admin, _waited_for(admin, choice, old), wait_ms)
    with uncollected(), cluster_to_change(options, dry_run=dry_run) as admin:
        run = Run(printer, admin, consent, None)
        if is_last:
            path, old = newest_undo(folder or default_undo_dir(), admin.cluster_id())
            printer.note("UNDOES", f"this undoes `{path}`", str(path))
        write = partial(offset_write, command="reset-offsets", undo_dir=folder, watch_ms=watch_ms)
        if old is not None:
            turn = plan_resume if undo is None else plan_undo
            _by_file(run, write, old, turn, overwrite_moved)
        elif choice is not None and request is not None:
            _reset(run, write, choice, request)


def _waited_for(
    admin: ClusterAdmin, choice: Choice | None, old: WriteFile | None
) -> list[str] | None:
    """The groups that must be empty; None for all."""
    if old is not None:
        return list(old.commits)
    return None if choice is None or choice.every else chosen(admin, choice)[0]


def _reset(run: Run, write: MakeWrite, choice: Choice, request: Request) -> None:
    """Put groups where the target says."""
    names, strangers = ([], []) if choice.every else chosen(run.admin, choice)
    other = [request.target.name] if request.target.kind == "group" else []
    looked = run.admin.snapshot(
        None if choice.every else [*names, *other],
        log_offsets=False,
        progress=run.printer.progress,
    )
    if choice.every:
        names = [group.group for group in looked.groups if group.offsets]
    absent = names if request.target.kind == "committed" else ()
    if absent:
        moments, lost = moments_of(run, names, request)
        request = replace(request, moments=moments)
        names, strangers = list(moments), [*strangers, *lost]
    passages: Passages = {}
    changes, topics = _reset_changes(
        run, looked, names, request, passages, in_use=run.consent.dry_run
    )
    changes = with_effects(run, looked, changes, topics)
    errors = [*strangers, *untold(looked, changes, may_be_absent=absent)]
    run.cluster_id = looked.cluster_id

    def passed(change: Change) -> Mapping[str, Any]:
        return {**passed_items(passages.get(change.key)), **moment_item(change, request.moments)}

    ready = write(run, topics=topics, more=passed)
    ready = with_internal_topics(ready, run, changes, *request.internal_topics)
    carry_out(run, ready, changes, errors, blocked=bool(strangers))


def _by_file(
    run: Run,
    write: MakeWrite,
    old: WriteFile,
    plan: Callable[[Group, Iterable[Replaced], KnownRows], list[Change]],
    overwrite_moved: bool,
) -> None:
    """Write what rows of an undo file mean.

    Raises:
        UsageError: the file is of another cluster.
    """
    names = list(old.commits)
    run.admin.types.update(old.types)
    looked = run.admin.snapshot(names, log_offsets=False, progress=run.printer.progress)
    if old.cluster_id is not None and old.cluster_id != looked.cluster_id:
        raise UsageError(
            f"the undo file is from cluster `{old.cluster_id}`, this is `{looked.cluster_id}`"
        )
    free, changes = free_groups(looked, names, create=True, types=old.types)
    topics = read_logs(run.admin, old.topics)
    known = KnownRows(topics, old.topic_ids, overwrite_moved)
    for group in free:
        changes += plan(group, old.commits[group.group], known)
    changes = with_effects(run, looked, changes, topics)
    if plan is plan_undo:  # also where the start offsets are still those
        note_lost_acknowledgements(run, share_groups(run.admin, changes))
    warn_of_unknown_ids(run.printer, "the undo file", topics, old.topic_ids)
    run.cluster_id = looked.cluster_id
    errors = untold(looked, changes, may_be_absent=old.commits)
    carry_out(run, write(run, topics=topics, row_by_row=True), changes, errors)


def _reset_changes(
    run: Run,
    looked: ClusterSnapshot,
    names: Sequence[str],
    request: Request,
    passages: Passages,
    *,
    in_use: bool,
) -> tuple[list[Change], dict[str, Topic]]:
    """The plan, and the topics that it is about.

    Args:
        passages: filled with what a search passes.
        in_use: plan for groups with members, too: each row is refused with them.
    """
    free, refused = free_groups(looked, names, create=bool(request.moments))
    held = {
        change.group: change.error
        for change in refused
        if in_use and change.error is not None and change.error.code == "NON_EMPTY_GROUP"
    }
    changes = [change for change in refused if change.group not in held]
    free += [group for group in looked.groups if group.group in held]
    given = {group.group: given_offsets(looked, group.group, request) for group in free}
    topics = read_logs(
        run.admin,
        request.scope.names
        or {
            topic
            for group in free
            for topic, _ in asked_partitions(group, given[group.group], request)
        },
        looked.topics,
    )
    at_time: Mapping[TopicPartition, int | None] = {}
    named = resolved(request.scope, topics)
    if request.target.kind == "time" and topics:
        at_time = offsets_at(run.admin, led_only(topics), request.target.number)
    shared = Known(topics, at_time)
    for group in free:
        own = given[group.group]
        if own or request.moments:
            partitions = asked_partitions(group, own, request)
        elif request.target.kind in ("file", "group"):
            partitions = []
        else:
            partitions = named or committed_partitions(group)
        found: Mapping[TopicPartition, Passed | str] = {}
        if request.search is not None:
            found = passed_by(run, group, partitions, topics, request.search)
            own = offsets_of(group, found)
            passages.update(((group.group, *at), passed) for at, passed in found.items())
        known = Known(topics, at_time, own) if own else shared
        planned = plan_reset(
            group,
            partitions,
            request.target,
            known,
            only_lagging=request.only_lagging,
            clamp=request.clamp or request.target.kind != "offset",
        )
        if request.search is not None:
            planned = [
                with_passed(change, passages.get(change.key), request.search) for change in planned
            ]
        planned = with_moments(planned, request.moments)
        error = held.get(group.group)
        changes += planned if error is None else [change.failed(error) for change in planned]
    return changes, topics
