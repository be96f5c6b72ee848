"""Man pages: one for each command, with all of its options, read without a warning."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from kgroups.cli.app import program
from kgroups.cli.meanings.codes import EXIT_CODES
from kgroups.cli.params import GLOBAL_OPTIONS
from scripts.man_pages import man_pages
from tests.support.cli.command_tree import command_paths
from tests.support.kafka.child import run_program

MAN = Path(__file__).parents[3] / "man"
PAGES = sorted(path.name for path in MAN.iterdir())
READERS = {
    "groff": ["groff", "-man", "-Tutf8", "-ww", "-z"],
    "mandoc": ["mandoc", "-T", "lint", "-W", "warning"],
}
FOUND = [name for name in READERS if shutil.which(name)]
REQUESTS = {"TH", "SH", "SS", "PP", "TP", "nf", "fi"}


def plain(page: str) -> str:
    """The text of a page as a reader shows it, on one line."""
    text = re.sub(
        r"\\f[BIR]|\\&|^\.\w+ ?", "", (MAN / page).read_text(encoding="utf-8"), flags=re.M
    )
    for escape, char in (
        ("\\-", "-"),
        ("\\(aq", "'"),
        ("\\(ga", "`"),
        ("\\(dq", '"'),
        ("\\(ha", "^"),
        ("\\(ti", "~"),
        ("\\e", "\\"),
    ):
        text = text.replace(escape, char)
    return " ".join(re.sub(r"\\\[u(\w+)\]", lambda m: chr(int(m[1], 16)), text).split())


def command_of(path: tuple[str, ...]) -> Any:
    """The command that these words lead to."""
    command: Any = get_command(program())
    for word in path:
        command = command.commands[word]
    return command


def test_they_are_up_to_date() -> None:
    """`make man` would change nothing."""
    made = man_pages(get_command(program()))
    assert {name: (MAN / name).read_text(encoding="utf-8") for name in PAGES} == made


@pytest.mark.parametrize("path", command_paths(), ids=" ".join)
def test_every_command_has_a_page(path: tuple[str, ...]) -> None:
    """With its help, its arguments and options, and the way back."""
    text = plain("-".join(("kgroups", *path)) + ".1")
    command = command_of(path)
    assert " ".join((command.help or "").split()) in text
    common = {option.name for option in GLOBAL_OPTIONS}
    for param in command.params:
        if param.param_type_name == "option" and (not path or param.name not in common):
            assert ", ".join(param.opts) in text
            assert " ".join((param.help or "").split()) in text
    assert not path or "kgroups(1)" in text


def test_there_is_no_other_page() -> None:
    """One that is gone leaves none."""
    assert sorted("-".join(("kgroups", *path)) + ".1" for path in command_paths()) == PAGES


def test_the_page_of_the_program() -> None:
    """Names the commands, the environment and the exit codes."""
    text = plain("kgroups.1")
    for path in command_paths():
        assert len(path) != 1 or f"kgroups-{path[0]}(1)" in text
    for option in GLOBAL_OPTIONS:
        assert option.env is None or f"{option.env} Sets {option.flags[0]}." in text
    for code in EXIT_CODES:
        assert f"{code.code} {code.meaning[:1].upper()}{code.meaning[1:]}." in text


@pytest.mark.parametrize("page", PAGES)
def test_every_line_is_text_or_a_known_request(page: str) -> None:
    """Also where no reader is installed: only what we mean is obeyed."""
    text = (MAN / page).read_text(encoding="utf-8")
    assert text.isascii()
    for line in text.splitlines():
        if line.startswith("'") or (line.startswith(".") and not line.startswith('.\\"')):
            assert line[1:].split()[0] in REQUESTS, line
        assert re.sub(r"\\(-|e|&|\(\w\w|f[BIR]|\[u\w{4,5}\]|\")", "", line).count("\\") == 0, line


@pytest.mark.parametrize("reader", FOUND)
def test_they_are_read_without_a_warning(reader: str) -> None:
    """By what `man` runs here."""
    done = run_program([*READERS[reader], *(str(MAN / page) for page in PAGES)])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
