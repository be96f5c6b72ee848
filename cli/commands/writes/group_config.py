"""`kgroups config`: the configurations of a group, shown, set and unset."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from kgroups.cli.commands.writes.batches import Answers, Units, in_batches, look_again
from kgroups.cli.commands.writes.offset_writes import NoUndo, UndoDir, undo_dir_of
from kgroups.cli.commands.writes.prompts import Consent, DryRun, Execute, SavePlan
from kgroups.cli.commands.writes.writing import Run, Write, carry_out
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, plain_view
from kgroups.cli.params import options_of
from kgroups.cli.source import NO_GROUP, cluster, cluster_to_change
from kgroups.cli.tree import WriteCommand
from kgroups.cli.usage import Texts, argument, option
from kgroups.cli.write_files import default_undo_dir, load_undo, newest_undo
from kgroups.core.errors import ItemError, NotFoundError, UsageError, counted
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.lookups.dead_letters import DEAD_LETTER_TOPIC, no_dead_letters
from kgroups.core.kafka.lookups.group_settings import alter_settings, group_settings
from kgroups.core.offsets.group_settings import (
    SettingChange,
    is_used,
    plan_settings,
    saved_settings,
    undo_settings,
)
from kgroups.core.offsets.result import planned_of, seen
from kgroups.core.offsets.write_file import WriteFile
from kgroups.core.snapshot import GroupType

HELP = """Show or change the configurations of a group.

Shows each configuration that groups of this type use, with the value in force
and where it comes from: the group itself, its coordinator's settings, or
Kafka's default. --all shows those of other types too. A group need not exist:
what is set on its name holds once it does, and outlives it.

--set and --unset change what the group itself has, all of it or nothing. The
broker checks the values before you are asked. Shows the plan and asks for
confirmation unless --yes (or --execute) is given; without a terminal and
without --yes it changes nothing (exit code 2). Reads back what it wrote.
Needs Kafka 4.0 or newer.

SOURCE
  group                   set on the group
  dynamic_broker          set on the coordinator while it runs
  dynamic_default_broker  set on all brokers while they run
  static_broker           in the coordinator's properties file
  default                 Kafka's default

EXAMPLES
  kgroups config billing
  kgroups config billing --set consumer.session.timeout.ms=60000
  kgroups config sharers --set share.auto.offset.reset=earliest --yes
  kgroups config app --unset streams.num.standby.replicas --dry-run
  kgroups config billing --undo last

RESULTS, one per configuration
  planned  would be changed (--dry-run)
  done     is changed, and reads back so
  refused  --undo: was changed since          exit code 4
  failed   no such configuration (5), or refused by the broker
  skipped  has this value already, or you declined
  unknown  no answer within --timeout, so it may or may not be done (3)
"""
COMMAND = WriteCommand
LAST: Final = Path("last")

SHOWN = (
    Column("group"),
    Column("setting", "SETTING"),
    Column("value", "VALUE"),
    Column("source", "SOURCE"),
    Column("inherited_value", "INHERITED", quiet=(None,)),
    Column("inherited_from"),
)
CHANGED = (
    Column("group", "GROUP"),
    Column("setting", "SETTING"),
    Column("action"),
    Column("old_value", "OLD"),
    Column("new_value", "NEW"),
)


def config(
    ctx: typer.Context,
    group: Annotated[str, argument("GROUP", "Group name.")],
    given: Annotated[
        Texts, option("--set SETTING=VALUE", "Set a configuration on the group.")
    ] = None,
    unset: Annotated[Texts, option("--unset SETTING", "Remove what the group itself has.")] = None,
    undo: Annotated[
        Path | None, option("--undo FILE", "Restore the values in FILE; `last`: the newest.")
    ] = None,
    every: Annotated[
        bool, option("--all", "Show configurations of other types of groups too.")
    ] = False,
    undo_dir: UndoDir = None,
    no_undo: NoUndo = False,
    dry_run: DryRun = False,
    plan: SavePlan = None,
    yes: Execute = False,
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    consent = Consent(yes=yes, dry_run=dry_run, plan=plan)
    folder = undo_dir_of(undo_dir, no_undo=no_undo)
    wanted = _wanted(given or (), unset or ())
    if undo is not None and wanted:
        raise UsageError("--undo takes no --set or --unset: the file names the configurations")
    if not wanted and undo is None:
        with cluster(options) as admin:
            _show(printer, admin, group, every=every)
        return
    if every:
        raise UsageError("--all only shows configurations: it takes no --set, --unset or --undo")
    old = None if undo in (None, LAST) else load_undo(undo, of_settings=True)
    with cluster_to_change(options, dry_run=dry_run) as admin:
        run = Run(printer, admin, consent, admin.cluster_id())
        if undo == LAST:
            directory = folder or default_undo_dir()
            path, old = newest_undo(directory, run.cluster_id, of_settings=True)
            printer.note("UNDOES", f"this undoes `{path}`", str(path))
        settings = group_settings(admin, group)
        if old is None:
            changes = plan_settings(group, settings, wanted, _type_of(run, group))
            _say_dead_letters(printer, admin, group, wanted.get(DEAD_LETTER_TOPIC))
        else:
            changes = undo_settings(_rows_of(old, group, run.cluster_id), settings)
        carry_out(run, settings_write(folder), validated(admin, changes))


def _wanted(given: Sequence[str], unset: Sequence[str]) -> dict[str, str | None]:
    """The group's own values that are asked for; None unsets one.

    Raises:
        UsageError: a text that is no `SETTING=VALUE`, or a configuration that is named twice.
    """
    wanted: dict[str, str | None] = {}
    for name, equals, value in [
        *(text.partition("=") for text in given),
        *((n, "", "") for n in unset),
    ]:
        if not name or (not equals and name not in unset):
            raise UsageError(f"`{name}{equals}{value}` is not SETTING=VALUE")
        if name in wanted:
            raise UsageError(f"`{name}` is named twice")
        wanted[name] = value if equals else None
    return wanted


def _type_of(run: Run, group: str) -> GroupType | None:
    """The type of a group; None for one that does not exist, which is said."""
    looked = run.admin.snapshot([group], members=False, offsets=False, log_offsets=False)
    if any(error.code == NO_GROUP for error in looked.errors):
        run.printer.note("NO_SUCH_GROUP", f"no such group: `{group}`", group)
        return None
    return looked.needed(group).type


def _rows_of(old: WriteFile, group: str, cluster_id: str | None) -> list[Any]:
    """The rows of an undo file that are about a group.

    Raises:
        UsageError: the file is of another cluster.
        NotFoundError: it has none.
    """
    if old.cluster_id != cluster_id:
        raise UsageError(
            f"the undo file is from cluster `{old.cluster_id}`, this is `{cluster_id}`"
        )
    rows = [row for row in old.settings if row.group == group]
    if not rows:
        names = ", ".join(sorted({f"`{row.group}`" for row in old.settings}))
        raise NotFoundError(f"the undo file has nothing of group `{group}`", hint=f"it has {names}")
    return rows


def _show(printer: Printer, admin: ClusterAdmin, group: str, *, every: bool) -> None:
    settings = group_settings(admin, group)
    run = Run(printer, admin, Consent(yes=False, dry_run=True), admin.cluster_id())
    kind = _type_of(run, group)
    if kind == "classic":
        text = f"`{group}` is a classic group: it uses none of these, its clients have their own"
        printer.note("NOT_USED", text, group)
    if kind == "share" and DEAD_LETTER_TOPIC in settings:
        _say_dead_letters(printer, admin, group, settings[DEAD_LETTER_TOPIC].value)
    items = [
        {
            "group": group,
            "setting": name,
            "value": setting.value,
            "source": setting.source,
            "inherited_value": None if setting.own is None else setting.inherited,
            "inherited_from": setting.inherited_from,
        }
        for name, setting in settings.items()
        if every or setting.own is not None or kind == "classic" or is_used(name, kind)
    ]
    printer.show(
        Report(
            "kgroups.config/1",
            items,
            (plain_view("setting", SHOWN),),
            cluster=run.cluster,
            summary=lambda: {
                "type": kind,
                "settings": len(items),
                "set_on_group": sum(item["source"] == "group" for item in items),
            },
        )
    )


def _say_dead_letters(printer: Printer, admin: ClusterAdmin, group: str, topic: str | None) -> None:
    for text in no_dead_letters(admin, {group: topic} if topic else {}):
        printer.note("NO_DEAD_LETTERS", text, group)


def validated(admin: ClusterAdmin, changes: Sequence[SettingChange]) -> list[SettingChange]:
    """The changes, where the broker would not take the planned ones failed with its reason."""
    error = _sent(admin, planned_of(changes), validate_only=True)
    if error is None:
        return list(changes)
    return [change.failed(error) if change.result == "planned" else change for change in changes]


def _sent(
    admin: ClusterAdmin, planned: Sequence[SettingChange], *, validate_only: bool = False
) -> ItemError | None:
    if not planned:
        return None
    wanted = {change.setting: change.new for change in planned}
    return alter_settings(admin, planned[0].group, wanted, validate_only=validate_only)


def settings_write(undo_dir: Path | None) -> Write[SettingChange]:
    """A write of configurations of one group.

    Args:
        undo_dir: where the undo file goes; None for none.
    """
    return Write(
        command="config",
        verb="change",
        item="setting",
        written="configurations are changed",
        columns=CHANGED,
        row=lambda change: (change.group, change.setting, "config", change.old, change.new),
        question=lambda planned: (
            f"Change {counted(len(planned), 'configuration')} of `{planned[0].group}`?"
        ),
        apply=_apply,
        saved_rows=saved_settings,
        is_in_place=lambda change: change.old == change.new,
        undo_dir=undo_dir,
        is_resumable=False,
    )


def _apply(run: Run, changes: Sequence[SettingChange]) -> list[SettingChange]:
    def send(units: Units[SettingChange], _until: Deadline) -> Answers:
        return {group: _sent(run.admin, planned) for group, planned in units.items()}

    def group_of(change: SettingChange) -> str:
        return change.group

    answered = in_batches(run, changes, send, "writing", "groups", group_of, whole=group_of)

    def look() -> list[SettingChange]:
        own = {name: s.own for name, s in group_settings(run.admin, changes[0].group).items()}
        return [
            seen(change, is_done=True, text="")
            if own.get(change.setting) == change.new
            else seen(change, is_done=False, text=f"reads back as `{own.get(change.setting)}`")
            if change.result in ("done", "unknown")
            else change
            for change in answered
        ]

    return look_again(run, answered, look)
