"""How a command ends: its exit code, the words on stderr, a plugin's line on stdout."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from typer import TyperException

from kgroups.cli.output.escapes import printable
from kgroups.cli.output.outlet import outlet_of
from kgroups.core.errors import ItemError, KgroupsError, UsageError, exit_code_of

MANY: Final = 10
"""Failures up to this number are told one by one."""

NAMED: Final = 3
"""How many of the things that failed alike are named."""

OK, WARNING, CRITICAL, UNKNOWN = 0, 1, 2, 3
STATUS: Final = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
"""What a Nagios plugin says, by its exit code."""
PLUGIN_FORM: Final = "nagios"

GROUP_OPTIONS: Final = ("--group", "-g")
"""How other tools name a group."""

_WARNED_OF: set[Path] = set()
_NOTED: set[str] = set()


def show_error(error: KgroupsError) -> None:
    """Write one failure to stderr: what happened, then what to do."""
    write_lines([f"error: {error.message}"], [error.hint] if error.hint else [])


def end_of(error: KgroupsError, *, as_plugin: bool = False) -> int:
    """Tell how a command failed; its exit code.

    Args:
        as_plugin: as one status line on stdout, with the exit code that monitors expect.
    """
    if not as_plugin:
        show_error(error)
        return error.exit_code
    sys.stdout.write(status_line(UNKNOWN, error.message) + "\n")
    return UNKNOWN


def show_item_errors(errors: Sequence[ItemError]) -> None:
    """Write the failures of single items to stderr, many of a kind as one line with their number.

    A hint that they share stands once. Documents (`--output json`) have every failure.
    """
    if errors:
        told = list(_together(errors))
        hints = dict.fromkeys(alike[0].hint for alike in told if alike[0].hint)
        write_lines([f"error: {_line(alike)}" for alike in told], hints)


def _together(errors: Sequence[ItemError]) -> Iterator[Sequence[ItemError]]:
    """The failures that make one line each: all apart if they are few, else those of one cause.

    What a dead broker refuses has one code and one sentence; of thousands of dead brokers each has
    its own sentence, and then the code alone is the cause.
    """
    if len(errors) <= MANY:
        yield from ([error] for error in errors)
        return
    for of_code in _grouped(errors, lambda error: error.code):
        if len(of_code) <= MANY:
            yield from ([error] for error in of_code)
            continue
        of_cause = _grouped(of_code, lambda error: error.message)
        yield from of_cause if len(of_cause) <= MANY else [of_code]


def _grouped(
    errors: Iterable[ItemError], key: Callable[[ItemError], str]
) -> list[Sequence[ItemError]]:
    """The errors by key, both in the order of their first."""
    found: dict[str, list[ItemError]] = {}
    for error in errors:
        found.setdefault(key(error), []).append(error)
    return list(found.values())


def _line(alike: Sequence[ItemError]) -> str:
    """What failed and why; of many the first few, and how many more."""
    if len(alike) == 1:
        return alike[0].text
    names = ", ".join(f"`{error.target}`" for error in alike[:NAMED])
    more = f" and {len(alike) - NAMED:,} more" if len(alike) > NAMED else ""
    return f"{names}{more}: {alike[0].message}"


def write_lines(errors: Iterable[str], hints: Iterable[str]) -> None:
    """`error: …` lines, a blank line, `hint: …` lines, on stderr."""
    lines = [*errors]
    tips = [f"hint: {hint}" for hint in hints]
    if tips:
        lines += ["", *tips]
    sys.stderr.write("".join(printable(line) + "\n" for line in lines))
    sys.stderr.flush()


def warn_once(path: Path, warning: str | None) -> None:
    """Write a warning about a file to stderr, if there is one, once for each file."""
    if warning is not None and path not in _WARNED_OF:
        _WARNED_OF.add(path)
        write_lines([f"warning: {warning}"], ())


def note_once(note: str) -> None:
    """Write a note to stderr, once in a process."""
    if note not in _NOTED:
        _NOTED.add(note)
        write_lines([f"note: {note}"], ())


def end_with(errors: Sequence[ItemError]) -> None:
    """End the command with the exit code of these failures; return if there are none.

    Raises:
        SystemExit: with the code of the failures if they are of one kind, else 1.
    """
    code = exit_code_of(tuple(errors))
    if code:
        raise SystemExit(code)


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
            hint="the command itself completed; check where stdout goes",
        )
    )
    return code or instead


def usage_error(error: TyperException) -> UsageError:
    """A failure of the argument parser in our own words."""
    message = error.format_message().strip().removesuffix(".")
    message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "kgroups"
    hint = f"see `{command} --help`"
    if getattr(error, "option_name", None) in GROUP_OPTIONS and _takes_groups(context):
        message, hint = message.partition(" (")[0], f"groups are arguments: `{command} GROUP`"
    return UsageError(message.replace("'", "`"), hint=hint)


def _takes_groups(context: Any) -> bool:
    return context is not None and any(
        "GROUP" in str(param.metavar)
        for param in context.command.params
        if param.param_type_name == "argument"
    )


def status_line(code: int, text: str) -> str:
    """`CRITICAL: …`; a `|` would begin perfdata, so it is a slash here."""
    return f"{STATUS[code]}: {printable(text).replace('|', '/')}"


def is_plugin(arguments: Sequence[str]) -> bool:
    """Whether these arguments ask for a status line, though they may be wrong elsewhere.

    A monitor reads nothing but the first line of stdout and the exit code, of usage errors too.
    """
    asked = os.environ.get("KGROUPS_OUTPUT", "")
    for word, following in pairwise([*arguments, ""]):
        if word == "--":
            break
        if word in ("-o", "--output"):
            asked = following
        elif word.startswith("--output="):
            asked = word.partition("=")[2]
        elif word.startswith("-o"):
            asked = word[2:]
    return asked.lower() == PLUGIN_FORM
