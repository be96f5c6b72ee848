"""Runs the command line in this process, and holds every JSON that it prints to its schema."""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import itemgetter
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from typer.main import get_command
from typer.testing import CliRunner

from kgroups.cli.app import program
from kgroups.cli.meanings.note_codes import NOTE_CODES
from kgroups.cli.output.escapes import printable
from kgroups.cli.signals import SIGNALS


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it wrote."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """The JSON document on stdout."""
        return json.loads(self.stdout)

    @property
    def results(self) -> list[str]:
        """What became of each item."""
        return [item["result"] for item in self.document["items"]]

    @property
    def note_codes(self) -> set[str]:
        """The codes of what is noted."""
        return {note["code"] for note in self.document["notes"]}

    def by(self, *fields: str) -> dict[Any, Any]:
        """The items by what these fields say; by what one says, where it is alone."""
        return {itemgetter(*fields)(item): item for item in self.document["items"]}


GIVEN: dict[str, str] = {}
"""Variables that every command of a test has."""


def run(
    *args: str,
    stdin: str | None = None,
    answer: str | None = None,
    env: Mapping[str, str | None] | None = None,
) -> Outcome:
    """The end of `kgroups ARGS…`, run without a terminal and without our environment.

    Args:
        answer: typed in by a user whom the command may ask; None: there is nobody.
        env: variables; None: not set.
    """
    clean: dict[str, str | None] = {
        name: None for name in os.environ if name.startswith("KGROUPS_") or name == "NO_COLOR"
    }
    given = {**clean, **GIVEN, **(env or {})}
    with CliRunner().isolation(answer or stdin, given) as (out, err, _):
        if answer is not None:
            sys.stdin.isatty = lambda: True  # type: ignore[method-assign]
        code = _run(args)
        sys.stdout.flush()
        sys.stderr.flush()
        stdout, stderr = (stream.getvalue().decode() for stream in (out, err))
    if stdout.startswith('{"schema":'):
        check_document(json.loads(stdout))
        check_notes(json.loads(stdout), stderr)
    return Outcome(code, stdout, stderr)


def _run(args: Sequence[str]) -> int:
    """Run a line as the program does, without its signals; its exit code."""
    try:
        with _signals_left():
            _program()(list(args), prog_name="kgroups")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


@contextmanager
def _signals_left() -> Iterator[None]:
    """Signals are handled as before: `sandbox up` takes them until its process ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    wakes = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakes)
        for number, handler in handlers.items():
            signal.signal(number, handler)


@cache
def _program() -> Any:
    """The command tree, made once: commands keep nothing from one run to the next."""
    return get_command(program())


def check_document(document: dict[str, Any]) -> None:
    """Fail unless a document keeps to the schema that it names."""
    name, _, version = document["schema"].removeprefix("kgroups.").partition("/")
    validator(name).validate(document)
    assert version == "1"


def check_notes(document: dict[str, Any], stderr: str) -> None:
    """Fail unless every note on stderr is in the document, and has a code that is explained."""
    kept = {printable(note["message"]) for note in document["notes"]}
    told = {line.removeprefix("note: ") for line in stderr.split("\n") if line.startswith("note: ")}
    assert told - kept == set()
    assert {note["code"] for note in document["notes"]} <= NOTE_CODES.keys()


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Every schema that is shipped, by the name of its file."""
    return {
        entry.name.removesuffix(".json"): json.loads(entry.read_text(encoding="utf-8"))
        for entry in files("kgroups.cli.schemas").iterdir()
        if entry.name.endswith(".json")
    }


@cache
def validator(name: str) -> Draft202012Validator:
    """The validator of one document."""
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas().values()
    )
    return Draft202012Validator(schemas()[name], registry=registry)
