"""`kgroups delete`: plan, preview, confirm, apply, report."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kgroups.cli.audit_log import tell
from kgroups.cli.choosing import AllGroups, Choice, GroupNames, Regex, choice_of
from kgroups.cli.commands.writes.batches import in_batches
from kgroups.cli.commands.writes.plan_saving import SavePlan, save_plan
from kgroups.cli.commands.writes.refusals import explained, members_of
from kgroups.cli.commands.writes.writing import Consent, DryRun, ask, count_results, files_of
from kgroups.cli.exits import end_with
from kgroups.cli.expiry import (
    IdleFor,
    idle_groups,
    learn_expiries,
    note_of_unknown,
    parse_idle_ms,
)
from kgroups.cli.interruption import Interruption
from kgroups.cli.official.layouts import deleted_text
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.escapes import for_stdout
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.cli.params import GROUP_STATES, Yes, options_of, parse_choice
from kgroups.cli.source import cluster_to_change, now_ms
from kgroups.cli.tree import WriteCommand
from kgroups.core.deletion import Deletion, apply_results, plan_deletion, skip_planned
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, ClusterError, ItemError, UsageError
from kgroups.core.offsets.result import result_of
from kgroups.core.saved_plans.plan_rows import rows_of_deletions
from kgroups.core.snapshot import Group

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin
    from kgroups.core.kafka.answers import GroupListing
    from kgroups.core.kafka.deadline import Deadline

SCHEMA = "kgroups.delete/1"

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

COLUMNS = (
    Column("group", "GROUP"),
    Column("action", "ACTION"),
    Column("result", "RESULT"),
    Column("error", "ERROR", quiet=(None,)),
)

_NO_FILES: Final[Mapping[str, str | None]] = {"undo_file": None}


def register(app: typer.Typer) -> None:
    """Add `delete` to the program."""
    app.command("delete", help=HELP, cls=WriteCommand)(delete)


def delete(
    ctx: typer.Context,
    groups: GroupNames = None,
    all_groups: AllGroups = False,
    regex: Regex = None,
    state: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="STATE", help="Every group in one of these states."),
    ] = None,
    idle_for: IdleFor = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Continue if some cannot be deleted.")
    ] = False,
    dry_run: DryRun = False,
    plan: SavePlan = None,
    yes: Yes = False,
) -> None:
    """`kgroups delete`."""
    options = options_of(ctx)
    printer = Printer(options)
    states = parse_choice(state, GROUP_STATES, "group state")
    idle_ms = parse_idle_ms(idle_for)
    alone = idle_ms is not None and not (groups or regex or states)
    choice = selection(groups, regex, all_groups=all_groups or alone, states=states)
    consent = Consent(yes=yes, dry_run=dry_run, keep_going=keep_going, plan=plan)
    consent.check(options)
    with cluster_to_change(options, dry_run=dry_run) as admin:
        listing = admin.list_groups()
        where = {"id": listing.cluster_id, "bootstrap": admin.settings.bootstrap_servers}
        known = [g.group for g in listing.groups if not states or g.state in states]
        names, strangers = choice.among(known)
        if idle_ms is not None:
            names = _idle(printer, admin, names, idle_ms)
        deletions = looked_at(admin, listing, names)
        errors = [*strangers, *listing.errors]
        carry_out_deletion(
            printer, admin, consent, where, deletions, errors, blocked=bool(strangers)
        )


def _idle(printer: Printer, admin: "ClusterAdmin", names: Sequence[str], idle_ms: int) -> list[str]:
    """Those of the groups that are known to have been idle for so long."""
    if not names:
        return []
    looked = admin.snapshot(names, log_offsets=False, progress=printer.progress)
    expiries, notes = learn_expiries(printer, admin, looked.groups, retention=False)
    found, unknown = idle_groups(looked.groups, expiries, looked.captured_at_ms, idle_ms)
    for text in notes:
        printer.note(text)
    missing = {error.target for error in looked.errors} & set(names)
    unknown += sorted(missing)
    if unknown:
        printer.note(note_of_unknown(unknown))
    return [group.group for group in found]


def looked_at(
    admin: "ClusterAdmin", listing: "GroupListing", names: Sequence[str]
) -> list[Deletion]:
    """The plan for the named groups: planned, refused with who is alive there, or not found."""
    hidden = admin.hidden_groups(names, listing.groups)
    known = {group.group for group in listing.groups} | {error.target for error in hidden}
    # Brokers may leave groups out of their listing while a coordinator changes.
    unlisted = [name for name in dict.fromkeys(names) if name not in known]
    groups = listing.groups
    if unlisted and not listing.errors:
        looked = admin.snapshot(unlisted, members=False, offsets=False, log_offsets=False)
        groups += looked.groups
        hidden += tuple(e for e in looked.errors if e.code != "GROUP_ID_NOT_FOUND")
    deletions = plan_deletion(groups, names, listing_failures=listing.errors, hidden=hidden)
    return explain(admin, deletions)


def carry_out_deletion(
    printer: Printer,
    admin: "ClusterAdmin",
    consent: Consent,
    where: Mapping[str, str | None],
    deletions: Sequence[Deletion],
    errors: Sequence[ItemError],
    *,
    blocked: bool = False,
) -> None:
    """Refuse as a whole or preview, confirm, apply, report, and end.

    Args:
        where: `id` and `bootstrap` of the cluster.
        errors: of the look at the cluster.
        blocked: whether something that was asked for cannot be done, besides what the plan says.
    Raises:
        typer.Exit: something failed, or the user declined.
    """
    dry_run = consent.dry_run
    blocked = blocked or any(each.error is not None for each in deletions)
    held_back = blocked and not consent.keep_going
    go = not held_back and any(each.result == "planned" for each in deletions)
    agreed = go and not dry_run and (consent.yes or confirm(printer, admin, deletions))
    saved = _save_plan(printer, admin, consent, where, deletions, blocked=held_back)
    interruption = Interruption(admin, "this batch")
    with interruption if agreed else nullcontext():
        if agreed:
            deletions = apply(printer, admin, deletions, interruption)
        elif not dry_run:
            deletions = skip_planned(deletions)
        tell(each.result for each in deletions)
        every_error = [*errors_of(deletions), *errors]
        files = files_of(consent, None, saved)
        printer.show(delete_report(deletions, every_error, where, files))
    if not deletions:
        printer.note("no group to delete")
    elif not agreed and blocked and any(deletion.result == "skipped" for deletion in deletions):
        printer.note("nothing was deleted; use --keep-going to delete the groups that can be")
    interruption.end()
    end_with(every_error)
    if go and not dry_run and not agreed:
        raise typer.Exit(EXIT_CODE_INTERRUPTED)


def _save_plan(
    printer: Printer,
    admin: "ClusterAdmin",
    consent: Consent,
    where: Mapping[str, str | None],
    deletions: Sequence[Deletion],
    *,
    blocked: bool,
) -> Path | None:
    """Save what is planned with what the groups have committed, if that is asked for."""
    if consent.plan is None:
        return None
    planned = [] if blocked else [each.group for each in deletions if each.result == "planned"]
    groups = committed_groups(admin, planned, printer)
    rows = rows_of_deletions(deletions, groups)
    return save_plan(printer, consent.plan, "delete", rows, cluster_id=where["id"], blocked=blocked)


def committed_groups(
    admin: "ClusterAdmin", names: Sequence[str], printer: Printer
) -> dict[str, Group]:
    """The groups with what they have committed.

    Raises:
        ClusterError: the commits of one could not be read.
    """
    if not names:
        return {}
    looked = admin.snapshot(names, members=False, log_offsets=False, progress=printer.progress)
    groups = {group.group: group for group in looked.groups}
    for name in names:
        group = looked.needed(name)
        if group.offsets is None and group.type != "share":
            raise ClusterError(f"the commits of `{name}` could not be read")
    return groups


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


def explain(admin: "ClusterAdmin", deletions: Sequence[Deletion]) -> list[Deletion]:
    """The deletions, where a refusal names the members that are alive."""
    members = members_of(admin, (each.group for each in deletions if each.result == "refused"))
    return [
        each
        if each.error is None
        else replace(each, error=explained(each.error, each.group, members))
        for each in deletions
    ]


def apply(
    printer: Printer,
    admin: "ClusterAdmin",
    deletions: Sequence[Deletion],
    interruption: Interruption,
) -> list[Deletion]:
    """The deletions with what became of the planned ones; skipped where Ctrl-C came before."""
    planned = [each.group for each in deletions if each.result == "planned"]

    def send(names: Sequence[str], until: "Deadline") -> Mapping[str, ItemError | None]:
        return {one.target: one.error for one in admin.delete_groups(names, until=until)}

    def parts(name: str) -> list[tuple[str, str]]:
        return [(name, name)]

    progress = in_batches(
        printer, interruption, "deleting", "groups", planned, send, parts, admin.ends()
    )
    left = set(planned[progress.sent :]) if interruption.asked else set()
    deletions = [
        replace(each, result="skipped") if each.group in left else each for each in deletions
    ]
    applied = apply_results(
        deletions, {name: (result_of(error), error) for name, error in progress.answers.items()}
    )
    late = [each for each in applied if each.group in progress.answers]
    if any(each.result == "refused" for each in late):
        refused = applied
        applied = interruption.look(lambda: explain(admin, refused), refused)
    return applied


def confirm(printer: Printer, admin: "ClusterAdmin", deletions: Sequence[Deletion]) -> bool:
    """Show on stderr what would be deleted, and ask."""
    planned = [deletion.group for deletion in deletions if deletion.result == "planned"]
    for name in planned:
        printer.note(f"group `{name}` and its committed offsets would be deleted")
    what = "this group" if len(planned) == 1 else f"these {len(planned)} groups"
    return ask(admin, f"Delete {what}?")


def errors_of(deletions: Sequence[Deletion]) -> list[ItemError]:
    """What went wrong, in the order of the groups."""
    return [
        deletion.error
        or ItemError(
            target=deletion.group,
            code="FAILED",
            message="the broker did not respond",
        )
        for deletion in deletions
        if deletion.error is not None or deletion.result == "failed"
    ]


def delete_report(
    deletions: Sequence[Deletion],
    errors: Sequence[ItemError],
    where: Mapping[str, str | None],
    files: Mapping[str, str | None] = _NO_FILES,
) -> Report:
    """What became of each group, as a `kgroups.delete/1` report."""
    counts = count_results(deletion.result for deletion in deletions)
    return Report(
        schema=SCHEMA,
        cluster=where,
        generated_at_ms=now_ms(),
        items=[delete_item(deletion) for deletion in deletions],
        views=(View("group", COLUMNS, _rows),),
        errors=errors,
        summary=lambda: {**counts, **files},
        plain=lambda: [_plain(deletions)],
    )


def _plain(deletions: Sequence[Deletion]) -> str:
    """The sentence of Kafka's tool; of a plan, the names."""
    if any(deletion.result == "planned" for deletion in deletions):
        shown = for_stdout()
        return "".join(f"{shown(d.group)}\n" for d in deletions if d.result == "planned")
    done = [deletion.group for deletion in deletions if deletion.result == "done"]
    return deleted_text(done, failed=len(done) < len(deletions))


def delete_item(deletion: Deletion) -> Item:
    """One group, as an item of `kgroups.delete/1`."""
    return {
        "group": deletion.group,
        "action": "delete",
        "result": deletion.result,
        "error": None if deletion.error is None else deletion.error.code,
    }


def _rows(item: Item) -> list[Row]:
    return [(item["group"], item["action"], item["result"], item["error"])]
