"""`kgroups remove-members`: remove members from a group."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgroups.cli.audit_log import tell
from kgroups.cli.commands.writes.plan_saving import SavePlan, save_plan
from kgroups.cli.commands.writes.writing import (
    Consent,
    DryRun,
    Execute,
    ask,
    count_results,
    files_of,
    preview,
)
from kgroups.cli.interruption import Interruption, not_waited_for
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster_to_change, now_ms
from kgroups.cli.tree import WriteCommand
from kgroups.core.errors import (
    EXIT_CODE_INTERRUPTED,
    ItemError,
    KgroupsError,
    NotFoundError,
    UsageError,
    exit_code_of,
)
from kgroups.core.member_ids import whole_id
from kgroups.core.offsets.result import Doubt, Result, result_of
from kgroups.core.saved_plans.plan_rows import row_of_member
from kgroups.core.snapshot import ClusterSnapshot, Group, Member

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin

SCHEMA = "kgroups.remove-members/1"

HELP = """Remove members from a group.

A member whose process still runs joins again: use this for static members
that are gone, or to force a rebalance. Every named member must exist before
the first is removed. Shows the plan and asks for confirmation unless --yes
(or --execute) is given; without a terminal and without --yes it does nothing
(exit code 2). Reads the group again afterwards.

RESULTS, one per member
  planned  would be removed (--dry-run)
  done     is removed
  refused  another member has taken its instance id  exit code 4
  failed   not there any more (5), or the broker did not do it
  skipped  you declined
  unknown  no answer within --timeout, so it may or may not be done (3)

EXAMPLES
  kgroups remove-members billing --instance till-1 --reason "host is gone"
  kgroups remove-members billing --member app-1-5c2f --yes
  kgroups remove-members billing --all --dry-run
"""

COLUMNS = (
    Column("group", "GROUP"),
    Column("member_id", "MEMBER", is_member=True),
    Column("instance_id", "INSTANCE", quiet=(None,)),
    Column("client_id", "CLIENT"),
    Column("host", "HOST"),
    Column("action"),
    Column("result", "RESULT"),
    Column("error", "ERROR", quiet=(None,)),
)


@dataclass(frozen=True, slots=True)
class Removal:
    """One member that is to be removed, and what became of it."""

    member: Member
    result: Result = "planned"
    error: ItemError | None = None


def register(app: typer.Typer) -> None:
    """Add `remove-members` to the program."""
    app.command("remove-members", help=HELP, cls=WriteCommand)(remove_members)


def remove_members(
    ctx: typer.Context,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="Group name.")],
    member: Annotated[
        list[str] | None,
        typer.Option("--member", metavar="ID", help="Member id, or the beginning of one."),
    ] = None,
    instance: Annotated[
        list[str] | None,
        typer.Option("--instance", metavar="ID", help="Instance id of a static member."),
    ] = None,
    all_members: Annotated[bool, typer.Option("--all", help="Every member of the group.")] = False,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="For the logs of broker and audit.")
    ] = "removed by kgroups",
    dry_run: DryRun = False,
    plan: SavePlan = None,
    yes: Execute = False,
) -> None:
    """`kgroups remove-members`."""
    options = options_of(ctx)
    printer = Printer(options)
    consent = Consent(yes=yes, dry_run=dry_run, plan=plan)
    if bool(member or instance) == all_members or not group:
        raise UsageError(
            "expected either members or --all", hint="use --member ID, --instance ID or --all"
        )
    consent.check(options)
    with cluster_to_change(options, dry_run=dry_run) as admin:
        looked = admin.snapshot([group], offsets=False, log_offsets=False)
        found = looked.needed(group)
        removals = [
            Removal(each) for each in chosen(found, member or (), instance or (), all_members)
        ]
        where = {"id": looked.cluster_id, "bootstrap": admin.settings.bootstrap_servers}
        carry_out_removals(printer, admin, consent, where, group, removals, reason)
    if not removals:
        printer.note("the group has no members")


def carry_out_removals(
    printer: Printer,
    admin: "ClusterAdmin",
    consent: Consent,
    where: Mapping[str, str | None],
    group: str,
    removals: Sequence[Removal],
    reason: str,
) -> None:
    """Preview, confirm, remove, look again, report, and end.

    Args:
        where: `id` and `bootstrap` of the cluster.
        reason: for the broker's log.
    Raises:
        typer.Exit: something failed, or the user declined.
    """
    dry_run = consent.dry_run
    planned = [each for each in removals if each.result == "planned"]
    held_back = not consent.keep_going and any(each.error is not None for each in removals)
    go = bool(planned) and not held_back
    agreed = go and not dry_run and (consent.yes or _confirmed(admin, group, planned))
    saved: Path | None = None
    if consent.plan is not None:
        rows = [row_of_member(group, each.member, reason) for each in planned]
        saved = save_plan(
            *(printer, consent.plan, "remove-members", rows),
            cluster_id=where["id"],
            blocked=held_back,
        )
    interruption = Interruption(admin)
    with interruption if agreed else nullcontext():
        if agreed:
            removals = _applied(admin, group, removals, reason, interruption)
        elif not dry_run:
            removals = [
                replace(each, result="skipped") if each.result == "planned" else each
                for each in removals
            ]
        tell((each.result for each in removals), reason=reason)
        errors = [each.error for each in removals if each.error is not None]
        files = files_of(consent, None, saved)
        printer.show(_report(group, removals, errors, where, files))
    if held_back and planned and not dry_run:
        printer.note("nothing was removed; use --keep-going to remove those that can be")
    interruption.end()
    code = exit_code_of(errors)
    if code:
        raise typer.Exit(code)
    if go and not dry_run and not agreed:
        raise typer.Exit(EXIT_CODE_INTERRUPTED)


def chosen(
    group: Group, members: Sequence[str], instances: Sequence[str], every: bool
) -> list[Member]:
    """The members that are named, in the order of the group.

    Raises:
        NotFoundError: one is not in the group.
        UsageError: several ids begin as one that is named.
    """
    here = group.members or ()
    ids, known = [each.member_id for each in here], {each.instance_id for each in here}
    named = {name: whole_id(name, ids, group.group) for name in members}
    missing = [name for name in members if named[name] is None]
    missing += [name for name in instances if name not in known]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise NotFoundError(
            f"group `{group.group}` has no member {names}",
            hint="`kgroups describe GROUP --members` lists its members",
            code="UNKNOWN_MEMBER_ID",
        )
    wanted = set(named.values())
    return [
        each for each in here if every or each.member_id in wanted or each.instance_id in instances
    ]


def _confirmed(admin: "ClusterAdmin", group: str, removals: Sequence[Removal]) -> bool:
    preview(COLUMNS, [_row(_item(group, each)) for each in removals])
    return ask(admin, f"Remove {len(removals)} member{'s' * (len(removals) != 1)} of `{group}`?")


def _applied(
    admin: "ClusterAdmin",
    group: str,
    removals: Sequence[Removal],
    reason: str,
    interruption: Interruption,
) -> list[Removal]:
    """The removals with the broker's answers, and with what the group looks like afterwards."""
    from kgroups.core.kafka.deadline import Attempts
    from kgroups.core.kafka.writes.member_removal import remove_members as send

    answers: Mapping[str, ItemError | None] | None
    members = [each.member for each in removals if each.result == "planned"]
    try:
        answers = interruption.send(lambda: send(admin, group, members, reason))
        if answers is None:
            answers = {each.member_id: not_waited_for(each.member_id) for each in members}
    except KgroupsError as error:
        failed = ItemError(group, error.code, error.message, error.hint, error.exit_code)
        answers = {each.member_id: failed for each in members}
    answered = [
        _answered(each, answers[each.member.member_id]) if each.result == "planned" else each
        for each in removals
    ]
    checked = [answered]

    def look() -> None:
        for _ in Attempts(admin.ends(), whole=True):
            with suppress(KgroupsError):
                looked = admin.snapshot([group], offsets=False, log_offsets=False)
                checked.append([_seen(each, looked, group) for each in answered])
            if not any(
                now.result == "unknown" or (was.result == "done" and now.result != "done")
                for was, now in zip(answered, checked[-1], strict=True)
            ):
                break

    interruption.look(look, None)
    return checked[-1]


def _answered(removal: Removal, error: ItemError | None) -> Removal:
    return replace(removal, result=result_of(error), error=error)


def _seen(removal: Removal, looked: ClusterSnapshot, group: str) -> Removal:
    """The removal after a look at the group: a member that is gone was removed."""
    if removal.result not in ("done", "unknown"):
        return removal
    gone = any(each.code == "GROUP_ID_NOT_FOUND" for each in looked.errors)
    found = looked.group(group)
    if (found is None and not gone) or (found is not None and found.members is None):
        return removal
    left = {each.member_id for each in (found.members if found else None) or ()}
    name = removal.member.member_id
    if name not in left:
        return _answered(removal, None)
    if isinstance(removal.error, Doubt):
        return _answered(removal, removal.error.refuted)
    return _answered(removal, ItemError(name, "NOT_VERIFIED", "removed, but still in the group"))


def _report(
    group: str,
    removals: Sequence[Removal],
    errors: Sequence[ItemError],
    where: Mapping[str, str | None],
    files: Mapping[str, str | None],
) -> Report:
    counts = count_results(each.result for each in removals)
    return Report(
        schema=SCHEMA,
        cluster=where,
        generated_at_ms=now_ms(),
        items=[_item(group, each) for each in removals],
        views=(View("member", COLUMNS, lambda item: [_row(item)]),),
        errors=errors,
        summary=lambda: {**counts, **files},
    )


def _item(group: str, removal: Removal) -> Item:
    return {
        "group": group,
        "member_id": removal.member.member_id,
        "instance_id": removal.member.instance_id,
        "client_id": removal.member.client_id,
        "host": removal.member.host,
        "action": "remove-members",
        "result": removal.result,
        "error": None if removal.error is None else removal.error.code,
    }


def _row(item: Item) -> Row:
    return tuple(item[column.field] for column in COLUMNS)
