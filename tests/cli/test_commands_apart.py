"""No command loads the module of another."""

import json
import sys
from collections.abc import Mapping, Sequence

from kgroups.cli.nouns import NOUNS
from tests.support.cli.process import environment
from tests.support.kafka.child import run_program

EVERY_NOUN = """
import builtins, json, sys
from importlib import import_module
from kgroups.cli import app, tree
from kgroups.cli.nouns import NOUNS

named = {}  # by each module: the modules that its imports name
usual = builtins.__import__

def noted(name, globals=None, locals=None, fromlist=(), level=0):
    found = usual(name, globals, locals, fromlist, level)
    if globals is not None and name.startswith("kgroups.cli"):
        names = named.setdefault(globals["__name__"], set())
        names.update([name, *(f"{name}.{part}" for part in fromlist or ())])
    return found

builtins.__import__ = noted
for module in NOUNS.values():
    import_module(f"kgroups.cli.{module}")
print(json.dumps({name: [*names & sys.modules.keys()] for name, names in named.items()}))
"""

SHARED = {
    "list": {"describe", "list_report"},
    "plan": {"lag"},
    "simulate": {"lag"},
    "gates": {"lag"},
    "top": {"describe"},
    "transactions": {"writes"},
    "writes": {"gates", "lag"},
}
"""Modules or folders of commands that use those of another."""


def loaded_with(module: str, named: Mapping[str, Sequence[str]]) -> set[str]:
    """A module and all that its imports load, the packages around each included."""
    loaded: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in loaded:
            loaded.add(name)
            waiting += [*named.get(name, ()), *filter(None, [name.rpartition(".")[0]])]
    return loaded


def test_no_command_imports_another() -> None:
    """The module of a command is loaded with its own line only, and with no other's."""
    done = run_program([sys.executable, "-c", EVERY_NOUN], env=environment(), check=True)
    named = json.loads(done.stdout)
    for noun, module in NOUNS.items():
        own = module.removeprefix("commands.").partition(".")[0]
        modules = loaded_with(f"kgroups.cli.{module}", named)
        commands = {name for name in modules if name.startswith("kgroups.cli.commands.")}
        strangers = {name.split(".")[3] for name in commands} - {own, *SHARED.get(own, ())}
        assert not strangers, f"`{noun}` imports the commands {sorted(strangers)}"
