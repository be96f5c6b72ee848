"""The glossary in ARCHITECTURE holds the names of files, classes, functions and options."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from kgroups.cli.app import program
from tests.support.cli.command_tree import command_paths

ROOT = Path(__file__).parents[2]
PRODUCT = ("assignors", "core", "cli")
# Kafka's own names of APIs, their messages and records; a consumer is no group there.
KAFKAS_OWN = re.compile(r"ConsumerGroup\w*(Key|Value|Request|Response|Member)|consumer_group_\w+")
FALSE_FRIENDS = {"NetworkSplit": "Partition"}


def glossary() -> list[list[str]]:
    """The rows of the glossary: word, meaning, what is not said."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition("\n## Glossary\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows[1:]]


def banned() -> list[str]:
    """Words that names may not have; one that ends with `_` may not begin them."""
    words = {word for *_, last in glossary() for word in re.findall(r"`(\w+)`", last)}
    return sorted(words - set(FALSE_FRIENDS.values()))


def words_of(name: str) -> str:
    """`ConsumerGroup`, `consumer-group` and `consumer_group` alike as `consumer_group`."""
    parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    return "_".join(parts).lower()


def names() -> Iterator[tuple[str, str]]:
    """Each file, class and function of the product and each option, with where it is."""
    for top in PRODUCT:
        for path in sorted((ROOT / top).rglob("*.py")):
            where = str(path.relative_to(ROOT))
            yield path.stem, where
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    yield node.name, where
    for words in command_paths():
        command: Any = get_command(program())
        for word in words:
            command = command.commands[word]
        for option in command.params:
            for text in (*option.opts, *option.secondary_opts):
                yield text, " ".join(("kgroups", *words))


def breaks(name: str, word: str) -> bool:
    """Whether a name has a word that it may not have."""
    if KAFKAS_OWN.fullmatch(name):
        return False
    spelled = words_of(name)
    if word.endswith("_"):
        return spelled.startswith(word)
    return f"_{word}_" in f"_{spelled}_"


CASES = [
    ("ConsumerClient", "consumer_", True),
    ("Consumer", "consumer_", False),
    ("ConsumerGroupHeartbeatRequest", "consumer_", False),
    ("--consumer-id", "consumer_", True),
    ("is_server_side", "server_side", True),
    ("MembershipMember", "membership", True),
    ("members", "membership", False),
]


@pytest.mark.parametrize(("name", "word", "is_broken"), CASES)
def test_how_names_are_read(name: str, word: str, is_broken: bool) -> None:
    """Words count, however they are joined; Kafka's own names are its own."""
    assert breaks(name, word) == is_broken


def test_names_keep_to_the_glossary() -> None:
    """No name has a word that the glossary rules out."""
    assert {"modern", "membership", "server_side", "consumer_"} <= set(banned())
    found = {(where, name) for name, where in names() for word in banned() if breaks(name, word)}
    assert found == set()


def test_a_network_split_is_not_called_partition() -> None:
    """Nor is anything else in the simulation, where the word would be taken for it."""
    assert "Partition" in next(last for word, _, last in glossary() if word == "network split")
    simulation = [name for name, where in names() if where.startswith("core/simulation/")]
    assert "NetworkSplit" in simulation
    assert "Partition" not in simulation
