"""`kgroups delete`: plan, preview, confirm, apply, report."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from kgroups.cli.choosing import AllGroups, Choice, GroupNames, Regex, choice_of
from kgroups.cli.commands.writes.batches import in_batches
from kgroups.cli.commands.writes.refusals import explained, members_of
from kgroups.cli.commands.writes.writing import Consent, ask, count_results
from kgroups.cli.exits import end_with
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
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, ItemError, UsageError
from kgroups.core.offsets.result import result_of

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin
    from kgroups.core.kafka.deadline import Deadline

SCHEMA = "kgroups.delete/1"

HELP = """Delete groups and their committed offsets.

Checks every group first. If one has members or does not exist, nothing is
deleted, unless --keep-going is given. Shows the plan and asks for
confirmation unless --yes is given; without a terminal and without --yes it
does nothing (exit code 2). Deletes in batches; Ctrl-C stops after the current
batch and reports how far it got.

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
  kgroups delete --state Empty --yes --output json
"""

COLUMNS = (
    Column("group", "GROUP"),
    Column("action", "ACTION"),
    Column("result", "RESULT"),
    Column("error", "ERROR", quiet=(None,)),
)


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
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Continue if some cannot be deleted.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan and write nothing.")
    ] = False,
    yes: Yes = False,
) -> None:
    """`kgroups delete`."""
    options = options_of(ctx)
    printer = Printer(options)
    states = parse_choice(state, GROUP_STATES, "group state")
    choice = selection(groups, regex, all_groups=all_groups, states=states)
    Consent(yes=yes, dry_run=dry_run).check(options)
    with cluster_to_change(options, dry_run=dry_run) as admin:
        # 1. look at every group
        listing = admin.list_groups()
        where = {"id": listing.cluster_id, "bootstrap": admin.settings.bootstrap_servers}
        known = [g.group for g in listing.groups if not states or g.state in states]
        names, strangers = choice.among(known)
        deletions = plan_deletion(
            listing.groups,
            names,
            listing_failures=listing.errors,
            hidden=admin.hidden_groups(names, listing.groups),
        )
        deletions = explain(admin, deletions)
        # 2. refuse as a whole
        blocked = bool(strangers) or any(deletion.result != "planned" for deletion in deletions)
        go = not (blocked and not keep_going) and any(d.result == "planned" for d in deletions)
        # 3. preview and confirm, 4. apply
        agreed = go and not dry_run and (yes or confirm(printer, admin, deletions))
        interruption = Interruption(admin, "this batch")
        with interruption if agreed else nullcontext():
            if agreed:
                deletions = apply(printer, admin, deletions, interruption)
            elif not dry_run:
                deletions = skip_planned(deletions)
            # 5. report
            errors = [*errors_of(deletions), *strangers, *listing.errors]
            printer.show(delete_report(deletions, errors, where))
    if not deletions:
        printer.note("no group to delete")
    elif not agreed and blocked and any(deletion.result == "skipped" for deletion in deletions):
        printer.note("nothing was deleted; use --keep-going to delete the groups that can be")
    interruption.end()
    end_with(errors)
    if go and not dry_run and not agreed:
        raise typer.Exit(EXIT_CODE_INTERRUPTED)


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
        raise UsageError(what, hint="name groups, or use --all-groups or --state")
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
        summary=lambda: {**counts, "undo_file": None},
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
