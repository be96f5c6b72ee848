"""The options of `kgroups plan`: types, and those of the table of changes."""

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from kgroups.cli.choosing import AllGroups as AllGroups
from kgroups.cli.usage import Text, Texts, argument, option
from kgroups.core.planning.changes.change_table import CHANGES, ChangeOption

Grouping = Literal["member", "group", "client", "host", "assignor"]


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

Groups = Annotated[Texts, argument("[GROUP]...", "Group names.")]
Assignors = Annotated[Texts, option("--assignor NAME", "Plan with these assignors.", ASSIGNORS)]
LeaderClient = Annotated[
    Text, option("--as CLIENT", "Client library of the group's leader.", ASSIGNORS)
]
LeaderFromLog = Annotated[
    bool, option("--leader-from-log", "Read who leads from __consumer_offsets.", ASSIGNORS)
]
Source = Annotated[Path | None, option("--from FILE", "Read a snapshot or a scenario instead.")]

Faithful = Annotated[bool, option("--faithful", "Reproduce faults of Java's assignors.", ASSIGNORS)]

# What is shown.
ShowMetrics = Annotated[bool, option("--metrics", "Show balance metrics.", VIEWS)]
ShowMembers = Annotated[bool, option("--members", "Show each member's assignment.", VIEWS)]
ShowMoves = Annotated[bool, option("--moves", "Show partitions that change owner.", VIEWS)]
ShowRounds = Annotated[
    bool, option("--rounds", "Show what is revoked and assigned in each round.", VIEWS)
]
ShowOutcomes = Annotated[bool, option("--outcomes", "Show every possible outcome.", VIEWS)]
ShowStages = Annotated[bool, option("--steps", "Show each step of a deploy.", VIEWS)]
ShowBlockers = Annotated[
    bool, option("--blockers", "Show what blocks a move to another protocol.", VIEWS)
]
Explained = Annotated[
    Texts, option("--explain TOPIC:N", "Explain why this partition goes where it goes.", VIEWS)
]
Checks = Annotated[Texts, option("--fail-on EXPR", "Exit with 6 if this holds: 'moved > 10%'.")]
CheckedAssignor = Annotated[
    Text, option("--check-assignor NAME", "Test an assignor on generated groups.", ASSIGNORS)
]

# The fleet.
FleetReport = Annotated[bool, option("--report", "Plan the fleet with Spark.", FLEET)]
GroupedBy = Annotated[Grouping | None, option("--by KEY", "Group rows by this.", FLEET)]
TopRows = Annotated[int, option("--top N", "Show only the first N rows.", FLEET, min=1)]
Master = Annotated[Text, option("--master URL", "Spark master.", FLEET)]
Remote = Annotated[Text, option("--remote URL", "Spark Connect server.", FLEET)]
Conf = Annotated[Texts, option("--conf KEY=VALUE", "A setting of Spark; repeatable.", FLEET)]


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
