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
            parameters += [_parameter(option, own.kind) for option in CHANGES]
        else:
            parameters.append(own)

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        texts = {option.key: tuple(kwargs.pop(option.key) or ()) for option in CHANGES}
        command(*args, **kwargs, changes=texts)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _parameter(option: ChangeOption, kind: Any) -> inspect.Parameter:
    info = typer.Option(option.flag, metavar=option.form, help=option.help)
    hint = Annotated[list[str] | None, info]
    return inspect.Parameter(option.key, kind, default=None, annotation=hint)


def changes_help() -> str:
    """The section of the help that says what each change is."""
    return "\n".join(line for option in CHANGES for line in _lines(option))


def _lines(option: ChangeOption) -> Iterator[str]:
    yield f"  {option.flag} {option.usage}"
    yield from textwrap.wrap(
        option.about, WIDTH, initial_indent=INDENT * 2, subsequent_indent=INDENT * 2
    )
