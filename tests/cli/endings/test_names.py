"""Names with every class of bytes: whoever takes a name finds the thing, or says that it is not."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.support.cli.runner import run
from tests.support.endings.choice import WHOLE
from tests.support.endings.held import check_words
from tests.support.endings.lines import Line
from tests.support.endings.program import run_program
from tests.support.endings.world import TOPIC, World, random_for
from tests.support.kafka.workload import commit_offsets, fetch_offsets

NAMES: Final[Mapping[str, bytes]] = {
    "control characters": b"a\x01b\x7fc",
    "an escape sequence": b"a\x1b[31mred\x1b]0;title\x07",
    "a line feed": b"a\nb",
    "a carriage return": b"a\rb",
    "a tabulator": b"a\tb",
    "no UTF-8": b"a\xff\xfeb",
    "half a surrogate pair": b"a\xed\xa0\x80b",
    "very long": b"x" * 300,
    "far too long": b"x" * 40_000,
    "spaces": b"  a b  ",
    "quotes": b"a'b\"c`d",
    "a leading dash": b"-g",
    "two leading dashes": b"--list",
    "right to left": "a\u202eb\u2066c".encode(),
    "joined letters": "e\u0301\u200d😀".encode(),
    "nothing": b"",
    "a bracket": b"[a",
    "stars": b"a*?b",
    "separators": b"a,b:c=d;e|f",
    "a format": b"%s{0}$HOME",
    "only dots": b"..",
}
KAFKA_HOLDS: Final = [
    name
    for name in NAMES
    if name not in ("no UTF-8", "half a surrogate pair", "far too long", "nothing")
]
"""Kafka's names are UTF-8 of up to 32,767 bytes, whatever they say."""
FORMS: Final = ("table", "json", "jsonl", "csv", "yaml", "plain")

TAKERS: Final = {
    "describe": "describe {name}",
    "describe members": "describe {name} --members -o json",
    "describe by topic": "describe --topic {name}",
    "list": "list {name}",
    "list by expression": "list --regex {name}",
    "list by topic": "list --topic {name}",
    "list where": "list --where {name}",
    "plan": "plan {name}",
    "doctor": "doctor {name}",
    "history": "history {name}",
    "peek": "peek {name}",
    "coordinator": "coordinator {name}",
    "check": "check {name} --fail-on 'lag > 1'",
    "check by a condition": "check origin --fail-on {name}",
    "wait": "wait {name} --until empty --deadline 1s",
    "wait until": "wait origin --deadline 1s --until {name}",
    "delete": "delete {name} --yes",
    "delete by expression": "delete --regex {name} --yes",
    "reset-offsets": "reset-offsets {name} --to earliest --all-topics --yes",
    "reset-offsets of a topic": "reset-offsets origin --to earliest --topic {name} --yes",
    "reset-offsets to": "reset-offsets origin --to {name} --all-topics --dry-run",
    "copy-offsets from": "copy-offsets --from {name} --to origin --dry-run",
    "copy-offsets to": "copy-offsets --from origin --to {name} --dry-run",
    "delete-offsets": "delete-offsets {name} --all-topics --yes",
    "delete-records": "delete-records {name} --before latest --yes",
    "delete-records before": "delete-records steps --before {name} --dry-run",
    "remove-members": "remove-members {name} --all --yes",
    "remove-members by id": "remove-members alive --member {name} --yes",
    "config": "config {name}",
    "config set": "config origin --set {name}=1 --dry-run",
    "config undo": "config origin --undo {name}",
    "top": "top --every {name}",
    "transactions": "transactions list {name}",
    "transactions of a topic": "transactions list --topic {name}",
    "transactions abort": "transactions abort {name} --yes",
    "transactions abort by id": "transactions abort origin --transactional-id {name} --yes",
    "context show": "context show {name}",
    "context use": "context use {name}",
    "context add": "context add {name}",
    "context add with a property": "context add new --property {name}",
    "context remove": "context remove {name}",
    "context import": "context import {folder}/{name}",
    "context current": "context current -c {name}",
    "a context": "list -c {name}",
    "a query": "list --output json --query {name}",
    "a code": "explain {name}",
    "a document": "schema {name}",
    "the output": "list --output {name}",
    "the time": "list --timeout {name}",
    "the configuration": "list --command-config {name}",
    "a snapshot": "describe --all-groups --from {name}",
    "a snapshot to show": "snapshot show {name}",
    "a snapshot to save": "snapshot save {folder}/{name}",
    "a folder of captures": "lag compact {folder}/{name}",
    "a folder for captures": "lag collect {folder}/{name}",
    "faults": "sandbox up --faults {name}",
    "a scenario": "plan --from {name} g",
    "a simulation": "simulate {name}",
    "an undo file": "reset-offsets --undo {name} --yes",
    "a saved plan": "apply {name} --yes",
    "a plan to save": "delete origin --dry-run --plan {folder}/{name}",
    "the shell": "complete-names groups {name}",
    "a shell": "completion {name}",
    "official group": "--describe --group {name}",
    "official members": "--describe --group {name} --members",
    "official deletion": "--delete --group {name}",
    "official reset": "--reset-offsets --group {name} --topic steps --to-earliest --dry-run",
    "official topic": "--reset-offsets --group origin --topic {name} --to-earliest --dry-run",
    "official pattern": "--validate-regex {name}",
}
LINE: Final = Line("", "")


def chosen() -> list[tuple[str, str]]:
    """All pairs, or of each line a few names."""
    pairs = [(taker, name) for taker in TAKERS for name in NAMES]
    if WHOLE:
        return pairs
    picked = set()
    for at, taker in enumerate(TAKERS):
        names = list(NAMES)
        random_for(taker).shuffle(names)
        picked |= {(taker, list(NAMES)[at % len(NAMES)]), (taker, names[0])}
    return [pair for pair in pairs if pair in picked]


PAIRS: Final = chosen()


@pytest.mark.share(25)
@pytest.mark.parametrize(("taker", "name"), PAIRS, ids=[f"{t}, {n}" for t, n in PAIRS])
def test_nothing_of_that_name(world: World, taker: str, name: str, tmp_path: Path) -> None:
    """It is usage or not found, told in printable words, and never a bug."""
    place = world.place(LINE)
    official = TAKERS[taker].startswith("--")
    folder = bytes(place.folder / "undo")
    words = [
        word.encode().replace(b"{folder}", folder).replace(b"{name}", NAMES[name])
        for word in shlex.split(TAKERS[taker])
    ]
    more = ["--bootstrap-server", world.address]
    ending = run_program(
        [*words, *more], place.folder, env=world.environment(place) | {"PWD": str(tmp_path)}
    )
    check_words(ending, place)
    assert ending.code in ((0, 1) if official else (0, 2, 3, 5)), ending
    assert ending.said.replace("\n", "").isprintable(), ending
    if ending.code:
        assert ending.stderr, ending


@pytest.mark.share(35)
@pytest.mark.parametrize("name", KAFKA_HOLDS)
def test_a_group_of_that_name(world: World, name: str) -> None:
    """It is listed, described, reset and deleted under its name, and its JSON holds the name."""
    group = NAMES[name].decode()
    commit_offsets(world.address, {group: {(TOPIC, 0): 5}})
    at = ("-b", world.address)
    listed = run(*at, "list", "-o", "json").document["items"]
    assert group in [item["group"] for item in listed]
    for form in FORMS if WHOLE else ("json", FORMS[KAFKA_HOLDS.index(name) % len(FORMS)]):
        place = world.place(LINE)
        words = ["describe", "-o", form, *at, "--", group]
        ending = run_program(words, place.folder, env=world.environment(place))
        check_words(ending, place)
        assert ending.code == 0, ending
        if form == "json":
            assert json.loads(ending.stdout)["items"][0]["group"] == group
        if form == "table":
            assert ending.stdout.decode().replace("\n", "").isprintable(), ending
    place = world.place(LINE)
    reset = ("reset-offsets", *at, "--to", "earliest", "--all-topics", "--yes", "--", group)
    assert run(*reset, env=world.settings(place)).exit_code == 0
    assert fetch_offsets(world.address, group) == {(TOPIC, 0): 0}
    (undo,) = place.undo_files
    back = ("reset-offsets", *at, "--undo", str(undo), "--yes")
    assert run(*back, env=world.settings(place)).exit_code == 0
    assert fetch_offsets(world.address, group) == {(TOPIC, 0): 5}
    assert run(*at, "delete", "--yes", "--", group).exit_code == 0
    assert fetch_offsets(world.address, group) == {}
