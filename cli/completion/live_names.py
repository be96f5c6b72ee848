"""Names of groups and topics for the shell: live, within half a second, or silently none.

The completion scripts know commands, options and their values by themselves and start no
process for them; only names come from here, through the hidden command `complete-names`.
"""

import os
import shlex
import sys
import threading
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from kgroups.cli.contexts.context_file import read_contexts
from kgroups.cli.contexts.in_force import config_path, contexts_of
from kgroups.cli.output.outlet import write_text
from kgroups.cli.params import GlobalOptions, given_options, within
from kgroups.cli.source import cluster, topics_of
from kgroups.core.errors import KgroupsError

# What is left of half a second after Python has started.
BUDGET_MS = 350
MAX_NAMES = 5_000

HELP = "Print names for shell completion."
HIDDEN: Final = True
NameKind = Literal["groups", "topics", "contexts"]

_BOOTSTRAP_FLAGS = ("--bootstrap-server", "-b")
_CONFIG_FLAGS = ("--command-config",)
_CONTEXT_FLAGS = ("--context", "-c")


def complete_names(
    ctx: typer.Context,
    kind: Annotated[NameKind, typer.Argument(help="Kind of name.")],
    line: Annotated[str, typer.Argument(help="The command line up to the cursor.")] = "",
) -> None:
    """`kgroups complete-names`: prints what is known in time, and leaves with 0 in any case."""
    given = given_options(ctx)
    named = given.pop("contexts", ())
    options, prefix = read_line(line, GlobalOptions(**given))
    names: list[str] = []

    def ask() -> None:
        try:
            if kind == "contexts":
                names.extend(read_contexts(config_path()).contexts)
            else:
                names.extend(_names(kind, _in_context(options, line, named)))
        except (KgroupsError, OSError):
            names.clear()  # a shell prompt is no place for an error

    worker = threading.Thread(target=ask, daemon=True)
    worker.start()
    worker.join(BUDGET_MS / 1_000)
    if worker.is_alive():
        leave()
    fitting = (name for name in names if name.startswith(prefix) and name.isprintable())
    write_text("".join(f"{name}\n" for name in sorted(fitting)[:MAX_NAMES]))


def leave() -> None:
    """End at once, without waiting for an answer that is still under way."""
    sys.stdout.flush()
    os._exit(0)


def read_line(line: str, options: GlobalOptions) -> tuple[GlobalOptions, str]:
    """The options for asking the cluster that a half-written line names, and its last word."""
    words, prefix = words_of(line)
    server = _value_after(words, _BOOTSTRAP_FLAGS) or options.bootstrap_server
    config = _value_after(words, _CONFIG_FLAGS)
    return (
        GlobalOptions(
            bootstrap_server=server,
            command_config=Path(config).expanduser() if config else options.command_config,
            timeout_ms=BUDGET_MS,
        ),
        prefix,
    )


def words_of(line: str) -> tuple[list[str], str]:
    """The words of a half-written line, and the last one, which is still being written."""
    try:
        words = shlex.split(line)
    except ValueError:  # an open quote: the name is still being written
        words = line.replace('"', " ").replace("'", " ").split()
    prefix = words.pop() if words and not line.endswith(" ") else ""
    return words, prefix


def _in_context(options: GlobalOptions, line: str, named: tuple[str, ...]) -> GlobalOptions:
    """The options with those of the context that the line, else the environment, names.

    Raises:
        UsageError: there is no such context, or the file cannot be understood.
    """
    name = _value_after(words_of(line)[0], _CONTEXT_FLAGS)
    contexts = contexts_of((name,) if name else named)
    if not contexts:
        return options
    fields = ("bootstrap_server", "command_config")
    given = [field for field in fields if getattr(options, field) is not None]
    return within(options, (*given, "output", "timeout_ms"), contexts[0])


def _value_after(words: list[str], flags: tuple[str, ...]) -> str | None:
    """The value of the last of these options in the words."""
    value_of = None
    for index, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if word in flags and index + 1 < len(words):
            value_of = words[index + 1]
        elif equals and flag in flags:
            value_of = value
    return value_of


def _names(kind: NameKind, options: GlobalOptions) -> list[str]:
    with cluster(options, silent=True) as admin:
        if kind == "groups":
            return [group.group for group in admin.list_groups().groups]
        topics: set[str] = set()
        for group in admin.snapshot(log_offsets=False).groups:
            topics |= topics_of(group)
        return list(topics)
