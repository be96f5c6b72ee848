"""No command loads the module of another."""

import json
import sys

from kgroups.cli.nouns import NOUNS
from tests.support.cli.process import environment
from tests.support.kafka.child import run_program

EACH_NOUN = """
import json, os, sys
from importlib import import_module
from kgroups.cli import app, tree
from kgroups.cli.nouns import NOUNS
for noun, module in NOUNS.items():
    sys.stdout.flush()
    told, telling = os.pipe()
    if os.fork() == 0:
        import_module(f"kgroups.cli.{module}")
        print(json.dumps([noun, [name for name in sys.modules if "kgroups.cli.commands" in name]]))
        sys.stdout.flush()
        with open(telling, "w") as known:
            core = [name for name in sys.modules if name.startswith("kgroups.core")]
            print(*core, sep="\\n", file=known)
        os._exit(0)
    os.close(telling)
    with open(told) as known:  # no command is among them: the next ones need not load them again
        for name in known:
            import_module(name.strip())
    os.wait()
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


def test_no_command_imports_another() -> None:
    """The module of a command is loaded with its own line only, and with no other's."""
    done = run_program([sys.executable, "-c", EACH_NOUN], env=environment(), check=True)
    loaded = dict(json.loads(line) for line in done.stdout.splitlines())
    assert loaded.keys() == NOUNS.keys()
    for noun, modules in loaded.items():
        own = NOUNS[noun].removeprefix("commands.").partition(".")[0]
        strangers = {name.split(".")[3] for name in modules if name.count(".") > 2}
        strangers -= {own, *SHARED.get(own, ())}
        assert not strangers, f"`{noun}` imports the commands {sorted(strangers)}"
