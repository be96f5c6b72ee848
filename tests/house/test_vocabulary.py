"""The glossary in ARCHITECTURE holds names: folders, files, classes, functions and options."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import pytest
from typer.main import get_command

from kgroups.cli.app import program
from tests.support.cli.command_tree import command_paths

ROOT = Path(__file__).parents[2]
CODE = ("assignors", "core", "cli", "public", "tests", "bench", "scripts")
# Kafka's own names of APIs, their messages and records, of its topic, and what tests are about.
KAFKAS_OWN = re.compile(
    r"(Described)?ConsumerGroup(Heartbeat|Describe|\w*(Key|Value|Request|Response|Member))?"
    r"|consumer_group_(heartbeat|describe)\w*"
    r"|ConsumerOffsets|consumer_offsets"
)
DEFINED = re.compile(r"^ *(?:class|(?:async )?def) (\w+)", re.MULTILINE)
RULE = re.compile(r"`(\w+)`(?: in `(\w+)`)?")


# The same part of both protocols, of both halves of the coordinator, or of ZooKeeper's consumers.
PARALLEL = {"effects", "member", "messages"}


class Banned(NamedTuple):
    """A word that names may not have, everywhere or in folders of one name."""

    word: str
    folder: str


class Named(NamedTuple):
    """A name and the file or command that has it."""

    name: str
    where: str

    @property
    def folders(self) -> frozenset[str]:
        """The folders that the file is in."""
        return frozenset(PurePath(self.where).parts[:-1])


def glossary() -> list[list[str]]:
    """The rows of the glossary: word, meaning, what is not said."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition("\n## Glossary\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows[1:]]


@cache
def banned() -> list[Banned]:
    """What the last column rules out."""
    return [Banned(*found) for *_, last in glossary() for found in RULE.findall(last)]


@cache
def words_of(name: str) -> str:
    """`ConsumerGroup`, `consumer-group` and `consumer_group` alike as `consumer_group`."""
    parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    return "_".join(parts).lower()


@cache
def names() -> frozenset[Named]:
    """Each folder, file, class and function of product and tests, and each option."""
    return frozenset((*_names_in_files(), *_options()))


def _names_in_files() -> Iterator[Named]:
    for top in CODE:
        for path in sorted((ROOT / top).rglob("*.py")):
            where = str(path.relative_to(ROOT))
            yield Named(path.parent.name if path.stem == "__init__" else path.stem, where)
            for name in DEFINED.findall(path.read_text(encoding="utf-8")):
                yield Named(name, where)


def _options() -> Iterator[Named]:
    for words in command_paths():
        command: Any = get_command(program())
        for word in words:
            command = command.commands[word]
        for option in command.params:
            for text in (*option.opts, *option.secondary_opts):
                yield Named(text, " ".join(("kgroups", *words)))


def breaks(name: str, word: str) -> bool:
    """Whether a name has a word that it may not have."""
    if KAFKAS_OWN.fullmatch(name):
        return False
    if not word.islower():
        return name == word
    spelled = words_of(name)
    if word.endswith("_"):
        return spelled.startswith(word)
    return f"_{word}_" in f"_{spelled}_"


@cache
def broken_by(name: str) -> list[Banned]:
    """The rules that a name breaks where they hold."""
    return [rule for rule in banned() if breaks(name, rule.word)]


CASES = [
    ("ConsumerClient", "consumer_", True),
    ("Consumer", "consumer_", False),
    ("ConsumerGroupHeartbeatRequest", "consumer_", False),
    ("--consumer-id", "consumer_", True),
    ("is_server_side", "server_side", True),
    ("MembershipMember", "membership", True),
    ("members", "membership", False),
    ("Partition", "Partition", True),
    ("PartitionLog", "Partition", False),
]


@pytest.mark.parametrize(("name", "word", "is_broken"), CASES)
def test_how_names_are_read(name: str, word: str, is_broken: bool) -> None:
    """Words count, however they are joined; Kafka's own names are its own."""
    assert breaks(name, word) == is_broken


def test_every_word_of_the_last_column_is_held() -> None:
    """It has words in `code` and folders, and nothing else."""
    for word, _, last in glossary():
        assert re.sub(r"[,\s]", "", RULE.sub("", last)) == "", f"{word}: {last}"
    folders = {part for name in names() for part in name.folders}
    assert {rule.folder for rule in banned() if rule.folder} <= folders


def test_names_keep_to_the_glossary() -> None:
    """No name has a word that the glossary rules out there."""
    everywhere = {"modern", "membership", "server_side", "consumer_", "duel", "happening"}
    assert everywhere <= {rule.word for rule in banned() if not rule.folder}
    found = {
        (name.where, name.name, rule.word)
        for name in names()
        for rule in broken_by(name.name)
        if not rule.folder or rule.folder in name.folders
    }
    assert found == set()


def test_a_network_split_is_not_called_partition() -> None:
    """The word stays what it is in Kafka."""
    assert Banned("Partition", "simulation") in banned()
    assert "NetworkSplit" in {name.name for name in names()}


def test_no_base_name_is_in_three_packages() -> None:
    """A file's name says which package it is of, but for the parallel halves of the coordinator."""
    packages: dict[str, set[Path]] = {}
    for top in ("assignors", "core", "cli"):
        for path in (ROOT / top).rglob("*.py"):
            if path.stem != "__init__" and path.parent.name != "tables":  # named by Kafka's APIs
                packages.setdefault(path.stem, set()).add(path.parent)
    assert {stem for stem, found in packages.items() if len(found) >= 3} == PARALLEL
