"""Every command has a line in the crossings: a new one cannot be forgotten."""

from kgroups.cli.nouns import NOUNS
from kgroups.cli.official.options import ACTIONS
from tests.support.cli.command_tree import command_paths
from tests.support.endings.lines import LINES


def test_every_command_has_a_line() -> None:
    """Of both grammars; nouns stand for what is below them."""
    paths = {" ".join(path) for path in command_paths()}
    nouns = {path.rsplit(" ", 1)[0] for path in paths if " " in path}
    assert {line.of for line in LINES.values()} == (paths - nouns) | {
        f"--{action}" for action in ACTIONS
    }
    assert {line.words.split()[0] for line in LINES.values()} >= set(NOUNS)
