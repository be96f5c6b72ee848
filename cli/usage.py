"""Options and arguments of commands, declared as their help pages write them."""

from typing import Any

import typer

Text = str | None
Texts = list[str] | None


def option(usage: str, help: str, panel: str | None = None, **more: Any) -> Any:
    """An option of a command.

    Args:
        usage: `--yes -y`, or with the name of its value `--topic TOPIC`.
        panel: heading on the help page; None for `Options`.
        more: as `typer.Option` takes it.
    """
    flags = [word for word in usage.split() if word.startswith("-")]
    metavar = next((word for word in usage.split() if not word.startswith("-")), None)
    return typer.Option(*flags, metavar=metavar, help=help, rich_help_panel=panel, **more)


def argument(usage: str, help: str, **more: Any) -> Any:
    """An argument of a command: `GROUP...`, or `[GROUP]...` where it may be left out."""
    return typer.Argument(metavar=usage, help=help, **more)
