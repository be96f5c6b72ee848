"""The program `kgroups`: its commands, and how it ends when something goes wrong."""

import atexit
import gc
import os
import sys
import traceback
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any, NoReturn, cast

import typer
from typer.main import get_group

from kgroups.cli import signals
from kgroups.cli.completion.ready import help_page
from kgroups.cli.exits import (
    BUG_HINT,
    bug_text,
    end_of,
    unprinted,
    write_failure,
    write_lines,
)
from kgroups.cli.nouns import NOUNS
from kgroups.cli.official.dispatch import FORCED, TOOLS, official_arguments
from kgroups.cli.output import outlet
from kgroups.cli.tree import CONTEXT_SETTINGS, Command, Noun, Root, root
from kgroups.core.errors import (
    EXIT_CODE_BUG,
    EXIT_CODE_INTERRUPTED,
    EXIT_CODE_UNPRINTED,
    KgroupsError,
)

HELP = """Inspect, change and plan Apache Kafka consumer groups.

Global options go before or after the command. A flag beats the environment
(KGROUPS_CONTEXT, KGROUPS_BOOTSTRAP_SERVER, KGROUPS_COMMAND_CONFIG,
KGROUPS_OUTPUT, KGROUPS_TIMEOUT), which beats the context (`kgroups context`),
which beats the default.

EXIT CODES
  0  done                        7    a deadline passed
  1  an item failed              70   a bug in kgroups
  2  usage                       74   done, but the result was not printed
  3  cluster unreachable         129  interrupted by SIGHUP
  4  refused: state or guard     130  interrupted by Ctrl-C
  5  not found                   143  interrupted by SIGTERM
  6  a condition was met

EXAMPLES
  export KGROUPS_BOOTSTRAP_SERVER=localhost:9092
  kgroups list
  kgroups describe my-group
  kgroups describe --all-groups --output json
"""


class _Commands(Mapping[str, Any]):
    """Name to command; its module is imported when the command is first asked for.

    The module has its `HELP`, and a function of that name or the `COMMANDS` below it: of each its
    help, function and class.
    """

    def __getitem__(self, noun: str) -> Any:
        return _command(noun)

    def __iter__(self) -> Iterator[str]:
        return iter(NOUNS)

    def __len__(self) -> int:
        return len(NOUNS)


@cache
def _command(noun: str) -> Any:
    app = typer.Typer(rich_markup_mode=None)
    module = vars(import_module(f"kgroups.cli.{NOUNS[noun]}"))
    if "COMMANDS" in module:
        own = module.get("NOUN", Noun)
        group = typer.Typer(
            cls=own, help=module["HELP"], no_args_is_help=True, rich_markup_mode=None
        )
        for name, (text, run, *kind) in module["COMMANDS"].items():
            group.command(name, help=text, cls=kind[0] if kind else Command)(run)
        app.add_typer(group, name=noun)
    else:
        name = noun.replace("-", "_")
        run = module.get(f"{name}_command") or module[name]
        own, hidden = module.get("COMMAND", Command), module.get("HIDDEN", False)
        app.command(noun, help=module["HELP"], cls=own, hidden=hidden)(run)
    return get_group(app).commands[noun]


class Program(Root):
    """The program, which imports no command but the one on the line.

    The context's `obj` is called when it is imported: until then a signal ends the process at once,
    as some libraries do not survive an interrupt of their import.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands = ChainMap(self.commands, cast("dict[str, Any]", _Commands()))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command, ready to run."""
        command = super().resolve_command(ctx, args)
        if ctx.obj is not None:
            ctx.obj()
        return command


def program() -> typer.Typer:
    """The program with its commands, in the order of its help."""
    app = typer.Typer(
        name="kgroups",
        cls=Program,
        help=HELP,
        context_settings=CONTEXT_SETTINGS,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(root)
    return app


def main() -> None:
    """Run the command line and leave with its exit code."""
    atexit.register(signals.ignore_signals)
    atexit.register(_freeze_garbage)
    outlet.protect()
    try:
        _leave(_run(_words(sys.argv)))
    except KeyboardInterrupt:  # while the program was leaving
        os._exit(signals.exit_code())


def _freeze_garbage() -> None:
    """Spare the interpreter going through every object before it ends.

    With DuckDB it has to: DuckDB reports objects that are left as leaks, on stderr.
    """
    if "duckdb" not in sys.modules:
        gc.freeze()


def _words(argv: Sequence[str]) -> list[str]:
    """The command line; that of a link with the name of a tool of Kafka's names it first."""
    name = argv[0].rpartition("/")[2]
    return [FORCED, name, *argv[1:]] if name in TOOLS else [*argv[1:]]


def _run(arguments: Sequence[str]) -> int:
    """Run the line; its exit code."""
    try:
        _starter(arguments)()
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt as interrupt:
        signals.be_quiet()
        write_failure(interrupt)
        return EXIT_CODE_INTERRUPTED
    except KgroupsError as error:
        return end_of(error)
    except Exception as error:
        _report_bug(error)
        return EXIT_CODE_BUG


def _starter(arguments: Sequence[str]) -> Callable[[], object]:
    """The command that runs the line; lines in the grammar of Kafka's tools are `official`'s."""
    if arguments in (["--help"], ["-h"]):
        return partial(outlet.write_text, help_page())
    words = official_arguments(arguments, NOUNS.keys())
    if words is not None:
        arguments = [FORCED, *words]
    return partial(program(), arguments, prog_name="kgroups", obj=signals.interrupt_on_signals)


def _leave(code: int) -> NoReturn:
    """Leave with this exit code, or with the one for a result that could not be printed."""
    sys.stdout.flush()
    if outlet.is_lost(sys.stdout):
        code = unprinted(code, EXIT_CODE_UNPRINTED)
    sys.stderr.flush()
    if code != EXIT_CODE_INTERRUPTED:
        signals.leave_on_signals(code)
        sys.exit(code)
    code = signals.exit_code()
    signals.leave_on_signals(code)
    os._exit(code)  # what was interrupted is not destroyed piece by piece, which is not silent


def _report_bug(error: Exception) -> None:
    if "--verbose" in sys.argv:
        write_lines(traceback.format_exc().rstrip("\n").split("\n"), ())
    write_lines([f"error: {bug_text(error)}"], [BUG_HINT])
    write_failure(error)
