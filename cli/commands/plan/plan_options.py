"""The options of `kgroups plan` that the table of changes has."""

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Annotated, Any, Final

from kgroups.cli.usage import Texts, option
from kgroups.core.planning.changes.change_table import CHANGES, ChangeOption

# Key -> the texts that were given, in order.
ChangeTexts = Mapping[str, tuple[str, ...]]

PARAMETER: Final = "changes"
CHANGED: Final = "Changes"
"""Heading of these options in the help."""
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
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(change: ChangeOption, kind: Any) -> inspect.Parameter:
    hint = Annotated[Texts, option(f"{change.flag} {change.form}", change.help, CHANGED)]
    return inspect.Parameter(change.key, kind, default=None, annotation=hint)


def changes_help() -> str:
    """The section of the help that says what each change is."""
    return "\n".join(line for change in CHANGES for line in _lines(change))


def _lines(change: ChangeOption) -> Iterator[str]:
    yield f"  {change.flag} {change.usage}"
    yield from textwrap.wrap(
        change.about, WIDTH, initial_indent=INDENT * 2, subsequent_indent=INDENT * 2
    )
