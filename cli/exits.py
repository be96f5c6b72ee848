"""How a command ends: its exit code and the words on stderr."""

import sys
from collections.abc import Iterable, Sequence

import typer
from typer import TyperException

from kgroups.cli.output.outlet import outlet_of
from kgroups.core.errors import ItemError, KgroupsError, UsageError, exit_code_of


def show_error(error: KgroupsError) -> None:
    """Write one failure to stderr: what happened, then what to do."""
    write_lines([f"error: {error.message}"], [error.hint] if error.hint else [])


def show_item_errors(errors: Sequence[ItemError]) -> None:
    """Write the failures of single items to stderr; a hint that they share stands once."""
    if errors:
        write_lines(
            [f"error: {_named(error)}" for error in errors],
            dict.fromkeys(error.hint for error in errors if error.hint),
        )


def _named(error: ItemError) -> str:
    """The message with the name of what failed before it, unless it begins with that."""
    name = f"`{error.target}`"
    return error.message if error.message.startswith(name) else f"{name}: {error.message}"


def write_lines(errors: Iterable[str], hints: Iterable[str]) -> None:
    """`error: …` lines, a blank line, `hint: …` lines, on stderr."""
    lines = [*errors]
    tips = [f"hint: {hint}" for hint in hints]
    if tips:
        lines += ["", *tips]
    sys.stderr.write("".join(printable(line) + "\n" for line in lines))
    sys.stderr.flush()


def printable(line: str) -> str:
    """The line with control characters spelled out, so that a name cannot drive the terminal."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def end_with(errors: Sequence[ItemError]) -> None:
    """End the command with the exit code of these failures; return if there are none.

    Raises:
        typer.Exit: with the code of the failures if they are of one kind, else 1.
    """
    code = exit_code_of(tuple(errors))
    if code:
        raise typer.Exit(code)


def unprinted(code: int, instead: int) -> int:
    """The exit code, once everything is on stdout; `instead` of 0 where something could not be.

    Whoever has closed the pipe to us wanted no more: that changes nothing. A full disk or a closed
    stdout is said on stderr.
    """
    sys.stdout.flush()
    outlet = outlet_of(sys.stdout)
    if outlet is None or outlet.reason is None or outlet.is_told:
        return code
    outlet.is_told = True
    show_error(
        KgroupsError(
            f"the result could not be printed: {outlet.reason}",
            hint="all else is done: look where stdout goes",
        )
    )
    return code or instead


def usage_error(error: TyperException) -> UsageError:
    """A failure of the argument parser in our own words."""
    message = error.format_message().strip().removesuffix(".")
    message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "kgroups"
    return UsageError(message.replace("'", "`"), hint=f"`{command} --help` shows what it takes")
