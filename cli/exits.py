"""How a command ends: its exit code, the words on stderr, a plugin's line on stdout."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from typer import Abort, TyperException

from kgroups.cli.output.escapes import printable, visible_json
from kgroups.cli.output.outlet import outlet_of
from kgroups.core.errors import ItemError, KgroupsError, UsageError, exit_code_of
from kgroups.core.times import timestamp

MANY: Final = 10
"""Failures up to this number are told one by one."""

NAMED: Final = 3
"""How many of the things that failed alike are named."""

OK, WARNING, CRITICAL, UNKNOWN = 0, 1, 2, 3
STATUS: Final = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
"""The word of a Nagios plugin, by its exit code."""
PLUGIN_FORM: Final = "nagios"
DOCUMENTS: Final = frozenset({"json", "jsonl", "yaml"})
"""Forms that hold what is in the JSON document."""
FAILURE_SCHEMA = "kgroups.failure/1"
BUG_HINT: Final = (
    "please report it in the project's issue tracker, with the command and what `--verbose` adds "
    "here"
)
_OUTPUT: Final = re.compile(r"(?:--output(?:=|$)|-[qyh]*o)(.*)", re.DOTALL)
"""A word that says the form, or that the next one does."""

GROUP_OPTIONS: Final = ("--group", "-g")
"""How other tools name a group."""


class Note(NamedTuple):
    """Message that is neither data nor an error: `note: …` on stderr, an entry of `notes`.

    Args:
        code: one of `NOTE_CODES`.
        message: a sentence without a full stop.
        target: what it is about, where that is one thing.
        of_a_write: said though who reads wants quiet, or has gone.
    """

    code: str
    message: str
    target: str | None = None
    of_a_write: bool = False


@dataclass(slots=True)
class Told:
    """Contents of stdout, wanted and written, in this run of a command.

    Args:
        form: of the output, as far as it is known.
        is_begun: whether a document is there, or the beginning of one that will be ended.
        notes: said so far.
    """

    form: str = ""
    is_begun: bool = False
    notes: list[Note] = field(default_factory=list)

    def begin(self, form: str) -> None:
        """A run begins."""
        self.form, self.is_begun, self.notes = form, False, []


TOLD: Final = Told()
_WARNED_OF: set[Path] = set()
_NOTED: set[str] = set()


def now_ms() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


def show_error(error: KgroupsError) -> None:
    """Write one failure to stderr: what happened, then what to do."""
    write_lines([f"error: {error.message}"], [error.hint] if error.hint else [])


def end_of(error: KgroupsError) -> int:
    """Tell how a command failed, on stderr and in the document; its exit code.

    A monitor gets one status line on stdout, and the exit code that it expects.
    """
    if TOLD.form != PLUGIN_FORM:
        show_error(error)
        write_failure(error)
        return error.exit_code
    sys.stdout.write(status_line(UNKNOWN, error.message) + "\n")
    return UNKNOWN


def write_failure(
    error: BaseException | None, others: Iterable[Mapping[str, str | None]] = ()
) -> None:
    """Write the document of a command that failed, unless stdout has one, or is no place for it.

    It is one line in every form: the last one of JSON lines, and YAML as it stands.

    Args:
        error: what ended the command; None: only some of its items failed.
        others: what failed before, as entries of `errors`.
    """
    if TOLD.form != "jsonl" and (TOLD.form not in DOCUMENTS or TOLD.is_begun):
        return
    document: dict[str, object] = {
        "schema": FAILURE_SCHEMA,
        "cluster": None,
        "generated_at": timestamp(now_ms()),
        "items": [],
        "errors": [*others, *([] if error is None else [failure_item(error)])],
        "notes": note_items(TOLD.notes),
        "summary": {},
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    TOLD.is_begun = True
    sys.stdout.write(visible_json(text) + "\n")
    sys.stdout.flush()


def write_document(
    begin: str, items: Iterable[str], end: Callable[[BaseException | None], str]
) -> None:
    """Write a document, which has its end whatever comes between its items.

    Args:
        end: its last text, given what came; None where nothing did.
    """
    failure: BaseException | None = None
    try:
        TOLD.is_begun = True  # no signal comes between this and the call
        sys.stdout.write(begin)
        for text in items:
            sys.stdout.write(text)
    except BaseException as error:
        failure = error
    last = ""
    while not last:
        try:
            last = end(failure)
        except KeyboardInterrupt as interrupt:
            failure = interrupt
        except Exception as error:
            if failure is not None:
                raise
            failure = error
    sys.stdout.write(last)
    if failure is not None:
        raise failure


def note_items(notes: Iterable[Note]) -> list[dict[str, str | None]]:
    """Notes as entries of the envelope."""
    return [{"code": n.code, "message": n.message, "target": n.target} for n in notes]


def failure_item(error: BaseException) -> dict[str, str | None]:
    """Failure that ended a command, as an entry of the envelope's `errors`."""
    if not isinstance(error, KgroupsError):
        if isinstance(error, KeyboardInterrupt | Abort):
            error = KgroupsError("interrupted", code="INTERRUPTED")
        else:
            error = KgroupsError(bug_text(error), hint=BUG_HINT, code="BUG")
    return {"target": None, "code": error.code, "message": error.message, "hint": error.hint}


def bug_text(error: BaseException) -> str:
    """Message for a failure that is none of ours."""
    return f"a bug in kgroups: {type(error).__name__}: {error}"


def show_item_errors(errors: Sequence[ItemError]) -> None:
    """Write the failures of single items to stderr, many of a kind as one line with their number.

    A hint that they share stands once. Documents (`--output json`) have every failure.
    """
    if errors:
        grouped = list(_together(errors))
        hints = dict.fromkeys(alike[0].hint for alike in grouped if alike[0].hint)
        write_lines([f"error: {_line(alike)}" for alike in grouped], hints)


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
    groups: dict[str, list[ItemError]] = {}
    for error in errors:
        groups.setdefault(key(error), []).append(error)
    return list(groups.values())


def _line(alike: Sequence[ItemError]) -> str:
    """Failures and their causes; of many the first few, and how many more."""
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


def note_once(note: Note, *, quiet: bool) -> None:
    """Keep a note, and write it to stderr, once in a process."""
    if note not in TOLD.notes:
        TOLD.notes.append(note)
    if not quiet and note.message not in _NOTED:
        _NOTED.add(note.message)
        write_lines([f"note: {note.message}"], ())


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


def usage_error(error: TyperException, words: Sequence[str]) -> UsageError:
    """A failure of the argument parser in our own words.

    Args:
        words: what was typed.
    """
    message = error.format_message().strip().removesuffix(".")
    message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "kgroups"
    hint = f"see `{command} --help`"
    option = getattr(error, "option_name", None)
    if option in GROUP_OPTIONS and _takes_groups(context):
        named = next((after for word, after in pairwise(words) if word == option), "GROUP")
        message, hint = message.partition(" (")[0], f"groups are arguments: `{command} {named}`"
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


def asked_form(arguments: Sequence[str]) -> str:
    """The form of the output that these arguments ask for, though they may be wrong elsewhere.

    A program reads nothing but stdout and the exit code, of usage errors too. Kafka's own grammar
    has no forms.
    """
    if arguments[:1] == ["official"]:
        return ""
    asked = os.environ.get("KGROUPS_OUTPUT", "")
    for word, following in pairwise([*arguments, ""]):
        if word == "--":
            break
        match = _OUTPUT.fullmatch(word)
        if match is not None:
            asked = match[1] or following
    return asked.lower()
