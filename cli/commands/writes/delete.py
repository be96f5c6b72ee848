"""`kgroups delete`: plan, preview, confirm, apply, report."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from kgroups.cli.choosing import AllGroups, Choice, GroupNames, Regex, choice_of, parse_states
from kgroups.cli.commands.writes.batches import Answers, Units, in_batches
from kgroups.cli.commands.writes.internal_topics import AllInternalTopics, InternalTopics
from kgroups.cli.commands.writes.prompts import Consent, DryRun, SavePlan, about_groups
from kgroups.cli.commands.writes.writing import Run, Write, carry_out, explain, with_internal_topics
from kgroups.cli.expiry import (
    IdleFor,
    idle_groups,
    learn_expiries,
    note_of_unknown,
    parse_idle_ms,
)
from kgroups.cli.official.layouts import deleted_text
from kgroups.cli.output.escapes import for_stdout
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column
from kgroups.cli.params import Yes, options_of
from kgroups.cli.source import cluster_to_change
from kgroups.cli.tree import WriteCommand
from kgroups.cli.usage import Texts, option
from kgroups.core.errors import ClusterError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.answers import GroupListing
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.offsets.commit_rows import GroupCommits, deleted_rows
from kgroups.core.offsets.deletions import Deletion, plan_deletion
from kgroups.core.offsets.drift import commits_of
from kgroups.core.offsets.result import planned_of
from kgroups.core.snapshot import Group

HELP = """Delete groups and their committed offsets.

Checks every group first. If one has members or does not exist, nothing is
deleted, unless --keep-going is given. --idle-for 30d deletes groups that have
had no members and no commits for at least this long, as __consumer_offsets
says; groups for which that is unknown are left out and named. Shows the plan
and asks for confirmation unless --yes is given; without a terminal and
without --yes it does nothing (exit code 2). Deletes in batches; Ctrl-C stops
after the current batch and reports how far it got.

RESULTS, one per group
  planned  would be deleted (--dry-run)
  done     is deleted
  refused  has members                        exit code 4
  failed   does not exist (5), or the broker did not do it
  skipped  not deleted because others could not be, or you declined (130)
  unknown  no answer within --timeout, so it may or may not be done (3)

EXAMPLES
  kgroups delete old-app
  kgroups delete old-app older-app --yes
  kgroups delete 'old-*' --regex 'test-[0-9]+' --dry-run
  kgroups delete --state Empty --dry-run
  kgroups delete --idle-for 30d --dry-run
  kgroups delete --state Empty --yes --output json
"""
COMMAND = WriteCommand

COLUMNS = (
    Column("group", "GROUP"),
    Column("action", "ACTION"),
)


def delete(
    ctx: typer.Context,
    groups: GroupNames = None,
    all_groups: AllGroups = False,
    regex: Regex = None,
    state: Annotated[Texts, option("--state STATE", "Every group in one of these states.")] = None,
    idle_for: IdleFor = None,
    internal_topic: InternalTopics = None,
    all_internal_topics: AllInternalTopics = False,
    keep_going: Annotated[
        bool, option("--keep-going", "Continue if some cannot be deleted.")
    ] = False,
    dry_run: DryRun = False,
    plan: SavePlan = None,
    yes: Yes = False,
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    states = parse_states(state)
    idle_ms = parse_idle_ms(idle_for)
    alone = idle_ms is not None and not (groups or regex or states)
    choice = selection(groups, regex, all_groups=all_groups or alone, states=states)
    consent = Consent(yes=yes, dry_run=dry_run, keep_going=keep_going, plan=plan)
    with cluster_to_change(options, dry_run=dry_run) as admin:
        listing = admin.list_groups()
        run = Run(printer, admin, consent, listing.cluster_id)
        known = [g.group for g in listing.groups if not states or g.state in states]
        names, strangers = choice.among(known)
        if idle_ms is not None:
            names = _idle(printer, admin, names, idle_ms)
        deletions = looked_at(admin, listing, names)
        write = with_internal_topics(
            deletion_write(run),
            run,
            planned_of(deletions),
            internal_topic,
            all_internal_topics,
        )
        errors = [*strangers, *listing.errors]
        carry_out(run, write, deletions, errors, blocked=bool(strangers))


def _idle(printer: Printer, admin: ClusterAdmin, names: Sequence[str], idle_ms: int) -> list[str]:
    """Those of the groups that are known to have been idle for so long."""
    if not names:
        return []
    looked = admin.snapshot(names, log_offsets=False, progress=printer.progress)
    expiries, notes = learn_expiries(printer, admin, looked.groups, retention=False)
    idle, unknown = idle_groups(looked.groups, expiries, looked.captured_at_ms, idle_ms)
    missing = {error.target for error in looked.errors} & set(names)
    unknown += sorted(missing)
    if unknown:
        notes.append(note_of_unknown(unknown))
    for note in notes:
        printer.note(note.code, note.message)
    return [group.group for group in idle]


def looked_at(admin: ClusterAdmin, listing: GroupListing, names: Sequence[str]) -> list[Deletion]:
    """The plan for the named groups: planned, refused with who is alive there, or not found."""
    hidden = admin.hidden_groups(names, listing.groups)
    listed = {group.group for group in listing.groups} | {error.target for error in hidden}
    # Brokers may leave groups out of their listing while a coordinator changes.
    unlisted = [name for name in dict.fromkeys(names) if name not in listed]
    groups = listing.groups
    if unlisted and not listing.errors:
        looked = admin.snapshot(unlisted, members=False, offsets=False, log_offsets=False)
        groups += looked.groups
        hidden += tuple(e for e in looked.errors if e.code != "GROUP_ID_NOT_FOUND")
    deletions = plan_deletion(groups, names, listing_failures=listing.errors, hidden=hidden)
    return explain(admin, deletions, set(names))


def deletion_write(run: Run) -> Write[Deletion]:
    """A deletion of groups."""

    def rows(planned: Sequence[Deletion]) -> Iterator[GroupCommits]:
        groups = committed_groups(run, [deletion.group for deletion in planned])
        for deletion in planned:
            commits = commits_of(groups.get(deletion.group))
            yield from deleted_rows(deletion.group, deletion.state, commits)

    return Write(
        command="delete",
        verb="delete",
        item="group",
        written="groups are deleted",
        columns=COLUMNS,
        row=lambda deletion: (deletion.group, "delete"),
        question=about_groups,
        apply=_apply,
        saved_rows=rows,
        plain=lambda deletions: [_plain(deletions)],
    )


def committed_groups(run: Run, names: Sequence[str]) -> dict[str, Group]:
    """The groups with what they have committed.

    Raises:
        ClusterError: the commits of one could not be read.
    """
    if not names:
        return {}
    progress = run.printer.progress
    looked = run.admin.snapshot(names, members=False, log_offsets=False, progress=progress)
    groups = {group.group: group for group in looked.groups}
    for name in names:
        group = looked.needed(name)
        if group.offsets is None:
            raise ClusterError(f"the commits of `{name}` could not be read")
    return groups


def _apply(run: Run, deletions: Sequence[Deletion]) -> list[Deletion]:
    def send(groups: Units[Deletion], until: Deadline) -> Answers:
        outcomes = run.admin.delete_groups(list(groups), until=until)
        return {outcome.target: outcome.error for outcome in outcomes}

    applied = in_batches(
        run, deletions, send, "deleting", "groups", lambda deletion: deletion.group
    )
    sent = {deletion.group for deletion in planned_of(deletions)}
    return run.interruption.look(lambda: explain(run.admin, applied, sent), applied)


def _plain(deletions: Sequence[Deletion]) -> str:
    """The sentence of Kafka's tool; of a plan, the names."""
    if planned := planned_of(deletions):
        shown = for_stdout()
        return "".join(f"{shown(deletion.group)}\n" for deletion in planned)
    done = [deletion.group for deletion in deletions if deletion.result == "done"]
    return deleted_text(done, failed=len(done) < len(deletions))


def selection(
    groups: list[str] | None, regex: list[str] | None, *, all_groups: bool, states: Sequence[str]
) -> Choice:
    """The groups that are meant, chosen in exactly one way.

    Raises:
        UsageError: in none or in several; an empty name.
    """
    ways = [bool(groups or regex), all_groups, bool(states)]
    if sum(ways) != 1:
        what = (
            "group names, --all-groups and --state cannot be used together"
            if any(ways)
            else "no group given"
        )
        raise UsageError(what, hint="name groups, or use --all-groups, --state or --idle-for")
    return choice_of(groups, regex, every=all_groups or bool(states))
