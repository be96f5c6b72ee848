"""The options of `kgroups plan` that change a group, made from the table of changes."""

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Annotated, Any, Final

import typer

from kgroups.core.planning.changes.change_table import CHANGES, ChangeOption

# Key -> the texts that were given, in order.
ChangeTexts = Mapping[str, tuple[str, ...]]

PARAMETER: Final = "changes"
WIDTH: Final = 76
INDENT: Final = " " * 4


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
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _parameter(change: ChangeOption, kind: Any) -> inspect.Parameter:
    info = typer.Option(change.flag, help=change.help, metavar=change.form)
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
