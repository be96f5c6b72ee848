"""`kgroups plan`: what would the next rebalance do?"""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from kgroups.cli.assignor_check import check_report
from kgroups.cli.commands.describe import chosen_groups
from kgroups.cli.exits import end_with
from kgroups.cli.fleet_plan import FleetQuery, fleet_report
from kgroups.cli.output import Printer
from kgroups.cli.params import options_of, split_names
from kgroups.cli.plan_texts import PlanTexts, plan_all, read_source
from kgroups.cli.planned import plan_report
from kgroups.cli.tree import Command
from kgroups.core.errors import UsageError

SCHEMA = "kgroups.plan/1"
CHECK_SCHEMA = "kgroups.assignor.check/1"

Grouping = Literal["member", "group", "client", "host", "assignor"]

HELP = """Show what the next rebalance of a group would do, before it happens.

The group is taken as it is now, from a snapshot file, or from a scenario on
paper; then the changes that you name happen, and its assignor runs. Nothing
is sent to the group. With --from FILE and without GROUP every group of the
file is planned.

CHANGES, each may be given several times
  --add-members N[:CLIENT[@RACK]]  N members join
  --remove-member ID               a member leaves, by member id, instance id
                                   or client id; a number: so many leave
  --drop-host HOST                 every member on a host leaves
  --set-partitions TOPIC=N         a topic gets N partitions
  --add-topic TOPIC=N              a topic is created
  --subscribe [MEMBER=][+]TOPIC[,TOPIC...]
                                   members read other topics, or (+) more
  --pattern [DIALECT:]REGEX        members subscribe by a pattern: java,
                                   librdkafka or re2. Classic groups do not
                                   show theirs, so it has to be said.

ASSIGNORS
  Several by commas are planned side by side; default: the group's own. One
  of your own: package.module:Class. --check-assignor tries it on 500 groups.
  --as says whose client leads a classic group: java, librdkafka, franz-go,
  sarama, kafka-python or aiokafka; default: inferred from its members.

CONFIDENCE
  exact     follows from what is known
  outcomes  depends on ids that do not exist yet; --outcomes shows them all
  likely    client libraries that may lead disagree (see --as), or there are
            too many orders of ids to try all
  counts    how many partitions members get is sure, which ones is not

VIEWS
  --metrics, --members, --moves, --rounds and --outcomes choose tables;
  default: the first three. CSV holds the members unless one is chosen.
  --explain TOPIC:N says why a partition goes where it goes.
  --fail-on ends with 6 if a condition holds in any outcome, or if that is
  not known. Its figures are those of `metrics` in --output json.

FLEET
  --all-groups --report plans every group inside Apache Spark and reports lag
  as it is beside lag as it would be, by --by member (default), group,
  client, host or assignor.

EXAMPLES
  kgroups plan orders-app
  kgroups plan orders-app --add-members 2
  kgroups plan orders-app --assignor range,roundrobin --metrics
  kgroups plan orders-app --set-partitions orders=48 --moves --output csv
  kgroups plan orders-app --drop-host 10.0.0.7 --fail-on 'moved > 10%'
  kgroups plan --from scenario.yaml --explain orders:3
  kgroups plan --all-groups --report --assignor range,cooperative-sticky
"""


def register(app: typer.Typer) -> None:
    """Add `plan` to the program."""
    app.command("plan", help=HELP, cls=Command)(plan)


def _texts(flag: str, metavar: str, help: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=help)


Texts = list[str] | None


def plan(
    ctx: typer.Context,
    groups: Annotated[Texts, typer.Argument(metavar="[GROUP]...", help="Names of groups.")] = None,
    all_groups: Annotated[
        bool, typer.Option("--all-groups", help="Every group of the cluster.")
    ] = False,
    assignor: Annotated[Texts, _texts("--assignor", "NAME", "Plan with these assignors.")] = None,
    leader: Annotated[
        str | None, _texts("--as", "CLIENT", "Client library of the group's leader.")
    ] = None,
    add_members: Annotated[Texts, _texts("--add-members", "N", "Members that join.")] = None,
    remove_member: Annotated[
        Texts, _texts("--remove-member", "ID|N", "Members that leave.")
    ] = None,
    drop_host: Annotated[Texts, _texts("--drop-host", "HOST", "Hosts whose members leave.")] = None,
    set_partitions: Annotated[
        Texts, _texts("--set-partitions", "TOPIC=N", "Topics that grow.")
    ] = None,
    add_topic: Annotated[
        Texts, _texts("--add-topic", "TOPIC=N", "Topics that are created.")
    ] = None,
    subscribe: Annotated[Texts, _texts("--subscribe", "TOPICS", "What members read.")] = None,
    pattern: Annotated[
        Texts, _texts("--pattern", "REGEX", "The pattern that members subscribe by.")
    ] = None,
    metrics: Annotated[bool, typer.Option("--metrics", help="Show figures of balance.")] = False,
    members: Annotated[bool, typer.Option("--members", help="Show who gets what.")] = False,
    moves: Annotated[bool, typer.Option("--moves", help="Show what changes hands.")] = False,
    rounds: Annotated[
        bool, typer.Option("--rounds", help="Show what is given up and got in each round.")
    ] = False,
    outcomes: Annotated[
        bool, typer.Option("--outcomes", help="Show every way in which it can end.")
    ] = False,
    explain: Annotated[
        Texts, _texts("--explain", "TOPIC:N", "Say why this partition goes there.")
    ] = None,
    fail_on: Annotated[
        Texts, _texts("--fail-on", "EXPR", "End with 6 if this holds: 'moved > 10%'.")
    ] = None,
    check_assignor: Annotated[
        str | None, _texts("--check-assignor", "NAME", "Try an assignor on many small groups.")
    ] = None,
    report: Annotated[bool, typer.Option("--report", help="Plan the fleet inside Spark.")] = False,
    by: Annotated[
        Grouping | None, typer.Option("--by", metavar="KEY", help="What a row of it stands for.")
    ] = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Only the first N rows of it.")
    ] = 100,
    master: Annotated[
        str | None, typer.Option("--master", metavar="URL", help="Spark master.")
    ] = None,
    remote: Annotated[
        str | None, typer.Option("--remote", metavar="URL", help="Spark Connect server.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Read a snapshot or a scenario instead."),
    ] = None,
) -> None:
    """`kgroups plan`."""
    printer = Printer(options_of(ctx))
    if check_assignor is not None:
        checked = check_report(CHECK_SCHEMA, check_assignor)
        printer.show(checked)
        end_with(checked.errors)
        return
    texts = PlanTexts(
        leader=leader,
        add_members=tuple(add_members or ()),
        remove_member=tuple(remove_member or ()),
        drop_host=tuple(drop_host or ()),
        set_partitions=tuple(set_partitions or ()),
        add_topic=tuple(add_topic or ()),
        subscribe=tuple(subscribe or ()),
        pattern=tuple(pattern or ()),
        explain=tuple(explain or ()),
        fail_on=tuple(fail_on or ()),
    )
    texts.check()
    assignors = split_names(assignor)
    if report:
        if not all_groups or groups:
            raise UsageError("`--report` plans the whole fleet", hint="say `--all-groups --report`")
        texts.refuse_views("--report")
        query = FleetQuery(by or "member", assignors, top, master, remote)
        fleet_report(printer, query, file, texts)
        return
    if by or master or remote:
        raise UsageError("`--by`, `--master` and `--remote` belong to `--all-groups --report`")
    everything = all_groups or (file is not None and not groups)
    names = chosen_groups(groups, all_groups=everything)
    source = read_source(printer, names, file, texts)
    items, errors = plan_all(printer, source, texts, assignors, strict=not everything)
    flags = {
        "metrics": metrics,
        "members": members,
        "moves": moves,
        "rounds": rounds,
        "outcomes": outcomes,
        "explain": bool(explain),
    }
    chosen = [view for view, asked in flags.items() if asked]
    if not chosen:
        chosen = ["members"] if printer.options.output == "csv" else ["metrics", "members", "moves"]
    printer.show(plan_report(SCHEMA, source.snapshot, items, errors, chosen))
    if printer.options.output == "table":
        for item in items:
            for note in item["notes"]:
                printer.note(f"`{item['group']}`: {note}")
    end_with(errors)
