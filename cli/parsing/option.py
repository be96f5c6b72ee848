"""Options and arguments of commands as data, which cost nothing to import.

They stand in `Annotated`, where Typer's own would; `typer_params` makes those of them, and
`plain_lines` reads simple lines by them.
"""

from typing import NamedTuple


class Option(NamedTuple):
    """An option: its flags, and its words in the help."""

    flags: tuple[str, ...]
    help: str
    metavar: str | None = None
    min: int | None = None


class Argument(NamedTuple):
    """An argument: its words in the help."""

    metavar: str
    help: str


def option(*flags: str, help: str, metavar: str | None = None, min: int | None = None) -> Option:
    """An option; `min` is the least number that it takes."""
    return Option(flags, help, metavar, min)
