"""Where words go: tables to stdout, notices and errors to stderr, in the order they are said."""

import sys

from kgroups.cli.official.tools import Tool
from kgroups.cli.output.escapes import printable, visible
from kgroups.cli.output.outlet import is_lost


def show(text: str) -> None:
    """Write data to stdout."""
    sys.stdout.write(visible(text))


def say(text: str) -> None:
    """Write one line to stderr after what stdout has so far."""
    sys.stdout.flush()
    sys.stderr.write("\n".join(printable(line) for line in text.split("\n")) + "\n")
    sys.stderr.flush()


def is_unread() -> bool:
    """Whether some of the data has not arrived: nobody reads them, or there is no room."""
    sys.stdout.flush()
    return is_lost(sys.stdout)


def notice(text: str) -> None:
    """Write a notice to stderr, an empty line before it."""
    say(f"\n{text}")


def fail(text: str, hint: str | None = None) -> None:
    """Write an error to stderr as the tool does to stdout, and what to do about it."""
    notice(f"Error: {text}")
    if hint is not None:
        say(f"hint: {hint}")


def fail_command(tool: Tool, text: str, hint: str | None = None) -> None:
    """Write what stopped the command, or one group of it."""
    fail(tool.failed + text, hint)
