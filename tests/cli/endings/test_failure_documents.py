"""Every command that fails under `--output json` prints one document, and ends as it does else."""

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.support.cli.command_tree import command_paths
from tests.support.cli.runner import check_document, run
from tests.support.cli.signal_moments import environment_with
from tests.support.endings.lines import LINES, Line
from tests.support.endings.program import run_program
from tests.support.endings.world import World, free_port

FORMS: Final = ("json", "jsonl")
OTHER_GRAMMAR: Final = "official"
"""Kafka's options have no `--output`."""
TELLS_MORE: Final = ("lag collect", "ping")
"""Commands whose own document tells that a cluster was not reached."""
WITHOUT_FORM: Final = ("completion",)
"""Commands that print the same whatever the form is, and are over before a signal comes."""
PRINTER: Final = "kgroups.cli.output.printer.__init__:1"
"""A moment that every command comes by, before it asks a cluster or writes."""
TAIL: Final = "kgroups.cli.output.envelope.envelope_tail:1"
"""A moment at which a document is half written."""


def one_line_each(**wanted: object) -> Mapping[str, Line]:
    """The first line of each command of our own grammar, if it has these attributes."""
    found: dict[str, Line] = {}
    for line in LINES.values():
        fits = all(getattr(line, name) == value for name, value in wanted.items())
        if fits and line.of and line.grammar == "own" and line.kind != "watch":
            found.setdefault(line.of, line)
    return found


ASKING: Final = one_line_each(asks=True)
ENDING: Final = {of: line for of, line in one_line_each().items() if of not in WITHOUT_FORM}
USAGE: Final = {
    "an unknown option": ["--no-such-option"],
    "a bad value": ["--timeout", "never"],
    "an argument too many or missing": ["a", "b", "c", "--client"],
}


def failure_in(stdout: str, form: str) -> dict[str, Any]:
    """The only document of a command's failure, or the last of its lines, as its schema has it."""
    lines = stdout.splitlines()
    assert lines if form == "jsonl" else len(lines) == 1, stdout
    document: dict[str, Any] = json.loads(lines[-1])
    assert document["schema"] == "kgroups.failure/1"
    check_document(document)
    return document


def check_told(document: dict[str, Any], stderr: str) -> None:
    """What is said to people is in the document, too."""
    error = document["errors"][-1]
    assert error["message"] in stderr
    assert error["hint"] is None or error["hint"] in stderr


@pytest.mark.share(4)
@pytest.mark.parametrize("words", USAGE.values(), ids=USAGE)
@pytest.mark.parametrize("path", command_paths(), ids=lambda path: " ".join(path) or "kgroups")
def test_usage(path: tuple[str, ...], words: list[str]) -> None:
    """An error in the arguments, of every command and noun."""
    if path[:1] == (OTHER_GRAMMAR,):
        assert run(*path, *words, "-o", "json").stdout == ""
        return
    usual = run(*path, *words)
    assert (usual.exit_code, usual.stdout) == (2, "")
    for form in FORMS:
        outcome = run(f"-o{form}", *path, *words)
        assert (outcome.exit_code, outcome.stderr) == (2, usual.stderr)
        document = failure_in(outcome.stdout, form)
        assert [error["code"] for error in document["errors"]] == ["USAGE"]
        check_told(document, outcome.stderr)


@pytest.mark.share(4)
@pytest.mark.parametrize("line", ASKING.values(), ids=ASKING)
def test_unreachable(world: World, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that is not there."""
    place = world.place(line)
    monkeypatch.chdir(place.folder)
    words = world.words(line, place, 500, f"127.0.0.1:{free_port()}")
    settings = world.settings(place)
    usual = run(*words, "-o", "table", env=settings)
    assert usual.exit_code == 3
    for form in FORMS:
        outcome = run(*words, "-o", form, env=settings)
        assert outcome.exit_code == usual.exit_code
        if line.of in TELLS_MORE:
            rows = outcome.document["items"] if form == "json" else outcome.stdout.splitlines()
            assert rows
            continue
        document = failure_in(outcome.stdout, form)
        assert document["errors"][0]["code"] == "BROKER_NOT_AVAILABLE"
        check_told(document, outcome.stderr)


@pytest.mark.share(32)
@pytest.mark.parametrize("form", ["table", *FORMS])
@pytest.mark.parametrize("line", ENDING.values(), ids=ENDING)
def test_interrupted(world: World, line: Line, form: str) -> None:
    """A signal, before anything is printed."""
    place = world.place(line)
    ending = run_program(
        [*world.words(line, place, 60_000), "-o", form],
        place.folder,
        env=environment_with(f"SIGTERM:{PRINTER}", **world.settings(place)),
    )
    assert (ending.code, ending.said) == (143, ""), ending
    if form == "table":
        assert ending.stdout == b"", ending
        return
    (error,) = failure_in(ending.stdout.decode(), form)["errors"]
    assert error["code"] == "INTERRUPTED"


@pytest.mark.share(3)
@pytest.mark.parametrize("name", ["list", "check", "describe", "context list", "snapshot save"])
def test_interrupted_within_a_document(world: World, name: str) -> None:
    """The document that was begun is ended, and says so."""
    line = LINES[name]
    place = world.place(line)
    ending = run_program(
        [*world.words(line, place, 60_000), "-o", "json"],
        place.folder,
        env=environment_with(f"SIGINT:{TAIL}", **world.settings(place)),
    )
    assert ending.code == 130
    document = json.loads(ending.stdout)
    check_document(document)
    assert document["items"]
    assert document["errors"][-1]["code"] == "INTERRUPTED"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("list --from nowhere.json", 2),
        ("describe nobody --from {folder}/shop.json", 5),
        ("simulate nowhere.yaml", 2),
        ("lag compact nowhere", 5),
        ("lag report --captures nowhere", 5),
        ("context show nowhere", 2),
        ("schema nothing", 2),
        ("explain nothing", 2),
        ("apply nowhere.json --yes", 2),
    ],
)
def test_missing(world: World, words: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, folder, group or word that is not there."""
    place = world.place(Line("", ""))
    monkeypatch.chdir(place.folder)
    line = words.format(**place.values).split()
    settings = world.settings(place)
    usual = run(*line, env=settings)
    outcome = run(*line, "-o", "json", env=settings)
    assert (outcome.exit_code, outcome.stderr) == (usual.exit_code, usual.stderr)
    assert outcome.exit_code == code
    check_document(outcome.document)
    assert outcome.document["errors"]
    assert not outcome.document["items"]
