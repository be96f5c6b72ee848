"""The options of `kgroups plan`: types, and those of the table of changes."""

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from kgroups.cli.choosing import AllGroups as AllGroups
from kgroups.core.planning.changes.change_table import CHANGES, ChangeOption

Grouping = Literal["member", "group", "client", "host", "assignor"]
_Texts = list[str] | None

# Key -> the texts that were given, in order.
ChangeTexts = Mapping[str, tuple[str, ...]]

PARAMETER: Final = "changes"
# Titles of groups of options in the help.
CHANGED: Final = "Changes"
ASSIGNORS: Final = "Assignors"
VIEWS: Final = "Views"
FLEET: Final = "Fleet, with --all-groups --report"
WIDTH: Final = 76
INDENT: Final = " " * 4

Groups = Annotated[_Texts, typer.Argument(metavar="[GROUP]...", help="Group names.")]
Assignors = Annotated[
    _Texts,
    typer.Option(
        "--assignor", help="Plan with these assignors.", metavar="NAME", rich_help_panel=ASSIGNORS
    ),
]
LeaderClient = Annotated[
    str | None,
    typer.Option(
        "--as",
        help="Client library of the group's leader.",
        metavar="CLIENT",
        rich_help_panel=ASSIGNORS,
    ),
]
LeaderFromLog = Annotated[
    bool,
    typer.Option(
        "--leader-from-log",
        help="Read who leads from __consumer_offsets.",
        rich_help_panel=ASSIGNORS,
    ),
]
Source = Annotated[
    Path | None,
    typer.Option("--from", help="Read a snapshot or a scenario instead.", metavar="FILE"),
]

Faithful = Annotated[
    bool,
    typer.Option(
        "--faithful", help="Reproduce faults of Java's assignors.", rich_help_panel=ASSIGNORS
    ),
]

# What is shown.
ShowMetrics = Annotated[
    bool, typer.Option("--metrics", help="Show balance metrics.", rich_help_panel=VIEWS)
]
ShowMembers = Annotated[
    bool, typer.Option("--members", help="Show each member's assignment.", rich_help_panel=VIEWS)
]
ShowMoves = Annotated[
    bool, typer.Option("--moves", help="Show partitions that change owner.", rich_help_panel=VIEWS)
]
ShowRounds = Annotated[
    bool,
    typer.Option(
        "--rounds", help="Show what is revoked and assigned in each round.", rich_help_panel=VIEWS
    ),
]
ShowOutcomes = Annotated[
    bool, typer.Option("--outcomes", help="Show every possible outcome.", rich_help_panel=VIEWS)
]
ShowStages = Annotated[
    bool, typer.Option("--steps", help="Show each step of a deploy.", rich_help_panel=VIEWS)
]
ShowBlockers = Annotated[
    bool,
    typer.Option(
        "--blockers", help="Show what blocks a move to another protocol.", rich_help_panel=VIEWS
    ),
]
Explained = Annotated[
    _Texts,
    typer.Option(
        "--explain",
        help="Explain why this partition goes where it goes.",
        metavar="TOPIC:N",
        rich_help_panel=VIEWS,
    ),
]
Checks = Annotated[
    _Texts,
    typer.Option("--fail-on", help="Exit with 6 if this holds: 'moved > 10%'.", metavar="EXPR"),
]
CheckedAssignor = Annotated[
    str | None,
    typer.Option(
        "--check-assignor",
        help="Test an assignor on generated groups.",
        metavar="NAME",
        rich_help_panel=ASSIGNORS,
    ),
]

# The fleet.
FleetReport = Annotated[
    bool, typer.Option("--report", help="Plan the fleet with Spark.", rich_help_panel=FLEET)
]
GroupedBy = Annotated[
    Grouping | None,
    typer.Option("--by", help="Group rows by this.", metavar="KEY", rich_help_panel=FLEET),
]
TopRows = Annotated[
    int,
    typer.Option(
        "--top", help="Show only the first N rows.", metavar="N", min=1, rich_help_panel=FLEET
    ),
]
Master = Annotated[
    str | None, typer.Option("--master", help="Spark master.", metavar="URL", rich_help_panel=FLEET)
]
Remote = Annotated[
    str | None,
    typer.Option("--remote", help="Spark Connect server.", metavar="URL", rich_help_panel=FLEET),
]
Conf = Annotated[
    _Texts,
    typer.Option(
        "--conf", help="A setting of Spark; repeatable.", metavar="KEY=VALUE", rich_help_panel=FLEET
    ),
]


def with_changes(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each change, in the place of its parameter `changes`.

    Args:
        command: is given `changes` as `ChangeTexts`.
    """
    signature = inspect.signature(command)
    parameters: list[inspect.Parameter] = []
    for own in signature.parameters.values():
        if own.name == PARAMETER:
            parameters += [_parameter(change, own.kind) for change in CHANGES]
        else:
            parameters.append(own)

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        texts = {change.key: tuple(kwargs.pop(change.key, None) or ()) for change in CHANGES}
        command(*args, **kwargs, changes=texts)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(change: ChangeOption, kind: Any) -> inspect.Parameter:
    info = typer.Option(change.flag, help=change.help, metavar=change.form, rich_help_panel=CHANGED)
    hint = Annotated[list[str] | None, info]
    return inspect.Parameter(change.key, kind, default=None, annotation=hint)


def changes_help() -> str:
    """The section of the help that says what each change is."""
    return "\n".join(line for change in CHANGES for line in _lines(change))


def _lines(change: ChangeOption) -> Iterator[str]:
    yield f"  {change.flag} {change.usage}"
    yield from textwrap.wrap(
        change.about, WIDTH, initial_indent=INDENT * 2, subsequent_indent=INDENT * 2
    )
