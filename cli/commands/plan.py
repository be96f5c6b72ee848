"""`kgroups plan`: what would the next rebalance do?"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgroups.cli.commands.describe import chosen_groups
from kgroups.cli.exits import end_with
from kgroups.cli.output import Printer, Report
from kgroups.cli.params import FromFile, options_of, split_names
from kgroups.cli.source import take_snapshot
from kgroups.cli.table import Column, Item, Row, View, assignment_text
from kgroups.cli.tree import Command
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.snapshot import ClusterSnapshot, Group

if TYPE_CHECKING:
    from kgroups.core.planning.changes import Change

SCHEMA = "kgroups.plan/1"

HELP = """Show what the next rebalance of a group would do, before it happens.

The group is taken as it is now, or from a snapshot file; then the changes
that you name happen on paper, and its assignor runs. Nothing is sent to the
group. With --from FILE and without GROUP every group of the file is planned.

CHANGES, each may be given several times
  --add-members N[:CLIENT[@RACK]]  N members join
  --remove-member ID               a member leaves, by member id, instance id
                                   or client id; a number: so many leave
  --drop-host HOST                 every member on a host leaves
  --set-partitions TOPIC=N         a topic gets N partitions
  --add-topic TOPIC=N              a topic is created
  --subscribe [MEMBER=][+]TOPIC[,TOPIC...]
                                   members read other topics, or (+) more

ASSIGNORS
  Several by commas are planned side by side; default: the group's own.

VIEWS
  --metrics, --members and --moves choose tables; default: all three. CSV
  holds the members unless one view is chosen.

EXAMPLES
  kgroups plan orders-app
  kgroups plan orders-app --add-members 2
  kgroups plan orders-app --assignor range,roundrobin --metrics
  kgroups plan orders-app --set-partitions orders=48 --moves --output csv
  kgroups plan --from before.json --remove-member 1
"""

METRIC_COLUMNS = (
    Column("group", "GROUP"),
    Column("assignor", "ASSIGNOR"),
    Column("rebalance_protocol", "PROTOCOL"),
    Column("confidence", "CONFIDENCE"),
    Column("kept", "KEPT", right=True),
    Column("moved", "MOVED", right=True),
    Column("newly_assigned", "NEW", right=True, quiet=(0,)),
    Column("unassigned", "UNASSIGNED", right=True, quiet=(0,)),
    Column("partitions_min", "MIN", right=True),
    Column("partitions_max", "MAX", right=True),
    Column("stddev", "STDDEV", right=True),
    Column("idle_members", "IDLE", right=True),
    Column("lag_max", "LAG-MAX", right=True),
    Column("lag_stddev", "LAG-STDDEV", right=True),
)
MEMBER_COLUMNS = (
    Column("group", "GROUP"),
    Column("assignor", "ASSIGNOR"),
    Column("member_id", "MEMBER-ID"),
    Column("client_id", "CLIENT-ID"),
    Column("joins", "JOINS", quiet=(False,)),
    Column("partitions_before", "BEFORE", right=True),
    Column("partitions", "PARTITIONS", right=True),
    Column("lag_before", "LAG-BEFORE", right=True),
    Column("lag", "LAG", right=True),
    Column("assignment", "ASSIGNMENT"),
)
MOVE_COLUMNS = (
    Column("group", "GROUP"),
    Column("assignor", "ASSIGNOR"),
    Column("topic", "TOPIC"),
    Column("partition", "PARTITION", right=True),
    Column("from", "FROM"),
    Column("to", "TO"),
    Column("kind", "KIND"),
)
_METRICS = [column.field for column in METRIC_COLUMNS[4:]]


def register(app: typer.Typer) -> None:
    """Add `plan` to the program."""
    app.command("plan", help=HELP, cls=Command)(plan)


def _texts(flag: str, metavar: str, help: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=help)


def plan(
    ctx: typer.Context,
    groups: Annotated[
        list[str] | None, typer.Argument(metavar="[GROUP]...", help="Names of groups.")
    ] = None,
    all_groups: Annotated[
        bool, typer.Option("--all-groups", help="Every group of the cluster.")
    ] = False,
    assignor: Annotated[
        list[str] | None, _texts("--assignor", "NAME", "Plan with these assignors.")
    ] = None,
    add_members: Annotated[
        list[str] | None, _texts("--add-members", "N", "Members that join.")
    ] = None,
    remove_member: Annotated[
        list[str] | None, _texts("--remove-member", "ID|N", "Members that leave.")
    ] = None,
    drop_host: Annotated[
        list[str] | None, _texts("--drop-host", "HOST", "Hosts whose members leave.")
    ] = None,
    set_partitions: Annotated[
        list[str] | None, _texts("--set-partitions", "TOPIC=N", "Topics that grow.")
    ] = None,
    add_topic: Annotated[
        list[str] | None, _texts("--add-topic", "TOPIC=N", "Topics that are created.")
    ] = None,
    subscribe: Annotated[
        list[str] | None, _texts("--subscribe", "TOPICS", "What members read.")
    ] = None,
    metrics: Annotated[bool, typer.Option("--metrics", help="Show figures of balance.")] = False,
    members: Annotated[bool, typer.Option("--members", help="Show who gets what.")] = False,
    moves: Annotated[bool, typer.Option("--moves", help="Show what changes hands.")] = False,
    file: FromFile = None,
) -> None:
    """`kgroups plan`."""
    options = options_of(ctx)
    printer = Printer(options)
    everything = all_groups or (file is not None and not groups)
    names = chosen_groups(groups, all_groups=everything)
    from kgroups.core.planning import changes

    known = _changes(changes.parse_add_members, add_members)
    known += [changes.DropHost(host) for host in drop_host or ()]
    known += _changes(changes.parse_set_partitions, set_partitions)
    known += _changes(changes.parse_add_topic, add_topic)
    known += _changes(changes.parse_subscribe, subscribe)
    snapshot = take_snapshot(options, names, file=file, progress=printer.progress)
    errors = list(snapshot.errors)
    items: list[Item] = []
    for group, name in product(snapshot.groups, split_names(assignor) or (None,)):
        leave = removals(group, remove_member or [])
        item = plan_or_error(snapshot, group, [*known, *leave], name, errors)
        if item is not None:
            items.append(item)
    chosen = [name for name, asked in _views(metrics, members, moves) if asked]
    if not chosen:
        chosen = ["members"] if options.output == "csv" else ["metrics", "members", "moves"]
    printer.show(plan_report(snapshot, items, errors, chosen))
    if options.output == "table":
        for item in items:
            for note in item["notes"]:
                printer.note(f"`{item['group']}`: {note}")
    end_with(errors)


def _changes(parse: Callable[[str], "Change"], texts: list[str] | None) -> list["Change"]:
    return [parse(text) for text in texts or ()]


def _views(metrics: bool, members: bool, moves: bool) -> tuple[tuple[str, bool], ...]:
    return ("metrics", metrics), ("members", members), ("moves", moves)


def removals(group: Group, texts: Sequence[str]) -> list["Change"]:
    """Who leaves this group; a number is an id if a member of the group has it."""
    from kgroups.core.planning.changes import parse_remove_member

    ids = {member.member_id for member in group.members or ()}
    ids |= {member.instance_id for member in group.members or () if member.instance_id}
    return [parse_remove_member(text, frozenset(ids)) for text in texts]


def plan_or_error(
    snapshot: ClusterSnapshot,
    group: Group,
    changes: Sequence["Change"],
    assignor: str | None,
    errors: list[ItemError],
) -> Item | None:
    """The plan of one group as an item; None, and one more error, if it cannot be planned."""
    from kgroups.core.planning.item import plan_item
    from kgroups.core.planning.plan import plan_group

    try:
        return plan_item(plan_group(snapshot, group, changes, assignor))
    except KgroupsError as error:
        errors.append(
            ItemError(group.group, error.code, error.message, error.hint, error.exit_code)
        )
        return None


def plan_report(
    snapshot: ClusterSnapshot,
    items: Sequence[Item],
    errors: Sequence[ItemError],
    views: Sequence[str],
) -> Report:
    """The plans as a `kgroups.plan/1` report."""
    kinds = {
        "metrics": View("plan", METRIC_COLUMNS, _metric_rows),
        "members": View("member", MEMBER_COLUMNS, _member_rows),
        "moves": View("move", MOVE_COLUMNS, _move_rows),
    }
    summary = {
        "groups": len({item["group"] for item in items}),
        "plans": len(items),
        "moved": sum(item["metrics"]["moved"] for item in items),
        "kept": sum(item["metrics"]["kept"] for item in items),
    }
    return Report(
        schema=SCHEMA,
        cluster={"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap},
        generated_at_ms=snapshot.captured_at_ms,
        items=items,
        views=[kinds[view] for view in views],
        errors=errors,
        summary=lambda: summary,
    )


def _metric_rows(item: Item) -> Iterator[Row]:
    figures = item["metrics"]
    yield (
        item["group"],
        item["assignor"],
        item["rebalance_protocol"],
        item["confidence"],
        *(_rounded(figures[name]) for name in _METRICS),
    )


def _rounded(value: Any) -> Any:
    return round(value, 2) if isinstance(value, float) else value


def _member_rows(item: Item) -> Iterator[Row]:
    for member in item["members"]:
        values = (member[column.field] for column in MEMBER_COLUMNS[2:-1])
        yield (item["group"], item["assignor"], *values, assignment_text(member["assignment"]))


def _move_rows(item: Item) -> Iterator[Row]:
    for move in item["moves"]:
        if move["kind"] != "kept":
            values = (move[column.field] for column in MOVE_COLUMNS[2:])
            yield (item["group"], item["assignor"], *values)
