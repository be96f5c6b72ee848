"""`kgroups remove-members`: remove members from a group."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from kgroups.cli.commands.writes.batches import Answers, Units, in_batches, look_again
from kgroups.cli.commands.writes.prompts import (
    Consent,
    DryRun,
    Execute,
    SavePlan,
    about_members,
)
from kgroups.cli.commands.writes.writing import Run, Write, carry_out
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Row
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster_to_change
from kgroups.cli.tree import WriteCommand
from kgroups.cli.usage import Texts, argument, option
from kgroups.core.errors import NotFoundError, RefusedError, UsageError
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.writes.member_removal import remove_members as send_removals
from kgroups.core.member_ids import whole_id
from kgroups.core.offsets.deletions import Removal, verify_removal
from kgroups.core.offsets.write_file import PlannedRemoval
from kgroups.core.snapshot import Group, Member

HELP = """Remove members from a group.

A member whose process still runs joins again: use this for static members
that are gone, or to force a rebalance. Kafka has no way to remove members of
share and streams groups. Every named member must exist before the first is
removed. Shows the plan and asks for confirmation unless --yes (or --execute)
is given; without a terminal and without --yes it does nothing (exit code 2).
Reads the group again afterwards.

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
COMMAND = WriteCommand

COLUMNS = (
    Column("group", "GROUP"),
    Column("member_id", "MEMBER", is_member=True),
    Column("instance_id", "INSTANCE", quiet=(None,)),
    Column("client_id", "CLIENT"),
    Column("host", "HOST"),
    Column("action"),
)


def remove_members(
    ctx: typer.Context,
    group: Annotated[str, argument("GROUP", "Group name.")],
    member: Annotated[Texts, option("--member ID", "Member id, or the beginning of one.")] = None,
    instance: Annotated[Texts, option("--instance ID", "Instance id of a static member.")] = None,
    all_members: Annotated[bool, option("--all", "Every member of the group.")] = False,
    reason: Annotated[
        str, option("--reason TEXT", "For the logs of broker and audit.")
    ] = "removed by kgroups",
    dry_run: DryRun = False,
    plan: SavePlan = None,
    yes: Execute = False,
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    consent = Consent(yes=yes, dry_run=dry_run, plan=plan)
    if bool(member or instance) == all_members or not group:
        raise UsageError(
            "expected either members or --all", hint="use --member ID, --instance ID or --all"
        )
    with cluster_to_change(options, dry_run=dry_run) as admin:
        looked = admin.snapshot([group], offsets=False, log_offsets=False)
        whole = looked.needed(group)
        if whole.type in ("share", "streams"):
            text = f"Kafka cannot remove members of {whole.type} groups"
            raise RefusedError(text, hint="stop their clients, or wait for the sessions to expire")
        members = chosen(whole, member or (), instance or (), all_members)
        run = Run(printer, admin, consent, looked.cluster_id)
        carry_out(run, removal_write(reason), [Removal(group, member) for member in members])


def removal_write(reason: str) -> Write[Removal]:
    """A removal of members.

    Args:
        reason: for the logs.
    """

    def apply(run: Run, removals: Sequence[Removal]) -> list[Removal]:
        return _apply(run, removals, reason)

    def rows(planned: Sequence[Removal]) -> Iterator[PlannedRemoval]:
        for group, member, *_ in planned:
            own = (member.member_id, member.instance_id, member.client_id, member.host)
            yield PlannedRemoval(group, *own, reason)

    return Write(
        command="remove-members",
        verb="remove",
        item="member",
        written="members are removed",
        columns=COLUMNS,
        row=_row,
        question=about_members,
        apply=apply,
        saved_rows=rows,
        reason=reason,
    )


def chosen(
    group: Group, members: Sequence[str], instances: Sequence[str], every: bool
) -> list[Member]:
    """The members that are named, in the order of the group.

    Raises:
        NotFoundError: one is not in the group.
        UsageError: several ids begin as one that is named.
    """
    here = group.members or ()
    ids, instances_here = [m.member_id for m in here], {member.instance_id for member in here}
    named = {name: whole_id(name, ids, group.group) for name in members}
    missing = [name for name in members if named[name] is None]
    missing += [name for name in instances if name not in instances_here]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise NotFoundError(
            f"group `{group.group}` has no member {names}",
            hint="`kgroups describe GROUP --members` lists its members",
            code="UNKNOWN_MEMBER_ID",
        )
    wanted = set(named.values())
    return [m for m in here if every or m.member_id in wanted or m.instance_id in instances]


def _apply(run: Run, removals: Sequence[Removal], reason: str) -> list[Removal]:
    group = removals[0].group

    def send(members: Units[Removal], _until: Deadline) -> Answers:
        wanted = [removal.member for own in members.values() for removal in own]
        return send_removals(run.admin, group, wanted, reason)

    answered = in_batches(
        run, removals, send, "removing", "members", lambda r: r.key, size=len(removals)
    )

    def look() -> list[Removal]:
        looked = run.admin.snapshot([group], offsets=False, log_offsets=False)
        return [verify_removal(removal, looked) for removal in answered]

    return look_again(run, answered, look)


def _row(removal: Removal) -> Row:
    member = removal.member
    return (
        removal.group,
        member.member_id,
        member.instance_id,
        member.client_id,
        member.host,
        "remove-members",
    )
