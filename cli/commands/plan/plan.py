"""`kgroups plan`: what would the next rebalance do?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from kgroups.cli.choosing import AllGroups, chosen_groups
from kgroups.cli.commands.plan.assignor_check import check_report
from kgroups.cli.commands.plan.holders_report import KINDS, holders_report
from kgroups.cli.commands.plan.plan_options import ChangeTexts, changes_help, with_changes
from kgroups.cli.commands.plan.plan_report import (
    VIEWS,
    blocker_notes,
    confidence_notes,
    fault_notes,
    plan_report,
    shared_notes,
)
from kgroups.cli.commands.plan.plan_texts import PlanTexts, plan_all, read_source
from kgroups.cli.exits import end_with
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Item
from kgroups.cli.params import HtmlFile, assignor_names, options_of
from kgroups.cli.source import cluster
from kgroups.cli.usage import Text, Texts, argument, option
from kgroups.core.errors import UsageError
from kgroups.core.extras import require_extra
from kgroups.core.kafka.lookups.group_settings import with_settings
from kgroups.core.planning.confidence import DEFINITIONS
from kgroups.core.snapshot import ClusterSnapshot

SCHEMA = "kgroups.plan/1"
ASSIGNORS: Final = "Assignors"
VIEWED: Final = "Views"
FLEET: Final = "Fleet, with --all-groups --report"
"""Headings of options in the help."""
Grouping = Literal["member", "group", "client", "host", "assignor"]
CHECK_SCHEMA = "kgroups.assignor.check/1"

HELP = """Predict the next rebalance of a group.

Takes the group as it is now, from a snapshot, or from a scenario file,
applies the changes you name, and runs the group's assignor. Nothing is sent
to the group. With --from FILE and no GROUP, plans every group in the file.

EXAMPLES
  kgroups plan orders-app
  kgroups plan orders-app --add-members 2
  kgroups plan orders-app --add-members 2:app,client=librdkafka,rack=a
  kgroups plan orders-app --rolling-restart all --steps --html plan.html
  kgroups plan orders-app --to-protocol consumer --fail-on 'blockers > 0'
  kgroups plan orders-app --assignor range,roundrobin --metrics
  kgroups plan orders-app --set-partitions orders=48 --moves --output csv
  kgroups plan orders-app --drop-host 10.0.0.7 --fail-on 'moved > 10%'
  kgroups plan --from scenario.yaml --explain orders:3
  kgroups plan --all-groups --report --assignor range,cooperative-sticky
  kgroups plan --all-groups --report --by group --add-members 1

CHANGES, each repeatable; they happen in this order
{changes}

ASSIGNORS
  Default: the group's own. Several, separated by commas, are planned side by
  side. Your own: package.module:Class; --check-assignor tests it on 500
  groups. --as names the client library that leads a classic group: java,
  librdkafka, franz-go, sarama, kafka-python, aiokafka or kafkajs; java:2.3
  says of which release, java:all that all members use it, which matters once
  the leader leaves; default:
  inferred from its members and its leader's bytes, and where members use
  different libraries from the end of __consumer_offsets, which names the
  leader; --leader-from-log reads that log until it does. franz-go:racks and
  franz-go:no-racks also say whether applications use `BalanceRacks`.
  Java's assignors have faults (a partition assigned to a member that does not
  subscribe to it, or to two members); a plan avoids and reports them,
  --faithful reproduces them.

CONFIDENCE
  How sure a plan is; a note says why.
{confidence}

VIEWS
  --metrics, --members, --moves, --rounds, --outcomes, --steps (of a deploy)
  and --blockers (of a move to another protocol) select tables; default: the
  first three, and the last two where there are any. CSV shows members unless
  one is selected. --html writes a page: who owns what before, at each step,
  and after.
  --explain TOPIC:N explains why a partition goes where it goes.
  --fail-on exits with 6 if a condition holds in any outcome, or if that is
  unknown. Its fields are those of `metrics` in --output json.

STREAMS GROUPS
  Shows who will have which task: active or standby. Takes --add-members,
  --remove-member, --drop-host and --set-partitions; each new member counts as
  an instance of its own. Assigned as Kafka 4.4's coordinator does.

SHARE GROUPS
  Shows which members will share each partition, as Kafka 4.2 and newer assign
  them. Takes changes of members, subscriptions and topics; no restarts.

FLEET
  --all-groups --report plans every group with Apache Spark and reports
  current and planned lag, grouped --by member (default), group, client, host
  or assignor. Changes apply to every group where they make sense; groups
  where they cannot be applied are reported as errors.
""".format(
    changes=changes_help(),
    confidence="\n".join(f"  {word:9} {text}" for word, text in DEFINITIONS.items()),
)


OF_CONSUMERS: Final = {
    "leader": "--as",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            *("assignor", "leader_from_log", "faithful", "metrics", "members", "rounds"),
            *("outcomes", "steps", "blockers", "explain", "fail_on", "html"),
        )
    },
}
"""Options that only plans of consumer groups have, by parameter."""


@with_changes
def plan(
    ctx: typer.Context,
    groups: Annotated[Texts, argument("[GROUP]...", "Group names.")] = None,
    all_groups: AllGroups = False,
    assignor: Annotated[
        Texts, option("--assignor NAME", "Plan with these assignors.", ASSIGNORS)
    ] = None,
    leader: Annotated[
        Text, option("--as CLIENT", "Client library of the group's leader.", ASSIGNORS)
    ] = None,
    leader_from_log: Annotated[
        bool, option("--leader-from-log", "Read who leads from __consumer_offsets.", ASSIGNORS)
    ] = False,
    faithful: Annotated[
        bool, option("--faithful", "Reproduce faults of Java's assignors.", ASSIGNORS)
    ] = False,
    changes: ChangeTexts = {},  # noqa: B006 - replaced by an option for each change
    metrics: Annotated[bool, option("--metrics", "Show balance metrics.", VIEWED)] = False,
    members: Annotated[bool, option("--members", "Show each member's assignment.", VIEWED)] = False,
    moves: Annotated[bool, option("--moves", "Show partitions that change owner.", VIEWED)] = False,
    rounds: Annotated[
        bool, option("--rounds", "Show what is revoked and assigned in each round.", VIEWED)
    ] = False,
    outcomes: Annotated[bool, option("--outcomes", "Show every possible outcome.", VIEWED)] = False,
    steps: Annotated[bool, option("--steps", "Show each step of a deploy.", VIEWED)] = False,
    blockers: Annotated[
        bool, option("--blockers", "Show what blocks a move to another protocol.", VIEWED)
    ] = False,
    explain: Annotated[
        Texts, option("--explain TOPIC:N", "Explain why this partition goes where it goes.", VIEWED)
    ] = None,
    fail_on: Annotated[
        Texts, option("--fail-on EXPR", "Exit with 6 if this holds: 'moved > 10%'.")
    ] = None,
    check_assignor: Annotated[
        Text, option("--check-assignor NAME", "Test an assignor on generated groups.", ASSIGNORS)
    ] = None,
    report: Annotated[bool, option("--report", "Plan the fleet with Spark.", FLEET)] = False,
    by: Annotated[Grouping | None, option("--by KEY", "Group rows by this.", FLEET)] = None,
    top: Annotated[int, option("--top N", "Show only the first N rows.", FLEET, min=1)] = 100,
    master: Annotated[Text, option("--master URL", "Spark master.", FLEET)] = None,
    remote: Annotated[Text, option("--remote URL", "Spark Connect server.", FLEET)] = None,
    conf: Annotated[
        Texts, option("--conf KEY=VALUE", "A setting of Spark; repeatable.", FLEET)
    ] = None,
    html: HtmlFile = None,
    file: Annotated[
        Path | None, option("--from FILE", "Read a snapshot or a scenario instead.")
    ] = None,
) -> None:
    if html is not None:
        require_extra("html", "`--html`")
        if report or check_assignor is not None:
            raise UsageError("`--html` shows plans, not `--report` or `--check-assignor`")
    printer = Printer(options_of(ctx))
    if check_assignor is not None:
        checked = check_report(CHECK_SCHEMA, check_assignor)
        printer.show(checked)
        end_with(checked.errors)
        return
    texts = PlanTexts(
        leader=leader,
        leader_from_log=leader_from_log,
        changes=changes,
        explain=tuple(explain or ()),
        fail_on=tuple(fail_on or ()),
        faithful=faithful,
    )
    texts.check()
    if blockers and file is None and not texts.moves_to_protocol:
        raise UsageError("`--blockers` requires `--to-protocol`")
    assignors = assignor_names(assignor)
    if report:
        if not all_groups or groups:
            raise UsageError(
                "`--report` requires `--all-groups`", hint="use `--all-groups --report`"
            )
        texts.refuse_views("--report")
        from kgroups.cli.commands.plan.fleet_plan import FleetQuery, fleet_report

        query = FleetQuery(by or "member", assignors, top, master, remote, tuple(conf or ()))
        fleet_report(printer, query, file, texts)
        return
    if by or master or remote or conf:
        raise UsageError(
            "`--by`, `--master`, `--remote` and `--conf` require `--all-groups --report`"
        )
    everything = all_groups or (file is not None and not groups)
    names = chosen_groups(groups, all_groups=everything)
    source = read_source(printer, names, file, texts)
    if (kind := _only_type(source.snapshot)) in KINDS:
        _show_holders(printer, source.snapshot, texts, file, kind, ctx.params)
        return
    items, errors = plan_all(printer, source, texts, assignors, strict=not everything)
    asked = (metrics, members, moves, rounds, outcomes, steps, blockers, bool(explain))
    chosen = [view for view, wanted in zip(VIEWS, asked, strict=True) if wanted]
    chosen = chosen or _usual_views(items, printer.options.output)
    said = _said(items, about_blockers=blockers)
    shown = plan_report(SCHEMA, source.snapshot, items, errors, chosen)
    in_table = printer.options.output == "table"
    shown = replace(shown, notes=list(shared_notes(said)), tells_notes=in_table)
    if html is not None:
        from kgroups.cli.commands.plan.plan_page import plan_page  # Altair
        from kgroups.cli.pages.render import write_page

        write_page(html, plan_page(shown, items))
    printer.show(shown)
    end_with(errors)


def _show_holders(
    printer: Printer,
    snapshot: ClusterSnapshot,
    texts: PlanTexts,
    file: Path | None,
    kind: str,
    given: Mapping[str, object],
) -> None:
    """The plans of groups that are all of this kind, one of `KINDS`.

    Args:
        file: that the snapshot is from; None for a cluster, which knows their configurations.
        given: the parameters of the command.
    """
    for name, flag in OF_CONSUMERS.items():
        if given[name]:
            raise UsageError(f"`{flag}` does not work with {kind} groups")
    if file is None:
        with cluster(printer.options) as admin:
            snapshot = with_settings(admin, snapshot, strict=kind == "streams")
    planned = holders_report(KINDS[kind], snapshot, texts.parsed)
    printer.show(planned)
    end_with(planned.errors)


def _only_type(snapshot: ClusterSnapshot) -> str:
    """The type of all groups; empty where there are several, or no groups."""
    types = {group.type for group in snapshot.groups}
    return types.pop() if len(types) == 1 else ""


def _said(items: Sequence[Item], *, about_blockers: bool) -> list[tuple[str, str]]:
    """Group and sentence of what is said of each plan."""
    return [
        (item["group"], note)
        for item in items
        for note in (
            *confidence_notes(item),
            *item["notes"],
            *fault_notes(item),
            *blocker_notes(item, asked=about_blockers),
        )
    ]


def _usual_views(items: Sequence[Item], form: str) -> list[str]:
    """Which tables are shown where none is asked for."""
    if form == "csv":
        return ["members"]
    deployed = any(item["stages"] for item in items)
    blocked = any(item["blockers"] for item in items)
    chosen = ["metrics", "members", *(["stages"] if deployed else []), "moves"]
    return [*(["blockers"] if blocked else []), *chosen]
