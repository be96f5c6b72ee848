"""The command tree as the tests walk it."""

from functools import cache
from typing import Any

from typer.main import get_command

from kgroups.cli.app import program


@cache
def command_paths() -> tuple[tuple[str, ...], ...]:
    """Words of every command and noun that is not hidden; the program itself is `()`."""
    return ((), *_below(get_command(program()), ()))


def _below(command: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            found += [(*path, name), *_below(child, (*path, name))]
    return found
