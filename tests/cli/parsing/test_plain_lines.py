"""Plain lines mean the same with Typer and without it; all others are left to Typer."""

import shlex
import sys
from importlib import import_module
from typing import Any, NoReturn

import pytest

from kgroups.cli.app import first_word, program
from kgroups.cli.nouns import NOUNS
from kgroups.cli.params import META
from kgroups.cli.parsing.plain_lines import plain_call

PLAIN = """
list
list orders
list 'orders-*' --state Stable,Empty --state Dead --type=classic
list --topic a --topic b --regex 'x[0-9]+' --sort state --top 3
list --where 'lag > 1k' --lag-time --record-times --over 10s --expiry --idle-for 30d
list --watch 2 --fields group,state --textfile /tmp/x.prom -o openmetrics
list --from ~/snapshot.json -o json --query items
list -q --no-input --csv-safe --no-color --debug --verbose
-b h:9092 list
-b h:9092 --timeout=5s list --timeout 7s
--bootstrap-server h:9092,i:9092 --command-config client.properties list
-c prod list
list -c prod -c test
-c prod --debug list -c test --debug
list list
describe
describe g
describe g h 'old-*' --members --state --offsets
describe --all-groups --sort lag --top 20 --output json
describe --regex a --regex b --topic t --uncommitted start --isolation read_committed
--no-color -o csv describe list --fields group
describe describe -o table -o json
plan
plan g h --add-members 2 --add-members=1:app,client=librdkafka --remove-member x --subscribe +a,b
plan g --assignor range,roundrobin --as java --leader-from-log --faithful --fail-on 'moved > 10%'
plan --all-groups --report --by member --top 5 --master local --remote sc://h --conf a=b --conf c=d
plan g --metrics --members --moves --rounds --outcomes --steps --blockers --explain orders:3
-b h:9092 -o json plan --from scenario.yaml --to-protocol consumer --rolling-restart all
"""
NOT_PLAIN = """
list --help
list -h
-- list
list -- -odd
list -ojson
list -qv
list --sort size
list --top 0
list --top many
list --top
list --top -1
list --state
list --no-such-option
list a b
list ''
list --from ''
list --expiry=yes
list --timeout never
list -o nagios
list -o xml
--sort name list
describe --sort size
plan --help
plan --top 0
plan --by size
plan --changes x
describe --isolation other
--timeout 5s list --timeout never
-c a list -c b -o nonsense
"""
ENVIRONMENTS: tuple[dict[str, str], ...] = (
    {},
    {
        "KGROUPS_BOOTSTRAP_SERVER": "e:1",
        "KGROUPS_COMMAND_CONFIG": "~/e.properties",
        "KGROUPS_OUTPUT": "yaml",
        "KGROUPS_TIMEOUT": "3s",
        "KGROUPS_CONTEXT": "one two",
    },
    {"KGROUPS_OUTPUT": "", "KGROUPS_CONTEXT": " "},
)


def lines(text: str) -> list[str]:
    """One line each."""
    return [line for line in text.splitlines() if line]


class Seen(Exception):
    """A command was called.

    Args:
        values: its parameters, and the global options.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__()
        meta = values.pop("ctx").meta
        self.values = values | {name: meta[name] for name in meta if name.startswith(META)}


def see(*_: object, **__: object) -> NoReturn:
    """Stands where a command first asks for its options."""
    raise Seen(dict(sys._getframe(1).f_locals))


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=["bare", "environment", "empty"])
@pytest.mark.parametrize("line", lines(PLAIN))
def test_both_read_the_same(
    line: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every value of a plain line, with an environment or without."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    arguments = shlex.split(line)
    command = first_word(arguments)
    monkeypatch.setattr(import_module(f"kgroups.cli.{NOUNS[command]}"), "options_of", see)
    call = plain_call(command, arguments)
    assert call is not None
    with pytest.raises(Seen) as plain:
        call()
    with pytest.raises(Seen) as typers:
        program((command, "completion"))(arguments, prog_name="kgroups")
    assert plain.value.values == typers.value.values


@pytest.mark.parametrize("line", lines(NOT_PLAIN))
def test_other_lines_are_left_to_typer(line: str) -> None:
    """Help, mistakes, and ways to write that are seldom."""
    arguments = shlex.split(line)
    assert plain_call(first_word(arguments), arguments) is None


def test_bytes_that_are_no_text_are_left_to_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It refuses them, wherever they come from."""
    assert plain_call("list", ["list", "\udcff"]) is None
    monkeypatch.setenv("KGROUPS_BOOTSTRAP_SERVER", "\udcff")
    assert plain_call("list", ["list"]) is None


def test_a_mistake_in_the_environment_is_left_to_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though a flag beats it."""
    monkeypatch.setenv("KGROUPS_TIMEOUT", "never")
    assert plain_call("list", ["list", "--timeout", "5s"]) is None
