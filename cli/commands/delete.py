"""`kgroups delete`: plan, preview, confirm, apply, report."""

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from kgroups.cli.exits import end_with
from kgroups.cli.official.layouts import deleted_text
from kgroups.cli.output import Printer, Report
from kgroups.cli.params import GROUP_STATES, Yes, options_of, parse_choice
from kgroups.cli.source import cluster, now_ms
from kgroups.cli.table import Column, Item, Row, View
from kgroups.cli.tree import Command
from kgroups.core.deletion import Deletion, apply_results, plan_deletion, skip_planned
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, ItemError, UsageError

SCHEMA = "kgroups.delete/1"

HELP = """Delete groups with their committed offsets.

Every group is looked at before the first is deleted. If one has members or
does not exist, nothing is deleted, unless --keep-going asks for the others.
Then the plan is shown and you are asked; --yes does not ask. Without a
terminal and without --yes nothing is done (exit code 2).

RESULTS, one a group
  planned  would be deleted (--dry-run)
  done     is deleted
  refused  has members                        exit code 4
  failed   does not exist (5), or the broker did not do it
  skipped  could be deleted, but others could not, or you said no (130)

EXAMPLES
  kgroups delete old-app
  kgroups delete old-app older-app --yes
  kgroups delete --state Empty --dry-run
  kgroups delete --state Empty --yes --output json
"""

COLUMNS = (
    Column("group", "GROUP"),
    Column("action", "ACTION"),
    Column("result", "RESULT"),
    Column("error", "ERROR", quiet=(None,)),
)
RESULTS = ("planned", "done", "refused", "failed", "skipped")


def register(app: typer.Typer) -> None:
    """Add `delete` to the program."""
    app.command("delete", help=HELP, cls=Command)(delete)


def delete(
    ctx: typer.Context,
    groups: Annotated[
        list[str] | None, typer.Argument(metavar="[GROUP]...", help="Names of groups.")
    ] = None,
    all_groups: Annotated[
        bool, typer.Option("--all-groups", help="Every group of the cluster.")
    ] = False,
    state: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="STATE", help="Every group in one of these states."),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Delete what can be, whatever the others.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the plan.")] = False,
    yes: Yes = False,
) -> None:
    """`kgroups delete`."""
    options = options_of(ctx)
    printer = Printer(options)
    states = parse_choice(state, GROUP_STATES, "group state")
    names = list(dict.fromkeys(groups or ()))
    check_selection(names, all_groups=all_groups, states=states)
    if not (yes or dry_run or sys.stdin.isatty()):
        raise UsageError(
            "nobody can be asked: there is no terminal",
            hint="--yes deletes without asking, --dry-run only shows the plan",
        )
    with cluster(options) as admin:
        # 1. look at every group
        listing = admin.list_groups()
        where = {"id": listing.cluster_id, "bootstrap": admin.settings.bootstrap_servers}
        if not names:
            names = [g.group for g in listing.groups if not states or g.state in states]
        deletions = plan_deletion(listing.groups, names, listing_failures=listing.errors)
        agreed = False
        # 2. refuse as a whole
        blocked = any(deletion.result != "planned" for deletion in deletions)
        go = not (blocked and not keep_going) and any(d.result == "planned" for d in deletions)
        if not dry_run:
            # 3. preview and confirm, 4. apply
            agreed = go and (yes or confirm(printer, deletions))
            if agreed:
                planned = [d.group for d in deletions if d.result == "planned"]
                outcomes = admin.delete_groups(planned)
                deletions = apply_results(
                    deletions, {o.target: (o.result, o.error) for o in outcomes}
                )
            else:
                deletions = skip_planned(deletions)
    # 5. report
    errors = [*errors_of(deletions), *listing.errors]
    printer.show(delete_report(deletions, errors, where))
    if not deletions:
        printer.note("no group to delete")
    elif blocked and any(deletion.result == "skipped" for deletion in deletions):
        printer.note("nothing was deleted; --keep-going deletes the groups that can be")
    end_with(errors)
    if go and not dry_run and not agreed:
        raise typer.Exit(EXIT_CODE_INTERRUPTED)


def check_selection(names: Sequence[str], *, all_groups: bool, states: Sequence[str]) -> None:
    """See that the groups are chosen in exactly one way.

    Raises:
        UsageError: in none or in several; an empty name.
    """
    ways = [bool(names), all_groups, bool(states)]
    if sum(ways) != 1:
        what = "groups are chosen in several ways" if any(ways) else "no group is named"
        raise UsageError(what, hint="name the groups, or say --all-groups, or --state Empty")
    if "" in names:
        raise UsageError("a group's name cannot be empty")


def confirm(printer: Printer, deletions: Sequence[Deletion]) -> bool:
    """Show on stderr what would be deleted, and ask."""
    planned = [deletion.group for deletion in deletions if deletion.result == "planned"]
    for name in planned:
        printer.note(f"group `{name}` and its committed offsets would be deleted")
    what = "this group" if len(planned) == 1 else f"these {len(planned)} groups"
    return typer.confirm(f"Delete {what}?", err=True)


def errors_of(deletions: Sequence[Deletion]) -> list[ItemError]:
    """What went wrong, in the order of the groups."""
    return [
        deletion.error
        or ItemError(
            target=deletion.group,
            code="FAILED",
            message="the broker gave no answer",
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
    counts = {result: sum(d.result == result for d in deletions) for result in RESULTS}
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
        return "".join(f"{d.group}\n" for d in deletions if d.result == "planned")
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
